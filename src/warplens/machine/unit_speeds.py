"""Unit speeds: rates and latencies that the model of time reads, and their bounds.

Cycles are those of a multiprocessor's clock.  Which file a key is read from: parameter.py.  A GPU's own file names
under [calibration] when and with what its numbers were measured.
"""

from __future__ import annotations

from dataclasses import dataclass

from warplens.machine.parameter import assumed, parameter

BUSIEST = assumed(0.85, "share", "DRAM is not taken to be busier: waits of its loads would grow without end")
"""Largest utilisation of DRAM for which a wait is derived from readings, and predicted."""


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
      barrier                  from the last arrival to the first issue after it
      barrier_arrival          between two warps of a multiprocessor that arrive at barriers
      branch                   from a taken branch to the next issue
      store                    until a store has read its registers
      fence                    of MEMBAR
      hand_over_cycles         from the store by which a block publishes to the store of the block that waits for it
      grid_barrier_cycles      that a barrier of blocks on all multiprocessors takes more than that of one block
      look_back_cycles         of one look at what earlier blocks have published

    [load_path], one multiprocessor
      queue                    memory instructions that a sub-partition holds before they are served
      lsu_issue                cycles between two memory instructions of a sub-partition
      global_request           cycles that a global access takes at the least;  shared_request: likewise
      miss_request             likewise of one that not L1 alone can answer
      store_lines              that wait to leave for L2 at most, and take along what is stored to them
      store_slack_cycles       of work that DRAM may have left before stores wait
      requests_in_flight       loads that wait for a line at most, whichever of them has requested it
      sectors_in_flight        that L1 waits for at most
      atomics_in_flight        sectors of atomics on their way to L2 until others wait
      table_word_cycles        between two different words that lanes read of a table in constant memory
      table_replay_cycles      likewise of one instruction alone
      table_line_cycles        between two lines of 64 bytes that one multiprocessor's cache of constants lacks
      table_line_cycles_of_all   likewise of all multiprocessors together
      wavefront_cycles         between two wavefronts of one sub-partition
      l1_share                 of the unified memory without the carve-out that holds lines
      l2_port                  bytes a cycle from L2 to one multiprocessor

    [l2_rates]   bytes a cycle, for each multiprocessor when all ask: read, write
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
      warpgroup_megahertz      likewise products of warpgroups

    [launch_cost]
      launch_microseconds      of a kernel that does nothing
      event_microseconds       of that time that lie between the events around a kernel, but not within its
                               gpu__time_duration.sum
      node_microseconds        by which a kernel in a graph begins sooner behind another than behind a launch
      first_block_cycles       from the start to a block's first instruction
      resident_cycles          that a warp is on its multiprocessor before its first instruction and after its last
      first_resident_cycles    until code and parameters that were not read before arrive, for blocks that come by then
      block_start_cycles       between two blocks that one multiprocessor starts, and one more for each warp
      warp_start_cycles        between two warps that one multiprocessor starts
      block_rate               blocks a cycle of which the whole GPU notes that they have ended
      block_end_cycles         from there to the first instruction of the block that takes its place
    """

    pipe_fma: float = parameter("pipe_cycles", 0.25, 64)
    pipe_fma_heavy: float = parameter("pipe_cycles", 0.25, 64)
    pipe_fma_high: float = parameter("pipe_cycles", 0.25, 64)
    pipe_alu: float = parameter("pipe_cycles", 0.25, 64)
    pipe_fp16: float = parameter("pipe_cycles", 0.25, 64)
    pipe_fp64: float = parameter("pipe_cycles", 0.25, 128)
    pipe_xu: float = parameter("pipe_cycles", 0.25, 128)
    pipe_cbu: float = parameter("pipe_cycles", 0.25, 64)
    pipe_adu: float = parameter("pipe_cycles", 0.25, 64)
    pipe_uniform: float = parameter("pipe_cycles", 0.25, 64)
    pipe_tensor: float = parameter("pipe_cycles", 0.25, 256)
    pipe_tensor_half: float = parameter("pipe_cycles", 0.25, 256)
    pipe_tensor_double: float = parameter("pipe_cycles", 0.25, 1024)
    pipe_shuffle: float = parameter("pipe_cycles", 0.25, 64)
    latency_xu: float = parameter("latency_cycles", 1, 1000)
    latency_shuffle: float = parameter("latency_cycles", 1, 1000)
    latency_special_register: float = parameter("latency_cycles", 1, 1000)
    latency_constant: float = parameter("latency_cycles", 1, 1000)
    latency_table: float = parameter("latency_cycles", 0, 1000)
    latency_table_first: float = parameter("latency_cycles", 0, 10000)
    latency_tensor: float = parameter("latency_cycles", 1, 1000)
    latency_shared: float = parameter("latency_cycles", 1, 1000)
    latency_l1: float = parameter("latency_cycles", 1, 1000)
    latency_l2: float = parameter("latency_cycles", 1, 5000)
    latency_dram: float = parameter("latency_cycles", 1, 10000)
    latency_dram_spread: float = parameter("latency_cycles", 0, 10000)
    latency_dram_queue: float = parameter("latency_cycles", 0, 10000)
    latency_dram_turn: float = parameter("latency_cycles", 0, 10000)
    latency_shared_atomic: float = parameter("latency_cycles", 1, 5000)
    latency_global_atomic: float = parameter("latency_cycles", 1, 10000)
    latency_barrier: float = parameter("latency_cycles", 1, 1000)
    latency_barrier_arrival: float = parameter("latency_cycles", 0, 1000)
    latency_branch: float = parameter("latency_cycles", 1, 1000)
    latency_store: float = parameter("latency_cycles", 1, 1000)
    latency_fence: float = parameter("latency_cycles", 1, 10000)
    hand_over_cycles: float = parameter("latency_cycles", 0, 10000)
    grid_barrier_cycles: float = parameter("latency_cycles", 0, 10000)
    look_back_cycles: float = parameter("latency_cycles", 0, 10000)
    queue: float = parameter("load_path", 1, 64, "instructions")
    lsu_issue: float = parameter("load_path", 0.25, 64)
    global_request: float = parameter("load_path", 0.25, 64)
    shared_request: float = parameter("load_path", 0.25, 64)
    miss_request: float = parameter("load_path", 0.25, 64)
    store_lines: float = parameter("load_path", 1, 1000, "lines")
    store_slack_cycles: float = parameter("load_path", 0, 1_000_000)
    requests_in_flight: float = parameter("load_path", 1, 100_000, "loads")
    sectors_in_flight: float = parameter("load_path", 16, 100_000, "sectors")
    atomics_in_flight: float = parameter("load_path", 1, 100_000, "sectors")
    table_word_cycles: float = parameter("load_path", 0, 100)
    table_replay_cycles: float = parameter("load_path", 0, 100)
    table_line_cycles: float = parameter("load_path", 0, 1000)
    table_line_cycles_of_all: float = parameter("load_path", 0, 100)
    wavefront_cycles: float = parameter("load_path", 0.25, 64)
    l1_share: float = parameter("load_path", 0.1, 1, "share")
    l2_port: float = parameter("load_path", 1, 1024, "bytes/cycle")
    l2_read: float = parameter("l2_rates", 1, 1024, "bytes/cycle")
    l2_write: float = parameter("l2_rates", 1, 1024, "bytes/cycle")
    l2_line_read_cycles: float = parameter("l2_rates", 0, 100)
    l2_atomic_piece_cycles: float = parameter("l2_rates", 0, 1000)
    l2_atomic_lone_cycles: float = parameter("l2_rates", 0, 1000)
    l2_atomic_reply_cycles: float = parameter("l2_rates", 0, 1000)
    l2_line_write_cycles: float = parameter("l2_rates", 0, 100)
    late_near_cycles: float = parameter("l2_rates", 0, 1000)
    late_far_cycles: float = parameter("l2_rates", 0, 1000)
    atomic_word_cycles: float = parameter("l2_rates", 0.1, 1000)
    atomic_sector_cycles: float = parameter("l2_rates", 0.01, 1000)
    atomic_float_cycles: float = parameter("l2_rates", 0.1, 1000)
    atomic_units: float = parameter("l2_rates", 1, 1024, "units")
    kept_share: float = parameter("l2_rates", 0.1, 1, "share")
    parts_share: float = parameter("l2_rates", 0.01, 1, "share")
    lost_share: float = parameter("l2_rates", 0.1, 1, "share")
    halves: float = parameter("l2_rates", 1, 2, "partitions")
    dirty_share: float = parameter("l2_rates", 0, 1, "share")
    read_share: float = parameter("dram_rates", 0.1, 1, "share")
    write_share: float = parameter("dram_rates", 0.1, 1, "share")
    turn_cost: float = parameter("dram_rates", 0, 2, "share")
    turn_growth: float = parameter("dram_rates", 0, 1, "share")
    held_cost: float = parameter("dram_rates", 0, 1, "share")
    lone_sector: float = parameter("dram_rates", 1, 20, "factor")
    lone_half: float = parameter("dram_rates", 1, 10, "factor")
    scatter_least: float = parameter("dram_scatter", -10, 0, "dram_spread")
    scatter_tenth: float = parameter("dram_scatter", -10, 0, "dram_spread")
    scatter_quarter: float = parameter("dram_scatter", -10, 10, "dram_spread")
    scatter_half: float = parameter("dram_scatter", -10, 10, "dram_spread")
    scatter_three_quarters: float = parameter("dram_scatter", -10, 10, "dram_spread")
    scatter_nine_tenths: float = parameter("dram_scatter", 0, 10, "dram_spread")
    scatter_all_but_hundredth: float = parameter("dram_scatter", 0, 20, "dram_spread")
    scatter_most: float = parameter("dram_scatter", 0, 100, "dram_spread")
    matrix_megahertz: float = parameter("clocks", 0, 10_000, "MHz")
    warpgroup_megahertz: float = parameter("clocks", 0, 10_000, "MHz")
    launch_microseconds: float = parameter("launch_cost", 0.1, 100, "us")
    event_microseconds: float = parameter("launch_cost", 0, 100, "us")
    node_microseconds: float = parameter("launch_cost", 0, 100, "us")
    first_block_cycles: float = parameter("launch_cost", 0, 100_000)
    resident_cycles: float = parameter("launch_cost", 0, 10_000)
    first_resident_cycles: float = parameter("launch_cost", 0, 10_000)
    block_start_cycles: float = parameter("launch_cost", 0, 10_000)
    warp_start_cycles: float = parameter("launch_cost", 0, 1000)
    block_rate: float = parameter("launch_cost", 0.001, 100, "blocks/cycle")
    block_end_cycles: float = parameter("launch_cost", 0, 10_000)
