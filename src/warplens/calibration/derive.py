"""Derivation: tables of a GPU's file computed from a record, each key with the trials it comes from.

What follows from no single sweep (how long stores may wait, what a miss costs in addition to its bytes) is fitted by
hand to the same trials: the GPU's file has it behind these keys, each with a source of its own.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import tomlkit

from warplens.calibration.readings import Row
from warplens.calibration.trial import MIB
from warplens.errors import UsageError
from warplens.machine.unit_speeds import BUSIEST

SUB_PARTITIONS = 4
ADDRESS_CYCLES = 5  # from an integer instruction to a load that takes its result as its address (sass.md 6.4)
UNIT_CYCLE = 1  # from the issue of a memory instruction until its unit has it
FMA_CYCLES = 4  # from one multiplication to the next that takes its result
LOOP_CYCLES = 19  # the stall counts of the loop of `branch` without its branch
UNROLLED = 16  # barriers in the body of their loop
TABLE_WORDS = 32  # that a warp's lanes ask for, each in a line of its own where they lie 64 bytes apart
EMPTY_CYCLES = 300  # of launch_cost.first_block_cycles that an empty kernel spends, too (`once read`: 4 KiB to 4 MiB)
GATHERED = 8 * 256 * 64  # words of a multiprocessor
NANO = 1e9
PIECES_OF_EIGHT = 8  # in which an atomic leaves L1 whose lanes are on eight words of a sector, four on each
SHORT = 50  # microseconds: what launches take longer under events is as much as they differ from run to run beyond
CROWD = 8 * 256  # lanes of a multiprocessor (crowds.py), each with 4, 8 or 16 rounds
WRITTEN = (1, 2, 4, 8, 16, 24, 32, 48)  # MiB that trials write
READ_AGAIN = (4, 8, 16, 20, 24, 28, 32)  # MiB of the smaller working sets
FITS, FITS_TWICE = 0.81, 0.3  # of L2: what is only stored stays in it, and what both halves are asked for


@dataclass(frozen=True)
class Values:
    """A record's values by name of the trial; UsageError names the trial that is missing."""

    rows: Mapping[str, Row]
    multiprocessors: int
    megahertz: float
    dram_gigabytes_per_second: float
    l2_bytes: int

    def of(self, name: str) -> float:
        if name not in self.rows:
            raise UsageError(f"the record has no trial {name!r}: run warplens calibrate again")
        return float(self.rows[name]["value"])

    def rate(self, name: str) -> float:
        """Cycles from one instruction of a sub-partition to the next, of 4 warps each: halves, the rest is the loop."""
        return round(2 * self.of(f"{name}, 16 warps") / SUB_PARTITIONS) / 2

    def chain(self, name: str) -> float:
        """Cycles from one instruction to the next that needs its result, without those of the loop."""
        return self.of(f"chain {name}") - (self.of("chain fma") - FMA_CYCLES)

    def time(self, name: str) -> float:
        """Microseconds of a launch, without those of an empty kernel."""
        return self.of(name) - self.of("empty, 1 blocks of 32")

    def cycles(self, name: str) -> float:
        """Likewise, cycles."""
        return self.time(name) * self.megahertz

    def bytes_per_cycle(self, name: str, multiprocessors: int, less: str = "") -> float:
        """Of one multiprocessor;  less: of what a launch takes longer than this one, which moves less."""
        moved, cycles = float(self.rows[name]["bytes"]), self.cycles(name)
        if less:
            moved, cycles = moved - float(self.rows[less]["bytes"]), cycles - self.cycles(less)
        return moved / cycles / multiprocessors

    def longer(self, name: str, less: str) -> float:
        """Microseconds for each byte that one launch moves more than another."""
        more = float(self.rows[name]["bytes"]) - float(self.rows[less]["bytes"])
        return (self.of(name) - self.of(less)) / more

    def share(self, name: str, less: str) -> float:
        """Of the theoretical bandwidth."""
        return 1e6 / self.longer(name, less) / NANO / self.dram_gigabytes_per_second

    def most(self, sizes: Sequence[int], share: float) -> int:
        """The largest of so many MiB that such a share of L2 holds."""
        return max((mib for mib in sizes if mib * MIB <= share * self.l2_bytes), default=min(sizes))


Formula = Callable[[Values], float]

