"""A channel is a bus: its width times its clock, twice where data go on both edges (DDR)."""

from __future__ import annotations

from warplens.machine import machine
from warplens.machine.dram_banks import channels_needed


def quantities(*, needed: int) -> dict[str, float]:
    channels = machine("textbook").channels
    assert channels
    return {
        "GB/s": channels.channel_gigabytes_per_second,
        "channels needed": channels_needed(needed, channels),
        "GB/s of all channels": channels.gigabytes_per_second,
    }
