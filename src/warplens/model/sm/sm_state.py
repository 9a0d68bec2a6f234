"""SM state: the arrays and records that the simulation of one SM works on, unit by unit."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from warplens.model.grid.atomic_packets import AtomicState
from warplens.model.grid.memory_supply import SupplyArrays
from warplens.model.instruction.instruction_table import InstructionTable
from warplens.model.sm.block_barriers import BlockBarrierState
from warplens.model.sm.block_dispatch import DispatchState
from warplens.model.sm.constant_cache import ConstantLines, ConstantState
from warplens.model.sm.dram_share import DramState
from warplens.model.sm.instruction_cache import CodeLines, InstructionCacheState
from warplens.model.sm.l1_cache import TAG_BANKS, L1Lines, L1State
from warplens.model.sm.l1_store_queue import StoreQueue, StoreQueueState
from warplens.model.sm.l2_partial_sectors import PartialSectors
from warplens.model.sm.l2_port import L2State
from warplens.model.sm.l2_share import L2Share
from warplens.model.sm.load_store_unit import LoadStoreState
from warplens.model.sm.pipes import ProductActivity
from warplens.model.sm.shared_memory import SharedSwaps
from warplens.model.sm.sm_settings import Settings
from warplens.model.sm.tma.mbarriers import Mbarriers
from warplens.model.sm.tma.tma_unit import BulkCopyState
from warplens.model.trace.stall_log import StallLog
from warplens.simc import Record

Array = Any


class Servers(NamedTuple):
    """State of the units that serve warps.  tag_banks: until when each bank of L1's tags is busy (cycles)."""

    dispatch: DispatchState
    barriers: BlockBarrierState
    load_store: LoadStoreState
    code: InstructionCacheState
    constants: ConstantState
    l1: L1State
    tag_banks: Array
    store_queue: StoreQueueState
    l2: L2State
    atomics: AtomicState
    dram: DramState
    bulk: BulkCopyState


def idle_servers() -> Servers:
    return Servers(
        DispatchState(), BlockBarrierState(), LoadStoreState(), InstructionCacheState(), ConstantState(), L1State(),
        np.zeros(TAG_BANKS), StoreQueueState(), L2State(), AtomicState(), DramState(),
        BulkCopyState(),
    )  # fmt: skip


class SmWork(NamedTuple):
    """Input of the simulation.  words[starts[w]:ends[w]]: trace of warp w;  warps: of a block."""

    words: Array
    starts: Array
    ends: Array
    warps: int
    code: InstructionTable


class Warps(NamedTuple):
    """Resident warps, by slot.

    position, first, stop   in the trace: next entry, first, and end
    now, until       instruction to issue next, last of its block
    base             when the warp itself may issue;  mark, why: start of its wait, and the reason
    order            the lower, the longer it has not issued;  waiting: its barrier, -1: none;  began: its start
    board, because   when each scoreboard is free, and the stall reason of a wait for it
    drained          when its stores have drained to L2, and its atomics have slots
    log              of what it does when, if anybody asks for it
    groups, grouped, copied   asynchronous copies: completion of the last 8 groups, their number, and the open one
    phase            of the mbarrier that it waits for
    product_groups, products  likewise of warpgroups' products;  started: times that it has met its warpgroup
    """

    position: Array
    first: Array
    stop: Array
    now: Array
    until: Array
    base: Array
    mark: Array
    why: Array
    order: Array
    waiting: Array
    began: Array
    board: Array
    because: Array
    groups: Array
    grouped: Array
    copied: Array
    phase: Array
    product_groups: Array
    products: Array
    started: Array
    drained: Array
    log: StallLog


class Blocks(NamedTuple):
    """Resident blocks, by block slot.

    resident, seats   blocks that start at once;  free warp slots of each sub-partition
    held, wave   block in a slot, and number of earlier ones;  living: warps that have not ended
    arrived      warps at each barrier;  wake: when each scheduler has something to do again
    last         the warp that each continues with if it can, -1: none
    next         numbers by block_dispatch.Next;  may_start:
                 earliest start of the next one
    began, resided   of every block: its start, and the resident cycles of its warps
    mbarriers    of each block
    noted        when the GPU checks for free slots, because a block has ended
    """

    resident: int
    seats: Array
    held: Array
    wave: Array
    living: Array
    arrived: Array
    wake: Array
    last: Array
    next: Array
    may_start: Array
    began: Array
    resided: Array
    noted: Array
    mbarriers: Mbarriers


class Counters(Record):
    """cycles, issued                 of the SM, and its warp instructions
    last_store                     when the last store is done (cycles)
    lsu_busy, wavefronts           cycles of the load/store unit;  of these with data
    l1_sectors, l1_hits, l1_merged   sectors of loads and atomics, hits of loads and stores, stores to pending
                                     sectors
    l2_reads, l2_writes, l2_updates   sectors of loads, of stores, words of atomics;  l2_sent: packets of stores
    l2_misses, l2_joined           of the reads: from DRAM; coalesced with those of other SMs
    l2_read_lines, l2_changed_lines   lines that loads request from L2, that stores and atomics send there
    l2_atomic_packets                packets of atomics
    l2_pieces, l2_in_pieces        64-byte pieces that this SM requests first, and sectors requested of them then
    l2_lost, l2_filled, l2_rewritten   DRAM: pieces read again, sectors filled, sectors written again"""

    cycles: float
    issued: float
    l1_sectors: float
    l1_hits: float
    l2_reads: float
    l2_writes: float
    l2_misses: float
    lsu_busy: float
    last_store: float
    l2_updates: float
    l2_pieces: float
    l2_in_pieces: float
    l1_merged: float
    l2_lost: float
    l2_filled: float
    l2_rewritten: float
    l2_sent: float
    l2_joined: float
    l2_read_lines: float
    l2_changed_lines: float
    l2_atomic_packets: float
    wavefronts: float


class Memory(NamedTuple):
    """Memory of the SM, and its view of L2 and DRAM.

    l1, store_queue, code, constants, l2_share, l2_partial   of the unit of that name (code: instruction_cache.py)
    asked              pieces of 64 bytes that the SM has requested (l2_share.was_requested)
    asked_by_others, asked_now   first requests of lines: by other SMs, and by this one
    requests_in_flight, sectors_in_flight, updates   when each in-flight slot is free: of loads that wait for a line, of
                       sectors that L1 waits for, and of atomics
    issue_free         when each sub-partition may issue an access
    queue, head        of each sub-partition: when each queue entry is free, and entries used so far
    products           of warpgroups, as the pipes have them
    swaps              compare-and-swaps in shared memory
    """

    l1: L1Lines
    store_queue: StoreQueue
    code: CodeLines
    constants: ConstantLines
    l2_share: L2Share
    l2_partial: PartialSectors
    asked: Array
    asked_by_others: Array
    asked_now: Array
    requests_in_flight: Array
    sectors_in_flight: Array
    updates: Array
    issue_free: Array
    queue: Array
    head: Array
    products: ProductActivity
    swaps: SharedSwaps
    servers: Servers
    counts: Counters
    settings: Settings
    supply: SupplyArrays


class Results(NamedTuple):
    """stalls: cycles by (reason, instruction);  ended: the cycle after the last of each block;  busy: cycles of each
    pipe."""

    stalls: Array
    ended: Array
    busy: Array
