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

from enum import IntEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from warplens.core.program import Program
from warplens.counters.opcodes import width
from warplens.emulator.state import trace_format as laid
from warplens.machine import Machine
from warplens.machine.parameter import assumed
from warplens.model.address_hash import hashed
from warplens.model.grid.atomic_packets import AtomicShape, packets
from warplens.model.instruction.instruction_table import adds_floats, kind_of
from warplens.model.layout import NEVER, Kind
from warplens.model.trace.trace_decoder import ENTER, OF_WARP, instruction, length, passes, reached, sectors, space
from warplens.model.trace.warp_streams import WarpStreams
from warplens.simc import compiled

ENOUGH = assumed(200_000, "passes", "effort: to send, a fiftieth of a second")
TIMES = assumed(4, "repetitions", "effort: each with another address hash")
PLACES = 16  # defined: of 8 KB, four bits of `place`
CHAINS = assumed(1 << 12, "sectors", "effort: tracked for float additions; those with the same hash share an entry")


class AtomicKind(IntEnum):
    """Speed class of an atomic: all integer operations take equally long."""

    NONE = 0
    INTEGER = 1
    FLOAT = 2


class AtomicTable(NamedTuple):
    """By instruction: AtomicKind, bytes of a lane, whether a result is returned."""

    kind: NDArray[np.int64]
    lane_bytes: NDArray[np.int64]
    returns: NDArray[np.int64]


class AtomicSpeeds(NamedTuple):
    """Cycles of an atomic unit for a pass of a word, of a sector, of a float addition to the same sector; of a port
    for a packet, for a lone word, for a reply."""

    word_cycles: float
    sector_cycles: float
    float_cycles: float
    packet_cycles: float
    lone_cycles: float
    reply_cycles: float


class AtomicWork(NamedTuple):
    """Atomics of a launch.

    streams   of randomly drawn blocks, or all of `blocks`
    lows      start sectors of buffers, ascending: on a GPU mostly page-aligned
    """

    streams: WarpStreams
    table: AtomicTable
    lows: NDArray[np.int64]
    blocks: int


class PortDistances(NamedTuple):
    """Ports from the first 8 KB of 16 to the second 8, of which half have a unit for both; from 16 KB to the next."""

    second_8kb: int
    next_16kb: int


class AtomicTrace(NamedTuple):
    """words: of the trace;  table, lows: of AtomicWork;  speeds, distances;  seed: of the address hash."""

    words: NDArray[np.uint32]
    table: AtomicTable
    lows: NDArray[np.int64]
    speeds: AtomicSpeeds
    distances: PortDistances
    seed: int


class SendingSms(NamedTuple):
    """SMs that send their atomics, by SM and warp.

    position, end         of each warp in the trace;  resume, resume_end: range that it continues with afterwards
    turn, ready           next warp of an SM, and when it may send the next atomic
    heap                  SMs as a min-heap by `ready`
    in_flight, sent       completion times of the passes in flight (SM, slot), and passes sent by each SM
    block_warps           warps of a block
    """

    position: NDArray[np.int64]
    end: NDArray[np.int64]
    resume: NDArray[np.int64]
    resume_end: NDArray[np.int64]
    turn: NDArray[np.int64]
    ready: NDArray[np.float64]
    heap: NDArray[np.int64]
    in_flight: NDArray[np.float64]
    sent: NDArray[np.int64]
    block_warps: int


class UnitTimes(NamedTuple):
    """When each port and unit is free, and each sector with float additions."""

    ports: NDArray[np.float64]
    units: NDArray[np.float64]
    float_sectors: NDArray[np.float64]


class AtomicCost(NamedTuple):
    """Of one atomic: passes, packets; cycles of a port and of a unit for a pass; whether it adds floats."""

    passes: int
    packets: float
    port_cycles: float
    unit_cycles: float
    is_float: bool


