"""Whether the emulator and a GPU agree on one launch."""

from __future__ import annotations

from dataclasses import dataclass

from warplens.core.launch import Launch
from warplens.core.metric import Metric


@dataclass(frozen=True)
class AgreementRow:
    """One metric: what warplens says, what the GPU says, and whether that is the same."""

    name: str
    emulated: Metric
    measured: Metric
    equal: bool


@dataclass(frozen=True)
class Agreement:
    """outputs: the first difference in words, "" if all bytes are equal, None if they were not compared."""

    title: str
    launch: Launch
    rows: tuple[AgreementRow, ...]
    outputs: str | None

    @property
    def equal(self) -> bool:
        return not self.outputs and all(row.equal for row in self.rows)
