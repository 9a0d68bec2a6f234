"""A bank searches 20 times as long as its burst is on the bus. Other banks can use the bus in the meantime."""

from __future__ import annotations

from warplens.machine import machine
from warplens.machine.dram_banks import banks_needed, bus_use, gigabytes_per_second, timeline

ROUNDS = 1000


def quantities(*, banks: int) -> dict[str, float]:
    channels = machine("textbook").channels
    assert channels
    accesses = timeline(list(range(banks)) * ROUNDS, channels)
    return {
        "GB/s": gigabytes_per_second(channels, banks),
        "bus use": 100 * bus_use(channels, banks),
        "bursts in 21 transfers": round(21 * len(accesses) / accesses[-1].end),
        "banks that fill the bus": banks_needed(channels),
    }
