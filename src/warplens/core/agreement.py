"""Agreement: comparison of the emulator's and a GPU's metrics for one launch."""

from __future__ import annotations

from dataclasses import dataclass

from warplens.core.launch import Launch
from warplens.core.metric import Metric


@dataclass(frozen=True)
class AgreementRow:
    """Agreement row: one metric: warplens' value, the GPU's value, whether they are equal."""

    name: str
    emulated: Metric
    measured: Metric
    equal: bool


@dataclass(frozen=True)
class Agreement:
    """Agreement.  outputs: text of the first difference, "" if all bytes are equal, None if not compared."""

    title: str
    launch: Launch
    rows: tuple[AgreementRow, ...]
    outputs: str | None

    @property
    def equal(self) -> bool:
        return not self.outputs and all(row.equal for row in self.rows)
