"""Occupancy against NVIDIA's own calculator and against what Nsight Compute printed on an H200."""

from __future__ import annotations

import csv
import importlib.util
import json
import math
import random
import subprocess
from pathlib import Path
from typing import Any

import pytest

from helpers.host_compiler import host_cc
from warplens.counters.occupancy import Carveout, Occupancy, curves, occupancy, waves
from warplens.errors import UsageError
from warplens.machine import machine

HERE = Path(__file__).parent
DATA = HERE.parent / "data"

# GPU, compute capability, threads and shared bytes a multiprocessor, opt-in and reserved bytes a block: given
# to the calculator from here and not from the TOML files, so that a wrong number there shows.
DEVICES = {
    "t4": (7, 5, 1024, 64 << 10, 64 << 10, 0),
    "a100": (8, 0, 2048, 164 << 10, 163 << 10, 1024),
    "a10": (8, 6, 1536, 100 << 10, 99 << 10, 1024),
    "l4": (8, 9, 1536, 100 << 10, 99 << 10, 1024),
    "h200": (9, 0, 2048, 228 << 10, 227 << 10, 1024),
    "b200": (10, 0, 2048, 228 << 10, 227 << 10, 1024),
    "rtx5090": (12, 0, 1536, 100 << 10, 99 << 10, 1024),
}
LAUNCHES_PER_DEVICE = 1500
INT_MAX = 2**31 - 1
LIMITER_BITS = {"warps": 1, "registers": 2, "shared_mem": 4, "blocks": 8, "barriers": 16}


def random_launch(dice: random.Random, largest: int) -> tuple[int, int, int, int, int, int]:
    """registers, threads, static, dynamic, barriers, carve-out in percent (-1: no preference).

    From 16 registers, which the driver allocates at least: the calculator knows no minimum.
    """
    registers = dice.choice([dice.randint(16, 64), dice.randint(16, 260)])
    threads = dice.choice([32 * dice.randint(1, 32), dice.randint(1, 1100)])
    static = dice.choice([0, 0, dice.randint(1, 48 << 10)])
    dynamic = dice.choice([0, dice.randint(1, 8 << 10), dice.randint(1, largest + 4096)])
    barriers = dice.choice([0, 1, dice.randint(0, 16)])
    return registers, threads, static, dynamic, barriers, dice.choice([-1, -1, dice.randint(0, 100)])


@pytest.fixture(scope="module")
def referee(tmp_path_factory: pytest.TempPathFactory) -> Path:
    nvidia = importlib.util.find_spec("nvidia")
    assert nvidia is not None
    assert nvidia.submodule_search_locations is not None
    include = next(p for root in nvidia.submodule_search_locations for p in Path(root).glob("*/include"))
    program = tmp_path_factory.mktemp("referee") / "occupancy"
    source = HERE / "occupancy_referee.c"
    subprocess.run([*host_cc(), "-O1", "-w", f"-I{include}", str(source), "-o", str(program)], check=True)
    return program


