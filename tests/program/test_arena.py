"""Arena: what machine code is told of the blocks, also of thousands."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import pytest

from warplens.emulator.memory.device_memory import DeviceMemory
from warplens.emulator.state.structs import BufferRange
from warplens.program import arena
from warplens.program.arena import Arena, ArenaMemory

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="`warplens run` works on Linux alone")
PITCH = 1 << 16


@pytest.fixture
def blocks() -> Iterator[Arena]:
    made = Arena()
    for n in range(3000):
        made.add(arena.BASE + n * PITCH, 512, arena.ALLOCATED)
    yield made
    made.close()


def described(memory: ArenaMemory, how: type[DeviceMemory]) -> list[tuple[int, ...]]:
    entries = (BufferRange * len(memory.allocations))()
    entries[0].touched = entries[7].touched = 1  # of an earlier launch
    how.describe_all(memory, entries)
    return [(e.low, e.high, e.touched, e.delta, e.own, e.in_chunks) for e in entries]


def same(memory: ArenaMemory) -> None:
    assert described(memory, ArenaMemory) == described(memory, DeviceMemory)


def test_the_table_is_that_of_each_block(blocks: Arena) -> None:
    blocks.remove(arena.BASE + 5 * PITCH)
    memory = blocks.memory()
    memory.allocate("the launch's own", np.zeros(64, np.uint8))
    memory.fill(lent=True)
    same(memory)
    memory.take(3)
    same(memory)
    memory.read = memory.written = frozenset({3})
    memory.again()
    memory.release()
    memory.fill()
    same(memory)
    memory.take(3)
    same(memory)


def test_a_block_that_comes_or_goes_is_in_the_next_table(blocks: Arena) -> None:
    first = blocks.memory()
    blocks.remove(arena.BASE)
    blocks.add(arena.BASE + 256, 256, arena.ALLOCATED)
    assert described(first, ArenaMemory)[0][0] == arena.BASE
    assert described(blocks.memory(), ArenaMemory)[0][0] == arena.BASE + 256
    same(blocks.memory())


def test_less_than_512_bytes_behind_an_allocation_can_be_reached_unless_bounds_are_checked() -> None:
    """HeCBench's histogram writes the word behind a buffer of 1,024 bytes, without harm on an H200."""
    for made, reach in ((Arena(), {1000: 1024, 1024: 1536}), (Arena(1), {1000: 1000, 1024: 1024})):
        for size, whole in reach.items():
            made.add(arena.BASE, size, arena.ALLOCATED)
            assert made.blocks[arena.BASE].size == whole
        made.close()


def test_pages_are_open_around_allocations() -> None:
    made = Arena()
    for place, size in ((0, 4096), (8192, 100), (7 * arena.PAGE + 512, 512)):
        made.add(arena.BASE + place, size, arena.ALLOCATED)
    known = made.allocations
    made.open_pages(True)
    opened = made.allocations
    assert [one for one in opened if one.name != arena.OUTSIDE] == known
    for one, after in pairwise(opened):
        assert one.address + one.size <= after.address
    found = {(one.address - arena.BASE, one.size) for one in opened if one.name == arena.OUTSIDE}
    ends = [one.address + one.size - arena.BASE for one in known]
    assert found == {
        (-arena.PAGE, arena.PAGE), (ends[0], 8192 - ends[0]), (ends[1], arena.PAGE - ends[1]),
        (7 * arena.PAGE, 512), (ends[2], 8 * arena.PAGE - ends[2]),
    }  # fmt: skip
    made.open_pages(False)
    assert made.allocations == known
    made.close()
