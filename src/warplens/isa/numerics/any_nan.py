"""Doubles without the care for which of the NaNs they are, which takes most of the time of their arithmetic."""

from __future__ import annotations

from warplens.isa.dsl.lanes import F64


class AnyNan(F64):
    """A double; of the NaNs it may be any."""

    __slots__ = ()
