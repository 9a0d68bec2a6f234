"""Microarchitecture: sizes and policies of hardware units that the model of time reads, and their bounds.

No manual gives them: they were read on an H200, or fitted by hand to what was read there.  Rates and latencies are in
unit_speeds.py.
"""

from __future__ import annotations

from dataclasses import dataclass

from warplens.machine.parameter import parameter


@dataclass(frozen=True, slots=True)
class Microarchitecture:
    """[l1_cache]
      tag_bank_high_bits, tag_bank_low_bits   of a line's number, as masks: an odd number of ones sets that bit of the
                               number of its bank of tags
      tag_lag_cycles           by which one bank may be behind before the next access waits

    [store_queue], from L1 to L2
      hold_cycles              for which a line waits at the least
      draining_lines           at the end of the queue that a store does not join
      packet_bytes             a cycle that one multiprocessor sends while no other does

    [l2_port]
      request_bytes            that a request to load a line takes on the way of the packets
      both_halves              multiprocessors of which some are near either half of L2

    [block_dispatch]
      large_block_factor       a block begins after so many times the cycles in which the warps of the one before are
                               started, or later
      settle_cycles            for which a warp's slot stays empty at the least
      ends_together            blocks of one multiprocessor whose ends are noted at once, between those of the others

    [constant_cache], of one multiprocessor
      sets, ways, line_bytes   of the cache that LDC reads
      lines_of_first_read      that arrive together where no cache has them yet

    [instruction_cache], of one multiprocessor
      lines, near_lines        of 128 bytes, of its cache and of the larger one behind it
      ahead_lines              that are fetched with the one that is executed
      ready_lines              of a launch's code that are there when they are first executed
      near_cycles, far_cycles, first_cycles   between two lines from the larger cache, from L2 and from DRAM

    [dram_pages]
      alike_bytes              lines within as many have similar latencies

    [pipes]
      second_pipe_cycles       that an instruction takes of its second pipe, at the end of its time in the first
      late_result_cycles       from the issue of a double or a special function to the issue slot that its result takes
      wide_next_cycles         by which the next instruction of a warp issues later than the stall count of IMAD.HI and
                               IMAD.WIDE, which pass their pipe twice
      wide_result_cycles, wide_lower_cycles   from their issue until their result, or its lower half, can be read
      reconvergence_cycles     of BSYNC beyond its stall count

    [matrix_shapes], products of the instruction that takes pipe_cycles.tensor; smaller shapes take tensor_half
      hmma, imma, qmma, bmma   by opcode;  tf32: HMMA of TF32;  dmma: takes tensor_double

    [l2_merging], of requests of several multiprocessors for one sector
      most_requests            that are merged into one;  requesters: for each more that is merged
      together_cycles          within which they are merged
      drift, drift_cycles      by which blocks get apart in each cycle of a launch, and at the most

    [l2_eviction], shares of its capacity unless said
      dirty_before             that has been stored when a kernel begins: evicted from dirty_before_stays on of what is
                               moved, all of it at dirty_before_leaves
      twice, often             until lines that are read twice, or many times, in turn are evicted
      stored_last              until what was stored, and not read, by an earlier launch is evicted
      stored_copies            of what is stored that stands in the second half as well, a share of these sectors
      partial_lines, partial_ways   for lines of which sectors are stored in part, and the lines of a set of these
      partial_evicted          of such sectors, a share of them, that are written to DRAM before the kernel ends
      store_evicts             likewise for each store to a sector that several blocks complete
      fills_from               of parts_share (unit_speeds.py), from which on DRAM is read to fill them

    [l2_lookups], as Nsight Compute counts them
      per_fill                 of a sector of which a part was stored that is filled;  code_readers: of one of code
      launch, launch_misses    of an empty kernel, and those that miss
      unseen, unseen_hits      that only the sum of all sources has
      pages, pages_after       of page tables at the most, and sectors after which two thirds of them are done

    [first_touch]
      waited_share             of the loads of lines that a neighbouring block has loaded before, that wait for DRAM
                               nevertheless

    [atomic_ports]
      second_8kb               ports from those of the first 8 KB of 16 to those of the second 8
      next_16kb                likewise from 16 KB to the next 16, of 64
      lockstep_loads           of a warp, after which blocks that started together are at random places of their code
      start_cycles             between the first instructions of two multiprocessors
    """

    tag_bank_high_bits: float = parameter("l1_cache", 0, 2**16 - 1, "mask")
    tag_bank_low_bits: float = parameter("l1_cache", 0, 2**16 - 1, "mask")
    tag_lag_cycles: float = parameter("l1_cache", 0, 1000)
    hold_cycles: float = parameter("store_queue", 0, 10_000)
    draining_lines: float = parameter("store_queue", 0, 1000, "lines")
    packet_bytes: float = parameter("store_queue", 1, 1024, "bytes/cycle")
    request_bytes: float = parameter("l2_port", 0, 128, "bytes")
    both_halves: float = parameter("l2_port", 1, 1024, "multiprocessors")
    large_block_factor: float = parameter("block_dispatch", 0, 100, "factor")
    settle_cycles: float = parameter("block_dispatch", 0, 10_000)
    ends_together: float = parameter("block_dispatch", 0, 1000, "blocks")
    constant_sets: float = parameter("constant_cache", 1, 1024, "sets")
    constant_ways: float = parameter("constant_cache", 1, 64, "lines")
    constant_line_bytes: float = parameter("constant_cache", 16, 256, "bytes")
    constant_lines_of_first_read: float = parameter("constant_cache", 1, 64, "lines")
    code_lines: float = parameter("instruction_cache", 1, 100_000, "lines")
    code_near_lines: float = parameter("instruction_cache", 1, 1_000_000, "lines")
    code_ahead_lines: float = parameter("instruction_cache", 0, 64, "lines")
    code_ready_lines: float = parameter("instruction_cache", 0, 1_000_000, "lines")
    code_near_cycles: float = parameter("instruction_cache", 0, 10_000)
    code_far_cycles: float = parameter("instruction_cache", 0, 10_000)
    code_first_cycles: float = parameter("instruction_cache", 0, 10_000)
    alike_bytes: float = parameter("dram_pages", 128, 2**21, "bytes")
    second_pipe_cycles: float = parameter("pipes", 0, 64)
    late_result_cycles: float = parameter("pipes", 0, 64)
    wide_next_cycles: float = parameter("pipes", 0, 64)
    wide_result_cycles: float = parameter("pipes", 0, 64)
    wide_lower_cycles: float = parameter("pipes", 0, 64)
    reconvergence_cycles: float = parameter("pipes", 0, 1000)
    shape_hmma: float = parameter("matrix_shapes", 1, 2**20, "products")
    shape_imma: float = parameter("matrix_shapes", 1, 2**20, "products")
    shape_qmma: float = parameter("matrix_shapes", 1, 2**20, "products")
    shape_bmma: float = parameter("matrix_shapes", 1, 2**20, "products")
    shape_tf32: float = parameter("matrix_shapes", 1, 2**20, "products")
    shape_dmma: float = parameter("matrix_shapes", 1, 2**20, "products")
    merge_most_requests: float = parameter("l2_merging", 1, 64, "requests")
    merge_requesters: float = parameter("l2_merging", 1, 1024, "multiprocessors")
    merge_together_cycles: float = parameter("l2_merging", 0, 100_000)
    merge_drift: float = parameter("l2_merging", 0, 1, "cycles/cycle")
    merge_drift_cycles: float = parameter("l2_merging", 0, 100_000)
    dirty_before: float = parameter("l2_eviction", 0, 1, "share")
    dirty_before_stays: float = parameter("l2_eviction", 0, 10, "capacities")
    dirty_before_leaves: float = parameter("l2_eviction", 0, 10, "capacities")
    twice: float = parameter("l2_eviction", 0.1, 10, "capacities")
    often: float = parameter("l2_eviction", 0.1, 10, "capacities")
    stored_last: float = parameter("l2_eviction", 1, 10, "capacities")
    stored_copies: float = parameter("l2_eviction", 0, 1, "share")
    partial_lines: float = parameter("l2_eviction", 0, 1, "share")
    partial_ways: float = parameter("l2_eviction", 1, 64, "lines")
    partial_evicted: float = parameter("l2_eviction", 0, 1, "share")
    store_evicts: float = parameter("l2_eviction", 0, 1, "share")
    fills_from: float = parameter("l2_eviction", 0, 10, "share")
    lookups_per_fill: float = parameter("l2_lookups", 0, 10, "lookups")
    lookups_code_readers: float = parameter("l2_lookups", 0, 1024, "lookups")
    lookups_launch: float = parameter("l2_lookups", 0, 100_000, "lookups")
    lookups_launch_misses: float = parameter("l2_lookups", 0, 100_000, "lookups")
    lookups_unseen: float = parameter("l2_lookups", 0, 100_000, "lookups")
    lookups_unseen_hits: float = parameter("l2_lookups", 0, 100_000, "lookups")
    lookups_pages: float = parameter("l2_lookups", 0, 10_000_000, "lookups")
    lookups_pages_after: float = parameter("l2_lookups", 1, 100_000_000, "sectors")
    waited_share: float = parameter("first_touch", 0, 1, "share")
    second_8kb: float = parameter("atomic_ports", 0, 1024, "ports")
    next_16kb: float = parameter("atomic_ports", 0, 1024, "ports")
    lockstep_loads: float = parameter("atomic_ports", 1, 10_000, "loads")
    start_cycles: float = parameter("atomic_ports", 0, 1000)
