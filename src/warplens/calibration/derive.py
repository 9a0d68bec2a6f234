"""The tables of a GPU's file that follow from a record, each key with the trials behind it.

What follows from no single sweep (how long stores may wait, what a miss costs beside its bytes) stays with the
architecture: the model of time is fitted for it on the same trials.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from warplens.calibration.record import Row
from warplens.errors import UsageError

SUB_PARTITIONS = 4
ADDRESS_CYCLES = 5  # from an integer instruction to a load that takes its result as its address (sass.md 6.4)
NANO = 1e9
CROWD = 8 * 256  # lanes of a multiprocessor (crowds.py), each with 4, 8 or 16 rounds
TABLES = ("pipe_cycles", "latency_cycles", "load_path", "l2_rates", "dram_rates", "launch_cost")


@dataclass(frozen=True)
class Values:
    """A record's values by name of the trial; UsageError names the trial that is missing."""

    rows: Mapping[str, Row]
    multiprocessors: int
    megahertz: float

    def of(self, name: str) -> float:
        if name not in self.rows:
            raise UsageError(f"the record has no trial {name!r}: run warplens calibrate again")
        return float(self.rows[name]["value"])

    def rate(self, name: str) -> float:
        """Cycles from one instruction of a sub-partition to the next, of 4 warps each."""
        return self.of(f"pipe {name}, 16 warps") / SUB_PARTITIONS

    def cycles(self, name: str) -> float:
        """Of a launch, without those of an empty kernel."""
        return (self.of(name) - self.of("empty, 1 blocks of 32")) * self.megahertz

    def bytes_per_cycle(self, name: str, multiprocessors: int) -> float:
        """Of one multiprocessor, without the time of an empty kernel."""
        cycles = (self.of(name) - self.of("empty, 1 blocks of 32")) * self.megahertz
        return float(self.rows[name]["bytes"]) / cycles / multiprocessors

    def share(self, name: str, gigabytes_per_second: float) -> float:
        """Of the theoretical bandwidth."""
        return float(self.rows[name]["bytes"]) / (self.of(name) / 1e6) / NANO / gigabytes_per_second


Formula = Callable[[Values], float]

PIPES: Mapping[str, Formula] = {
    "fma": lambda v: v.rate("fma"),
    "fma_heavy": lambda v: v.rate("imad"),
    "fma_high": lambda v: v.rate("high"),
    "alu": lambda v: v.rate("lop"),
    "fp16": lambda v: v.rate("half"),
    "fp64": lambda v: v.rate("double"),
    "xu": lambda v: v.rate("mufu"),
    "shuffle": lambda v: v.rate("shuffle"),
    "tensor": lambda v: v.rate("tensor"),
    "tensor_half": lambda v: v.of("matrix half_1688, 16 warps") / SUB_PARTITIONS,
    "tensor_double": lambda v: v.of("matrix double_1684, 16 warps") / SUB_PARTITIONS,
}
LATENCIES: Mapping[str, Formula] = {
    "xu": lambda v: v.of("chain mufu"),
    "shuffle": lambda v: v.of("chain shuffle"),
    "special_register": lambda v: v.of("single special") - v.of("single nothing"),
    "constant": lambda v: v.of("chain constant") - ADDRESS_CYCLES,
    "tensor": lambda v: v.of("chain tensor"),
    "shared": lambda v: v.of("chase shared") - ADDRESS_CYCLES,
    "l1": lambda v: v.of("chase 128 KiB") - ADDRESS_CYCLES,
    "l2": lambda v: v.of("chase 8192 KiB") - ADDRESS_CYCLES,
    "dram": lambda v: v.of("chase 512 MiB cold, step 65792") - ADDRESS_CYCLES,
    "shared_atomic": lambda v: v.of("chain shared atomic") - ADDRESS_CYCLES,
    "global_atomic": lambda v: v.of("chase atomic") - ADDRESS_CYCLES,
    "barrier_arrival": lambda v: (v.of("barrier, 32 warps") - v.of("barrier, 1 warps")) / 31,
    "fence": lambda v: v.of("fence, 1 warps"),
    "hand_over_cycles": lambda v: _more(v, "chain of blocks, {} blocks of 32, 0 steps") / (7 * v.multiprocessors),
    "look_back_cycles": lambda v: _look_back(v),
}
LOADS: Mapping[str, Formula] = {
    "l2_port": lambda v: v.bytes_per_cycle("L2 16 B, 32 warps of one", 1),
    "table_word_cycles": lambda v: (
        v.of("table chain, 2 words, 32 warps") - v.of("table chain, 1 words, 32 warps")
    ) / 32,
    "table_replay_cycles": lambda v: v.of("table chain, 2 words, 1 warps") - v.of("table chain, 1 words, 1 warps"),
}
L2: Mapping[str, Formula] = {
    "read": lambda v: v.bytes_per_cycle(
        f"L2 16 B, {v.multiprocessors} multiprocessors, each another part", v.multiprocessors
    ),
    "read_hot": lambda v: v.bytes_per_cycle(f"L2 16 B, {v.multiprocessors} multiprocessors", v.multiprocessors),
    "write": lambda v: v.bytes_per_cycle("write 4 warm, 16 MiB", v.multiprocessors),
    "atomic_word_cycles": lambda v: _word(v),
    "atomic_float_cycles": lambda v: v.cycles("crowd float, 1 words every 1") / (CROWD * v.multiprocessors * 4),
    "atomic_sector_cycles": lambda v: v.cycles("crowd lines, 1 every 32") / (CROWD * v.multiprocessors * 16 / 32 * 4),
    "line_update_cycles": lambda v: v.cycles("crowd add, 1048576 words every 1") / (CROWD * 8),
}
LAUNCHES: Mapping[str, Formula] = {
    "launch_microseconds": lambda v: v.of("empty, 1 blocks of 32"),
    "block_rate": lambda v: _more_blocks(v) / _longer(v, 32),
}


