"""Unit speeds: rates and latencies that the model of time reads, and their bounds.

Cycles are those of a multiprocessor's clock.  The tables are in the architecture's file; the GPU's own file wins over
it key by key, and names under [calibration] when and with what they were measured.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from warplens.errors import UsageError

Tables = Mapping[str, Any]


def _number(table: str, low: float, high: float) -> Any:
    return field(metadata={"table": table, "low": low, "high": high})


@dataclass(frozen=True, slots=True)
class Speeds:
    """[pipe_cycles]: from one warp instruction to the next of the same pipe of a sub-partition; pipes as Nsight
    Compute names them, and shuffle.  fma_high is that of IMAD.HI in fma_heavy, tensor that of HMMA.16816 with float
    sums, tensor_half that of smaller shapes, tensor_double that of DMMA.1684.

    [latency_cycles], from issue to use by an instruction that waits for the scoreboard
      xu, shuffle, special_register (S2R), constant (LDC that hits), tensor   of instructions without memory
      table, table_first       more for a line that the cache of constants lacks; that no cache of constants has
      shared, l1, l2, dram     of a load that is served there, alone
      dram_spread              how far loads from DRAM scatter about that mean (model/sm/dram_share.py: scattered)
      dram_queue               that loads wait where half of what DRAM could do is done
      dram_turn                that loads wait besides for turns between reading and writing (dram_share.py: latency_of)
      shared_atomic, global_atomic   of one whose result comes back
      global_atomic_half       by how much less it takes in one half of L2, and more in the other
      barrier                  from the last arrival to the first issue after it
      barrier_arrival          between two warps of a multiprocessor that arrive at barriers
      branch                   from a taken branch to the next issue
      store                    until a store has read its registers
      fence                    of MEMBAR
      hand_over_cycles         from the store by which a block publishes to the store of the block that waits for it
      meeting_cycles           that a meeting of all multiprocessors takes more than that of one block
      look_back_cycles         of one look at what earlier blocks have published
      instruction              of code that the multiprocessor has not executed yet, per 128 bytes

    [load_path], one multiprocessor
      queue                    memory instructions that a sub-partition holds before they are served
      lsu_issue                cycles between two memory instructions of a sub-partition
      global_request           cycles that a global access takes at the least;  shared_request: likewise
      miss_request             likewise of one that not L1 alone can answer
      store_slack_cycles       of work that DRAM may have left before stores wait
      store_lines              that wait to leave for L2 at most, and take along what is stored to them
      sectors_in_flight        that the multiprocessor waits for at most
      atomics_in_flight        sectors of atomics on their way to L2 until others wait
      table_word_cycles        between two different words that lanes read of a table in constant memory
      table_replay_cycles      likewise of one instruction alone
      table_line_cycles        between two lines of 64 bytes that one multiprocessor's cache of constants lacks
      table_line_cycles_of_all   likewise of all multiprocessors together
      wavefront_cycles         between two wavefronts of one sub-partition
      l1_share                 of the unified memory without the carve-out that holds lines
      l2_port                  bytes a cycle from L2 to one multiprocessor

    [l2_rates]   bytes a cycle, for each multiprocessor when all ask: read, read_hot (what fits into hot_bytes), write
      line_read_cycles, line_write_cycles   that a request for some of a line takes at the least, likewise
      atomic_piece_cycles      between two pieces of atomics, of 32 bytes, likewise; loads wait for them
      atomic_lone_cycles       between two atomics of which each wants one word of a line, likewise
      atomic_reply_cycles      between two results of atomics, likewise
      late_near_cycles, late_far_cycles   more for a sector that is stored while a load of it is on its way from L2,
                                          from DRAM
      atomic_word_cycles       of the unit of L2 that does them: of lanes on one word, one after the other
      atomic_sector_cycles     likewise of lanes on all the words of a sector
      atomic_float_cycles      of lanes that add floats to one word
      atomic_units             such units that there are, two on each port
      kept_share               of L2 that may be taken before what was read is evicted, in both halves if it has two
      parts_share              likewise before a sector of which a part has been stored is written to DRAM
      lost_share               likewise until nothing is left of what is read again and again in turn: all that L2 holds
      halves                   of L2, 1 or 2: a multiprocessor asks one, and what is at home in the other stands in both
      dirty_share              of L2 that may hold what has been stored when the kernel ends
    [dram_rates]
      read_share, write_share  of the theoretical bandwidth that streams reach
      turn_cost                how much more time writing takes while as much is read, as a share
      turn_growth              how the wait for turns grows with what DRAM does, b / (1 - turn_growth * b)
      held_cost                what a stored sector that L2 still holds at the end costs, of one that DRAM writes
      lone_sector              what a sector costs that is written without the others of its line
      lone_half                what half a line costs that is read without the other and without adjacent lines

    [dram_scatter]   by how many dram_spreads a load from DRAM is later than dram: percentiles of cold lines
      least, tenth, quarter, half, three_quarters, nine_tenths, all_but_hundredth, most

    [clocks]
      matrix_megahertz         of multiprocessors that execute matrix instructions but DMMA; 0: the boost clock

    [launch_cost]
      launch_microseconds      of a kernel that does nothing
      event_microseconds       of that time that lie between the events around a kernel, but not within its
                               gpu__time_duration.sum
      first_block_cycles       from the start to a block's first instruction
      resident_cycles          that a warp is on its multiprocessor before its first instruction and after its last
      first_resident_cycles    until code and parameters that were not read before arrive, for blocks that come by then
      block_start_cycles       between two blocks that one multiprocessor starts, and one more for each warp
      warp_start_cycles        between two warps that one multiprocessor starts
      block_rate               blocks a cycle of which the whole GPU notes that they have ended
      block_end_cycles         from there to the first instruction of the block that takes its place
    """

    pipe_fma: float = _number("pipe_cycles", 0.25, 64)
    pipe_fma_heavy: float = _number("pipe_cycles", 0.25, 64)
    pipe_fma_high: float = _number("pipe_cycles", 0.25, 64)
    pipe_alu: float = _number("pipe_cycles", 0.25, 64)
    pipe_fp16: float = _number("pipe_cycles", 0.25, 64)
    pipe_fp64: float = _number("pipe_cycles", 0.25, 128)
    pipe_xu: float = _number("pipe_cycles", 0.25, 128)
    pipe_cbu: float = _number("pipe_cycles", 0.25, 64)
    pipe_adu: float = _number("pipe_cycles", 0.25, 64)
    pipe_uniform: float = _number("pipe_cycles", 0.25, 64)
    pipe_tensor: float = _number("pipe_cycles", 0.25, 256)
    pipe_tensor_half: float = _number("pipe_cycles", 0.25, 256)
    pipe_tensor_double: float = _number("pipe_cycles", 0.25, 1024)
    pipe_shuffle: float = _number("pipe_cycles", 0.25, 64)
    latency_xu: float = _number("latency_cycles", 1, 1000)
    latency_shuffle: float = _number("latency_cycles", 1, 1000)
    latency_special_register: float = _number("latency_cycles", 1, 1000)
    latency_constant: float = _number("latency_cycles", 1, 1000)
    latency_table: float = _number("latency_cycles", 0, 1000)
    latency_table_first: float = _number("latency_cycles", 0, 10000)
    latency_tensor: float = _number("latency_cycles", 1, 1000)
    latency_shared: float = _number("latency_cycles", 1, 1000)
    latency_l1: float = _number("latency_cycles", 1, 1000)
    latency_l2: float = _number("latency_cycles", 1, 5000)
    latency_dram: float = _number("latency_cycles", 1, 10000)
    latency_dram_spread: float = _number("latency_cycles", 0, 10000)
    latency_dram_queue: float = _number("latency_cycles", 0, 10000)
    latency_dram_turn: float = _number("latency_cycles", 0, 10000)
    latency_shared_atomic: float = _number("latency_cycles", 1, 5000)
    latency_global_atomic: float = _number("latency_cycles", 1, 10000)
    latency_global_atomic_half: float = _number("latency_cycles", 0, 10000)
    latency_barrier: float = _number("latency_cycles", 1, 1000)
    latency_barrier_arrival: float = _number("latency_cycles", 0, 1000)
    latency_branch: float = _number("latency_cycles", 1, 1000)
    latency_store: float = _number("latency_cycles", 1, 1000)
    latency_fence: float = _number("latency_cycles", 1, 10000)
    hand_over_cycles: float = _number("latency_cycles", 0, 10000)
    meeting_cycles: float = _number("latency_cycles", 0, 10000)
    look_back_cycles: float = _number("latency_cycles", 0, 10000)
    latency_instruction: float = _number("latency_cycles", 0, 10000)
    queue: float = _number("load_path", 1, 64)
    lsu_issue: float = _number("load_path", 0.25, 64)
    global_request: float = _number("load_path", 0.25, 64)
    shared_request: float = _number("load_path", 0.25, 64)
    miss_request: float = _number("load_path", 0.25, 64)
    store_slack_cycles: float = _number("load_path", 0, 1_000_000)
    store_lines: float = _number("load_path", 1, 1000)
    sectors_in_flight: float = _number("load_path", 16, 100_000)
    atomics_in_flight: float = _number("load_path", 1, 100_000)
    table_word_cycles: float = _number("load_path", 0, 100)
    table_replay_cycles: float = _number("load_path", 0, 100)
    table_line_cycles: float = _number("load_path", 0, 1000)
    table_line_cycles_of_all: float = _number("load_path", 0, 100)
    wavefront_cycles: float = _number("load_path", 0.25, 64)
    l1_share: float = _number("load_path", 0.1, 1)
    l2_port: float = _number("load_path", 1, 1024)
    l2_read: float = _number("l2_rates", 1, 1024)
    l2_read_hot: float = _number("l2_rates", 1, 1024)
    hot_bytes: float = _number("l2_rates", 0, 2**30)
    l2_write: float = _number("l2_rates", 1, 1024)
    l2_line_read_cycles: float = _number("l2_rates", 0, 100)
    l2_atomic_piece_cycles: float = _number("l2_rates", 0, 1000)
    l2_atomic_lone_cycles: float = _number("l2_rates", 0, 1000)
    l2_atomic_reply_cycles: float = _number("l2_rates", 0, 1000)
    l2_line_write_cycles: float = _number("l2_rates", 0, 100)
    late_near_cycles: float = _number("l2_rates", 0, 1000)
    late_far_cycles: float = _number("l2_rates", 0, 1000)
    atomic_word_cycles: float = _number("l2_rates", 0.1, 1000)
    atomic_sector_cycles: float = _number("l2_rates", 0.01, 1000)
    atomic_float_cycles: float = _number("l2_rates", 0.1, 1000)
    atomic_units: float = _number("l2_rates", 1, 1024)
    kept_share: float = _number("l2_rates", 0.1, 1)
    parts_share: float = _number("l2_rates", 0.01, 1)
    lost_share: float = _number("l2_rates", 0.1, 1)
    halves: float = _number("l2_rates", 1, 2)
    dirty_share: float = _number("l2_rates", 0, 1)
    read_share: float = _number("dram_rates", 0.1, 1)
    write_share: float = _number("dram_rates", 0.1, 1)
    turn_cost: float = _number("dram_rates", 0, 2)
    turn_growth: float = _number("dram_rates", 0, 1)
    held_cost: float = _number("dram_rates", 0, 1)
    lone_sector: float = _number("dram_rates", 1, 20)
    lone_half: float = _number("dram_rates", 1, 10)
    scatter_least: float = _number("dram_scatter", -10, 0)
    scatter_tenth: float = _number("dram_scatter", -10, 0)
    scatter_quarter: float = _number("dram_scatter", -10, 10)
    scatter_half: float = _number("dram_scatter", -10, 10)
    scatter_three_quarters: float = _number("dram_scatter", -10, 10)
    scatter_nine_tenths: float = _number("dram_scatter", 0, 10)
    scatter_all_but_hundredth: float = _number("dram_scatter", 0, 20)
    scatter_most: float = _number("dram_scatter", 0, 100)
    matrix_megahertz: float = _number("clocks", 0, 10_000)
    launch_microseconds: float = _number("launch_cost", 0.1, 100)
    event_microseconds: float = _number("launch_cost", 0, 100)
    first_block_cycles: float = _number("launch_cost", 0, 100_000)
    resident_cycles: float = _number("launch_cost", 0, 10_000)
    first_resident_cycles: float = _number("launch_cost", 0, 10_000)
    block_start_cycles: float = _number("launch_cost", 0, 10_000)
    warp_start_cycles: float = _number("launch_cost", 0, 1000)
    block_rate: float = _number("launch_cost", 0.001, 100)
    block_end_cycles: float = _number("launch_cost", 0, 10_000)


TABLES = frozenset(f.metadata["table"] for f in fields(Speeds))
CALIBRATION = "calibration"
TEXTS = ("source", "sources")  # of a table: of all its keys, and of some that have another


def _key(name: str, table: str) -> str:
    """The key of a field in its table: the name without the name of the table."""
    if table in ("pipe_cycles", "latency_cycles", "l2_rates", "dram_scatter"):
        for prefix in ("pipe_", "latency_", "l2_", "scatter_"):
            if name.startswith(prefix):
                return name.removeprefix(prefix)
    return name


_KEYS = {f.name: (f.metadata["table"], _key(f.name, f.metadata["table"])) for f in fields(Speeds)}


def key_of(name: str) -> tuple[str, str]:
    """A field's table, and its key there."""
    return _KEYS[name]


