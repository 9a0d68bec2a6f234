"""First touch: which of the blocks that share a line takes the DRAM miss; the others hit L2.

Neighbouring blocks share tile borders.  They start together and run the same code, so a block that reaches a border
late, after waiting for its own data, finds that its neighbour has loaded it already.  A warp's progress is measured by
the number of its waits for loads, and by the barriers at which warps of a block synchronise; that of one that issues
bulk copies by its waits at mbarriers, where other warps give stages of shared memory back.

The shares are those of an instruction in each part of its warps' traces: blocks that work on one tile after the other
all wait for DRAM with the first, and find what others have loaded with the last.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from warplens.emulator.state.trace_format import ACCESSED, GLOBAL
from warplens.machine.parameter import assumed
from warplens.model.address_hash import hashed
from warplens.model.instruction.instruction_table import InstructionTable
from warplens.model.layout import Kind
from warplens.model.trace.trace_decoder import ENTER, OF_WARP, basic_block, instruction, length, space
from warplens.model.trace.warp_streams import WarpStreams
from warplens.simc import compiled

# What a warp waits for: a scoreboard, a bit each; asynchronous copies; bulk copies.
COPIES, BULK_COPIES = 1 << 8, 1 << 9  # defined: bits
LOADING = (Kind.LOAD, Kind.ASYNC_COPY, Kind.ATOMIC, Kind.BULK_LOAD)
ENOUGH = assumed(400_000, "pieces of 64 bytes", "effort: to analyse, each with every block that reaches it")
MOST = assumed(10 * ENOUGH, "entries of 16 bytes", "effort: that all pieces have at the most")
PHASES = assumed(1024, "phases between barriers", "effort: later ones count as one")
PARTS = assumed(16, "parts of a warp's trace", "effort: tiles of a persistent block, of which few have more")


class LoadedPieces(NamedTuple):
    """Loads of 64-byte pieces: number, block (index into WarpStreams.blocks), stage of its progress, instruction, and
    part of the warp's trace."""

    pieces: NDArray[np.uint32]
    blocks: NDArray[np.int32]
    stages: NDArray[np.int32]
    instructions: NDArray[np.int32]
    parts: NDArray[np.int32]

    @classmethod
    def empty(cls, size: int) -> LoadedPieces:
        return cls(np.empty(size, np.uint32), *(np.empty(size, np.int32) for _ in range(4)))

    def select(self, which: Any) -> LoadedPieces:
        return LoadedPieces(*(each[which] for each in self))


def first_touch_shares(
    streams: WarpStreams, sampled: Sequence[int], at_once: int, code: InstructionTable, waited_share: float
) -> NDArray[np.float64]:
    """By instruction and part of the trace: of the pieces that a block loads first with it, the share that no other
    concurrently running block has loaded before.

    streams   of the blocks `sampled` and of those that share lines with them
    waited_share   of what a neighbour has loaded before, that counts as loaded first
    """

    def read_loads(share: float, out: LoadedPieces) -> int:
        return int(_read_loads(streams.arrays, code, np.zeros(PHASES, np.int64), share, out))

    nothing = LoadedPieces.empty(0)
    share = min(1.0, ENOUGH / max(read_loads(1.0, nothing), 1))
    # A sample of few pieces may have more entries than expected.
    loads = LoadedPieces.empty(min(read_loads(share, nothing), MOST))
    n = min(read_loads(share, loads), MOST)
    loads = loads.select(slice(n))
    numbers = np.array(streams.blocks, np.int64)[loads.blocks]
    order = np.lexsort((loads.stages, numbers, loads.pieces))
    loads, numbers = loads.select(order), numbers[order]
    new = np.ones(n, bool)
    new[1:] = (loads.pieces[1:] != loads.pieces[:-1]) | (numbers[1:] != numbers[:-1])
    loads, numbers = loads.select(new), numbers[new]
    counts = FirstTouchCounts(*(np.zeros((code.kind.size, int(PARTS))) for _ in range(2)))
    window = at_once / (float(loads.stages.max(initial=0)) + 1.0)
    _count_first_touches(loads, numbers, np.isin(numbers, np.array(sampled, np.int64)), at_once, window, counts)
    alone = np.where(counts.loads > 0, counts.first / np.maximum(counts.loads, 1.0), 1.0)
    return alone + waited_share * (1 - alone)


class FirstTouchCounts(NamedTuple):
    """By instruction and part: pieces that the sampled blocks load, and those of them that no block has loaded
    before."""

    loads: NDArray[np.float64]
    first: NDArray[np.float64]


@compiled
def _count_first_touches(loads, numbers, sampled, at_once, window, counts):  # type: ignore[no-untyped-def]
    """loads: sorted by piece and block;  numbers: of their blocks in the grid;  sampled: whether to count them."""
    start = 0
    while start < loads.pieces.size:
        end = start
        while end < loads.pieces.size and loads.pieces[end] == loads.pieces[start]:
            end += 1
        for k in range(start, end):
            if sampled[k]:
                i, part = loads.instructions[k], loads.parts[k]
                counts.loads[i, part] += 1.0
                counts.first[i, part] += float(_is_first(k, start, end, loads, numbers, at_once, window))
        start = end