PIPES: Mapping[str, Formula] = {
    "fma": lambda v: v.rate("pipe fma"),
    "fma_heavy": lambda v: v.rate("pipe imad"),
    "fma_high": lambda v: v.rate("pipe high"),
    "alu": lambda v: v.rate("pipe lop"),
    "fp16": lambda v: v.rate("pipe half"),
    "fp64": lambda v: v.rate("pipe double"),
    "xu": lambda v: v.rate("pipe mufu"),
    "shuffle": lambda v: v.rate("pipe shuffle"),
    "tensor": lambda v: v.rate("pipe tensor"),
    "tensor_half": lambda v: v.rate("matrix half_1688"),
    "tensor_double": lambda v: v.rate("matrix double_1684"),
}
LATENCIES: Mapping[str, Formula] = {
    "xu": lambda v: round(v.chain("mufu")),
    "shuffle": lambda v: round(v.chain("shuffle") - UNIT_CYCLE),
    "special_register": lambda v: v.of("single special") - v.of("single nothing"),
    "constant": lambda v: round(v.chain("constant") - ADDRESS_CYCLES - UNIT_CYCLE - LOADS["table_word_cycles"](v)),
    "table": lambda v: round(_table_line(v) - LOADS["table_word_cycles"](v)),
    "tensor": lambda v: round(v.chain("tensor")),
    "shared": lambda v: round(v.of("chain shared 4 B") - UNIT_CYCLE - _conflicts(v)),
    "l1": lambda v: round(v.of("chase 128 KiB") - ADDRESS_CYCLES - UNIT_CYCLE),
    "l2": lambda v: round(v.of("chase 8192 KiB") - ADDRESS_CYCLES - UNIT_CYCLE),
    "dram": lambda v: cold_lines(v).mean - UNIT_CYCLE,
    "dram_spread": lambda v: cold_lines(v).spread,
    "dram_queue": lambda v: _queue(v),
    "dram_turn": lambda v: _turn(v),
    "shared_atomic": lambda v: round(v.of("chain shared atomic") - UNIT_CYCLE - _conflicts(v)),
    "global_atomic": lambda v: round(v.of("chase atomic") - ADDRESS_CYCLES - UNIT_CYCLE),
    "barrier": lambda v: round(v.of("barrier, 1 warps") - _arrival(v) - v.of("branch, 1 warps") / UNROLLED),
    "barrier_arrival": lambda v: _arrival(v),
    "branch": lambda v: v.of("branch, 1 warps") - LOOP_CYCLES,
    "fence": lambda v: v.of("fence, 1 warps"),
    "hand_over_cycles": lambda v: _more(v, "chain of blocks, {} blocks of 32, 0 steps") / (7 * v.multiprocessors),
    "grid_barrier_cycles": lambda v: _meeting(v, v.multiprocessors) - _meeting(v, 1),
    "look_back_cycles": lambda v: _look_back(v),
}
LOADS: Mapping[str, Formula] = {
    "l2_port": lambda v: v.bytes_per_cycle("L2 16 B, 32 warps of one", 1),
    "wavefront_cycles": lambda v: (v.of("L1 hits, step 32, 1 warps") - v.of("L1 hits, step 16, 1 warps")) / 16,
    "table_word_cycles": lambda v: (
        (v.of("table chain, 2 words, 32 warps") - v.of("table chain, 1 words, 32 warps")) / 32
    ),
    "table_replay_cycles": lambda v: v.of("table chain, 2 words, 1 warps") - v.of("table chain, 1 words, 1 warps"),
}
L2: Mapping[str, Formula] = {
    # Each line by one multiprocessor: where all read the same at once, requests are merged before L2.
    "read": lambda v: v.bytes_per_cycle(f"working set, {v.most(READ_AGAIN, FITS_TWICE)} MiB", v.multiprocessors),
    "line_read_cycles": lambda v: (
        v.cycles(f"gather four at once, {v.most((1, 4, 16), FITS_TWICE)} MiB, 8 blocks of 256") / GATHERED
    ),
    "write": lambda v: _write(v),
    "atomic_word_cycles": lambda v: _word(v),
    "atomic_float_cycles": lambda v: v.cycles("crowd float, 1 words every 1") / (CROWD * v.multiprocessors * 4),
    "atomic_sector_cycles": lambda v: v.cycles("crowd lines, 1 every 32") / (CROWD * v.multiprocessors * 16 / 32 * 4),
    "atomic_piece_cycles": lambda v: _passes(v, "add, 8 words every 1") / PIECES_OF_EIGHT,
    "atomic_lone_cycles": lambda v: _passes(v, "add, 32 words every 1056") / 32,
    "atomic_reply_cycles": lambda v: _passes(v, "return, 32 words every 1056") / 32,
}
READ, WRITE, COPY = (
    ("read 4_4, 4 GiB", "read 4_4, 1 GiB"), ("write 4, 2048 MiB", "write 4, 1024 MiB"),
    ("copy 4_1, 2048 MiB", "copy 4_1, 1024 MiB"),
)  # fmt: skip
DRAM: Mapping[str, Formula] = {
    "read_share": lambda v: v.share(*READ),
    "write_share": lambda v: v.share(*WRITE),
    "turn_cost": lambda v: (2 * v.longer(*COPY) - v.longer(*READ)) / v.longer(*WRITE) - 1,
    "turn_growth": lambda v: _turn_growth(v),
}
SCATTER: Mapping[str, Formula] = {
    "least": lambda v: cold_lines(v).off(0),
    "tenth": lambda v: cold_lines(v).off(1),
    "quarter": lambda v: cold_lines(v).off(2),
    "half": lambda v: cold_lines(v).off(3),
    "three_quarters": lambda v: cold_lines(v).off(4),
    "nine_tenths": lambda v: cold_lines(v).off(5),
    "all_but_hundredth": lambda v: cold_lines(v).off(6),
    "most": lambda v: cold_lines(v).off(7),
}
CLOCKS: Mapping[str, Formula] = {
    "matrix_megahertz": lambda v: v.of(f"clock of floats, {v.multiprocessors} x 512, 0 between"),
}
LAUNCHES: Mapping[str, Formula] = {
    "launch_microseconds": lambda v: v.of("empty, 1 blocks of 32") - EMPTY_CYCLES / v.megahertz,
    "block_rate": lambda v: _more_blocks(v) / _longer(v, 32),
}
TABLES: Mapping[str, Mapping[str, Formula]] = {
    "pipe_cycles": PIPES, "latency_cycles": LATENCIES, "load_path": LOADS, "l2_rates": L2, "dram_rates": DRAM,
    "dram_scatter": SCATTER, "clocks": CLOCKS, "launch_cost": LAUNCHES,
}  # fmt: skip