def tables(
    rows: Mapping[str, Row], multiprocessors: int, dram_gigabytes_per_second: float
) -> dict[str, dict[str, float]]:
    """Table -> key -> value, to three digits."""
    known = Values(rows, multiprocessors, float(rows["clock, computing"]["value"]))
    shares: Mapping[str, Formula] = {
        "read_share": lambda v: v.share("read 4_4, 1 GiB", dram_gigabytes_per_second),
        "write_share": lambda v: v.share("write 4, 1024 MiB", dram_gigabytes_per_second),
    }
    formulas = (PIPES, LATENCIES, LOADS, L2, shares, LAUNCHES)
    return {
        table: {key: float(f"{formula(known):.3g}") for key, formula in of.items()}
        for table, of in zip(TABLES, formulas, strict=True)
    }


def toml(found: Mapping[str, Mapping[str, float]], source: str) -> str:
    """For the GPU's file."""
    blocks = [
        "\n".join([f"[{table}]", *(f"{key} = {value:g}" for key, value in keys.items()), f"source = '{source}'"])
        for table, keys in (*found.items(), ("calibration", {}))
    ]
    return "\n\n".join(blocks) + "\n"


def _word(v: Values) -> float:
    """Cycles a lane: 8 warps a block, 16 rounds."""
    lanes = v.multiprocessors * 8 * 16 * 32
    return v.of(f"global add one word, {v.multiprocessors} blocks") * v.megahertz / lanes


def _more(v: Values, name: str) -> float:
    """Cycles that 8 blocks a multiprocessor take more than one."""
    return (v.of(name.format(8 * v.multiprocessors)) - v.of(name.format(v.multiprocessors))) * v.megahertz


def _look_back(v: Values) -> float:
    """Of one look: model/waits.py has how many W blocks need that start together."""
    more = _more(v, "look back, {} blocks of 32, 0 steps") - _more(v, "empty, {} blocks of 32")
    return more / (math.sqrt(2 * 8 * v.multiprocessors / 32) - math.sqrt(2 * v.multiprocessors / 32))


def _more_blocks(v: Values) -> int:
    return v.multiprocessors * (512 - 64)


def _longer(v: Values, block: int) -> float:
    """Cycles that these blocks take."""
    names = [f"empty, {v.multiprocessors * count} blocks of {block}" for count in (512, 64)]
    return (v.of(names[0]) - v.of(names[1])) * v.megahertz
