"""DRAM share: one SM's share of the bandwidth, and the latency of its loads.

What it is   one server for reads and writes, with the SM's share of the bandwidth; latencies scatter around an average.
Formula      cycles of a read = 64 B a piece / read_bytes, times lone_half where the neighbour is not requested;
             latency = latency + scatter * latency_spread + queue_cycles * busy / (1 - busy) + read-write turnarounds,
             where busy is the share of the time so far that DRAM worked.
Parameters   DramSettings, and the largest utilisation of which waits are derived.
Evidence     measurements/h200/lines_in_order.csv (which lines are slow together), near_halves.csv, calibration.csv.
Known error  which lines are slow is drawn by a hash: right on average, not for each line.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from warplens.machine.unit_speeds import BUSIEST
from warplens.model.address_hash import hashed
from warplens.simc import Record, compiled

SECTOR, PIECE = 32.0, 64.0  # bytes; defined: of a write, and of a read


class DramSettings(NamedTuple):
    """read_bytes, write_bytes: a cycle of the SM's share
    latency, latency_spread   of a load, and the unit of its deviations: cycles
    scatter                   deviations in spreads: the least, 10, 25, 50, 75, 90, 99 % and the most
    page_shift                log2 of the lines with similar latency
    queue_cycles              wait of a load for a busy DRAM
    turn_cycles, turn_growth  likewise for turnarounds between reads and writes
    lone_half, lone_sector    cost factor of 64 bytes read, and of 32 written, without their neighbour"""

    read_bytes: float
    write_bytes: float
    latency: float
    latency_spread: float
    scatter: Any
    page_shift: int
    queue_cycles: float
    turn_cycles: float
    turn_growth: float
    lone_half: float
    lone_sector: float


class DramState(Record):
    """free: until when it is busy;  stores: until when its work on stores keeps it busy;  read_work, write_work:
    done so far (cycles)."""

    free: float
    stores: float
    read_work: float
    write_work: float


@compiled
def latency_group(line):  # type: ignore[no-untyped-def]
    """Group number of lines that are slow together: of each 1 KB the first and the third 256 bytes, and the others,
    as if two DRAM channels were interleaved (`seen in order` of measurements/h200/lines_in_order.csv: of two
    neighbours of slow lines one is slow, too, of those 256 bytes off no more than of others, 512 bytes off half)."""
    return line >> 3 << 1 | line >> 1 & 1


@compiled
def latency_deviation(line, near, dram):  # type: ignore[no-untyped-def]
    """Deviation of a line's DRAM latency from the average, in spreads, from [dram_scatter].  The slowest tenth
    collides with other DRAM work and is random: of 8 lines anywhere the slowest takes 950 cycles, of 32 it takes
    1,240.  The others are alike within 4 KB, which are in one place: the near L2 partition, or the far one."""
    u = hashed(latency_group(line) + 3)
    if u < 0.9:
        u = 0.9 * hashed((line >> dram.page_shift) + 1) * (0.5 if near else 1.0)
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
    """DRAM reads 64 bytes at a time, more slowly where their neighbour is not requested (`lone`)."""
    dram, settings = memory.servers.dram, memory.settings.dram
    if pieces > 0:
        work = PIECE * pieces / settings.read_bytes * (settings.lone_half if lone else 1.0)
        dram.free = max(dram.free, at) + work
        dram.read_work += work


@compiled
def add_store_work(at, reads, writes, dram):  # type: ignore[no-untyped-def]
    """Add DRAM's work on stores, in cycles: reads that fill sectors, and writes."""
    dram.free = max(dram.free, at) + reads + writes
    dram.stores = max(dram.stores, at) + reads + writes
    dram.read_work += reads
    dram.write_work += writes


@compiled
def store_sectors(line, number, at, memory):  # type: ignore[no-untyped-def]
    """Eventual DRAM cost of so many stored sectors of a line: filling partial sectors, and writing."""
    supply, settings = memory.supply, memory.settings.dram
    for n in range(supply.lows.size):
        if supply.lows[n] <= 4 * line + 3 and 4 * line < supply.highs[n]:
            if supply.stores[n] > 0:
                reads = SECTOR * supply.fills[n] * number / settings.read_bytes
                writes = SECTOR * supply.stores[n] * number / settings.write_bytes
                add_store_work(at, reads, writes, memory.servers.dram)
            break


@compiled
def load_latency(spreads, memory):  # type: ignore[no-untyped-def]
    """Latency of a load with so many spreads of deviation: reads queue, and wait for writes, longer the busier DRAM
    is and the more often it turns around."""
    dram, settings = memory.servers.dram, memory.settings.dram
    late = settings.latency + spreads
    work = dram.read_work + dram.write_work
    busy = min(work / max(dram.free, 1.0), BUSIEST)
    if work > 0:
        turns = settings.turn_cycles * 2.0 * dram.read_work * dram.write_work / (work * work)
        late += settings.queue_cycles * busy / (1.0 - busy) + turns * busy / (1.0 - settings.turn_growth * busy)
    return late
