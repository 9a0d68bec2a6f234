"""L2 atomic units: how many of them a launch keeps busy.

Two atomic units share one L2 port.  A unit does the atomics of its lines one sector after the other, float additions
to one word more slowly; packets for both units go through the port one by one.  On an H200, whose 47 ports were
identified by adding to two addresses at a time, two neighbouring lines belong to one unit, the next two to another,
the six after those to the same two: all atomics on 1 KB are done by two units, those on 8 KB by 16 units of 15 ports,
those on 16 KB by 32 units of 23 ports, those on 64 KB by all units; the busiest port then has 4 of 128 slots
(measurements/h200/atomic_ports.csv).  The address hash that selects the units is unknown and modelled as random.

Where all SMs reach the same addresses at the same time, few units work, however many addresses the whole launch has.
So the atomics of all SMs are sent to the units as fast as they can leave, and the time that the units need is taken
(`step` of the calibration).  Blocks that have loaded something before no longer run in lockstep.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from warplens.emulator.state import trace_format as laid
from warplens.machine.parameter import assumed, measured
from warplens.model.address_hash import hashed
from warplens.model.grid.atomic_packets import pieces
from warplens.model.layout import NEVER
from warplens.model.trace.trace_decoder import ENTER, OF_WARP, instruction, length, passes, reached, sectors, space
from warplens.model.trace.warp_streams import WarpStreams
from warplens.simc import compiled

ENOUGH = assumed(200_000, "passes", "effort: to send, a fiftieth of a second")
TIMES = assumed(4, "repetitions", "effort: each with another address hash")
WORDS, FLOATS = 1, 2  # kinds of atomics: all integer operations take equally long
KIND, BYTES, RETURNS = range(3)  # columns of an instruction: kind or 0; bytes a lane; whether a result is returned
PLACES = 16  # defined: of 8 KB, four bits of `place`
# From the first 8 KB of 16 to the second 8: half of the ports have a unit for both; and from 16 KB to the next.
BESIDE = measured(8, "ports", "measurements/h200/atomic_ports.csv")
FARTHER = measured(12, "ports", "measurements/h200/atomic_ports.csv")
# Of a warp, after which blocks that started together are at random positions.
OUT_OF_STEP = measured(64, "loads", "measurements/h200/flush.csv")
# Between the first instructions of two SMs.
STARTS = assumed(4, "cycles", "fitted by hand to measurements/h200/flush.csv", "H200")
CHAINS = assumed(1 << 12, "sectors", "effort: tracked for float additions; those with the same hash share an entry")


@compiled
def unit_of(sector, ports, deal):  # type: ignore[no-untyped-def]
    """(port, unit) of a sector (address / 32): of 8 KB each slot of 512 bytes of every other two lines has its own."""
    kilobyte = sector >> 5
    place, second, group = (kilobyte & 7) << 1 | sector >> 3 & 1, kilobyte >> 3 & 1, kilobyte >> 4 & 3
    place ^= int(hashed((kilobyte >> 3) + 1000033 * deal) * PLACES)
    first = int(hashed((kilobyte >> 6) + 1000003 * deal) * ports)
    port = (first + place + BESIDE * second + FARTHER * group) % ports
    return port, 2 * port + (second ^ group & 1)


@compiled
def _next(words, at, end, atoms):  # type: ignore[no-untyped-def]
    """Position of a warp's next atomic, or `end`."""
    while at < end:
        if words[at] >= ENTER:
            at += OF_WARP
        elif space(words[at]) == laid.GLOBAL and atoms[instruction(words[at]), KIND] > 0 and sectors(words[at]) > 0:
            break
        else:
            at += length(words[at])
    return at


@compiled
def _at_once(words, at, end, atoms):  # type: ignore[no-untyped-def]
    """Whether a warp's next atomic follows without another memory access: then it continues, else the next warp is
    chosen."""
    while at < end and words[at] >= ENTER:
        at += OF_WARP
    return at < end and _next(words, at, end, atoms) == at


