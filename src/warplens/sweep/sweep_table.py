"""Sweep table: a row for each launch of a kernel, with its parameters, time and metrics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, overload

from warplens.core.html_table import html_table
from warplens.core.plot_axes import plot_axes
from warplens.errors import UsageError
from warplens.report.prediction_view import digits, spoken
from warplens.sweep.sweep_plot import plot_sweep
from warplens.sweep.sweep_space import PARAMETERS

Row = dict[str, Any]


@dataclass(frozen=True)
class Sweep(Sequence[Row]):
    """The rows of a sweep, in the order of the launches: the last of the lists varies fastest.

    >>> kernel = wl.compile("examples/copy.cu")["ccopy"]
    >>> x = np.zeros(1 << 16, np.float32)
    >>> args = x, x.copy(), np.int32(x.size)
    >>> sweep = kernel.sweep(grid=lambda block: x.size // block, block=[64, 128, 256], args=args, gpu="h200")
    >>> [row["block"] for row in sweep], sweep.best["limit"] == sweep[2]["limit"]
    ([64, 128, 256], True)

    A row has `block`, `grid`, `shared` and `gpu`; `time_us`, `low_us`, `high_us` and `limit` as a Prediction has them,
    None where no time is predicted; the metrics that were asked for, by name; and `error`: why the launch was refused
    or no time can be predicted, "" elsewhere.

    provenances   of the columns that have one: "exact", "modelled" ...
    """

    name: str
    rows: tuple[Row, ...]
    provenances: Mapping[str, str]

    def __repr__(self) -> str:
        return f"<Sweep of {self.name}: {self._verdict}>"

    def __len__(self) -> int:
        return len(self.rows)

    @overload
    def __getitem__(self, place: int) -> Row: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[Row, ...]: ...
    def __getitem__(self, place: int | slice) -> Row | tuple[Row, ...]:
        return self.rows[place]

    @property
    def best(self) -> Row:
        """The row with the least predicted time.  UsageError if no time is predicted."""
        timed = [row for row in self.rows if row["time_us"] is not None]
        if not timed:
            reason = next((row["error"] for row in self.rows if row["error"]), "name a GPU with gpu=")
            raise UsageError(f"no time is predicted: {reason}")
        return min(timed, key=lambda row: row["time_us"])

    @property
    def _verdict(self) -> str:
        launches = f"{len(self)} launch{'es' if len(self) > 1 else ''}"
        if all(row["time_us"] is None for row in self.rows):
            return launches
        best = self.best
        chosen = ", ".join(f"{key} {best[key]}" for key in PARAMETERS if len({str(row[key]) for row in self.rows}) > 1)
        return f"{launches}, least time {spoken(best['time_us'])}{f' with {chosen}' if chosen else ''}"

    def to_frame(self) -> Any:
        """A pandas.DataFrame with a column for each key of the rows.

        UsageError if pandas is not installed; polars.DataFrame(list(sweep)) makes one of polars.
        """
        try:
            import pandas
        except ImportError:
            raise UsageError("to_frame() needs pandas: pip install pandas") from None
        return pandas.DataFrame(list(self.rows))

    def plot(self, x: str | None = None, y: str = "time_us", ax: Any = None) -> Any:
        """A column against a parameter, with matplotlib; the Axes.  Times have their interval.

        x    "block", "grid", "shared" or "gpu" (default: the first that has several values)
        y    "time_us", or a metric that was asked for
        ax   where to draw (default: a new figure)
        A line for each combination of the other parameters.  UsageError if matplotlib is not installed, for a column
        that the sweep has not, or without any value of it.
        """
        label = "time, µs" if y == "time_us" else y
        said = f" ({self.provenances[y]})" if y in self.provenances else ""
        return plot_sweep(self.rows, x, y, f"{label}{said}", plot_axes(ax))

    def _repr_html_(self) -> str:
        """A table, as a notebook shows it; columns without any value are left out."""
        columns = [key for key in self.rows[0] if any(row[key] not in (None, "") for row in self.rows)]
        headings = [f"{key} ({self.provenances[key]})" if key in self.provenances else key for key in columns]
        rows = [[_cell(row[key]) for key in columns] for row in self.rows]
        return html_table(headings, rows, f"{self.name}: {self._verdict}")


def _cell(value: Any) -> str:
    """A value as a table shows it."""
    if value is None:
        return ""
    return digits(value) if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)
