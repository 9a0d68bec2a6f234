"""A number, what it is measured in, and where it comes from.  F2."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Provenance = Literal["exact", "modelled", "sampled", "measured"]
"""exact: follows from the instruction stream and the addresses.  modelled: from the model of caches, DRAM or
time.  sampled: from a part of the grid, scaled.  measured: read on a GPU."""


@dataclass(frozen=True, slots=True)
class Metric:
    """One value under its Nsight Compute name.

    `value` is in `unit` ("inst", "sector", "%", ...; "" for a plain number).  An instanced metric also has its parts by
    name (an opcode, a block size): Nsight prints their sum.
    """

    value: float | int
    unit: str
    provenance: Provenance
    instances: tuple[tuple[str, float | int], ...] = ()


def instanced(unit: str, provenance: Provenance, instances: Iterable[tuple[str, float | int]]) -> Metric:
    """A metric with parts; its value is their sum."""
    parts = tuple(instances)
    return Metric(sum(value for _, value in parts), unit, provenance, parts)