@compiled
def _counted(words, starts, ends, atoms, number, waits):  # type: ignore[no-untyped-def]
    """Passes of all warps;  number: atomics of each warp;  waits: global-memory accesses before the first."""
    found = 0
    for warp in range(starts.size):
        at = _next(words, starts[warp], ends[warp], atoms)
        waits[warp] = _waits(words, starts[warp], at)
        while at < ends[warp]:
            found += passes(words[at + 1])[0]
            number[warp] += 1
            at = _next(words, at + length(words[at]), ends[warp], atoms)
    return found


@compiled
def _waits(words, at, end):  # type: ignore[no-untyped-def]
    """Number of global-memory accesses."""
    found = 0
    while at < end:
        if words[at] >= ENTER:
            at += OF_WARP
        else:
            found += int(space(words[at]) == laid.GLOBAL)
            at += length(words[at])
    return found


@compiled
def _behind(words, at, end, atoms, number):  # type: ignore[no-untyped-def]
    """Position after the first `number` atomics of a warp."""
    for _ in range(number):
        at = _next(words, at, end, atoms)
        at += length(words[at])
    return at


@compiled
def _sooner(heap, when, n):  # type: ignore[no-untyped-def]
    """Sift down entry n of the min-heap of SMs; the SM that sends next is at the root."""
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
def _sent(  # type: ignore[no-untyped-def]
    words, at, ends, again, atoms, lows, turn, when, heap, rings, used, ports, units, chains, of_block, speeds, deal
):
    """(time that one unit would need for the passes sent, time when all units are done with them).

    at, ends  position of each warp in the trace: (m, warp);  again: range that it continues with after `ends`
    turn      next warp of an SM;  when: it may send the next atomic;  of_block: warps of a block
    rings     completion times of the passes in flight, (m, slot);  used: passes sent by each SM
    ports, units  when they are free;  chains: when sectors with float additions are
    speeds    cycles of a pass of a word, of a sector, of a float addition to the same sector; of a port for a packet,
              for a lone word, for a reply;  deal: seed of the address hash
    """
    word_cycles, sector_cycles, float_cycles, piece_cycles, lone_cycles, reply_cycles = speeds
    sent, work, end, left = 0, 0.0, 0.0, heap.size
    room, warps = rings.shape[1], at.shape[1]
    while left > 0 and sent < ENOUGH:
        m = heap[0]
        found = False
        begin = turn[m] // of_block * of_block
        beside = min(of_block, warps - begin)
        for tried in range(warps):
            # Round robin over the warps of a block; blocks in order.
            w = begin + (turn[m] - begin + tried) % beside if tried < beside else (begin + tried) % warps
            at[m, w] = _next(words, at[m, w], ends[m, w], atoms)
            if at[m, w] >= ends[m, w] and again[m, w, 0] < again[m, w, 1]:
                at[m, w], ends[m, w] = again[m, w, 0], again[m, w, 1]
                again[m, w, 1] = again[m, w, 0]
                at[m, w] = _next(words, at[m, w], ends[m, w], atoms)
            if at[m, w] < ends[m, w]:
                found = True
                break
        turn[m] = w + 1 if (w + 1) % of_block > 0 and w + 1 < warps else w // of_block * of_block
        if not found:
            when[m] = NEVER
            left -= 1
            _sooner(heap, when, 0)
            continue
        here = at[m, w]
        head, second = words[here], words[here + 1]
        number, atom = sectors(head), instruction(head)
        all_passes, fullest = passes(second)
        _, lanes, _ = reached(second)
        lines, crowded = _lines(words, here, number)
        many = pieces(lanes, number, lines, crowded, all_passes, fullest, False)
        through = max(piece_cycles * many, lone_cycles * all_passes * lines / number) / all_passes
        if atoms[atom, RETURNS] > 0:
            through = max(through, reply_cycles)
        done_in = sector_cycles if lanes * atoms[atom, BYTES] == 32 * all_passes else word_cycles
        now = when[m]
        for k in range(all_passes):
            # Round robin over sectors: the trace does not record which sector has more passes.
            sector = np.int64(words[here + laid.ACCESSED + k * number // all_passes])
            buffer = 0
            for n in range(lows.size):
                if lows[n] <= sector:
                    buffer = n
            place = (buffer << 40) + sector - lows[buffer]
            port, unit = unit_of(place, ports.size, deal)
            ring = used[m] % room
            now = max(now + many / all_passes, rings[m, ring])
            ports[port] = max(ports[port], now) + through
            units[unit] = max(units[unit], now) + done_in
            done = max(ports[port], units[unit])
            if atoms[atom, KIND] == FLOATS:
                chain = int(hashed(place) * CHAINS)
                done = max(done, chains[chain] + float_cycles)
                chains[chain] = done
            rings[m, ring] = done
            used[m] += 1
            end = max(end, done)
        sent, work = sent + all_passes, work + all_passes * done_in
        at[m, w] = here + length(head)
        if _at_once(words, at[m, w], ends[m, w], atoms):
            turn[m] = w
        when[m] = now
        _sooner(heap, when, 0)
    return work, end


@compiled
def _lines(words, at, number):  # type: ignore[no-untyped-def]
    """Lines of an access, and those of which it covers more than one sector."""
    lines, crowded, before, alone = 0, 0, np.int64(-1), True
    for k in range(at + laid.ACCESSED, at + laid.ACCESSED + number):
        line = np.int64(words[k]) >> 2
        if line != before:
            lines, alone = lines + 1, True
        elif alone:
            crowded, alone = crowded + 1, False
        before = line
    return lines, crowded


def units_at_work(
    streams: WarpStreams, atoms: NDArray[np.int64], lows: NDArray[np.int64], at_once: tuple[int, int], total: int,
    units: int, room: int, speeds: tuple[float, ...],
) -> float:  # fmt: skip
    """Average number of atomic units that are busy.

    streams   of randomly drawn blocks, or all;  atoms: by instruction, KIND, BYTES and RETURNS
    lows      start sectors of buffers, ascending: on a GPU mostly page-aligned;  at_once: SMs, blocks of each, of
              `total`
    units     two a port;  room: passes in flight of one SM;  speeds: as for _sent
    """
    active, resident = at_once
    number, waits = np.zeros((2, streams.starts.size), np.int64)
    found = _counted(streams.words, streams.starts, streams.ends, atoms, number, waits)
    if found == 0:
        return 1.0
    every = found / streams.starts.size  # passes of a warp
    warps = resident * streams.warps
    few = min(max(int(ENOUGH / (active * every)), 1), warps)
    mine = np.arange(few) * warps // few
    blocks = np.arange(active)[:, None] + mine // streams.warps * active
    order = np.argsort(np.array(streams.blocks), kind="stable")
    numbers = order[blocks % order.size] * streams.warps + mine % streams.warps
    starts, ends = streams.starts[numbers], np.where(blocks < total, streams.ends[numbers], 0)
    apart = number[numbers] * np.minimum(waits[numbers] / OUT_OF_STEP, 1.0)
    work, time = 0.0, 0.0
    for deal in range(TIMES):
        first, again = _out_of_step(streams.words, starts, ends, blocks, atoms, apart, deal)
        more, end = _sent(
            streams.words, first, ends.copy(), again, atoms, lows, np.zeros(active, np.int64),
            np.arange(active) * float(STARTS), np.arange(active), np.zeros((active, room)), np.zeros(active, np.int64),
            np.zeros(units // 2), np.zeros(units // 2 * 2), np.zeros(CHAINS), max(few // resident, 1), speeds, deal,
        )  # fmt: skip
        work, time = work + more, time + end
    return float(work / time)


def _out_of_step(
    words: NDArray[np.uint32], starts: NDArray[np.int64], ends: NDArray[np.int64], blocks: NDArray[np.int64],
    atoms: NDArray[np.int64], apart: NDArray[np.float64], deal: int,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:  # fmt: skip
    """Start positions of warps: random among as many of their atomics as blocks are apart, equal within a block;
    and the range from which each continues afterwards."""
    first = starts.copy()
    again = np.zeros((*starts.shape, 2), np.int64)
    for m, w in zip(*np.nonzero((apart >= 1) & (ends > starts)), strict=True):
        passed = int(hashed(int(blocks[m, w]) + 7919 * deal) * apart[m, w])
        first[m, w] = _behind(words, starts[m, w], ends[m, w], atoms, passed)
        again[m, w] = starts[m, w], first[m, w]
    return first, again
