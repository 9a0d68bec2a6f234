"""What one warp-wide memory access counts, said with sets and dicts: slow and obvious.

Rules: Nsight Compute's Kernel Profiling Guide ("Memory Tables"): a sector is 32 aligned bytes, a line 128.  Shared
memory has 32 banks of 4 bytes; lanes with 8 bytes come in two halves, with 16 bytes in four quarters.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Counted:
    """The columns of a Trace for one execution of one memory instruction."""

    requests: int = 0
    sectors: int = 0
    tags: int = 0
    wavefronts: int = 0
    ideal: int = 0
    bytes: int = 0


def packed(lanes: int, size: int, unit: int) -> int:
    """Units that the bytes would fill if they stood side by side."""
    return -(-lanes * size // unit)


def global_access(addresses: Sequence[int], size: int) -> Counted:
    """`addresses`: of the active lanes, each a multiple of `size`."""
    if not addresses:
        return Counted()
    touched = {byte for a in addresses for byte in range(a, a + size)}
    sectors = len({byte // 32 for byte in touched})
    lines = len({byte // 128 for byte in touched})
    ideal = min(sectors, packed(len(addresses), size, 32))
    return Counted(1, sectors, lines, 0, ideal, len(touched))


def local_access(offsets: dict[int, int], size: int) -> Counted:
    """`offsets`: lane -> place in the thread's own memory.  Words of 32 lanes stand side by side; each is a pass."""
    if not offsets:
        return Counted()
    sectors = lines = 0
    for word in range(max(size // 4, 1)):
        places = [((o // 4 + word) * 32 + lane) * 4 for lane, o in offsets.items()]
        sectors += len({p // 32 for p in places})
        lines += len({p // 128 for p in places})
    ideal = min(sectors, packed(len(offsets), size, 32))
    return Counted(1, sectors, lines, 0, ideal, len(offsets) * size)


def worst_bank(addresses: Sequence[int], size: int) -> int:
    """How many different words the busiest bank has to give."""
    banks: dict[int, set[int]] = defaultdict(set)
    for a in addresses:
        for byte in range(a, a + size):
            banks[byte // 4 % 32].add(byte // 4)
    return max((len(words) for words in banks.values()), default=0)


def shared_access(addresses: dict[int, int], size: int, is_load: bool) -> Counted:
    """`addresses`: lane -> byte address.  A load whose lanes all fit into one row of banks takes half the passes."""
    if not addresses:
        return Counted()
    groups: dict[int, list[int]] = defaultdict(list)
    for lane, a in addresses.items():
        groups[lane * max(size // 4, 1) // 32].append(a)
    passes = sum(worst_bank(group, size) for group in groups.values())
    if is_load and size > 4 and worst_bank(list(addresses.values()), size) == 1:
        passes = -(-passes // 2)
    different = {byte for a in addresses.values() for byte in range(a, a + size)}
    return Counted(1, 0, 0, passes, min(passes, packed(len(addresses), size, 128)), len(different))
