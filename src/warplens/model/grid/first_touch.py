"""First touch: which of the blocks that share a line takes the DRAM miss; the others hit L2.

Neighbouring blocks share tile borders.  They start together and run the same code, so a block that reaches a border
late, after waiting for its own data, finds that its neighbour has loaded it already.  A warp's progress is measured by
the number of its waits for loads, and by the barriers at which warps of a block synchronise.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warplens.emulator.state import trace_format as laid
from warplens.machine.parameter import assumed, measured
from warplens.model import layout as p
from warplens.model.address_hash import hashed
from warplens.model.trace.trace_decoder import ENTER, OF_WARP, basic_block, instruction, length, space
from warplens.model.trace.warp_streams import WarpStreams
from warplens.simc import compiled

ENOUGH = assumed(400_000, "pieces of 64 bytes", "effort: to analyse, each with every block that reaches it")
MOST = assumed(10 * ENOUGH, "entries of 16 bytes", "effort: that all pieces have at the most")
PHASES = assumed(1024, "phases between barriers", "effort: later ones count as one")
# Of a neighbour's earlier loads that are waited for nevertheless.
ALL_THE_SAME = measured(0.12, "share", "measurements/h200/seams.csv, `late` with 48 steps")


def asked_first(
    streams: WarpStreams, asked: Sequence[int], at_once: int, rows: NDArray[np.int64], firsts: NDArray[np.int64],
    lasts: NDArray[np.int64],
) -> NDArray[np.float64]:  # fmt: skip
    """By instruction: of the pieces that a block loads first with it, the share that no other concurrently running
    block has loaded before.

    streams   of the blocks `asked` and of those that share lines with them
    """

    def loaded(share: float, *lists: NDArray[Any]) -> int:
        code = rows, firsts, lasts, np.zeros(PHASES, np.int64)
        return int(_loaded(streams.words, streams.starts, streams.ends, streams.warps, *code, share, *lists))

    share = min(1.0, ENOUGH / max(loaded(1.0, *_lists(0)), 1))
    made = _lists(min(loaded(share, *_lists(0)), MOST))  # a sample of few pieces may have more entries than expected
    n = min(loaded(share, *made), MOST)
    pieces, places, stages, by = (each[:n] for each in made)
    numbers = np.array(streams.blocks, np.int64)[places]
    order = np.lexsort((stages, numbers, pieces))
    pieces, numbers, stages, by = pieces[order], numbers[order], stages[order], by[order]
    new = np.ones(n, bool)
    new[1:] = (pieces[1:] != pieces[:-1]) | (numbers[1:] != numbers[:-1])
    pieces, numbers, stages, by = pieces[new], numbers[new], stages[new], by[new]
    found = np.zeros((2, rows.shape[0]))
    window = at_once / (float(stages.max(initial=0)) + 1.0)
    _first(pieces, numbers, stages, by, np.isin(numbers, np.array(asked, np.int64)), at_once, window, found)
    alone = np.where(found[0] > 0, found[1] / np.maximum(found[0], 1.0), 1.0)
    return alone + ALL_THE_SAME * (1 - alone)


def _lists(room: int) -> tuple[NDArray[Any], ...]:
    return tuple(np.empty(room, kind) for kind in (np.uint32, np.int32, np.int32, np.int32))


@compiled
def _first(pieces, numbers, stages, by, asked, at_once, window, found):  # type: ignore[no-untyped-def]
    """found: by instruction, pieces loaded by the blocks `asked`, and those that no block has loaded before."""
    start = 0
    while start < pieces.size:
        end = start
        while end < pieces.size and pieces[end] == pieces[start]:
            end += 1
        for k in range(start, end):
            if asked[k]:
                wave = numbers[k] // at_once
                near = at_once if wave == 0 else window
                first = True
                at = k - 1
                while first and at >= start and numbers[at] // at_once == wave:
                    first = not (numbers[k] - numbers[at] > near or stages[at] < stages[k])
                    at -= 1
                at = k + 1
                while first and at < end and numbers[at] // at_once == wave and numbers[at] - numbers[k] <= near:
                    first = not stages[at] < stages[k]
                    at += 1
                found[0, by[k]] += 1.0
                found[1, by[k]] += float(first)
        start = end


@compiled
def _loaded(words, starts, ends, warps, rows, firsts, lasts, base, share, pieces, blocks, stages, by):  # type: ignore[no-untyped-def]
    """Number of pieces that global-memory loads reach; as many as fit are stored with block, stage and instruction."""
    n = 0
    for block in range(starts.size // warps):
        for k in range(base.size):
            base[k] = 0
        for writes in range(2):
            if writes:
                for k in range(1, base.size):
                    base[k] += base[k - 1]
            for warp in range(block * warps, (block + 1) * warps):
                at, phase, stage, pending = starts[warp], 0, 0, 0
                while at < ends[warp]:
                    if words[at] < ENTER:  # access of an instruction that is repeated at the same place
                        at += length(words[at])
                        continue
                    number = basic_block(words[at])
                    at += OF_WARP
                    for i in range(firsts[number], lasts[number] + 1):
                        kind = rows[i, p.KIND]
                        waits = rows[i, p.WAITS] & pending > 0 or (kind == p.GROUP_WAIT and pending >> 8 > 0)
                        if waits:
                            stage, pending = stage + 1, 0
                        if kind == p.BARRIER:
                            if not writes and phase + 1 < base.size:
                                base[phase + 1] = max(base[phase + 1], stage)
                            phase, stage = min(phase + 1, base.size - 1), 0
                        while at < ends[warp] and words[at] < ENTER and instruction(words[at]) == i:
                            size = length(words[at])
                            asks = kind in (p.LOAD, p.COPY, p.ATOMIC, p.REDUCE) and space(words[at]) == laid.GLOBAL
                            if asks and kind != p.REDUCE:
                                pending |= 256 if kind == p.COPY else 1 << max(rows[i, p.SETS], 0)
                            if asks and writes:
                                before = np.uint32(0xFFFFFFFF)
                                for k in range(at + laid.ACCESSED, at + size):
                                    piece = words[k] >> np.uint32(1)
                                    if piece != before and (share >= 1.0 or hashed(np.int64(piece) + 77) < share):
                                        if n < pieces.size:
                                            pieces[n], blocks[n] = piece, block
                                            stages[n], by[n] = base[phase] + stage, i
                                        n += 1
                                    before = piece
                            at += size
    return n
