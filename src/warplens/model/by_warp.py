"""The log of a recording, put in order: warp after warp.  F5."""
# mypy: disable-error-code="untyped-decorator,misc,no-any-return"

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from warplens.emulator import Streams

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


@njit(cache=True)
def sectors_of(words, starts, ends, warps, kinds):  # type: ignore[no-untyped-def]
    """(sector, block, kind) of every access to global memory; kinds, by instruction: 0 is none."""
    total = 0
    for again in range(2):
        if again:
            sectors, blocks = np.empty(total, np.uint32), np.empty(total, np.int32)
            stored = np.empty(total, np.uint8)
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
                    if again:
                        for k in range(length):
                            sectors[n + k] = words[at + 2 + k]
                            blocks[n + k] = warp // warps
                            stored[n + k] = kind
                    n += length
                at += 2 + length
        total = n
    return sectors, blocks, stored