@compiled
def _is_first(k, start, end, loads, numbers, at_once, window):  # type: ignore[no-untyped-def]
    """Whether none of the other loads of the same piece, start to end, comes before load k."""
    stages, wave = loads.stages, numbers[k] // at_once
    near = at_once if wave == 0 else window
    at = k - 1
    while at >= start and numbers[at] // at_once == wave:
        if numbers[k] - numbers[at] > near or stages[at] < stages[k]:
            return False
        at -= 1
    at = k + 1
    while at < end and numbers[at] // at_once == wave and numbers[at] - numbers[k] <= near:
        if stages[at] < stages[k]:
            return False
        at += 1
    return True


@compiled
def _read_loads(trace, code, phase_stages, share, out):  # type: ignore[no-untyped-def]
    """Number of pieces that global-memory loads reach; as many as fit into `out` are stored.

    phase_stages   buffer for the first stage of each phase, which the slowest warp of a block decides
    """
    n = 0
    for block in range(trace.starts.size // trace.warps):
        for k in range(phase_stages.size):
            phase_stages[k] = 0
        for warp in range(block * trace.warps, (block + 1) * trace.warps):
            n = _walk_warp(trace, code, WarpWalk(block, warp, True), phase_stages, share, out, n)
        for k in range(1, phase_stages.size):
            phase_stages[k] += phase_stages[k - 1]
        for warp in range(block * trace.warps, (block + 1) * trace.warps):
            n = _walk_warp(trace, code, WarpWalk(block, warp, False), phase_stages, share, out, n)
    return n


class WarpWalk(NamedTuple):
    """Walk over the trace of one warp of a block: to find the lengths of its phases, or to store its loads."""

    block: int
    warp: int
    finds_phases: bool


@compiled
def _walk_warp(trace, code, walk, phase_stages, share, out, n):  # type: ignore[no-untyped-def]
    """Pieces so far, n before this warp."""
    words, end = trace.words, trace.ends[walk.warp]
    at, phase, stage, pending = trace.starts[walk.warp], 0, 0, 0
    while at < end:
        if words[at] < ENTER:  # access of an instruction that is repeated at the same place
            at += length(words[at])
            continue
        number = basic_block(words[at])
        at += OF_WARP
        for i in range(code.firsts[number], code.lasts[number] + 1):
            kind = code.kind[i]
            copied = (kind == Kind.COPY_WAIT and pending & COPIES > 0) or (
                kind == Kind.MBARRIER_WAIT and pending & BULK_COPIES > 0
            )
            if code.wait_mask[i] & pending > 0 or copied:
                stage, pending = stage + 1, 0
            if kind == Kind.BARRIER:
                if walk.finds_phases and phase + 1 < phase_stages.size:
                    phase_stages[phase + 1] = max(phase_stages[phase + 1], stage)
                phase, stage = min(phase + 1, phase_stages.size - 1), 0
            while at < end and words[at] < ENTER and instruction(words[at]) == i:
                size = length(words[at])
                if (kind in LOADING or kind == Kind.REDUCTION) and space(words[at]) == GLOBAL:
                    if kind == Kind.ASYNC_COPY:
                        pending |= COPIES
                    elif kind == Kind.BULK_LOAD:
                        pending |= BULK_COPIES
                    elif kind != Kind.REDUCTION:
                        pending |= 1 << max(code.write_barrier[i], 0)
                    if not walk.finds_phases:
                        sectors = SectorRange(words, at + ACCESSED, at + size)
                        part = part_of_trace(at, trace.starts[walk.warp], end)
                        n = _store_pieces(sectors, walk.block, phase_stages[phase] + stage, i, part, share, out, n)
                at += size
    return n


@compiled
def part_of_trace(at, start, end):  # type: ignore[no-untyped-def]
    """Number of the part in which position `at` of a warp's trace lies."""
    return min(int(PARTS) * (at - start) // max(end - start, 1), int(PARTS) - 1)


class SectorRange(NamedTuple):
    """Sectors words[first:last] of an access."""

    words: Any
    first: int
    last: int


@compiled
def _store_pieces(sectors, block, stage, i, part, share, out, n):  # type: ignore[no-untyped-def]
    """Store the pieces of an access, each once; returns their number, n before."""
    before = np.uint32(0xFFFFFFFF)
    for k in range(sectors.first, sectors.last):
        piece = sectors.words[k] >> np.uint32(1)
        if piece != before and (share >= 1.0 or hashed(np.int64(piece) + 77) < share):
            if n < out.pieces.size:
                out.pieces[n], out.blocks[n], out.stages[n], out.instructions[n] = piece, block, stage, i
                out.parts[n] = part
            n += 1
        before = piece
    return n
