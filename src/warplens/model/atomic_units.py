"""How many of the units of L2 that do atomics share the work of a launch.  F5.

A unit does the atomics of its lines one sector after the other, adding floats to one word more slowly.  On an H200 two
neighbouring lines belong to one unit, the next two to another, and the six behind those to the same two units again:
all atomics on 1 KB are done by two units, those on 8 KB by 16 (`crowd lines`, `crowd add` of
measurements/h200/calibration.csv).  Which units those are looks like chance.

Where all multiprocessors come to the same places at the same time, few units work, however many places there are in the
whole launch: so the atomics of all multiprocessors are sent to the units, as fast as they can leave, and the time is
taken that they need (`step` of the calibration: words that all warps change in turn, each some 2 KB from the one
before, are done by 20 units, 520 neighbouring ones at a time by 45).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from warplens.compiled import compiled
from warplens.emulator import entries as laid
from warplens.model.by_warp import ByWarp
from warplens.model.entries import ENTER, OF_WARP, instruction, length, passes, sectors, space
from warplens.model.hashing import hashed

ENOUGH = 200_000  # passes to send: a fiftieth of a second
TIMES = 4  # that they are sent, each to units dealt out anew
WORDS, FLOATS = 1, 2  # kinds of atomics: those on whole numbers take as long as each other
NEIGHBOURS = 16  # places near each other that different units do
STARTS = 4  # cycles between the first instructions of two multiprocessors
CHAINS = 1 << 12  # sectors to which floats are added at a time; others that fall on the same share their time


@compiled
def unit_of(sector, units, deal):  # type: ignore[no-untyped-def]
    """Of a sector (address / 32): two lines of every other two of 1 KB are one place."""
    place = sector >> 5 << 1 | sector >> 3 & 1
    first = int(hashed(place // NEIGHBOURS + 1000003 * deal) * units)
    return (first + place % NEIGHBOURS * max(units // NEIGHBOURS, 1)) % units


@compiled
def _next(words, at, end, kinds):  # type: ignore[no-untyped-def]
    """Where the next atomic of a warp stands, or `end`."""
    while at < end:
        if words[at] >= ENTER:
            at += OF_WARP
        elif space(words[at]) == laid.GLOBAL and kinds[instruction(words[at])] > 0 and sectors(words[at]) > 0:
            break
        else:
            at += length(words[at])
    return at


@compiled
def _at_once(words, at, end, kinds):  # type: ignore[no-untyped-def]
    """Whether a warp does nothing in memory before its next atomic: then it goes on, else others have their turn."""
    while at < end and words[at] >= ENTER:
        at += OF_WARP
    return at < end and _next(words, at, end, kinds) == at


@compiled
def _passes(words, starts, ends, kinds):  # type: ignore[no-untyped-def]
    """Of all warps."""
    found = 0
    for warp in range(starts.size):
        at = _next(words, starts[warp], ends[warp], kinds)
        while at < ends[warp]:
            found += passes(words[at + 1])[0]
            at = _next(words, at + length(words[at]), ends[warp], kinds)
    return found


@compiled
def _sooner(heap, when, n):  # type: ignore[no-untyped-def]
    """The n-th of a heap of multiprocessors goes down to its place: the one whose turn is next stands first."""
    while True:
        least, below = n, 2 * n + 1
        if below < heap.size and when[heap[below]] < when[heap[least]]:
            least = below
        if below + 1 < heap.size and when[heap[below + 1]] < when[heap[least]]:
            least = below + 1
        if least == n:
            break
        heap[n], heap[least] = heap[least], heap[n]
        n = least


@compiled
def _sent(words, at, ends, kinds, lows, turn, when, heap, rings, used, free, chains, speeds, deal):  # type: ignore[no-untyped-def]
    """(passes that were sent, the time when the units are done with them).

    at, ends  where warps stand in their record: (m, warp);  turn: whose turn it is on a multiprocessor
    when      a multiprocessor may send the next;  rings, used: when those on their way are done, (m, place)
    free      when units are done;  chains: when sectors are, to which floats are added
    speeds    cycles of a pass, of one that adds floats to the same sector, of a piece on its way;  deal: any number
    """
    pass_cycles, float_cycles, piece_cycles = speeds
    sent, end, left = 0, 0.0, heap.size
    room = rings.shape[1]
    warps = at.shape[1]
    while left > 0 and sent < ENOUGH:
        m = heap[0]
        found = False
        for _ in range(warps):
            w = turn[m]
            turn[m] = (w + 1) % warps
            at[m, w] = _next(words, at[m, w], ends[m, w], kinds)
            if at[m, w] < ends[m, w]:
                found = True
                break
        if not found:
            when[m] = 1e18
            left -= 1
            _sooner(heap, when, 0)
            continue
        here = at[m, w]
        head, second = words[here], words[here + 1]
        number = sectors(head)
        all_passes, _ = passes(second)
        now = when[m]
        for k in range(all_passes):
            # The sectors take turns: of which there are more passes is not recorded.
            sector = np.int64(words[here + laid.ACCESSED + k * number // all_passes])
            low = lows[0]
            for n in range(lows.size):
                if lows[n] <= sector:
                    low = lows[n]
            place = (low >> 5 << 5) + (sector - low)  # buffers begin at whole KB
            u = unit_of(place, free.size, deal)
            ring = used[m] % room
            now = max(now + piece_cycles, rings[m, ring])
            free[u] = max(free[u], now) + pass_cycles
            done = free[u]
            if kinds[instruction(head)] == FLOATS:
                chain = int(hashed(place) * CHAINS)
                done = max(done, chains[chain] + float_cycles)
                chains[chain] = done
            rings[m, ring] = done
            used[m] += 1
            end = max(end, done)
        sent += all_passes
        at[m, w] = here + length(head)
        if _at_once(words, at[m, w], ends[m, w], kinds):
            turn[m] = w
        when[m] = now
        _sooner(heap, when, 0)
    return sent, end


def units_at_work(
    streams: ByWarp, kinds: NDArray[np.int64], lows: NDArray[np.int64], at_once: tuple[int, int], total: int,
    units: int, room: int, speeds: tuple[float, float, float],
) -> float:  # fmt: skip
    """How many units' worth of work is done at a time.

    streams   of blocks as if drawn at random, or all;  kinds: by instruction, 0 none, WORDS, FLOATS
    lows      where buffers begin, in order: on a GPU mostly at whole KB;  at_once: multiprocessors, blocks of each,
              of `total`
    room      for passes of one multiprocessor on their way;  speeds: cycles of a pass, of one that adds floats to the
              same sector, of a piece on its way
    """
    active, resident = at_once
    found = _passes(streams.words, streams.starts, streams.ends, kinds)
    if found == 0:
        return 1.0
    every = found / streams.starts.size  # of a warp
    warps = resident * streams.warps
    few = min(max(int(ENOUGH / (active * every)), 1), warps)
    mine = np.arange(few) * warps // few
    blocks = np.arange(active)[:, None] + mine // streams.warps * active
    order = np.argsort(np.array(streams.blocks), kind="stable")
    numbers = order[blocks % order.size] * streams.warps + mine % streams.warps
    ends = np.where(blocks < total, streams.ends[numbers], 0)
    sent, time = 0, 0.0
    for deal in range(TIMES):
        passes_sent, end = _sent(
            streams.words, streams.starts[numbers], ends, kinds, lows, np.zeros(active, np.int64),
            np.arange(active) * float(STARTS), np.arange(active), np.zeros((active, room)), np.zeros(active, np.int64),
            np.zeros(units), np.zeros(CHAINS), speeds, deal,
        )  # fmt: skip
        sent, time = sent + passes_sent, time + end
    return float(sent * speeds[0] / time)
