"""Metric: a number with its unit and provenance."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal, NoReturn

from warplens.core.html_table import html_table
from warplens.errors import UsageError

Provenance = Literal["exact", "modelled", "sampled", "measured"]
"""exact: follows from the instruction stream and the addresses.  modelled: from the model of caches, DRAM or
time.  sampled: from a part of the grid, scaled.  measured: read on a GPU."""


@dataclass(frozen=True, slots=True)
class Metric:
    """One value under its Nsight Compute name.

    >>> wl.Metric(32, "sector", "exact")
    <Metric 32 sector, exact>

    `value` is in `unit` ("inst", "sector", "%", ...; "" for a plain number).  An instanced metric also has its parts by
    name (an opcode, a block size): Nsight prints their sum.
    """

    value: float | int
    unit: str
    provenance: Provenance
    instances: tuple[tuple[str, float | int], ...] = ()

    def __repr__(self) -> str:
        unit = f" {self.unit}" if self.unit else ""
        return f"<Metric {self.value:.9g}{unit}, {self.provenance}>"


def instanced(unit: str, provenance: Provenance, instances: Iterable[tuple[str, float | int]]) -> Metric:
    """A metric with parts; its value is their sum."""
    parts = tuple(instances)
    return Metric(sum(value for _, value in parts), unit, provenance, parts)


class Metrics(dict[str, Metric]):
    """Metrics by Nsight Compute name: a mapping of name to Metric.

    An unknown name is a KeyError that names the nearest ones.

    >>> x = np.zeros(128, np.float32)
    >>> run = wl.compile("examples/copy.cu")["ccopy"].launch(1, 128, x, x.copy(), np.int32(128))
    >>> run.metrics["smsp__inst_executed.sum"].value
    64
    >>> float(run.metrics.to_frame().loc["smsp__inst_executed.sum", "value"])
    64.0
    """

    def __missing__(self, name: str) -> NoReturn:
        close = difflib.get_close_matches(name, self, 3, 0.6)
        hint = f"did you mean {', '.join(close)}?" if close else "run.metrics lists them all"
        raise KeyError(f"no metric {name}; {hint}")

    def __repr__(self) -> str:
        shown = ", ".join(f"{name} = {metric.value:.6g}" for name, metric in list(self.items())[:2])
        return f"<{len(self)} metrics: {shown}{', ...' if len(self) > 2 else ''}>"

    def _repr_html_(self) -> str:
        """A table, as a notebook shows it."""
        rows = [(name, f"{metric.value:,.6g}", metric.unit, metric.provenance) for name, metric in self.items()]
        return html_table(("metric", "value", "unit", "provenance"), rows)

    def to_frame(self) -> Any:
        """A pandas.DataFrame: one row a metric, indexed by name, with the columns value, unit and provenance.

        UsageError if pandas is not installed.
        """
        try:
            import pandas
        except ImportError:
            raise UsageError("to_frame() needs pandas: pip install pandas") from None
        rows = [(metric.value, metric.unit, metric.provenance) for metric in self.values()]
        index = pandas.Index(list(self), name="metric")
        return pandas.DataFrame(rows, index, columns=["value", "unit", "provenance"])
