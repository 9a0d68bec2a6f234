"""What an H200's description says was measured stands in the measurement files: here what derive.py does not derive."""

from __future__ import annotations

import csv
import statistics
from collections.abc import Callable
from pathlib import Path

import pytest

from warplens.calibration.derive import GATHERED, TABLES
from warplens.calibration.readings import read
from warplens.machine import machine, machines

FOLDER = Path(__file__).parents[2] / "measurements" / "h200"
H200 = machine("h200")
DERIVED = {f"{table}.{key}" for table, formulas in TABLES.items() for key in formulas}
DERIVED.add("launch_cost.event_microseconds")  # from a second file
READ = {p.name: p for p in H200.parameters if p.kind == "measured" and p.name not in DERIVED}


def rows(name: str) -> list[dict[str, str]]:
    with (FOLDER / name).open(encoding="utf-8") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def of(trial: str) -> float:
    return float(read(FOLDER / "calibration.csv")[trial]["value"])


def halves() -> float:
    """Two where the fast and the slow tenth of all places are apart by more than L2's latency scatters."""
    apart = of("place, percentile 90") - of("place, percentile 10")
    return 2 if apart > 2 * (of("place, percentile 25") - of("place, percentile 10")) else 1


def asked_when_warps_wait() -> float:
    """Sectors of loads of a multiprocessor, from where on warps wait half a cycle and more to issue them."""
    waiting = [row for row in rows("loads_in_flight.csv") if float(row["lg_throttle"]) >= 0.5]
    return min(float(row["kib_asked"]) for row in waiting) * 1024 / 32


def lines_until_hits() -> float:
    """The most lines stored to, of one warp, of which none is hit again."""
    alone = [
        row for row in rows("l1_leaving.csv")
        if row["what"] == "stores to others between" and row["multiprocessors"] == row["warps"] == "1"
        and row["lines"] == "4" and row["sectors_a_line"] == "1"
    ]  # fmt: skip
    return max(int(row["lines"]) + int(row["lines_between"]) for row in alone if row["hits"] == "0")


def lone_half() -> float:
    """By how much longer 64 bytes take without those beside them, of a launch without what an empty one takes."""
    moved = 64 * GATHERED * H200.multiprocessors
    seconds = (of("gather four at once, 1024 MiB, 8 blocks of 256") - of("empty, 1 blocks of 32")) / 1e6
    return H200.speeds.read_share * H200.dram_gigabytes_per_second * 1e9 * seconds / moved


def dirty() -> float:
    (row,) = (
        row for row in rows("calibration_counters.csv") if (row["what"], row["parameter"]) == ("write 4", "2048 MiB")
    )
    return (2048 * 2**20 - float(row["dram__bytes_write.sum"])) / H200.l2_bytes + H200.microarchitecture.dirty_before


def merged_requests() -> float:
    """Of what all multiprocessors read at the same time, the share that arrives at L2."""
    (row,) = (row for row in rows("joined.csv") if row["what"] == "table of 132")
    return float(row["l1_sectors_loaded"]) / float(row["l2_reads"])


def dirty_before() -> float:
    """What DRAM writes while a kernel only reads 256 MiB; the median."""
    reading = [row for row in rows("calibration_counters.csv") if row["what"] == "read 4_4"]
    return statistics.median(float(row["dram__bytes_write.sum"]) for row in reading) / H200.l2_bytes


def line_of_constants() -> float:
    """Bytes: of words 32 bytes apart, read for the first time, so many waits less than of words 64 bytes apart."""
    hit = of("constant walk, 2048 bytes by 256, 1 warps")
    return 32 * (of("constant walk, cold, by 64 bytes") - hit) / (of("constant walk, cold, by 32 bytes") - hit)


def lines_of_first_read() -> float:
    """Of words 128 bytes apart one in so many lines waits as all words 256 bytes apart do, the others for a miss."""
    miss = of("constant walk, 4096 bytes by 64, 1 warps")
    return 2 * (of("constant walk, cold, by 256 bytes") - miss) / (of("constant walk, cold, by 128 bytes") - miss)


def sharing_multiprocessors() -> float:
    """As many as load the same lines of DRAM in the time that those near the lines' home take: 640 cycles or less."""
    lines = [row for row in rows("near_halves.csv") if row["in_l2"] == "0" and row["apart_bytes"] == "512"]
    together = [row for row in lines if row["sharing"] == row["blocks"]]
    return min(int(row["blocks"]) for row in together if float(row["mean_cycles"]) < 640)


def clock_beside_products() -> float:
    """MHz of all SMs while warpgroups multiply noise without a pause."""
    found = [
        1000 * float(row["cycles"]) / float(row["nanoseconds"]) for row in rows("matrix_clocks.csv")
        if (row["noise"], row["blocks"], row["pause"]) == ("1", "132", "0") and int(row["groups"]) in (8, 32, 256)
    ]  # fmt: skip
    return statistics.median(found)


