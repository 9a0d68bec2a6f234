"""Arena: the GPU's memory as one sparse file in memory, which the program maps at a fixed address.

A device address is valid in the program as it is: pointers within device memory, managed and mapped memory need no
translation there.  Here the file is mapped anywhere.
"""

from __future__ import annotations

import mmap
import os
from collections import deque
from collections.abc import Sequence
from ctypes import Array, memmove, sizeof

import numpy as np
from numpy.typing import NDArray

from warplens.emulator import DeviceMemory
from warplens.emulator.memory.buffer_pool import BUFFER_POOL, address, aligned
from warplens.emulator.memory.device_heap import HEAP_BYTES, DeviceHeap
from warplens.emulator.memory.device_memory import Allocation
from warplens.emulator.state.structs import BufferRange
from warplens.errors import UsageError
from warplens.program.texture_objects import TextureObjects

BASE = 0x2000_0000_0000  # in the program, and of device addresses
BYTES = 1 << 37  # the emulator numbers sectors with 32 bits
# The end of it: variables of modules, then what a launch itself needs (the heap of malloc, the grid's barrier).
MODULES = BYTES - (8 << 30)
LAUNCH = BYTES - (2 << 30)
# Bytes in which a GPU hands out memory.  An access that runs over the end of an allocation by less does no harm there,
# as pages are larger: also behind one that fills its last 512 bytes.
GRANULARITY = 512
# Bytes that a GPU maps at once.  What belongs to no allocation of a page that has one can be accessed all the same: of
# 102 accesses outside of allocations, 4 bytes to 32 MB away, 96 passed on an H100 (driver 580.159.04, 2026-11-28), as
# the driver maps more than it hands out.
PAGE = 2 << 20
MOST_FREED = 4096  # blocks that are remembered, for messages
LOWEST = 1 << 16  # no host maps memory below
WORD_BYTES = 8

OUTSIDE = "memory outside of allocations"  # the name of what is left of a page
ALLOCATED, PINNED, MANAGED, VARIABLES, HEAP = 1, 2, 3, 4, 5  # kinds of blocks; the first as in shim/device.h


