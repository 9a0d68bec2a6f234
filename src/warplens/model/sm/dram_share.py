"""DRAM: the share of its bandwidth that one SM has, and how long its loads take.

What it is   one server for reads and writes, with the SM's share of the bandwidth; latencies scatter around an average.
Formula      cycles of a read = 64 B a piece / read_bytes, times lone_half where the neighbour is not wanted;
             latency = latency + scatter * latency_spread + queue_cycles * busy / (1 - busy) + turns between reads and
             writes, where busy is the share of the time so far that DRAM worked.
Parameters   DramSettings, from calibration/derive.py; PAGE and BUSIEST below.
Evidence     measurements/h200/lines_in_order.csv (which lines are slow together), near_halves.csv, calibration.csv.
Known error  which lines are slow is drawn by a hash: right on the average, not for each line.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from warplens.model.address_hash import hashed
from warplens.simc import Record, compiled

PAGE = 5  # lines whose loads from DRAM take alike: 2 to this power, 4 KB; source: lines_in_order.csv
BUSIEST = 0.85  # as much of its bandwidth as DRAM is taken to give; assumed: as in calibration/derive.py
SECTOR, PIECE = 32.0, 64.0  # bytes; defined: of what is written, and read


class DramSettings(NamedTuple):
    """read_bytes, write_bytes: a cycle of the SM's share
    latency, latency_spread   of a load, and how much single ones differ from it: cycles
    scatter                   by how many spreads the least, 10, 25, 50, 75, 90, 99 % and the most do
    queue_cycles              that loads wait where DRAM is busy
    turn_cycles, turn_growth  likewise where it turns between reads and writes
    lone_half, lone_sector    times as long that 64 bytes read, and 32 written, take without their neighbour
    """

    read_bytes: float
    write_bytes: float
    latency: float
    latency_spread: float
    scatter: Any
    queue_cycles: float
    turn_cycles: float
    turn_growth: float
    lone_half: float
    lone_sector: float


class DramState(Record):
    """free: until when it is taken;  stores: until when its work on stores would take it;  read_work, write_work: of it
    so far (cycles)."""

    free: float
    stores: float
    read_work: float
    write_work: float


@compiled
def slow_with(line):  # type: ignore[no-untyped-def]
    """A number that lines share which chance makes slow together: of each 1 KB the first and the third 256 bytes, and
    the others, as if two channels of DRAM took turns (`seen in order` of measurements/h200/lines_in_order.csv: of two
    neighbours of slow lines one is slow, too, of those 256 bytes off none more than others, 512 bytes off half)."""
    return line >> 3 << 1 | line >> 1 & 1


@compiled
def scattered(line, near, dram):  # type: ignore[no-untyped-def]
    """By how many spreads the latency of a line from DRAM is off the average, as [dram_scatter] says.  The slowest
    tenth meets what else DRAM does, and is slow by chance: of 8 lines anywhere the slowest takes 950 cycles, of 32 it
    takes 1,240.  The others are alike within 4 KB, which lie at one place: near in one half of L2, or far in the
    other."""
    u = hashed(slow_with(line) + 3)
    if u < 0.9:
        u = 0.9 * hashed((line >> PAGE) + 1) * (0.5 if near else 1.0)
    n, low, high = 0, 0.0, 0.1
    if u >= 0.99:
        n, low, high = 6, 0.99, 1.0
    elif u >= 0.9:
        n, low, high = 5, 0.9, 0.99
    elif u >= 0.75:
        n, low, high = 4, 0.75, 0.9
    elif u >= 0.5:
        n, low, high = 3, 0.5, 0.75
    elif u >= 0.25:
        n, low, high = 2, 0.25, 0.5
    elif u >= 0.1:
        n, low, high = 1, 0.1, 0.25
    before, after = dram.scatter[n], dram.scatter[n + 1]
    return before + (after - before) * (u - low) / (high - low)


@compiled
def read_pieces(pieces, lone, at, memory):  # type: ignore[no-untyped-def]
    """DRAM reads 64 bytes at a time, more slowly where their neighbour is not wanted (`lone`)."""
    dram, settings = memory.servers.dram, memory.settings.dram
    if pieces > 0:
        work = PIECE * pieces / settings.read_bytes * (settings.lone_half if lone else 1.0)
        dram.free = max(dram.free, at) + work
        dram.read_work += work


@compiled
def store(at, reads, writes, dram):  # type: ignore[no-untyped-def]
    """DRAM's work on what is stored, in cycles: reads that fill up sectors, and writes."""
    dram.free = max(dram.free, at) + reads + writes
    dram.stores = max(dram.stores, at) + reads + writes
    dram.read_work += reads
    dram.write_work += writes


@compiled
def store_sectors(line, number, at, memory):  # type: ignore[no-untyped-def]
    """What so many stored sectors of a line cost DRAM, sooner or later: to fill up parts of sectors, and to write."""
    supply, settings = memory.supply, memory.settings.dram
    for n in range(supply.lows.size):
        if supply.lows[n] <= 4 * line + 3 and 4 * line < supply.highs[n]:
            if supply.stores[n] > 0:
                reads = SECTOR * supply.fills[n] * number / settings.read_bytes
                writes = SECTOR * supply.stores[n] * number / settings.write_bytes
                store(at, reads, writes, memory.servers.dram)
            break


@compiled
def latency_of(spreads, memory):  # type: ignore[no-untyped-def]
    """Of a load that is so many cycles off the average: reads queue up, and wait while DRAM writes, the longer the
    busier it is and the more often both take turns."""
    dram, settings = memory.servers.dram, memory.settings.dram
    late = settings.latency + spreads
    work = dram.read_work + dram.write_work
    busy = min(work / max(dram.free, 1.0), BUSIEST)
    if work > 0:
        turns = settings.turn_cycles * 2.0 * dram.read_work * dram.write_work / (work * work)
        late += settings.queue_cycles * busy / (1.0 - busy) + turns * busy / (1.0 - settings.turn_growth * busy)
    return late
