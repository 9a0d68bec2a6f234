"""SM resources: how many blocks and warps of a kernel one SM holds."""

from __future__ import annotations

from typing import NamedTuple


class SmResources(NamedTuple):
    """Of one SM.  resident: blocks that start at once;  places: block slots at most, should their warps fit;
    seats: warp slots of a sub-partition, by registers;  sub_partitions: their number"""

    resident: int
    places: int
    seats: int
    sub_partitions: int
