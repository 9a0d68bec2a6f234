"""DRAM channels: how a GPU's DRAM is divided into channels and banks."""

from __future__ import annotations

from dataclasses import dataclass

from warplens.machine.fields import number, values
from warplens.machine.parameter import Tables


@dataclass(frozen=True, slots=True)
class Channels:
    """The channels of a DRAM, all alike; addresses go round them burst by burst.

    channel_bits            width of a channel's bus
    transfers_per_clock     2 where data are sent on both edges of the clock (DDR)
    burst_bytes             what one access brings
    latency_per_transfer    time of a bank to find a burst, over the time of the bus to carry it
    """

    channel_count: int = number("channels", 1, 1024)
    banks_per_channel: int = number("channels", 1, 1024)
    channel_bits: int = number("channels", 8, 4096)
    channel_megahertz: int = number("channels", 10, 100_000)
    transfers_per_clock: int = number("channels", 1, 8)
    burst_bytes: int = number("channels", 1, 1024)
    latency_per_transfer: int = number("channels", 0, 10_000)

    @property
    def channel_gigabytes_per_second(self) -> float:
        """Of one channel's bus, at the most."""
        return self.channel_bits / 8 * self.transfers_per_clock * self.channel_megahertz / 1000

    @property
    def gigabytes_per_second(self) -> float:
        """Of all channels."""
        return self.channel_count * self.channel_gigabytes_per_second


def channels_from(tables: Tables, file: str) -> Channels:
    """The table [channels] of a GPU's file; UsageError names the key that is missing or absurd."""
    return Channels(**values(Channels, tables, file))