def tables(
    rows: Mapping[str, Row], multiprocessors: int, dram_gigabytes_per_second: float, l2_bytes: int
) -> dict[str, dict[str, float]]:
    """Table -> key -> value, to three digits."""
    megahertz = float(rows["clock, computing"]["value"])
    known = Values(rows, multiprocessors, megahertz, dram_gigabytes_per_second, l2_bytes)
    return {table: {key: float(f"{formula(known):.3g}") for key, formula in of.items()} for table, of in TABLES.items()}


def event_microseconds(rows: Mapping[str, Row], durations: Mapping[str, float]) -> float:
    """launch_cost.event_microseconds: what trials take longer between two events than by gpu__time_duration.sum, the
    median.

    durations    of trials, in microseconds, by name: `durations()` of readings.py
    """
    timed = {name: float(row["value"]) for name, row in rows.items() if row["unit"] == "us"}
    longer = [timed[name] - time for name, time in durations.items() if time < SHORT and name in timed]
    return float(f"{statistics.median(longer):.3g}")


def toml(found: Mapping[str, Mapping[str, float]], source: str) -> str:
    """TOML of these tables, each with its source, for the GPU's file."""
    document = tomlkit.document()
    for table, values in found.items():
        document[table] = {key: int(value) if value.is_integer() else value for key, value in values.items()}
    document["calibration"] = {}
    for table in document:
        text = source if table == "calibration" else f"measured: {source}"
        document[table]["source"] = tomlkit.string(text, literal="'" not in text)
    return tomlkit.dumps(document)


@dataclass(frozen=True)
class ColdLines:
    """Cycles of loads of cold lines, spread evenly between two percentiles: at SHARES of all."""

    at: Sequence[float]

    @property
    def mean(self) -> float:
        return sum(part * (low + high) / 2 for part, low, high in self._parts())

    @property
    def spread(self) -> float:
        """Their standard deviation."""
        mean = self.mean
        parts = [(part, low - mean, high - mean) for part, low, high in self._parts()]
        return math.sqrt(sum(part * (low * low + low * high + high * high) / 3 for part, low, high in parts))

    def off(self, n: int) -> float:
        """By how many spreads one is off the mean."""
        return (self.at[n] - self.mean) / self.spread

    def _parts(self) -> list[tuple[float, float, float]]:
        shares = [high - low for low, high in pairwise(SHARES)]
        return [(share, low, high) for share, (low, high) in zip(shares, pairwise(self.at), strict=True)]


SHARES = (0, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 1)


