"""What a simulated multiprocessor works on, as arrays: layout.py says what stands where in some of them.  F5."""

from __future__ import annotations

from typing import Any, NamedTuple

Array = Any


class SmWork(NamedTuple):
    """What is to be done.  words[starts[w]:ends[w]]: what warp w issues;  warps: of a block;  rows, cycles, lats: of
    each instruction (instruction_table.py);  firsts, lasts: of each basic block."""

    words: Array
    starts: Array
    ends: Array
    warps: int
    rows: Array
    cycles: Array
    lats: Array
    firsts: Array
    lasts: Array


class Warps(NamedTuple):
    """The warps that are resident, by slot.

    position, stop   in the words: next entry, and their end;  now, until: instruction to issue next, last of its block
    base             when it may issue, so far as it itself is concerned;  mark, why: since when it waits, and for what
    order            the lower, the longer it has not issued;  waiting: for which barrier, -1: none;  began: it started
    board, because   when each scoreboard is free, and what it is then that one has waited for
    drained          when its stores have left for L2, and its atomics have room
    groups, grouped, copied   asynchronous copies: when the last 8 groups are there, how many, and the open one
    """

    position: Array
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
    drained: Array


class Blocks(NamedTuple):
    """The blocks that are resident, by place.

    resident, seats   how many start at once;  warps that each sub-partition has room for
    held, wave   which block a place holds, and how many it has held before;  living: warps that have not ended
    arrived      warps at each barrier;  wake: when each scheduler has something to do again
    last         the warp that each goes on with if it can, -1: none
    next         number of the next block, of the next turn, of ends noted and seen (block_dispatch.py);  may_start:
                 the soonest
                 that the next one may
    began, resided   of every block: when it started, and the cycles of its warps
    noted        when the GPU looks who has room, because a block has ended
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


class Memory(NamedTuple):
    """What memory_path.served works on: cache (tags, stamps, valid, fill, known, when lines were asked for first:
    before and now, what waits to leave (l1_store_queue.py), and the books of l2_share.py and
    l2_partial_sectors.py), flight,
    updates (when L2 is done with the atomics on their way, sector by sector), servers (layout.py); issue_free, queue
    and head of each sub-partition; and constant_path: constants (tags, stamps, fill, touched)."""

    cache: Any
    constants: Any
    flight: Array
    updates: Array
    servers: Array
    issue_free: Array
    queue: Array
    head: Array
