"""Device memory: guarded allocations at fixed addresses."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from ctypes import Array
from dataclasses import dataclass, replace
from functools import cached_property
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warplens.core.texture_descriptor import TextureTable, no_textures
from warplens.emulator.memory.buffer_pool import BUFFER_POOL, address
from warplens.emulator.memory.copy_on_write import CopyOnWrite
from warplens.emulator.memory.device_heap import HEAP_BYTES, DeviceHeap
from warplens.emulator.state.abi import GLOBAL_BASE
from warplens.emulator.state.structs import BufferRange
from warplens.errors import UsageError

ALIGNMENT = 512  # cudaMalloc gives at least 256
WIDEST = 16  # bytes of the widest access of a lane
# Bytes from which an array is used in place, mostly misaligned to the host's cache lines: a matrix product that rereads
# it runs at two thirds of its speed there.
IN_PLACE = 1 << 20
LINE = 64  # bytes
SHARE = 1 << 23  # bytes that one thread copies at a time
# Guard gap in bytes between allocations.  Hosts are slow where a load and a store alias modulo 4096.
GUARD = (1 << 16) + 1536
NOTHING = np.zeros(0, np.uint8)
LIMIT = 1 << 37  # the classifier numbers sectors with 32 bits


def copy(pairs: list[tuple[NDArray[np.uint8], NDArray[np.uint8]]], threads: int) -> None:
    """Copies each (to, from), large ones split over several threads: starting them takes 0.2 ms."""
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
    """Allocation: `size` bytes from `address`, filled from the host's array at host address `start`.

    ours   the array may be written, and is restored: a private copy of what the host's array held before the launch
    slack  bytes at its end that nobody asked for, and that can be reached all the same
    """

    name: str
    address: int
    size: int
    array: NDArray[Any]
    start: int
    ours: bool = False
    slack: int = 0

    @cached_property
    def data(self) -> NDArray[np.uint8]:
        """The array's bytes, in place."""
        return self.array.reshape(-1).view(np.uint8)

    def overlaps(self, other: Allocation) -> bool:
        return self.start < other.start + other.size and other.start < self.start + self.size