class Arena:
    """Arena: `blocks`, the live allocations by device address, as arrays over the shared file."""

    def __init__(self, granularity: int = GRANULARITY) -> None:
        """granularity: of the end of an allocation, in bytes; 1 for checks"""
        self.granularity = granularity
        self.file = os.memfd_create("warplens arena", os.MFD_CLOEXEC)
        try:
            os.ftruncate(self.file, BYTES)
            mapped = mmap.mmap(self.file, BYTES, mmap.MAP_SHARED)
        except (OSError, ValueError) as error:
            raise UsageError(f"no room for the GPU's memory: {error}; lift the limit on address space") from None
        self.bytes: NDArray[np.uint8] = np.frombuffer(mapped, np.uint8)
        self.start = address(self.bytes)
        self.blocks: dict[int, Allocation] = {}
        self.kinds: dict[int, int] = {}
        self.sizes: dict[int, int] = {}  # as the program asked for them
        self.unwritten: set[int] = set()  # blocks of device memory that nothing has written
        self.freed: deque[Allocation] = deque(maxlen=MOST_FREED)
        self.textures = TextureObjects()
        self.heap_bytes = HEAP_BYTES  # cudaLimitMallocHeapSize
        self.heap: DeviceHeap | None = None
        self.opens_pages = False
        self._before: NDArray[np.uint8] | None = None  # of a page before the first allocation
        self._sorted: list[Allocation] | None = None
        self._ranges: NDArray[np.uint64] | None = None
        self._top = BASE + MODULES
        self._count = 0

    def close(self) -> None:
        """Gives the file back; the mapping goes with its last array."""
        os.close(self.file)
        self.blocks.clear()

    def view(self, place: int, size: int) -> NDArray[np.uint8]:
        return self.bytes[place - BASE : place - BASE + size]

    def add(self, place: int, size: int, kind: int, name: str = "", content: int = 0) -> None:
        """`content`: its address in the arena, of a block that the program has mapped elsewhere."""
        known = self.blocks.get(place)
        self._count += not name and known is None
        fixed = content or self.granularity == 1
        whole = size if fixed else (size // self.granularity + 1) * self.granularity
        name = name or (known.name if known else f"allocation {self._count} at {place:#x}")
        start = self.start + (content or place) - BASE
        self.blocks[place] = Allocation(
            name, place, whole, self.view(content or place, whole), start, slack=whole - size
        )
        self.kinds[place], self.sizes[place] = kind, size
        if kind == ALLOCATED:
            self.unwritten.add(place)
        self._sorted = self._ranges = None

    def remove(self, place: int) -> None:
        if (block := self.blocks.pop(place, None)) is not None:
            if self.kinds.pop(place) != VARIABLES:
                self.freed.append(block)
            del self.sizes[place]
            self.unwritten.discard(place)
            self._sorted = self._ranges = None

    def place_variables(self, content: NDArray[np.uint8], name: str) -> int:
        """The address of a module's variables, which begin with this content."""
        place = self._reserve(content.size, VARIABLES, name)
        self.view(place, content.size)[:] = content
        return place

    def _reserve(self, size: int, kind: int, name: str) -> int:
        place = self._top
        self._top = -(-(place + size + GRANULARITY) // GRANULARITY) * GRANULARITY
        if self._top > BASE + LAUNCH:
            raise UsageError("the variables of the program's modules, and its kernels' heap, take more than 6 GiB")
        self.add(place, size, kind, name)
        return place

    def place_heap(self) -> DeviceHeap:
        """The heap of malloc in kernels; placed at first use."""
        if self.heap is None:
            place = self._reserve(self.heap_bytes, HEAP, "the heap of malloc")
            self.heap = DeviceHeap(0, place, self.heap_bytes)
        return self.heap

    def remove_heap(self) -> None:
        """A context has ended: what kernels have allocated goes."""
        if self.heap is not None:
            self.remove(self.heap.start)
            self.heap = None

    @property
    def allocations(self) -> list[Allocation]:
        """By address."""
        if self._sorted is None:
            found = [self.blocks[place] for place in sorted(self.blocks)]
            self._sorted = self._with_pages(found) if self.opens_pages else found
        return self._sorted

    def open_pages(self, opens: bool) -> None:
        """Whether from now on all of a page that has an allocation can be accessed."""
        self.opens_pages = opens
        self._sorted = self._ranges = None

    def _with_pages(self, found: Sequence[Allocation]) -> list[Allocation]:
        """The allocations, and the rest of their pages; of the first page also the one before it."""
        every: list[Allocation] = []
        end = 0
        for block in found:
            if BASE <= block.address < BASE + MODULES:
                first = block.address & -PAGE
                if not end:
                    every.append(self._page_before(first))
                    end = first
                page = min(-(-end // PAGE) * PAGE, block.address)  # the end of that of the last allocation
                gaps = [(end, page), (max(page, first), block.address)] if page < first else [(end, block.address)]
                every += [self._rest(start, stop) for start, stop in gaps if start < stop]
                end = block.address + block.size
            every.append(block)
        if end % PAGE:
            every.append(self._rest(end, -(-end // PAGE) * PAGE))
        return sorted(every, key=lambda one: one.address)

    def _page_before(self, start: int) -> Allocation:
        if self._before is None:
            self._before = aligned(PAGE)
        return Allocation(OUTSIDE, start - PAGE, PAGE, self._before, address(self._before))

    def _rest(self, start: int, stop: int) -> Allocation:
        return Allocation(OUTSIDE, start, stop - start, self.view(start, stop - start), self.start + start - BASE)

    @property
    def ranges(self) -> NDArray[np.uint64]:
        """BufferRanges of the allocations, as words: made once for many launches."""
        if self._ranges is None:
            self._ranges = ranges_of(self.allocations)
        return self._ranges

    def memory(self) -> ArenaMemory:
        """Device memory for one launch."""
        return ArenaMemory(self)


def ranges_of(found: Sequence[Allocation]) -> NDArray[np.uint64]:
    """BufferRanges of allocations, as words."""
    ranges = np.zeros((len(found), sizeof(BufferRange) // WORD_BYTES), np.uint64)
    places = np.array([block.address for block in found], np.uint64)
    ranges[:, _column("low")] = places
    ranges[:, _column("high")] = places + np.array([block.size for block in found], np.uint64)
    ranges[:, _column("delta")] = np.array([block.start for block in found], np.uint64) - places
    return ranges


def _column(field: str) -> int:
    return int(getattr(BufferRange, field).offset) // WORD_BYTES


class ArenaMemory(DeviceMemory):
    """Device memory whose allocations are parts of an arena, at given addresses, used in place.

    Where a rerun writes, each allocation has memory of its own, so that the program's stays as it is.
    """

    def __init__(self, arena: Arena, allocations: Sequence[Allocation] | None = None) -> None:
        """allocations   that stand elsewhere, in the place of those of the arena"""
        super().__init__()
        self.textures = arena.textures.table
        self.allocations = list(arena.allocations if allocations is None else allocations)
        self._ranges = arena.ranges if allocations is None else ranges_of(allocations)
        self._moved: set[int] = set()  # allocations whose content is not in the arena
        self.top = BASE + LAUNCH
        self.opened_heap: DeviceHeap | None = None  # as the launch leaves it
        self._arena = arena
        self._pieces: dict[int, NDArray[np.uint8]] = {}  # by device address

    def watched_for_races(self, allocation: Allocation) -> bool:
        """Variables of modules, and what is mapped elsewhere, lie too far from the rest."""
        return BASE <= allocation.address < BASE + MODULES

    def remark(self, address: int) -> str:
        for old in reversed(self._arena.freed):
            if old.address <= address < old.address + old.size:
                return f"use after free: in {old.name} ({old.size:,} bytes), which was freed"
        if address < LOWEST:
            return "a null pointer, or an offset from one"
        if not BASE - PAGE <= address < BASE + BYTES:
            return "not an address of the GPU's memory: a host pointer that was given to the kernel?"
        return ""

    def place_heap(self) -> tuple[int, int]:
        """That of the program: what a kernel allocates stays until it is freed."""
        start = self._arena.place_heap().start
        if start not in {block.address for block in self.allocations}:
            of_launch = self.allocations[len(self._ranges) :]
            self.allocations, self._ranges = [*self._arena.allocations, *of_launch], self._arena.ranges
        return next(n for n, block in enumerate(self.allocations) if block.address == start), start

    def open_heap(self, number: int, start: int) -> DeviceHeap:
        """As it was before the launch, also in a rerun."""
        assert self._arena.heap is not None
        self.opened_heap = self._arena.heap.copy(number)
        return self.opened_heap

    @property
    def in_use(self) -> list[Allocation]:
        """Those that it has touched: a program may have thousands of others."""
        return [self.allocations[n] for n in sorted(self.read | self.written)]

    def _may_stay(self, allocation: Allocation) -> bool:
        return not BASE + LAUNCH <= allocation.address < BASE + BYTES

    def _unplaced(self) -> list[int]:
        """Of those of the launch itself: the others stay where they are."""
        own = range(len(self._ranges), len(self.allocations))
        return [n for n in own if n not in self.own and not self._may_stay(self.allocations[n])]

    def again(self, whole: bool = True) -> None:
        super().again(whole)
        self._moved |= self.written & self.read

    def describe_all(self, entries: Array[BufferRange]) -> None:
        count = len(self._ranges)
        memmove(entries, self._ranges.ctypes.data, self._ranges.nbytes)
        for number in {*self.own, *self.kept, *self._moved, *range(count, len(self.allocations))}:
            allocation, entry = self.allocations[number], entries[number]
            entry.low, entry.high, entry.touched = allocation.address, allocation.address + allocation.size, 0
            self.describe(number, entry)

    def _have_room(self) -> None:
        """Each allocation has its own piece."""

    def _place(self, allocation: Allocation) -> NDArray[np.uint8]:
        found = self._pieces.get(allocation.address)
        if found is None:
            found = self._pieces[allocation.address] = BUFFER_POOL.take(allocation.size)
        return found

    def delta(self, number: int) -> int:
        allocation = self.allocations[number]
        start = address(self._place(allocation)) if number in self.own else allocation.start
        return start - allocation.address

    def release(self) -> None:
        super().release()
        BUFFER_POOL.give(self._pieces.values())
        self._pieces.clear()
