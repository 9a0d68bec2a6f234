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


def like_neighbour(addresses: dict[int, int], step: int, needed: bool = False) -> bool:
    """Each lane has the address of lane ^ step, where that one is active, or `needed` to be."""
    return all(addresses.get(lane ^ step, None if needed else a) == a for lane, a in addresses.items())


def shared_access(addresses: dict[int, int], size: int, is_load: bool) -> Counted:
    """`addresses`: lane -> byte address.

    8-byte lanes are served in two groups, 16-byte lanes in four.  A load serves two groups at once, if that takes one
    pass, whose lanes go in pairs: all with lane ^ 1 or all with lane ^ 2.  In the lower half of 16-byte lanes these
    must be active, but with lane 31 off nothing is asked.  One 16-byte place for all goes 16 lanes at a time.  (Read on
    an H200: measurements/h200/access_patterns.csv, shared_merges.csv.)
    """
    if not addresses:
        return Counted()
    groups = max(size // 4, 1)
    passes = 0
    for first in range(0, 32, 64 // groups):
        both = {lane: a for lane, a in addresses.items() if first <= lane < first + 64 // groups}
        halves = [[a for lane, a in both.items() if lane * groups // 32 % 2 == side] for side in (0, 1)]
        lower = size == 16 and first == 0
        pairs = any(like_neighbour(both, step, needed=lower) for step in (1, 2)) or (lower and 31 not in addresses)
        if groups == 1 or (is_load and pairs and worst_bank(list(both.values()), size) == 1):
            passes += worst_bank(list(both.values()), size)
        else:
            passes += sum(worst_bank(half, size) for half in halves)
    if size == 16 and is_load and len(set(addresses.values())) == 1:
        passes = -(-len(addresses) // 16)
    different = {byte for a in addresses.values() for byte in range(a, a + size)}
    return Counted(1, 0, 0, passes, min(passes, packed(len(addresses), size, 128)), len(different))
