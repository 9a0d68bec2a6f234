"""Doubles with arbitrary NaN payloads: canonical NaNs take most of the time of double arithmetic."""

from __future__ import annotations

from warplens.isa.dsl.lanes import F64


class AnyNan(F64):
    """A double; of the NaNs it may be any."""

    __slots__ = ()