@pytest.mark.parametrize("gpu", DEVICES)
def test_nvidias_calculator_agrees(gpu: str, referee: Path) -> None:
    device, described = DEVICES[gpu], machine(gpu)
    dice = random.Random(gpu)
    launches = [random_launch(dice, device[4]) for _ in range(LAUNCHES_PER_DEVICE)]
    lines = "\n".join(" ".join(map(str, device + launch)) for launch in launches)
    answers = subprocess.run([str(referee)], input=lines, capture_output=True, text=True, check=True).stdout
    theirs = [tuple(map(int, line.split())) for line in answers.splitlines()]
    assert len(theirs) == len(launches)
    blocks = [answer[0] for answer in theirs]
    assert 0 in blocks
    assert max(blocks) == described.limits.blocks_per_multiprocessor
    for launch, answer in zip(launches, theirs, strict=True):
        registers, threads, static, dynamic, barriers, percent = launch
        sizes = described.limits.shared_bytes_per_multiprocessor
        preferred = next(size for size in sizes if size >= percent * device[3] // 100)
        carveout: Carveout = "maximum" if percent < 0 else preferred
        ours = occupancy(described, registers, threads, static, dynamic, barriers, carveout)
        assert as_referee(ours) == as_printed(answer), launch


def as_referee(ours: Occupancy) -> tuple[int, ...]:
    bits = sum(LIMITER_BITS[resource] for resource in ours.limiters)
    limits = ours.limits
    shared, places = limits["shared_mem"], limits["blocks"]
    return ours.blocks, limits["registers"], shared, limits["warps"], places, limits["barriers"], bits


def as_printed(answer: tuple[int, ...]) -> tuple[int, ...]:
    """Nsight prints the places for blocks where the calculator says INT_MAX, and no more for barriers."""
    blocks, registers, shared, warps, places, barriers, bits = answer
    if barriers < min(registers, shared, warps, places):
        bits = LIMITER_BITS["barriers"]  # the calculator leaves what was the limiter before barriers were asked
    shared = places if shared == INT_MAX else shared
    return blocks, registers, shared, warps, places, min(barriers, places), bits


# grid blocks, block threads, static shared bytes of the launches in h200_counts.json
LESSONS = {
    "add": (256, 256, 0),
    "copy": (2048, 128, 0),
    "reduce": (1024, 256, 1024),
    "reduce_unroll8_warp": (128, 256, 0),
    "matmul": (64, 256, 0),
    "matmul_tiled": (64, 256, 2048),
    "matmul_coarse2": (32, 256, 3072),
}


def lesson(name: str) -> tuple[int, int, int]:
    family = {"add": "add", "cco": "copy", "ncc": "copy", "red": "reduce", "mat": "matmul"}[name[:3]]
    return LESSONS.get(name, LESSONS[family])


COUNTS: dict[str, dict[str, float]] = json.loads((DATA / "h200_counts.json").read_text())["kernels"]


@pytest.mark.parametrize("name", COUNTS)
def test_nsight_agrees_on_the_lessons(name: str) -> None:
    printed, h200 = COUNTS[name], machine("h200")
    grid, threads, static = lesson(name)
    ours = occupancy(h200, int(printed["launch__registers_per_thread"]), threads, static, 0, 1)
    for resource in ("registers", "shared_mem", "warps", "blocks"):
        assert ours.limits[resource] == printed[f"launch__occupancy_limit_{resource}"], resource
    assert ours.percent == printed["sm__maximum_warps_per_active_cycle_pct"]
    assert round(waves(h200, ours, grid), 2) == printed["launch__waves_per_multiprocessor"]


def test_nsight_agrees_on_every_launch_that_the_carveout_rule_was_read_from() -> None:
    """tests/data/h200_occupancy.csv: Nsight Compute 2025.3.1 on an NVIDIA H200, driver 580, 2026-11."""
    h200 = machine("h200")
    rows = list(csv.DictReader((DATA / "h200_occupancy.csv").open()))
    assert len(rows) > 2500
    for row in rows:
        quantities = ("registers", "block_threads", "shared_static", "shared_dynamic", "barriers")
        ours = occupancy(h200, *(int(row[quantity]) for quantity in quantities))
        assert ours.carveout_bytes == int(row["carveout_bytes"]), row
        assert ours.limits == {resource: int(row[f"limit_{resource}"]) for resource in ours.limits}, row
        assert round(ours.percent, 2) == pytest.approx(float(row["percent"]), abs=0.006), row


CURVES: list[dict[str, Any]] = json.loads((DATA / "h200_occupancy_curves.json").read_text())["launches"]


def unrolled(runs: list[list[int]]) -> list[int]:
    return [warps for warps, points in runs for _ in range(points)]


@pytest.mark.parametrize("drawn", CURVES, ids=lambda d: f"{d['block_threads']}-{d['shared_dynamic']}")
def test_nsight_draws_the_same_curves(drawn: dict[str, Any]) -> None:
    launch = (drawn["registers"], drawn["block_threads"], 0, drawn["shared_dynamic"], drawn["barriers"])
    ours = curves(machine("h200"), *launch)
    registers, threads = unrolled(drawn["register_count"]), unrolled(drawn["block_size"])
    shared = unrolled(drawn["shared_mem_size"])
    assert [(x, registers[x]) for x, _ in ours.registers] == list(ours.registers)
    assert [(x, threads[x // 16]) for x, _ in ours.block_threads] == list(ours.block_threads)
    # Nsight's axis includes the 1 KB that the driver reserves, and its last point is too much for a block.
    inside = [point for point in ours.shared_bytes if (point[0] + 1024) // 512 < len(shared) - 1]
    assert len(inside) > 440
    assert [(x, shared[(x + 1024) // 512]) for x, _ in inside] == inside


def test_curves_reach_from_end_to_end() -> None:
    drawn = curves(machine("t4"), 32, 128)
    assert [drawn.registers[0][0], drawn.registers[-1][0]] == [1, 249]
    assert [drawn.block_threads[0][0], drawn.block_threads[-1][0]] == [32, 1024]
    assert [drawn.shared_bytes[0][0], drawn.shared_bytes[-1][0]] == [0, 64 << 10]


def test_registers_below_what_the_driver_allocates_count_as_that() -> None:
    h200 = machine("h200")
    assert occupancy(h200, 4, 256).limits == occupancy(h200, 16, 256).limits


def test_a_block_that_does_not_fit_has_no_waves() -> None:
    t4 = machine("t4")
    too_much = occupancy(t4, 32, 128, 0, 70_000)
    assert (too_much.blocks, too_much.limiters) == (0, ("shared_mem",))
    with pytest.raises(UsageError, match="shared_mem"):
        waves(t4, too_much, 1)


def test_waves_keep_their_precision() -> None:
    h200 = machine("h200")
    assert math.isclose(waves(h200, occupancy(h200, 32, 256), 256), 256 / (132 * 8), rel_tol=1e-15)


def test_a_carveout_that_the_machine_lacks_is_refused_with_the_possible_ones() -> None:
    with pytest.raises(UsageError, match="32768, 65536 bytes, not 8192"):
        occupancy(machine("t4"), 32, 128, carveout=8192)


@pytest.mark.parametrize("launch", [(-1, 32, 0, 0, 0), (9, 0, 0, 0, 0), (9, 32, -1, 0, 0), (9, 32, 0, 0, -1)])
def test_impossible_launches_are_refused(launch: tuple[int, int, int, int, int]) -> None:
    with pytest.raises(UsageError):
        occupancy(machine("h200"), *launch)


@pytest.mark.parametrize(
    ("registers", "threads", "blocks", "resident"),
    [
        (10, 512, 3, 1536), (10, 256, 6, 1536), (10, 128, 8, 1024),
        (12, 256, 5, 1280),  # two registers more cost a sixth of the threads
        (64, 256, 1, 256), (65, 256, 0, 0),
    ],
)  # fmt: skip
def test_lesson_k(registers: int, threads: int, blocks: int, resident: int) -> None:
    """Kirk and Hwu, section 5.4: a device of 1,536 threads, 8 blocks and 16,384 registers a multiprocessor."""
    here = occupancy(machine("textbook"), registers, threads)
    assert (here.blocks, here.blocks * threads) == (blocks, resident)


def test_lesson_k_the_cliff() -> None:
    here = occupancy(machine("textbook"), 10, 256)
    assert here.blocks * 256 * 10 == 15_360
    after = occupancy(machine("textbook"), 12, 256)
    assert after.limiters == ("registers",)
    assert after.warps / here.warps == pytest.approx(5 / 6)


def test_lesson_k_shared_memory_likewise() -> None:
    blocks = [occupancy(machine("textbook"), 10, 256, size).blocks for size in (2_730, 2_731, 16_384, 16_385)]
    assert blocks == [6, 5, 1, 0]


@pytest.mark.parametrize(("registers", "seats"), [(16, 16), (32, 16), (33, 12), (77, 6), (128, 4), (255, 2)])
def test_a_sub_partition_has_seats_for_as_many_warps_as_it_has_registers_for(registers: int, seats: int) -> None:
    for threads in (32, 128, 160):
        found = occupancy(machine("h200"), registers, threads)
        assert found.seats == seats
        assert found.blocks == min(4 * seats * 32 // threads, found.places)
