"""Bytes that are a whole round of channels apart are in one channel: all their requests queue there."""

from __future__ import annotations

from warplens.machine import machine
from warplens.machine.dram_banks import place, spread

ACCESSES = 64


def quantities(*, apart: int) -> dict[str, float]:
    channels = machine("textbook").channels
    assert channels
    addresses = [number * apart for number in range(ACCESSES)]
    found = spread(addresses, channels)
    return {
        "channels busy": len({place(address, channels).channel for address in addresses}),
        "use of channels": 100 * found.use,
        "camps": int(found.camps),
    }