def sooner_in_graphs() -> float:
    """Microseconds: of all kernels, how much less a node in a chain takes than a launch behind another."""
    found = rows("launch_intervals.csv")
    return statistics.median(float(row["interval_us"]) - float(row["node_us"]) for row in found)


READINGS: dict[str, Callable[[], float]] = {
    "latency_cycles.table_first": lambda: (
        of("constant walk, cold, by 256 bytes") - of("constant walk, 2048 bytes by 256, 1 warps")
    ),
    "load_path.table_line_cycles": lambda: (
        of("constant together, 32 of 65536 bytes, 32 warps") / (32 * 32 * (1 - 2048 / 65536))
    ),
    "load_path.lsu_issue": lambda: 4 * of("L1 hits, step 1, 32 warps") / 32,
    "load_path.global_request": lambda: of("L1 hits, step 1, 32 warps") / 32,
    "load_path.shared_request": lambda: of("shared load 4 B, step 1, 32 warps") / 32,
    "load_path.store_lines": lines_until_hits,
    "load_path.sectors_in_flight": asked_when_warps_wait,
    "l2_rates.line_write_cycles": lambda: of("lines of a store, stored_words to 1 of 1, 132 multiprocessors"),
    "l2_rates.atomic_units": lambda: 2 * len({row["port"] for row in rows("atomic_ports.csv")}),
    "l2_rates.halves": halves,
    "l2_rates.dirty_share": dirty,
    "dram_rates.lone_half": lone_half,
    "constant_cache.line_bytes": line_of_constants,
    "constant_cache.lines_of_first_read": lines_of_first_read,
    "l2_merging.most_requests": merged_requests,
    "l2_eviction.dirty_before": dirty_before,
    "store_queue.packet_bytes": lambda: 16 * 32 / of("lines of a store, stored_fours to 16 of 1, 1 multiprocessors"),
    "l2_port.both_halves": sharing_multiprocessors,
    "clocks.warpgroup_megahertz": clock_beside_products,
    "launch_cost.node_microseconds": sooner_in_graphs,
    "launch_cost.block_start_cycles": lambda: of("block starts, 32 of 32 threads, percentile 50"),
    "launch_cost.block_end_cycles": lambda: of("block gap, 32 threads, percentile 1"),
}  # fmt: skip


COMPARED = {
    "load_path.requests_in_flight": "model/sm/test_requests_in_flight.py",
    **{p: "model/sm/test_instruction_cache.py" for p in READ if p.startswith("instruction_cache.")},
    "l1_cache.tag_bank_high_bits": "model/sm/test_l1_tag_banks.py",
    "l1_cache.tag_bank_low_bits": "model/sm/test_l1_tag_banks.py",
    "block_dispatch.large_block_factor": "model/sm/test_dispatch_start.py",
    "block_dispatch.settle_cycles": "model/sm/test_block_dispatch.py",
    "dram_pages.alike_bytes": "model/sm/test_dispatch_start.py",
    **{f"matrix_shapes.{name}": "model/sm/test_matrix_pipe.py" for name in ("hmma", "imma", "bmma", "tf32", "dmma")},
    "l2_merging.together_cycles": "model/grid/test_request_coalescing.py",
    **{p: "model/result/test_l2_hit_rate.py" for p in READ if p.startswith("l2_lookups.")},
    "first_touch.waited_share": "model/grid/test_first_touch.py",
    **{p: "model/grid/test_atomic_units.py" for p in READ if p.startswith("atomic_ports.")},
    "pipes.second_pipe_cycles": "model/sm/test_pipe_mixtures.py",
    "pipes.late_result_cycles": "model/sm/test_pipe_mixtures.py",
    **{f"pipes.wide_{name}_cycles": "model/sm/test_pipe_mixtures.py" for name in ("next", "result", "lower")},
    "pipes.reconvergence_cycles": "model/sm/test_pipe_mixtures.py",
    "store_queue.hold_cycles": "model/sm/test_l1_store_merging.py",
    "store_queue.draining_lines": "model/sm/test_l1_hits.py",
}
"""Numbers that no formula gives, and the test in which the model has to agree with the readings."""


@pytest.mark.parametrize("key", READINGS)
def test_what_is_read_stands_in_the_file(key: str) -> None:
    """To 5 %: such keys have two digits."""
    assert READ[key].value == pytest.approx(READINGS[key](), rel=0.05)


def test_all_readings_are_of_numbers_that_say_so() -> None:
    assert READINGS.keys() | COMPARED.keys() == READ.keys()
    assert all((Path(__file__).parents[1] / test).is_file() for test in COMPARED.values())


@pytest.mark.parametrize("name", machines())
def test_a_file_that_is_named_is_there(name: str) -> None:
    sources = [p.source for p in machine(name).parameters]
    named = {word.strip("`(),;:") for text in sources for word in text.split() if "measurements/" in word}
    assert named
    assert all((FOLDER.parents[1] / file).is_file() for file in named)


@pytest.mark.parametrize("name", machines())
def test_what_was_measured_names_its_file(name: str) -> None:
    assert [p.name for p in machine(name).parameters if p.kind == "measured" and "measurements/" not in p.source] == []
