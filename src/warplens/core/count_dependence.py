"""Count dependence: which counts of a launch depend on the order of its warps, or on time."""

from __future__ import annotations

from typing import NamedTuple


class CountDependence(NamedTuple):
    """Count dependence of a launch's counts.

    counts     text: what order- or time-dependent value guards or branches depend on; "" if none
    addresses  the same of addresses
    waiting    the instructions whose counts depend on the first; None: all
    placed     the instructions whose addresses depend on the second
    """

    counts: str = ""
    addresses: str = ""
    waiting: tuple[int, ...] | None = None
    placed: tuple[int, ...] = ()


NO_DEPENDENCE = CountDependence()
