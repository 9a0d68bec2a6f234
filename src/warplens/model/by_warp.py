"""The log of a recording, put in order: warp after warp.  F5."""
# mypy: disable-error-code="untyped-decorator,misc,no-any-return"

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from warplens.emulator import Streams
from warplens.model.hashing import hashed

ENTER = np.uint32(1 << 31)


@dataclass(frozen=True)
class ByWarp:
    """words[starts[n]:ends[n]] is what warp n % warps of the block blocks[n // warps] issued: for each basic block
    ENTER | its number and the lanes, for each access its entry (emulator/recorder.py)."""

    blocks: tuple[int, ...]
    warps: int
    words: NDArray[np.uint32]
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]


def by_warp(streams: Streams, warps: int) -> ByWarp:
    order = np.argsort(np.array(streams.blocks, np.int64), kind="stable")
    numbers = np.array(streams.blocks, np.int64)[order]
    counts = _counted(streams.words, numbers, order, warps)
    ends = np.cumsum(counts)
    starts = ends - counts
    words = np.empty(int(ends[-1]) if ends.size else 0, np.uint32)
    _put(streams.words, numbers, order, warps, starts.copy(), words)
    return ByWarp(streams.blocks, warps, words, starts, ends)


@njit(cache=True)
def _counted(words, numbers, order, warps):  # type: ignore[no-untyped-def]
    counts = np.zeros(numbers.size * warps, np.int64)
    at, warp = 0, 0
    while at < words.size:
        if words[at] & ENTER:
            if at + 3 > words.size:
                break
            block = order[np.searchsorted(numbers, np.int64(words[at + 1]))]
            warp = block * warps + (int(words[at] >> np.uint32(24)) & 0x7F)
            counts[warp] += 2
            at += 3
        else:
            length = 2 + (int(words[at] >> np.uint32(20)) & 0xFF)
            counts[warp] += length
            at += length
    return counts


@njit(cache=True)
def _put(words, numbers, order, warps, place, made):  # type: ignore[no-untyped-def]
    at, warp = 0, 0
    while at < words.size:
        if words[at] & ENTER:
            if at + 3 > words.size:
                break
            block = order[np.searchsorted(numbers, np.int64(words[at + 1]))]
            warp = block * warps + (int(words[at] >> np.uint32(24)) & 0x7F)
            made[place[warp]] = ENTER | (words[at] & np.uint32(0xFFFFFF))
            made[place[warp] + 1] = words[at + 2]
            place[warp] += 2
            at += 3
        else:
            length = 2 + (int(words[at] >> np.uint32(20)) & 0xFF)
            for k in range(length):
                made[place[warp] + k] = words[at + k]
            place[warp] += length
            at += length


def part(whole: ByWarp, count: int) -> ByWarp:
    """The first `count` blocks."""
    n = count * whole.warps
    return ByWarp(whole.blocks[:count], whole.warps, whole.words, whole.starts[:n], whole.ends[:n])


def sectors_of(
    streams: ByWarp, kinds: NDArray[np.int64], most: int
) -> tuple[NDArray[np.uint32], NDArray[np.int32], NDArray[np.uint8], float]:
    """(sector, block, kind, share) of every access to global memory; kinds, by instruction: 0 is none.

    Where there are more than `most` of them, those of a share of all lines, drawn as if at random.
    """
    words, starts, ends = streams.words, streams.starts, streams.ends
    share = min(1.0, most / max(_count_sectors(words, starts, ends, kinds), 1))
    sectors, blocks, stored = _sectors(words, starts, ends, streams.warps, kinds, share, int(most * 1.2) + 1000)
    return sectors, blocks, stored, share


@njit(cache=True)
def _count_sectors(words, starts, ends, kinds):  # type: ignore[no-untyped-def]
    total = 0
    for warp in range(starts.size):
        at = starts[warp]
        while at < ends[warp]:
            if words[at] & ENTER:
                at += 2
                continue
            length = int(words[at] >> np.uint32(20)) & 0xFF
            if int(words[at] >> np.uint32(28)) & 3 == 0 and kinds[int(words[at] & np.uint32(0xFFFFF))] > 0:
                total += length
            at += 2 + length
    return total


@njit(cache=True)
def _sectors(words, starts, ends, warps, kinds, share, room):  # type: ignore[no-untyped-def]
    sectors, blocks = np.empty(room, np.uint32), np.empty(room, np.int32)
    stored = np.empty(room, np.uint8)
    n = 0
    for warp in range(starts.size):
        at = starts[warp]
        while at < ends[warp]:
            if words[at] & ENTER:
                at += 2
                continue
            length = int(words[at] >> np.uint32(20)) & 0xFF
            space = int(words[at] >> np.uint32(28)) & 3
            kind = kinds[int(words[at] & np.uint32(0xFFFFF))]
            if space == 0 and kind > 0:
                for k in range(length):
                    sector = words[at + 2 + k]
                    if n < room and (share >= 1.0 or hashed(np.int64(sector >> np.uint32(2)) + 77) < share):
                        sectors[n], blocks[n], stored[n] = sector, warp // warps, kind
                        n += 1
            at += 2 + length
    return sectors[:n].copy(), blocks[:n].copy(), stored[:n].copy()
