"""Device heap of malloc and free in kernels."""

from __future__ import annotations

HEAP_BYTES = 8 << 20  # cudaLimitMallocHeapSize, unless set
HEAP_UNIT = 16  # alignment of malloc


class DeviceHeap:
    """Device heap: freed blocks are reused for requests of their size.

    number   of its allocation
    """

    def __init__(self, number: int, start: int, size: int = HEAP_BYTES) -> None:
        self.number, self.start, self.top, self.end = number, start, start, start + size
        self.taken: dict[int, int] = {}  # address -> bytes
        self.free: dict[int, list[int]] = {}  # bytes -> addresses

    def take(self, size: int) -> int:
        """The address; 0 if no memory is left."""
        size = -(-max(size, 1) // HEAP_UNIT) * HEAP_UNIT
        if at := self._freed(size):
            return at
        if self.top + size > self.end:
            return 0
        at, self.top = self.top, self.top + size
        self.taken[at] = size
        return at

    def _freed(self, size: int) -> int:
        """A freed block of this size, or, once the heap has been used up, of the next larger one."""
        sizes = [size] if self.top + size <= self.end else sorted(s for s in self.free if s >= size)
        for found in sizes:
            if self.free.get(found):
                at = self.free[found].pop()
                self.taken[at] = found
                return at
        return 0

    def give_back(self, address: int) -> bool:
        """Frees it; False if malloc did not return it, or it has been freed already."""
        size = self.taken.pop(address, 0)
        if size:
            self.free.setdefault(size, []).append(address)
        return size > 0

    def copy(self, number: int) -> DeviceHeap:
        """With a state of its own, for a memory in which its allocation has this number."""
        made = DeviceHeap(number, self.start, self.end - self.start)
        made.top, made.taken = self.top, dict(self.taken)
        made.free = {size: list(places) for size, places in self.free.items()}
        return made