class DeviceMemory:
    """Device memory: consecutive allocations, each followed by a guard gap; filled when the kernel starts.

    Large ones are used in place, in the host's arrays.  At the first write they are backed up if the host's array may
    be written (copy_on_write.py), else copied to memory of their own.
    """

    def __init__(self) -> None:
        self.allocations: list[Allocation] = []
        self.top = GLOBAL_BASE
        self.host = NOTHING
        self.base = 0  # host address of device memory
        self.own: set[int] = set()  # allocations that have memory here; the others are used in place
        self.kept: dict[int, CopyOnWrite] = {}  # backups of those that are written in place
        self.taking = Lock()
        self.threads, self.lent = 1, False
        # Allocations that the kernel changed, by number; after a fault all that it may have changed.
        self.written: frozenset[int] = frozenset()
        self.read: frozenset[int] = frozenset()  # allocations whose content the kernel used
        self.blank: frozenset[int] = frozenset()  # allocations whose content a rerun does not use
        self.textures: TextureTable = no_textures()  # texture and surface objects by handle

    @property
    def in_use(self) -> list[Allocation]:
        """The allocations that matter to the launch."""
        return self.allocations

    def allocate(self, name: str, array: NDArray[Any], start: int | None = None, ours: bool = False) -> int:
        """The address of a new allocation with this contiguous content, at host address `start`."""
        place, size = self.top, array.nbytes
        self.top = -(-(place + size + GUARD) // ALIGNMENT) * ALIGNMENT
        if self.top - GLOBAL_BASE > LIMIT:
            raise UsageError(f"the buffers take more than {LIMIT >> 30} GiB of device memory")
        start = address(array) if start is None else start
        self.allocations.append(Allocation(name, place, size, array, start, ours))
        return place

    def place_heap(self) -> tuple[int, int]:
        """Number and address of a new allocation for malloc in the kernel."""
        return len(self.allocations), self.allocate("the heap of malloc", np.zeros(HEAP_BYTES, np.uint8))

    def open_heap(self, number: int, start: int) -> DeviceHeap:
        """The heap at the begin of a run: empty."""
        return DeviceHeap(number, start)

    def fill(self, threads: int = 1, lent: bool = False) -> None:
        """Sets every allocation to its content at launch, also after an earlier run.

        threads   that copy;  lent: the host's arrays may be written in place, as the launch's result
        """
        self.threads, self.lent = threads, lent
        self.own.update(self._unplaced())
        self.undo()
        if self.own:
            self._copy_in(self.own)

    def _unplaced(self) -> list[int]:
        """Numbers of allocations that need memory of their own."""
        return [n for n, a in enumerate(self.allocations) if n not in self.own and not self._may_stay(a)]

    def _have_room(self) -> None:
        """Reserves memory for allocations not used in place: for all, at the distances of their device addresses."""
        size = self.top - GLOBAL_BASE
        if self.host.size < size:
            try:
                self.host = BUFFER_POOL.take(size)
            except MemoryError:
                raise UsageError(f"this machine has not enough memory for {size:,} bytes of buffers") from None
            self.base = address(self.host)

    def _may_stay(self, allocation: Allocation) -> bool:
        """Whether it can be used in place.

        Machine code moves up to 16 bytes a lane, and expects the host's addresses to be as good as the device's.
        Overlapping arrays get separate buffers.
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
        """Copies allocations to memory of their own, with their content if the kernel uses it."""
        self._have_room()
        filled = [self.allocations[n] for n in sorted(numbers) if n not in self.blank]
        copy([(self._place(a), a.data) for a in filled], self.threads)

    def bring(self, number: int) -> bool:
        """Moves an allocation that was only read to memory of its own; False if that would not help."""
        allocation = self.allocations[number]
        if self.may_be_written(number) or allocation.start % LINE == 0:
            return False
        self._copy_in([number])
        self.own.add(number)
        return True

    def may_be_written(self, number: int) -> bool:
        """Whether an allocation has been taken, or had memory of its own from the start."""
        return number in self.own or number in self.kept

    def again(self, whole: bool = True) -> None:
        """Prepares a rerun: keeps the old content of what the kernel reads and changes, since the host's array has the
        result, or will take it if it may be written.  The rest is used in place.

        whole   the whole grid ran: what no block has read need not be kept
        """
        self.blank = frozenset(n for n in self.written - self.read if whole)
        for number in [number for number in self.kept if self.allocations[number].ours]:
            copy(self.kept.pop(number).restore_copies(), self.threads)
        for number in self.written & self.read:
            allocation = self.allocations[number]
            if allocation.ours:  # it has its old content again
                continue
            if number in self.kept:
                backup = self.kept.pop(number)
                copy(backup.remaining_copies(), self.threads)
                before = backup.before
            elif allocation.array.flags.writeable:
                before = allocation.data.copy()
            else:  # a read-only array keeps its content
                continue
            self.allocations[number] = replace(allocation, array=before, start=address(before), ours=True)

    def undo(self) -> None:
        """Restores the arrays after a launch that did not finish, or that only repeats another."""
        if self.kept:
            copy([pair for backup in self.kept.values() for pair in backup.restore_copies()], self.threads)

    def release(self) -> None:
        """Frees the memory until the next fill()."""
        BUFFER_POOL.give((self.host, *(backup.before for backup in self.kept.values() if not backup.few)))
        self.host = NOTHING
        self.own.clear()
        self.kept.clear()

    def copy_back(self, allocation: int, target: NDArray[Any], threads: int = 1) -> None:
        """Copies an allocation, by number, to `target` after the kernel."""
        if allocation in self.own:
            copy([(target.reshape(-1).view(np.uint8), self._place(self.allocations[allocation]))], threads)

    def view(self, number: int) -> NDArray[np.uint8]:
        """Current content of an allocation, by number."""
        allocation = self.allocations[number]
        return self._place(allocation) if number in self.own else allocation.data

    def _place(self, allocation: Allocation) -> NDArray[np.uint8]:
        self._have_room()
        start = allocation.address - GLOBAL_BASE
        return self.host[start : start + allocation.size]

    def describe_all(self, entries: Array[BufferRange]) -> None:
        """Fills the BufferRanges of all allocations, which nothing has touched."""
        for number, (entry, allocation) in enumerate(zip(entries, self.allocations, strict=False)):
            entry.low, entry.high, entry.touched = allocation.address, allocation.address + allocation.size, 0
            self.describe(number, entry)

    def describe(self, number: int, entry: BufferRange) -> None:
        """Fills the BufferRange of an allocation for machine code, all but its place."""
        entry.delta, entry.own, backup = self.delta(number), self.may_be_written(number), self.kept.get(number)
        entry.in_chunks = backup is not None
        if backup is not None:
            entry.backup, entry.saved_chunks = address(backup.before), address(backup.done)
            entry.patience, entry.repeated_words = backup.patience, address(backup.even)

    def delta(self, number: int) -> int:
        """Host address minus device address of an allocation."""
        allocation = self.allocations[number]
        start = self.base + allocation.address - GLOBAL_BASE if number in self.own else allocation.start
        return start - allocation.address

    def watched_for_races(self, allocation: Allocation) -> bool:
        """Whether it may be; the watched ones should lie together."""
        return True

    def remark(self, address: int) -> str:
        """What is known of an address outside of all allocations, "" for nothing."""
        return ""

    def nearest(self, address: int) -> tuple[Allocation, int] | None:
        """The allocation nearest to an address, and the distance: negative below it, else from its end."""

        def distance(a: Allocation) -> int:
            return a.address - address if address < a.address else address - (a.address + a.size)

        if not self.allocations:
            return None
        best = min(self.allocations, key=lambda a: abs(distance(a)))
        return best, (address - best.address if address < best.address else address - best.address - best.size)
