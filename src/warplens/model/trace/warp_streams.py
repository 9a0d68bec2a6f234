"""Warp streams: the log of a recording, ordered warp after warp."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from warplens.emulator import WarpTraces
from warplens.emulator.state import trace_format as laid
from warplens.model.address_hash import hashed
from warplens.model.trace.trace_decoder import ENTER, OF_WARP, instruction, length, reached, space
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


def order_by_warp(streams: WarpTraces, warps: int) -> WarpStreams:
    order = np.argsort(np.array(streams.blocks, np.int64), kind="stable")
    numbers = np.array(streams.blocks, np.int64)[order]
    counts = np.zeros(numbers.size * warps, np.int64)
    _append_entries(streams.words, numbers, order, warps, counts, np.empty(0, np.uint32))
    ends = np.cumsum(counts)
    starts = ends - counts
    words = np.empty(int(counts.sum()), np.uint32)
    _append_entries(streams.words, numbers, order, warps, starts.copy(), words)
    return WarpStreams(streams.blocks, warps, words, starts, ends)


@compiled
def _binary_search(numbers, number):  # type: ignore[no-untyped-def]
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
def _append_entries(words, numbers, order, warps, place, made):  # type: ignore[no-untyped-def]
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
        block = order[_binary_search(numbers, words[at + 1])]
        warp = block * warps + (np.int64(words[at]) >> laid.WARP & laid.MOST_WARPS)
        if made.size:
            made[place[warp]] = ENTER | (words[at] & np.uint32(laid.MOST_BASIC_BLOCKS))
            made[place[warp] + 1] = words[at + 2]
        place[warp] += OF_WARP
        at += laid.ENTERED


def select_blocks(whole: WarpStreams, blocks: tuple[int, ...]) -> WarpStreams:
    """The streams of these blocks only, in this order."""
    place = {block: n for n, block in enumerate(whole.blocks)}
    places = np.array([place[block] for block in blocks], np.int64)
    warps = (places[:, None] * whole.warps + np.arange(whole.warps)).ravel()
    return WarpStreams(blocks, whole.warps, whole.words, whole.starts[warps], whole.ends[warps])


class ReachedSectors(NamedTuple):
    """Sectors that accesses to global memory reach, one entry each.

    sectors, blocks   number of the sector, and index of the block into WarpStreams.blocks
    kinds, covered    kind of the access, and bytes of the sector that it covers
    progress          share of the warp's trace before the access;  in step: of the average trace of its warps
    share             of all lines, from which these are a random sample
    """

    sectors: NDArray[np.uint32]
    blocks: NDArray[np.int32]
    kinds: NDArray[np.uint8]
    covered: NDArray[np.float64]
    progress: NDArray[np.float64]
    share: float = 1.0

    @classmethod
    def empty(cls, size: int, share: float) -> ReachedSectors:
        return cls(
            np.empty(size, np.uint32), np.empty(size, np.int32), np.empty(size, np.uint8), np.empty(size),
            np.empty(size), share,
        )  # fmt: skip

    def first(self, count: int) -> ReachedSectors:
        return ReachedSectors(
            self.sectors[:count].copy(), self.blocks[:count].copy(), self.kinds[:count].copy(),
            self.covered[:count].copy(), self.progress[:count].copy(), self.share,
        )  # fmt: skip


def sectors_of(
    streams: WarpStreams, kinds: NDArray[np.int64], widths: NDArray[np.int64], most: int, in_step: bool = False
) -> ReachedSectors:
    """kinds: by instruction, 0 is skipped;  widths: bytes a lane of it moves
    in_step   blocks begin together: progress is that in time, not that of a block that ends sooner

    With more than `most` sectors, those of a random sample of all lines.
    """

    lengths = (streams.ends - streams.starts).astype(np.float64)
    if in_step and lengths.size:
        of_warps = lengths.reshape(-1, streams.warps)
        lengths = np.broadcast_to(of_warps.mean(0), of_warps.shape).flatten()

    def read(out: ReachedSectors) -> int:
        return int(_read_sectors(streams.arrays, kinds, widths, lengths, out))

    total = read(ReachedSectors.empty(0, 1.0))
    share = min(1.0, most / max(total, 1))
    reached = ReachedSectors.empty(min(total, int(most * 1.2) + 1000), share)
    return reached.first(read(reached))


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
def _read_sectors(trace, kinds, widths, lengths, out):  # type: ignore[no-untyped-def]
    """Number of sectors in the sample; as many as fit into `out` are stored.

    lengths   of a warp's trace, by which its progress is measured
    """
    n = 0
    for warp in range(trace.starts.size):
        at, end = trace.starts[warp], trace.ends[warp]
        while at < end:
            if trace.words[at] >= ENTER:
                at += OF_WARP
                continue
            kind = kinds[instruction(trace.words[at])]
            if space(trace.words[at]) == laid.GLOBAL and kind > 0:
                progress = min((at - trace.starts[warp]) / lengths[warp], 1.0)
                width = widths[instruction(trace.words[at])]
                n = _store_sectors(trace, at, ReachingAccess(warp // trace.warps, kind, width, progress), out, n)
            at += length(trace.words[at])
    return n


class ReachingAccess(NamedTuple):
    """An access to global memory: fields of ReachedSectors, and bytes of each lane."""

    block: int
    kind: int
    width: int
    progress: float


@compiled
def _store_sectors(trace, at, access, out, n):  # type: ignore[no-untyped-def]
    """Store the sectors of the access at a position of the trace; returns their number, n before."""
    words, first, last = trace.words, at + laid.ACCESSED, at + length(trace.words[at])
    _, _, distinct = reached(words[at + 1])
    moved = 1.0 * distinct * max(access.width, 4)
    bytes_each = bytes_of_each(words, first, last, moved)
    for k in range(first, last):
        if out.share >= 1.0 or hashed(np.int64(words[k] >> np.uint32(2)) + 77) < out.share:
            if n < out.sectors.size:
                out.sectors[n], out.blocks[n] = words[k], access.block
                out.kinds[n], out.covered[n] = access.kind, bytes_each
                out.progress[n] = access.progress
            n += 1
    return n
