"""Device memory: guarded allocations at fixed addresses."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warplens.emulator.memory.buffer_pool import SPARE, address
from warplens.emulator.memory.copy_on_write import CopyOnWrite
from warplens.emulator.state.abi import GLOBAL_BASE
from warplens.emulator.state.structs import BufferRange
from warplens.errors import UsageError

ALIGNMENT = 512  # cudaMalloc gives at least 256
WIDEST = 16  # bytes that a lane reads at once
# Bytes from which an array stays where the host has it, mostly inside a line of the host's cache: a product of matrices
# that reads it again and again runs at two thirds of its speed there.
IN_PLACE = 1 << 20
LINE = 64  # bytes
SHARE = 1 << 23  # bytes that one thread copies at a time
# Bytes between allocations that belong to nobody.  Hosts are slow where a load and a store are alike modulo 4096.
GUARD = (1 << 16) + 1536
NOTHING = np.zeros(0, np.uint8)
LIMIT = 1 << 37  # the classifier numbers sectors with 32 bits


def copy(pairs: list[tuple[NDArray[np.uint8], NDArray[np.uint8]]], threads: int) -> None:
    """Each (to, from), in shares on several threads where there is much: to start them takes 0.2 ms."""
    if threads == 1 or sum(target.size for target, _ in pairs) <= SHARE:
        for pair in pairs:
            np.copyto(*pair)
        return
    shares = [
        (target[start : start + SHARE], source[start : start + SHARE])
        for target, source in pairs
        for start in range(0, source.size, SHARE)
    ]
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(lambda share: np.copyto(*share), shares))


@dataclass(frozen=True)
class Allocation:
    """`size` bytes from `address`, and the host's array that it is filled with, which the host has at `start`.

    ours   what the array held before the launch, of which nobody else knows
    """

    name: str
    address: int
    size: int
    array: NDArray[Any]
    start: int
    ours: bool = False

    @cached_property
    def data(self) -> NDArray[np.uint8]:
        """The array's bytes, in place."""
        return self.array.reshape(-1).view(np.uint8)

    def overlaps(self, other: Allocation) -> bool:
        return self.start < other.start + other.size and other.start < self.start + self.size


