"""Run comparison: what one run does more or less than another, and which instructions make the difference."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from warplens.control_characters import visible
from warplens.core.plot_axes import plot_axes
from warplens.counters.comparison import Comparison
from warplens.counters.comparison import compare as compare_sides
from warplens.report.html import comparison_page, notebook
from warplens.report.plots.ratio_plot import plot_ratios
from warplens.report.terminal.comparison_report import side, verdict
from warplens.run import Run


@dataclass(frozen=True)
class RunComparison:
    """Two runs beside each other; ratios are second over first.

    >>> x = np.zeros(4096, np.float32)
    >>> module = wl.compile("examples/copy.cu")
    >>> first, second = (module[name].launch(32, 128, x, x.copy(), np.int32(x.size)) for name in module)
    >>> comparison = wl.compare(first, second)
    >>> comparison.ratio("smsp__inst_executed.sum")
    2.375

    counts   rows of metrics, instruction classes, idioms and lines, with what causes the difference
    """

    first: Run
    second: Run
    counts: Comparison

    def __repr__(self) -> str:
        return visible(f"<RunComparison: {verdict(self.counts)}>")

    def ratio(self, metric: str) -> float | None:
        """The second value of a metric over the first; None where the first is 0.  UsageError for an unknown name."""
        return self.counts.row(metric).ratio

    def plot(self, ax: Any = None) -> Any:
        """The metrics that the report shows, second over first, with matplotlib; the Axes.  Of runs that are timed(),
        the ratio of the times, too.

        ax   where to draw (default: a new figure).  UsageError if matplotlib is not installed.
        """
        first, second = self.first.prediction, self.second.prediction
        times = (first.time_us, second.time_us) if first and second else None
        return plot_ratios(self.counts, times, plot_axes(ax))

    def _repr_html_(self) -> str:
        """Its page, as a notebook shows it."""
        page = comparison_page.page(self.counts, self.first.page_subject, self.second.page_subject)
        return notebook.frame(page)


def compare(first: Run, second: Run) -> RunComparison:
    """What the second run does more or less than the first; of runs that are timed(), what makes the times differ, too.

    >>> x = np.zeros(4096, np.float32)
    >>> runs = [kernel.launch(32, 128, x, x.copy(), np.int32(x.size)) for kernel in map(
    ...     wl.compile("examples/copy.cu").__getitem__, ("ccopy", "nccopy"))]
    >>> wl.compare(*runs)  # doctest: +ELLIPSIS
    <RunComparison: nccopy executes 2.38 times the instructions of ccopy (remainder by a variable)...>
    """
    return RunComparison(first, second, compare_sides(side(first.subject), side(second.subject)))
