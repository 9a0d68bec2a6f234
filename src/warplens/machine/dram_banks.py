"""DRAM banks: location of data, load of buses, concentration of accesses on few channels.

For reasoning by hand, on devices whose division of DRAM is described (machine/textbook.toml): consecutive bursts lie in
consecutive channels, and after a round of channels in the next bank of each.  Kirk and Hwu, "Programming Massively
Parallel Processors", section 5.2.  GPUs scatter addresses by a hash that is not published: pass it to spread() if you
know it.

Time is counted in transfers: one is the time that a channel's bus needs for a burst.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from warplens.machine.dram_channels import Channels

CROWDED = 0.5  # assumed: what a lesson calls so
"""Accesses camp where the channels together do less than half of what they could."""


@dataclass(frozen=True, slots=True, order=True)
class BankPlace:
    channel: int
    bank: int


@dataclass(frozen=True, slots=True)
class BankAccess:
    """One burst on a channel, in transfers since the first: its bank is busy from start to end, the bus from
    transfer to end."""

    bank: int
    start: int
    transfer: int
    end: int


@dataclass(frozen=True, slots=True)
class Spread:
    """Bursts by channel, of accesses that are under way together."""

    bursts: tuple[int, ...]

    @property
    def use(self) -> float:
        """Of all channels' bandwidth until the fullest of them is done: 1 if they are even, 0 without accesses."""
        fullest = max(self.bursts)
        return sum(self.bursts) / (fullest * len(self.bursts)) if fullest else 0.0

    @property
    def camps(self) -> bool:
        """Whether accesses crowd on a few channels though they are enough to keep half of them busy."""
        return 2 * sum(self.bursts) >= len(self.bursts) and self.use < CROWDED


def place(address: int, channels: Channels) -> BankPlace:
    """Channel and bank of a byte."""
    around, channel = divmod(address // channels.burst_bytes, channels.channel_count)
    return BankPlace(channel, around % channels.banks_per_channel)


def distribution(count: int, element_bytes: int, channels: Channels) -> Mapping[BankPlace, tuple[int, ...]]:
    """Which elements of an array, from the start of channel 0, lie in which bank."""
    found: dict[BankPlace, list[int]] = {}
    for element in range(count):
        found.setdefault(place(element * element_bytes, channels), []).append(element)
    return {where: tuple(elements) for where, elements in sorted(found.items())}


def channels_needed(gigabytes_per_second: float, channels: Channels) -> int:
    """Channels for so much bandwidth."""
    return math.ceil(gigabytes_per_second / channels.channel_gigabytes_per_second)


def banks_needed(channels: Channels) -> int:
    """Banks that keep a channel's bus busy: while one sends, all others search."""
    return channels.latency_per_transfer + 1


def bus_use(channels: Channels, banks: int | None = None) -> float:
    """Share of the time that a channel's bus carries data, if `banks` (default: all) are always asked for the next."""
    asked = channels.banks_per_channel if banks is None else banks
    return min(1.0, asked / banks_needed(channels))


def gigabytes_per_second(channels: Channels, banks: int | None = None) -> float:
    """Of one channel, with latency counted."""
    return bus_use(channels, banks) * channels.channel_gigabytes_per_second


def timeline(banks: Sequence[int], channels: Channels) -> tuple[BankAccess, ...]:
    """What happens on one channel when these banks are asked in this order, all at once at 0.

    A bank searches as soon as it is free, and holds its burst until the bus has carried it; the bus carries in order.
    """
    free: dict[int, int] = {}
    bus = 0
    accesses = []
    for bank in banks:
        start = free.get(bank, 0)
        transfer = max(start + channels.latency_per_transfer, bus)
        bus = free[bank] = transfer + 1
        accesses.append(BankAccess(bank, start, transfer, bus))
    return tuple(accesses)


def spread(
    addresses: Iterable[int], channels: Channels, place_of: Callable[[int, Channels], BankPlace] = place
) -> Spread:
    """The bursts that these bytes are in, each once, by channel; `place_of`: where a byte lies."""
    bursts = {address // channels.burst_bytes * channels.burst_bytes for address in addresses}
    counts = Counter(place_of(address, channels).channel for address in bursts)
    return Spread(tuple(counts[channel] for channel in range(channels.channel_count)))