def cold_lines(v: Values) -> ColdLines:
    """From three multiprocessors; the slowest of thousands is chance, that of 8 times 32 lines is not."""
    names = [f"lines in DRAM, from block {block}" for block in (0, 1, v.multiprocessors // 2)]
    found = [sum(v.of(f"{name}, percentile {100 * share:.0f}") for name in names) / 3 for share in SHARES[:-1]]
    return ColdLines([*found, v.of("steps, 1 blocks, 32 lines each in 1024 MiB, percentile 100")])


def _table_line(v: Values) -> float:
    """Cycles that a line costs that the cache of constants lacks."""
    separate, adjacent = v.of("table chain, 32 words 64 apart, 1 warps"), v.of("table chain, 32 words, 1 warps")
    return (separate - adjacent) / TABLE_WORDS


def _conflicts(v: Values) -> float:
    """Cycles by which words of shared memory are late whose lanes lie 16 bytes apart: four wavefronts."""
    return 3 * LOADS["wavefront_cycles"](v)


def _arrival(v: Values) -> float:
    return (v.of("barrier, 32 warps") - v.of("barrier, 1 warps")) / 31


def _write(v: Values) -> float:
    most = v.most(WRITTEN, FITS)
    least = max((mib for mib in WRITTEN if mib <= most / 3), default=WRITTEN[0])
    return v.bytes_per_cycle(f"write 4 warm, {most} MiB", v.multiprocessors, f"write 4 warm, {least} MiB")


def _queue(v: Values) -> float:
    """What loads in a chain take longer while others read, as b / (1 - b) of the b that is read of all there is."""
    alone, products, squares = v.of("chase 1024 MiB cold, step 2097408"), 0.0, 0.0
    for trial in ("1 x 512 threads with 1 x 16 B", "2 x 512 threads with 1 x 16 B"):
        name = f"loaded bandwidth, {trial}"
        busy = min(float(v.rows[name]["bytes"]) * v.longer(*READ) / v.time(name), BUSIEST)
        products += (v.of(f"loaded latency, {trial}") - alone) * busy / (1 - busy)
        squares += (busy / (1 - busy)) ** 2
    return products / squares


def _turn(v: Values) -> float:
    """A load waits turn x 2 x reading x writing x busy / (1 - growth x busy) for turns: reading and writing are shares
    of the work of DRAM, busy how much of what it can do while all copy."""
    busy, wait, mixed = _turned(v, "copy 1_1, 2 x 256")
    return wait / mixed * (1 - _turn_growth(v) * busy) / busy


def _turn_growth(v: Values) -> float:
    """From two loads of DRAM: wait x (1 - growth x b) / b is the same in both."""
    (few, waits_less, _), (many, waits_more, _) = (_turned(v, f"copy 1_1, {blocks} x 256") for blocks in (2, 8))
    less, more = waits_less / few, waits_more / many
    return (more - less) / (more * many - less * few)


def _turned(v: Values, name: str) -> tuple[float, float, float]:
    """Of threads that copy a word at a time: how busy DRAM is, what a load waits besides for its turn, in cycles, and
    how much reading and writing are mixed, 0 to 1/2."""
    moved = float(v.rows[name]["bytes"]) / 2
    threads = int(name.split(", ")[1].split(" x ")[0]) * v.multiprocessors * 256
    reads, both = moved * v.longer(*READ), 2 * moved * v.longer(*COPY)
    busy = both / v.time(name)
    queued = min(busy, BUSIEST)
    alone = cold_lines(v).mean + _queue(v) * queued / (1 - queued) + v.of("branch, 1 warps")
    return busy, v.cycles(name) * 4 * threads / moved - alone, 2 * reads * (both - reads) / both**2


def _word(v: Values) -> float:
    """Cycles a lane: 8 warps a block, 16 rounds."""
    lanes = v.multiprocessors * 8 * 16 * 32
    return v.of(f"global add one word, {v.multiprocessors} blocks") * v.megahertz / lanes


def _passes(v: Values, name: str) -> float:
    """Cycles of a multiprocessor, of which all are busy, for an atomic of 32 warps that do 64 or only 16."""
    trial = f"passes {name}, {v.multiprocessors} x 1024, {{}} rounds"
    return (v.cycles(trial.format(64)) - v.cycles(trial.format(16))) / (32 * 48)


def _more(v: Values, name: str) -> float:
    """Cycles that 8 blocks a multiprocessor take more than one."""
    return (v.of(name.format(8 * v.multiprocessors)) - v.of(name.format(v.multiprocessors))) * v.megahertz


def _meeting(v: Values, blocks: int) -> float:
    return (v.of(f"meeting of {blocks}, 8 rounds") - v.of(f"meeting of {blocks}, 1 rounds")) / 7 * v.megahertz


def _look_back(v: Values) -> float:
    """Of one look: model/grid/inter_block_sync.py has how many W blocks need that start together."""
    more = _more(v, "look back, {} blocks of 32, 0 steps") - _more(v, "empty, {} blocks of 32")
    return more / (math.sqrt(2 * 8 * v.multiprocessors / 32) - math.sqrt(2 * v.multiprocessors / 32))


def _more_blocks(v: Values) -> int:
    return v.multiprocessors * (512 - 64)


def _longer(v: Values, block: int) -> float:
    """Cycles that these blocks take."""
    names = [f"empty, {v.multiprocessors * count} blocks of {block}" for count in (512, 64)]
    return (v.of(names[0]) - v.of(names[1])) * v.megahertz