class DeviceMemory:
    """Allocations one after the other, each followed by a guard; filled when the kernel starts.

    Large ones stay where the host has them.  Where the host lends them to be written there, too, their content is kept
    when that is about to begin; otherwise they are then copied to memory of their own.
    """

    def __init__(self) -> None:
        self.allocations: list[Allocation] = []
        self.top = GLOBAL_BASE
        self.host = NOTHING
        self.base = 0  # where it stands
        self.own: set[int] = set()  # allocations that have memory here; the others are where the host has them
        self.kept: dict[int, CopyOnWrite] = {}  # of those that are written there, what they held before
        self.taking = Lock()
        self.threads, self.lent = 1, False
        # Allocations that the kernel changed, by number; after a fault all, that it may have changed.
        self.written: frozenset[int] = frozenset()
        self.read: frozenset[int] = frozenset()  # whose content mattered to it
        self.blank: frozenset[int] = frozenset()  # whose content does not matter when it runs again

    def allocate(self, name: str, array: NDArray[Any], start: int | None = None) -> int:
        """The address of a new allocation with this content, contiguous, which the host has at `start`."""
        place, size = self.top, array.nbytes
        self.top = -(-(place + size + GUARD) // ALIGNMENT) * ALIGNMENT
        if self.top - GLOBAL_BASE > LIMIT:
            raise UsageError(f"the buffers take more than {LIMIT >> 30} GiB of device memory")
        self.allocations.append(Allocation(name, place, size, array, address(array) if start is None else start))
        return place

    def fill(self, threads: int = 1, lent: bool = False) -> None:
        """Every allocation as the kernel finds it, also where it has run already.

        threads   that copy;  lent: the host's arrays may be written where they are, as the launch's result
        """
        self.threads, self.lent = threads, lent
        self.own.update(n for n, a in enumerate(self.allocations) if n not in self.own and not self._may_stay(a))
        self.undo()
        if self.own:
            self._copy_in(self.own)

    def _have_room(self) -> None:
        """Memory for allocations that cannot stay with the host; for all, at the distances that they have."""
        size = self.top - GLOBAL_BASE
        if self.host.size < size:
            try:
                self.host = SPARE.take(size)
            except MemoryError:
                raise UsageError(f"this machine has not enough memory for {size:,} bytes of buffers") from None
            self.base = address(self.host)

    def _may_stay(self, allocation: Allocation) -> bool:
        """Whether it can be used where the host has it.

        Machine code moves up to 16 bytes a lane, and expects the host's addresses to be as good as the device's.
        Arrays that overlap are buffers of their own.
        """
        if allocation.size < IN_PLACE or allocation.start % WIDEST:
            return False
        return not any(other.overlaps(allocation) for other in self.allocations if other is not allocation)

    def take(self, number: int) -> None:
        """An allocation is about to be written for the first time."""
        with self.taking:
            if self.may_be_written(number):
                return
            allocation = self.allocations[number]
            if (self.lent or allocation.ours) and allocation.array.flags.writeable:
                self.kept[number] = CopyOnWrite(allocation.data, allocation.ours)
            else:
                self._copy_in([number])
                self.own.add(number)

    def _copy_in(self, numbers: Iterable[int]) -> None:
        """Allocations get memory of their own with their content, where that matters."""
        self._have_room()
        filled = [self.allocations[n] for n in sorted(numbers) if n not in self.blank]
        copy([(self._place(a), a.data) for a in filled], self.threads)

    def bring(self, number: int) -> bool:
        """An allocation that has only been read gets memory of its own after all; False if that would not help."""
        allocation = self.allocations[number]
        if self.may_be_written(number) or allocation.start % LINE == 0:
            return False
        self._copy_in([number])
        self.own.add(number)
        return True

    def may_be_written(self, number: int) -> bool:
        """Whether an allocation has been taken, or has had memory here from the start."""
        return number in self.own or number in self.kept

    def again(self, whole: bool = True) -> None:
        """As before the launch, to be filled once more: what the kernel reads and changes is kept as it was, for the
        host's array has the result, or is about to take it if it may be written.  The rest stays with the host.

        whole   the launch was: what no block has read may then be anything
        """
        self.blank = frozenset(n for n in self.written - self.read if whole)
        for number in self.written & self.read:
            allocation = self.allocations[number]
            if number in self.kept:
                aside = self.kept.pop(number)
                copy(aside.rest(), self.threads)
                before = aside.before
            elif allocation.array.flags.writeable:
                before = allocation.data.copy()
            else:  # which keeps what it held
                continue
            self.allocations[number] = replace(allocation, array=before, start=address(before), ours=True)

    def undo(self) -> None:
        """Of a launch that did not come to an end, or that only repeats another, nothing stays in the arrays."""
        if self.kept:
            copy([pair for aside in self.kept.values() for pair in aside.back()], self.threads)

    def release(self) -> None:
        """The memory is given back until the next fill()."""
        SPARE.give((self.host, *(aside.before for aside in self.kept.values() if not aside.few)))
        self.host = NOTHING
        self.own.clear()
        self.kept.clear()

    def copy_back(self, allocation: int, target: NDArray[Any], threads: int = 1) -> None:
        """What the kernel left in an allocation, by number."""
        if allocation in self.own:
            copy([(target.reshape(-1).view(np.uint8), self._place(self.allocations[allocation]))], threads)

    def view(self, number: int) -> NDArray[np.uint8]:
        """What an allocation, by number, holds now."""
        allocation = self.allocations[number]
        return self._place(allocation) if number in self.own else allocation.data

    def _place(self, allocation: Allocation) -> NDArray[np.uint8]:
        self._have_room()
        start = allocation.address - GLOBAL_BASE
        return self.host[start : start + allocation.size]

    def describe(self, number: int, entry: BufferRange) -> None:
        """Where an allocation is now, for machine code."""
        entry.delta, entry.own, aside = self.delta(number), self.may_be_written(number), self.kept.get(number)
        entry.in_stretches = aside is not None
        if aside is not None:
            entry.aside, entry.aside_done = address(aside.before), address(aside.done)
            entry.patience, entry.aside_even = aside.patience, address(aside.even)

    def delta(self, number: int) -> int:
        """Host address = device address + this, in an allocation."""
        allocation = self.allocations[number]
        start = self.base + allocation.address - GLOBAL_BASE if number in self.own else allocation.start
        return start - allocation.address

    def nearest(self, address: int) -> tuple[Allocation, int] | None:
        """The allocation that an address is closest to, and the distance: negative below it, else from its end."""

        def distance(a: Allocation) -> int:
            return a.address - address if address < a.address else address - (a.address + a.size)

        if not self.allocations:
            return None
        best = min(self.allocations, key=lambda a: abs(distance(a)))
        return best, (address - best.address if address < best.address else address - best.address - best.size)