def speeds_from(arch: Tables, own: Tables, arch_file: str, file: str) -> Speeds:
    """Both files' tables; UsageError names file, table and key of what is missing, unknown or absurd."""
    known = {key_of(f.name) for f in fields(Speeds)}
    for tables, name in ((arch, arch_file), (own, file)):
        for table in TABLES & set(tables):
            for key in (*tables[table], *tables[table].get("sources", ())):
                if key not in TEXTS and (table, key) not in known:
                    raise UsageError(f"{name}: [{table}] {key} is no key of a description")
    return Speeds(**{f.name: _value(f.name, f.metadata, arch, own, arch_file, file) for f in fields(Speeds)})


def speed_sources(arch: Tables, own: Tables) -> dict[str, str]:
    """ "table.key" -> where the number comes from.

    derived         by calibration/derive.py from a record that `warplens calibrate` wrote
    read            from a measurement file, in one step (tests/calibration/test_readings.py)
    assumed         fitted by hand or taken over: no program gives it
    not calibrated  published, or taken over from another GPU
    """
    return {f"{table}.{key}": _source(table, key, arch, own) for table, key in map(key_of, _KEYS)}


def _source(table: str, key: str, arch: Tables, own: Tables) -> str:
    content = own[table] if key in own.get(table, {}) else arch[table]
    return str(content.get("sources", {}).get(key, content["source"]))


def _value(name: str, rule: Mapping[str, Any], arch: Tables, own: Tables, arch_file: str, file: str) -> float:
    table, key = key_of(name)
    mine = own.get(table, {})
    value = mine.get(key, arch.get(table, {}).get(key))
    where = file if key in mine else arch_file
    if value is None:
        raise UsageError(f"{arch_file}: [{table}] {key} is missing")
    if isinstance(value, bool) or not isinstance(value, int | float) or not rule["low"] <= value <= rule["high"]:
        raise UsageError(
            f"{where}: [{table}] {key} must be a number from {rule['low']} to {rule['high']}, not {value!r}"
        )
    return float(value)
