"""Bound: the least time of one unit, and the largest of these."""

from __future__ import annotations

from dataclasses import dataclass

from warplens.core.metric import Provenance


@dataclass(frozen=True, slots=True)
class Bound:
    """The least time of one unit.

    name           of its file in limits/;  microseconds: at the GPU's boost clock, with the unit at its peak rate
    says           text: the unit's work
    assumes        what must hold for it besides the counts, "" if nothing
    """

    name: str
    microseconds: float
    says: str
    assumes: str = ""


@dataclass(frozen=True, slots=True)
class LeastTime:
    """The least time of a launch on one GPU; the kernel takes longer wherever its units wait for each other.

    gpu            key of its description;  bounds: of every unit with work, longest first
    provenance     "modelled", or "sampled" where the counts are
    """

    gpu: str
    bounds: tuple[Bound, ...]
    provenance: Provenance

    def __repr__(self) -> str:
        unit = f", {self.limit.name}" if self.limit else ""
        return f"<Floor {self.microseconds:.3g} us on {self.gpu}{unit}>"

    @property
    def limit(self) -> Bound | None:
        """The longest bound without assumptions; None if nothing was executed."""
        return next((bound for bound in self.bounds if not bound.assumes), None)

    @property
    def microseconds(self) -> float:
        return self.limit.microseconds if self.limit else 0.0
