"""The plot of a comparison, and kinds of plots that a run has."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pytest

import warplens as wl
from helpers.report_runs import COPY

mpl.use("Agg")


@pytest.fixture(scope="module")
def runs() -> list[wl.Run]:
    x = np.zeros(4096, np.float32)
    module = wl.compile(COPY)
    return [module[name].launch(32, 128, x, x.copy(), np.int32(x.size)) for name in ("ccopy", "nccopy")]


def test_the_metrics_of_the_report_are_bars_from_one(runs: list[wl.Run]) -> None:
    """38 instructions a warp instead of 16, 8 sectors a load instead of 4."""
    axes = wl.compare(*runs).plot()
    names = [label.get_text() for label in axes.get_yticklabels()]
    ends = {name: bar.get_x() + bar.get_width() for name, bar in zip(names, axes.patches, strict=True)}
    assert ends["smsp__inst_executed.sum"] == pytest.approx(2.375)
    assert ends["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"] == pytest.approx(2)
    assert ends["launch__block_size"] == 1
    assert "time (modelled)" not in names
    assert axes.get_xlabel() == "nccopy / ccopy"
    assert "derived__memory_l2_theoretical_sectors_global_excessive" not in names, "0 in the first: no ratio"


def test_kinds_of_plots_of_a_run(runs: list[wl.Run]) -> None:
    assert runs[1].plot().get_title() == "nccopy"
    assert runs[1].plot("sectors").get_xlabel() == "sectors (exact)"
    with pytest.raises(wl.UsageError, match="only instructions, sectors, roofline"):
        runs[1].plot("pie")
