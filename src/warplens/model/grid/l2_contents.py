"""L2 contents: what L2 holds between launches, and how much of it the next launch still finds.

Each launch, copy and fill leaves ranges of addresses, the most recent first.  A byte is still in L2 if fewer different
bytes than L2 holds have been used since (stack distance; Mattson, Gecsei, Slutz, Traiger, "Evaluation techniques for
storage hierarchies", 1970).  The blocks of a launch are taken to go through each of its ranges in ascending order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from warplens.machine import Machine
from warplens.machine.parameter import assumed

POINTS = assumed(16, "places in a range", "effort: whose stack distance is computed")
MOST_RANGES = assumed(256, "ranges", "effort: those used before them are taken for evicted")
LINE = 128
TWO_HALVES = 2
# defined: of the POINTS equal parts of a range
MIDDLES = (np.arange(POINTS) + 0.5) / POINTS
Points = NDArray[np.float64]


class RangeUse(NamedTuple):
    """Range use: of a buffer by a launch, in bytes.

    low, high       range of addresses
    read, written   different bytes that loads and atomics, or stores and atomics, reach
    places          of L2 that these occupy, with copies in its second partition
    dirty           that it stores, and that DRAM is not given at once
    """

    low: int
    high: int
    read: int
    written: int
    places: int
    dirty: int

    @property
    def size(self) -> int:
        return max(self.high - self.low, 1)

    @property
    def density(self) -> float:
        """Share of the range that is used."""
        return min(max(self.read, self.written, 1) / self.size, 1.0)

    def overlaps(self, other: RangeUse) -> bool:
        return self.low < other.high and other.low < self.high

    def shared(self, other: RangeUse) -> float:
        """Share of it that the other has used, too."""
        both = min(self.high, other.high) - max(self.low, other.low)
        return max(both, 0) / self.size * min(other.density / self.density, 1.0)

    def scaled(self, share: float) -> RangeUse:
        return RangeUse(self.low, self.high, *(round(each * share) for each in self[2:]))


class HeldRange(NamedTuple):
    """Range that a launch has used, from `first` to `last` of its progress (0 to 1)."""

    use: RangeUse
    first: float = 0.0
    last: float = 1.0

    def progress(self, addresses: Points) -> Points:
        """At which the launch used these addresses."""
        return self.first + (addresses - self.use.low) / self.use.size * (self.last - self.first)

    def part(self, low: int, high: int, share: float = 1.0) -> HeldRange:
        """Of these addresses in it, `share` of the bytes that were used there."""
        first, last = self.progress(np.array([low, high], np.float64)).tolist()
        use = self.use.scaled(share * (high - low) / self.use.size)._replace(low=low, high=high)
        return HeldRange(use, first, last)

    def without(self, use: RangeUse) -> Iterator[HeldRange]:
        """What is left where `use` has used it again."""
        low, high = max(self.use.low, use.low), min(self.use.high, use.high)
        if low >= high:
            yield self
            return
        rest = max(1 - use.density / self.use.density, 0.0)
        for part in (self.part(self.use.low, low), self.part(low, high, rest), self.part(high, self.use.high)):
            if part.use.places >= LINE:
                yield part


@dataclass(frozen=True)
class Epoch:
    """Epoch: what one launch, copy or fill has used, and nothing since."""

    ranges: tuple[HeldRange, ...]

    @cached_property
    def places(self) -> int:
        return sum(held.use.places for held in self.ranges)

    @cached_property
    def dirty(self) -> int:
        return sum(held.use.dirty for held in self.ranges)

    @cached_property
    def _hash(self) -> int:
        return hash(self.ranges)

    def __hash__(self) -> int:
        return self._hash

    def used_after(self, progress: Points, field: int) -> Points:
        """Bytes (`field` of its uses) that were used after these points of its progress."""
        after = np.zeros(progress.size)
        for held in self.ranges:
            after += held.use[field] * np.clip((held.last - progress) / max(held.last - held.first, 1e-9), 0.0, 1.0)
        return after

    def without(self, uses: Iterable[RangeUse]) -> Epoch:
        """What is left where these uses have used it again."""
        ranges = self.ranges
        for use in uses:
            ranges = tuple(part for held in ranges for part in held.without(use))
        return Epoch(ranges)


class L2Start(NamedTuple):
    """L2 at the start of a launch.

    resident    by buffer: share of what the launch reads that L2 still holds when it is first read
    dirty       bytes stored before that DRAM is given during the launch
    """

    resident: tuple[float, ...]
    dirty: int

    @property
    def is_empty(self) -> bool:
        return not any(self.resident) and not self.dirty

    def rounded(self, steps: int, sizes: L2Sizes) -> L2Start:
        """To so many steps of all."""
        step = max(round(sizes.dirty / steps), 1)
        resident = tuple(round(share * steps) / steps for share in self.resident)
        return L2Start(resident, round(self.dirty / step) * step)

    def distance(self, other: L2Start, uses: Sequence[RangeUse]) -> float:
        """Bytes that DRAM moves for one and not for the other."""
        pairs = zip(self.resident, other.resident, uses, strict=True)
        return sum(abs(a - b) * use.read for a, b, use in pairs) + abs(self.dirty - other.dirty)


class L2Sizes(NamedTuple):
    """Bytes used since, up to which L2 holds all (`kept`), and from which it holds nothing that was read, or stored and
    not read;  dirty: bytes stored that it holds at most."""

    kept: float
    read: float
    stored: float
    dirty: float

    @classmethod
    def of(cls, machine: Machine) -> L2Sizes:
        units, kept = machine.microarchitecture, machine.speeds.kept_share * machine.l2_bytes
        return cls(kept, kept * units.twice, kept * units.stored_last, machine.speeds.dirty_share * machine.l2_bytes)

    def hit_share(self, since: Points, use: RangeUse) -> Points:
        """Of what was used so long ago."""
        most = self.read if use.read else self.stored
        return np.clip((most - since) / (most - self.kept), 0.0, 1.0)


class StreamPlaces(NamedTuple):
    """Places of each byte of a copy or fill: of what is read, every second line has its home in the other partition."""

    read: float
    stored: float

    @classmethod
    def of(cls, machine: Machine) -> StreamPlaces:
        second = float(machine.speeds.halves == TWO_HALVES)
        return cls(1 + second / 2, 1 + second * machine.microarchitecture.stored_copies)


class Residency(NamedTuple):
    """Residency: what a launch finds of one of its uses.

    resident   share that is in L2;  dirty: bytes stored before that DRAM has not been given by then
    """

    resident: float
    dirty: float


PLACES, DIRTY = RangeUse._fields.index("places"), RangeUse._fields.index("dirty")


@dataclass(frozen=True)
class L2Contents:
    """epochs   the most recent first"""

    epochs: tuple[Epoch, ...] = ()

    def launch(self, uses: Sequence[RangeUse], sizes: L2Sizes) -> tuple[L2Start, L2Contents]:
        """What a launch, copy or fill with these uses finds, and what it leaves."""
        if not any(use.places for use in uses):
            return L2Start((0.0,) * len(uses), 0), self
        found = self._residencies(uses, sizes)
        after = self._after(uses, found, sizes)
        dirty = self._dirty_bytes(sizes) - sum(each.dirty for each in found) - after._dirty_bytes(sizes, newest=1)
        return L2Start(tuple(each.resident for each in found), round(max(dirty, 0.0))), after

    def _after(self, uses: Sequence[RangeUse], found: Sequence[Residency], sizes: L2Sizes) -> L2Contents:
        newest = Epoch(tuple(
            HeldRange(use._replace(dirty=max(use.dirty, round(each.dirty))))
            for use, each in zip(uses, found, strict=True)
            if use.places
        ))  # fmt: skip
        epochs, places, ranges = [newest], newest.places, len(newest.ranges)
        for epoch in self.epochs:
            if places > sizes.stored or ranges > MOST_RANGES:
                break
            again = [use for use in uses if any(held.use.overlaps(use) for held in epoch.ranges)]
            kept = epoch.without(again) if again else epoch
            if kept.ranges:
                epochs.append(kept)
                places, ranges = places + kept.places, ranges + len(kept.ranges)
        return L2Contents(tuple(epochs))

    def _residencies(self, uses: Sequence[RangeUse], sizes: L2Sizes) -> list[Residency]:
        """What a launch with these uses finds of each of them."""
        resident, dirty, new = [0.0] * len(uses), [0.0] * len(uses), [1.0] * len(uses)
        stored, since, dirty_since = sum(use.dirty for use in uses), 0.0, 0.0
        for epoch in self.epochs:
            both = [(n, use, held) for n, use in enumerate(uses) for held in epoch.ranges if held.use.overlaps(use)]
            # What the launch has used before, and is not counted in what was used since.
            allocated = sum(use.places * share for use, share in zip(uses, new, strict=True)) if both else 0.0
            for n, use, held in both:
                low, high = max(use.low, held.use.low), min(use.high, held.use.high)
                at = low + MIDDLES * (high - low)
                now, then = (at - use.low) / use.size, held.progress(at)
                hits = sizes.hit_share(since + epoch.used_after(then, PLACES) + now * allocated, held.use)
                resident[n] += use.shared(held.use) * float(hits.mean())
                if held.use.dirty:
                    stores = dirty_since + epoch.used_after(then, DIRTY) + now * stored
                    part = held.use.dirty * held.use.shared(use)
                    dirty[n] += part * float((hits * (stores <= sizes.dirty)).mean())
            for n, use, held in both:
                new[n] = max(new[n] - use.shared(held.use), 0.0)
            since, dirty_since = since + epoch.places, dirty_since + epoch.dirty
        return [Residency(min(share, 1.0), size) for share, size in zip(resident, dirty, strict=True)]

    def _dirty_bytes(self, sizes: L2Sizes, newest: int = 0) -> float:
        """Bytes that have not been written to DRAM, without the newest epochs."""
        since = dirty_since = found = 0.0
        for number, epoch in enumerate(self.epochs):
            if number >= newest and epoch.dirty:
                all_of_it = since + epoch.places <= sizes.kept and dirty_since + epoch.dirty <= sizes.dirty
                found += epoch.dirty if all_of_it else _dirty_in_part(epoch, since, dirty_since, sizes)
            since, dirty_since = since + epoch.places, dirty_since + epoch.dirty
            if dirty_since > sizes.dirty:
                break
        return found


def _dirty_in_part(epoch: Epoch, since: float, dirty_since: float, sizes: L2Sizes) -> float:
    dirty = 0.0
    for held in epoch.ranges:
        if held.use.dirty:
            then = held.first + MIDDLES * (held.last - held.first)
            stays = sizes.hit_share(since + epoch.used_after(then, PLACES), held.use)
            stays = stays * (dirty_since + epoch.used_after(then, DIRTY) <= sizes.dirty)
            dirty += held.use.dirty * float(stays.mean())
    return dirty
