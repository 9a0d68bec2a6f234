"""Warp streams: the log of a recording, ordered warp after warp."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from warplens.emulator import WarpTraces
from warplens.emulator.state import trace_format as laid
from warplens.model.address_hash import hashed
from warplens.model.trace.trace_decoder import ENTER, OF_WARP, instruction, length, passes, reached, space
from warplens.simc import compiled


class TraceArrays(NamedTuple):
    """Trace of each warp, words[starts[n]:ends[n]];  warps: of a block."""

    words: NDArray[np.uint32]
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    warps: int


@dataclass(frozen=True)
class WarpStreams:
    """words[starts[n]:ends[n]] is the trace of warp n % warps of the block blocks[n // warps]: for each basic block
    ENTER | its number and the lanes, for each access its entry (emulator/state/trace_format.py)."""

    blocks: tuple[int, ...]
    warps: int
    words: NDArray[np.uint32]
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]

    @property
    def arrays(self) -> TraceArrays:
        return TraceArrays(self.words, self.starts, self.ends, self.warps)


def by_warp(streams: WarpTraces, warps: int) -> WarpStreams:
    order = np.argsort(np.array(streams.blocks, np.int64), kind="stable")
    numbers = np.array(streams.blocks, np.int64)[order]
    counts = np.zeros(numbers.size * warps, np.int64)
    _put(streams.words, numbers, order, warps, counts, np.empty(0, np.uint32))
    ends = np.cumsum(counts)
    starts = ends - counts
    words = np.empty(int(counts.sum()), np.uint32)
    _put(streams.words, numbers, order, warps, starts.copy(), words)
    return WarpStreams(streams.blocks, warps, words, starts, ends)


@compiled
def _found(numbers, number):  # type: ignore[no-untyped-def]
    """Binary search: position of a number among sorted numbers."""
    low, high = 0, numbers.size
    while low < high:
        middle = (low + high) // 2
        if numbers[middle] < number:
            low = middle + 1
        else:
            high = middle
    return low


@compiled
def _put(words, numbers, order, warps, place, made):  # type: ignore[no-untyped-def]
    """Append each entry at its warp's position, place[warp]; without space in `made` only count."""
    at, warp = 0, 0
    while at < words.size:
        if words[at] < ENTER:
            size = length(words[at])
            if made.size:
                for k in range(size):
                    made[place[warp] + k] = words[at + k]
            place[warp] += size
            at += size
            continue
        if at + laid.ENTERED > words.size:
            break
        block = order[_found(numbers, words[at + 1])]
        warp = block * warps + (np.int64(words[at]) >> laid.WARP & laid.MOST_WARPS)
        if made.size:
            made[place[warp]] = ENTER | (words[at] & np.uint32(laid.MOST_BASIC_BLOCKS))
            made[place[warp] + 1] = words[at + 2]
        place[warp] += OF_WARP
        at += laid.ENTERED


def part(whole: WarpStreams, blocks: tuple[int, ...]) -> WarpStreams:
    """The streams of these blocks only, in this order."""
    place = {block: n for n, block in enumerate(whole.blocks)}
    places = np.array([place[block] for block in blocks], np.int64)
    warps = (places[:, None] * whole.warps + np.arange(whole.warps)).ravel()
    return WarpStreams(blocks, whole.warps, whole.words, whole.starts[warps], whole.ends[warps])


@dataclass(frozen=True)
class ReachedLines:
    """Sectors that accesses to global memory reach, one by one: number, block (index into WarpStreams.blocks), kind,
    bytes of it that the access covers, of an atomic the passes of an L2 atomic unit.

    share   of all lines, from which these are a random sample;  when: share of the warp's trace before it
    """

    sectors: NDArray[np.uint32]
    blocks: NDArray[np.int32]
    kinds: NDArray[np.uint8]
    covered: NDArray[np.float64]
    alike: NDArray[np.float64]
    share: float
    when: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))


def sectors_of(streams: WarpStreams, kinds: NDArray[np.int64], widths: NDArray[np.int64], most: int) -> ReachedLines:
    """kinds: by instruction, 0 is skipped;  widths: bytes a lane of it moves

    With more than `most` sectors, those of a random sample of all lines.
    """

    def write(share: float, *lists: NDArray[Any]) -> int:
        return int(_sectors(streams.words, streams.starts, streams.ends, streams.warps, kinds, widths, share, *lists))

    total = write(1.0, *_lists(0))
    share = min(1.0, most / max(total, 1))
    made = _lists(min(total, int(most * 1.2) + 1000))
    n = write(share, *made)
    sectors, blocks, found, covered, alike, when = (each[:n].copy() for each in made)
    return ReachedLines(sectors, blocks, found, covered, alike, share, when)


def _lists(room: int) -> tuple[NDArray[Any], ...]:
    return tuple(np.empty(room, kind) for kind in (np.uint32, np.int32, np.uint8, np.float64, np.float64, np.float64))


@compiled
def bytes_of_each(words, first, last, moved):  # type: ignore[no-untyped-def]
    """Bytes that an access is assumed to move in each of its sectors, 32 at most, from all that it moves.

    Rows of neighbouring sectors mostly begin and end within one, whose other part a neighbour moves.
    """
    rows = 0
    for k in range(first + 1, last):
        rows += int(words[k - 1] + 1 == words[k] and (k == first + 1 or words[k - 2] + 1 != words[k - 1]))
    return min(moved / max(last - first - rows, 1), 32.0)


@compiled
def _sectors(words, starts, ends, warps, kinds, widths, share, sectors, blocks, found, covered, alike, when):  # type: ignore[no-untyped-def]
    """Number of sectors; as many as fit are stored."""
    n = 0
    for warp in range(starts.size):
        at = starts[warp]
        while at < ends[warp]:
            if words[at] >= ENTER:
                at += OF_WARP
                continue
            size = length(words[at])
            kind = kinds[instruction(words[at])]
            if space(words[at]) == laid.GLOBAL and kind > 0:
                _, _, distinct = reached(words[at + 1])
                moved = 1.0 * distinct * max(widths[instruction(words[at])], 4)
                bytes_each = bytes_of_each(words, at + laid.ACCESSED, at + size, moved)
                for k in range(at + laid.ACCESSED, at + size):
                    if share >= 1.0 or hashed(np.int64(words[k] >> np.uint32(2)) + 77) < share:
                        if n < sectors.size:
                            sectors[n], blocks[n] = words[k], warp // warps
                            found[n], covered[n] = kind, bytes_each
                            when[n] = (at - starts[warp]) / (ends[warp] - starts[warp])
                            alike[n] = passes(words[at + 1])[0] / (size - laid.ACCESSED)
                        n += 1
            at += size
    return n
