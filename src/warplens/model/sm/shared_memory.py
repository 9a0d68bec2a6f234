"""Shared memory: cycles and latency of a warp-wide access, from its bank conflicts.

What it is   32 banks of 4 bytes; a warp's access takes as many wavefronts as the emulator counted for it.
Formula      cycles = max(wavefronts, request_cycles); latency = latency + wavefront_cycles * (wavefronts - 1)
             + a cycle for each register of a lane behind the first.
             Products of warpgroups are served first: others have the cycles in which these do not read, and what they
             return waits for the register write port, RETURN_BESIDE cycles for each two registers of a lane.
Evidence     `chain shared` of measurements/h200/calibration.csv: 29.2, 30.2, 32.2 cycles for 1, 2, 4 registers.
             measurements/h200/warpgroup_ports.csv: beside products of 128 columns that read in 48 of 65.7 cycles loads,
             stores and shuffles take 14.8 cycles of a sub-partition for 4, ldmatrix 59.7 for 16; with A in registers
             stores 8.6.

Compare-and-swap loops of one basic block (float atomicAdd) read a word, compute, and store if the word still is what
they read.  The emulator runs one warp after another, so that each try succeeds there; here warps try at the same time.
Formula      a try fails in the words that another warp has changed since this one read them.  Where all of its words
             fail, the warp makes the same try again; where some do, the next turn of its loop has those lanes as
             well, and if that was the last one it makes one more.
Evidence     `builtin_shared` of measurements/h200/contended.csv: of 1 to 4 warps one lane succeeds every 105 cycles.
Known error  256 and 512 threads on one word take 61 and 114 thousand cycles for 1,024 and 2,048 additions, in the model
             97 and 96: whether warps go in step is chance.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from warplens.emulator.state.trace_format import ACCESSED
from warplens.machine.parameter import measured
from warplens.model.layout import Kind
from warplens.model.trace.trace_decoder import basic_block, sectors
from warplens.simc import compiled

RETURN_BESIDE = measured(
    16, "cycles", "measurements/h200/warpgroup_ports.csv: LDS, LDS.128 and SHFL beside products with A in registers"
)
LEAST_SHARE = measured(
    0.044, "of the cycles", "measurements/h200/warpgroup_ports.csv: LDS beside products of 64 columns, 91 cycles for 4"
)

WORDS = 1 << 12  # of shared memory that are told apart; defined: capacity
WORD = 4  # defined: bytes of a bank and cycle, for each lane of a full row


class SharedSettings(NamedTuple):
    """request_cycles: of the load/store unit for one access;  latency, atomic_latency: cycles of a load, of an
    atomic; ideal_banks: 1 where bank conflicts are removed."""

    request_cycles: float
    latency: float
    atomic_latency: float
    ideal_banks: float


class SharedSwaps(NamedTuple):
    """By hashed word: changed, changer: when a swap last succeeded (cycles), and the slot of its warp.

    By slot of a warp: seen: when it last read shared memory;  failed: words in which its last try failed, of which
    it makes `tried` in the next;  entered: position of its basic block in the trace.
    """

    changed: Any
    changer: Any
    seen: Any
    failed: Any
    tried: Any
    entered: Any


def no_swaps(slots: int) -> SharedSwaps:
    return SharedSwaps(
        np.zeros(WORDS), np.full(WORDS, -1, np.int64), np.zeros(slots), np.zeros(slots, np.int64),
        np.zeros(slots, np.int64), np.zeros(slots, np.int64),
    )  # fmt: skip


@compiled
def shared_share(sp, t, products):  # type: ignore[no-untyped-def]
    """Share of shared memory's cycles that a warpgroup's products leave to other accesses."""
    return max(1.0 - products.reading[sp], LEAST_SHARE) if products.until[sp] > t else 1.0


@compiled
def return_cycles(sp, t, bytes, products):  # type: ignore[no-untyped-def]
    """Cycles of a sub-partition to write so many bytes of each lane to registers, beside products."""
    beside = products.until[sp] > t and products.wide[sp] > 0
    return RETURN_BESIDE * max(bytes / 8.0, 1.0) if beside else 0.0


@compiled
def serve_shared(access, begin, free, waves, ideal, memory):  # type: ignore[no-untyped-def]
    """(when the access leaves the queue, when its result is available, when its registers are read).

    begin   when its sub-partition issues it;  free: when the load/store unit serves it
    waves   its wavefronts;  ideal: without bank conflicts
    """
    unit, settings = memory.settings.load_store, memory.settings.shared
    if settings.ideal_banks > 0:
        waves = min(waves, ideal)
    if access.kind == Kind.ASYNC_COPY:
        # The longer of its two parts decides: `copied` of measurements/h200/copy_waits.csv, 8.7 cycles for 8 wavefronts
        # of either, 32.9 for 32.  What exceeds those of a full row is added to its global part.
        more = max(waves - max(access.bytes / WORD, 1.0), 0.0)
        memory.servers.load_store.free += more
        memory.issue_free[access.sub_partition] += unit.wavefront_cycles * more
        memory.counts.wavefronts += max(waves, 1.0)
        return begin, begin, begin + unit.register_read_latency
    cost, sp = max(waves, settings.request_cycles), access.sub_partition
    share = shared_share(sp, free, memory.products) if waves > 0 else 1.0
    memory.servers.load_store.free = free + cost / share
    loads = access.kind == Kind.LOAD and waves > 0
    back = return_cycles(sp, begin, access.bytes, memory.products) if loads else 0.0
    memory.issue_free[sp] = begin + max(max(unit.issue_cycles, unit.wavefront_cycles * waves), back)
    memory.counts.lsu_busy += cost
    memory.counts.wavefronts += max(waves, 1.0)  # one also where all lanes are off
    late = settings.atomic_latency if access.kind == Kind.ATOMIC else settings.latency
    # Each register of a lane takes a cycle more than the one before (`chain shared`: 29.2, 30.2, 32.2 cycles).
    late += unit.wavefront_cycles * (waves - 1) + max(access.bytes // 4 - 1, 0)
    return begin, begin + late, begin + unit.register_read_latency


@compiled
def try_swap(at, slot, place, served, words, swaps):  # type: ignore[no-untyped-def]
    """A warp of the block in slot `place` makes the try at position `at` of its trace, served at that cycle."""
    number = sectors(words[at])
    if swaps.failed[slot] > 0:
        number = min(number, swaps.failed[slot])
    failed = 0
    for n in range(number):
        word = (int(words[at + ACCESSED + n]) + 977 * place) % WORDS
        if swaps.changed[word] > swaps.seen[slot] and swaps.changer[word] != slot:
            failed += 1
        else:
            swaps.changed[word], swaps.changer[word] = served, slot
    swaps.failed[slot], swaps.tried[slot] = failed, number
    swaps.seen[slot] = served


@compiled
def next_try(slot, following, stop, words, swaps):  # type: ignore[no-untyped-def]
    """Where a warp goes on that has made a try, and whose trace goes on at `following`."""
    failed, entered = swaps.failed[slot], swaps.entered[slot]
    if failed == 0:
        return following
    turns = following < stop and basic_block(words[following]) == basic_block(words[entered])
    if failed < swaps.tried[slot] and turns:
        swaps.failed[slot] = 0
        return following
    return entered
