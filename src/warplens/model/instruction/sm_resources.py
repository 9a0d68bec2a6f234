"""SM resources: how many blocks and warps of a kernel one SM holds."""

from __future__ import annotations

from typing import NamedTuple


class SmResources(NamedTuple):
    """For blocks on a multiprocessor.  resident: that start at once;  places: for blocks at the most, should their
    warps fit;  seats: warps that a sub-partition has registers for;  sub_partitions: that there are"""

    resident: int
    places: int
    seats: int
    sub_partitions: int