def atomic_table(program: Program) -> AtomicTable:
    code = program.instructions
    kinds = [kind_of(i) for i in code]
    speed_class = [
        AtomicKind.NONE if kind not in (Kind.ATOMIC, Kind.REDUCTION)
        else AtomicKind.FLOAT if adds_floats(i) else AtomicKind.INTEGER
        for kind, i in zip(kinds, code, strict=True)
    ]  # fmt: skip
    return AtomicTable(
        np.array(speed_class, np.int64), np.array([width(i) // 8 for i in code], np.int64),
        np.array([kind == Kind.ATOMIC for kind in kinds], np.int64),
    )  # fmt: skip


@compiled
def unit_of(sector, ports, distances, seed):  # type: ignore[no-untyped-def]
    """(port, unit) of a sector (address / 32): of 8 KB each slot of 512 bytes of every other two lines has its own."""
    kilobyte = sector >> 5
    place, second, group = (kilobyte & 7) << 1 | sector >> 3 & 1, kilobyte >> 3 & 1, kilobyte >> 4 & 3
    place ^= int(hashed((kilobyte >> 3) + 1000033 * seed) * PLACES)
    first = int(hashed((kilobyte >> 6) + 1000003 * seed) * ports)
    port = (first + place + distances.second_8kb * second + distances.next_16kb * group) % ports
    return port, 2 * port + (second ^ group & 1)


@compiled
def _next_atomic(words, at, end, table):  # type: ignore[no-untyped-def]
    """Position of a warp's next atomic, or `end`."""
    while at < end:
        if words[at] >= ENTER:
            at += OF_WARP
        elif space(words[at]) == laid.GLOBAL and table.kind[instruction(words[at])] > 0 and sectors(words[at]) > 0:
            break
        else:
            at += length(words[at])
    return at


@compiled
def _is_next_access(words, at, end, table):  # type: ignore[no-untyped-def]
    """Whether a warp's next atomic follows without another memory access: then it continues, else the next warp is
    chosen."""
    while at < end and words[at] >= ENTER:
        at += OF_WARP
    return at < end and _next_atomic(words, at, end, table) == at


@compiled
def _count_passes(words, starts, ends, table, number, waits):  # type: ignore[no-untyped-def]
    """Passes of all warps;  number: atomics of each warp;  waits: global-memory accesses before the first."""
    found = 0
    for warp in range(starts.size):
        at = _next_atomic(words, starts[warp], ends[warp], table)
        waits[warp] = _count_accesses(words, starts[warp], at)
        while at < ends[warp]:
            found += passes(words[at + 1])[0]
            number[warp] += 1
            at = _next_atomic(words, at + length(words[at]), ends[warp], table)
    return found


@compiled
def _count_accesses(words, at, end):  # type: ignore[no-untyped-def]
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
def _skip_atomics(words, at, end, table, number):  # type: ignore[no-untyped-def]
    """Position after the first `number` atomics of a warp."""
    for _ in range(number):
        at = _next_atomic(words, at, end, table)
        at += length(words[at])
    return at


@compiled
def _sift_down(heap, ready, n):  # type: ignore[no-untyped-def]
    """Sift down entry n of the min-heap of SMs; the SM that sends next is at the root."""
    while True:
        least, below = n, 2 * n + 1
        if below < heap.size and ready[heap[below]] < ready[heap[least]]:
            least = below
        if below + 1 < heap.size and ready[heap[below + 1]] < ready[heap[least]]:
            least = below + 1
        if least == n:
            break
        heap[n], heap[least] = heap[least], heap[n]
        n = least


@compiled
def _send_all(trace, sms, times):  # type: ignore[no-untyped-def]
    """(time that one unit would need for the passes sent, time when all units are done with them)."""
    sent, work, end, left = 0, 0.0, 0.0, sms.heap.size
    while left > 0 and sent < ENOUGH:
        m = sms.heap[0]
        w = _choose_warp(trace, sms, m)
        if w < 0:
            sms.ready[m] = NEVER
            left -= 1
        else:
            at = sms.position[m, w]
            cost = _cost_of(trace, at)
            end = max(end, _send_passes(trace, at, cost, m, sms, times))
            sent, work = sent + cost.passes, work + cost.passes * cost.unit_cycles
            sms.position[m, w] = at + length(trace.words[at])
            if _is_next_access(trace.words, sms.position[m, w], sms.end[m, w], trace.table):
                sms.turn[m] = w
        _sift_down(sms.heap, sms.ready, 0)
    return work, end


@compiled
def _choose_warp(trace, sms, m):  # type: ignore[no-untyped-def]
    """The warp of SM m that sends the next atomic, or -1: round robin over the warps of a block; blocks in order."""
    warps, each = sms.position.shape[1], sms.block_warps
    begin = sms.turn[m] // each * each
    beside = min(each, warps - begin)
    for tried in range(warps):
        w = begin + (sms.turn[m] - begin + tried) % beside if tried < beside else (begin + tried) % warps
        sms.position[m, w] = _next_atomic(trace.words, sms.position[m, w], sms.end[m, w], trace.table)
        if sms.position[m, w] >= sms.end[m, w] and sms.resume[m, w] < sms.resume_end[m, w]:
            sms.position[m, w], sms.end[m, w] = sms.resume[m, w], sms.resume_end[m, w]
            sms.resume_end[m, w] = sms.resume[m, w]
            sms.position[m, w] = _next_atomic(trace.words, sms.position[m, w], sms.end[m, w], trace.table)
        if sms.position[m, w] < sms.end[m, w]:
            sms.turn[m] = w + 1 if (w + 1) % each > 0 and w + 1 < warps else w // each * each
            return w
    return -1


@compiled
def _cost_of(trace, at):  # type: ignore[no-untyped-def]
    """AtomicCost of the atomic at a position of the trace."""
    words, table, speeds = trace.words, trace.table, trace.speeds
    number, i = sectors(words[at]), instruction(words[at])
    all_passes, word_passes = passes(words[at + 1])
    _, lanes, _ = reached(words[at + 1])
    lines, crowded = _count_lines(words, at, number)
    shape = AtomicShape(lanes, table.lane_bytes[i], number, lines, crowded, all_passes, word_passes)
    many = packets(shape, False)
    port_cycles = max(speeds.packet_cycles * many, speeds.lone_cycles * all_passes * lines / number) / all_passes
    if table.returns[i] > 0:
        port_cycles = max(port_cycles, speeds.reply_cycles)
    unit_cycles = speeds.sector_cycles if lanes * table.lane_bytes[i] == 32 * all_passes else speeds.word_cycles
    return AtomicCost(all_passes, many, port_cycles, unit_cycles, table.kind[i] == AtomicKind.FLOAT)


@compiled
def _send_passes(trace, at, cost, m, sms, times):  # type: ignore[no-untyped-def]
    """Send the passes of an atomic of SM m; returns when the last one is done."""
    words, number, end, now = trace.words, sectors(trace.words[at]), 0.0, sms.ready[m]
    for k in range(cost.passes):
        # Round robin over sectors: the trace does not record which sector has more passes.
        place = _place_in_buffer(np.int64(words[at + laid.ACCESSED + k * number // cost.passes]), trace.lows)
        port, unit = unit_of(place, times.ports.size, trace.distances, trace.seed)
        slot = sms.sent[m] % sms.in_flight.shape[1]
        now = max(now + cost.packets / cost.passes, sms.in_flight[m, slot])
        times.ports[port] = max(times.ports[port], now) + cost.port_cycles
        times.units[unit] = max(times.units[unit], now) + cost.unit_cycles
        done = max(times.ports[port], times.units[unit])
        if cost.is_float:
            chain = int(hashed(place) * CHAINS)
            done = max(done, times.float_sectors[chain] + trace.speeds.float_cycles)
            times.float_sectors[chain] = done
        sms.in_flight[m, slot] = done
        sms.sent[m] += 1
        end = max(end, done)
    sms.ready[m] = now
    return end


@compiled
def _place_in_buffer(sector, lows):  # type: ignore[no-untyped-def]
    """Sector relative to the start of its buffer, and the number of the buffer."""
    buffer = 0
    for n in range(lows.size):
        if lows[n] <= sector:
            buffer = n
    return (buffer << 40) + sector - lows[buffer]


@compiled
def _count_lines(words, at, number):  # type: ignore[no-untyped-def]
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


def busy_units(work: AtomicWork, sms: int, resident: int, speeds: AtomicSpeeds, machine: Machine) -> float:
    """Average number of atomic units that are busy, while so many SMs with so many resident blocks send their atomics
    as fast as they can."""
    streams, micro = work.streams, machine.microarchitecture
    units, slots = int(machine.speeds.atomic_units), int(machine.speeds.atomics_in_flight)
    distances = PortDistances(int(micro.second_8kb), int(micro.next_16kb))
    number, waits = np.zeros((2, streams.starts.size), np.int64)
    found = _count_passes(streams.words, streams.starts, streams.ends, work.table, number, waits)
    if found == 0:
        return 1.0
    of_warp = found / streams.starts.size  # passes
    warps = resident * streams.warps
    few = min(max(int(ENOUGH / (sms * of_warp)), 1), warps)
    mine = np.arange(few) * warps // few
    blocks = np.arange(sms)[:, None] + mine // streams.warps * sms
    order = np.argsort(np.array(streams.blocks), kind="stable")
    numbers = order[blocks % order.size] * streams.warps + mine % streams.warps
    starts, ends = streams.starts[numbers], np.where(blocks < work.blocks, streams.ends[numbers], 0)
    spread = number[numbers] * np.minimum(waits[numbers] / micro.lockstep_loads, 1.0)
    busy, elapsed = 0.0, 0.0
    for seed in range(TIMES):
        trace = AtomicTrace(streams.words, work.table, work.lows, speeds, distances, seed)
        position, resume, resume_end = _start_positions(trace, starts, ends, blocks, spread)
        senders = SendingSms(
            position=position,
            end=ends.copy(),
            resume=resume,
            resume_end=resume_end,
            turn=np.zeros(sms, np.int64),
            ready=micro.start_cycles * np.arange(sms, dtype=np.float64),
            heap=np.arange(sms),
            in_flight=np.zeros((sms, slots)),
            sent=np.zeros(sms, np.int64),
            block_warps=max(few // resident, 1),
        )
        times = UnitTimes(np.zeros(units // 2), np.zeros(units // 2 * 2), np.zeros(CHAINS))
        more, end = _send_all(trace, senders, times)
        busy, elapsed = busy + more, elapsed + end
    return float(busy / elapsed)


def _start_positions(
    trace: AtomicTrace, starts: NDArray[np.int64], ends: NDArray[np.int64], blocks: NDArray[np.int64],
    spread: NDArray[np.float64],
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:  # fmt: skip
    """position, resume, resume_end of SendingSms: warps start at a random one of `spread` atomics, the same
    within a block, and continue with those before it."""
    position, resume, resume_end = starts.copy(), np.zeros_like(starts), np.zeros_like(starts)
    for m, w in zip(*np.nonzero((spread >= 1) & (ends > starts)), strict=True):
        number = int(hashed(int(blocks[m, w]) + 7919 * trace.seed) * spread[m, w])
        position[m, w] = _skip_atomics(trace.words, starts[m, w], ends[m, w], trace.table, number)
        resume[m, w], resume_end[m, w] = starts[m, w], position[m, w]
    return position, resume, resume_end
