"""First launches of a program take what was measured on an H200."""

from __future__ import annotations

import csv
import sys
from pathlib import Path
from statistics import median

import pytest

from helpers.whole_program import built, run

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="`warplens run` works on Linux alone")
MEASURED = Path(__file__).parents[2] / "measurements" / "h200" / "first_launches.csv"
ROUNDING_US = 0.1
WARM_L2_US = 1.0  # by which the second launch may be faster because of what L2 holds


def median_us(loading: str, *, launch: str, kernels: set[tuple[str, str]]) -> float:
    rows = csv.DictReader(MEASURED.open())
    chosen = (row for row in rows if (row["loading"], row["launch"]) == (loading, launch))
    return median(float(row["host_us"]) for row in chosen if (row["module"], row["kernel"]) in kernels)


FIRST = {("first module", "kernel 1")}
OTHER_MODULE = {("second module", "kernel 1")}
OTHER_KERNELS = {("first module", "kernel 2"), ("first module", "kernel 3"), ("second module", "kernel 2")}
ALL = FIRST | OTHER_MODULE | OTHER_KERNELS


@pytest.mark.parametrize("loading", ["lazy", "eager"])
def test_first_launches_take_what_was_measured(
    loading: str, capfd: pytest.CaptureFixture[str], tmp_path: Path, registered: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUDA_MODULE_LOADING", loading.upper())
    ran = run(capfd, tmp_path, built("first_launches.c", registered.parent, "-lcudart"))
    rows = [(module, kernel, float(event)) for module, kernel, event in csv.reader(ran.out.splitlines())]
    assert len(rows) == 8, ran.out + ran.err
    later = median_us(loading, launch="2", kernels=ALL)
    others = OTHER_KERNELS if loading == "lazy" else OTHER_KERNELS | OTHER_MODULE
    for first, second in zip(rows[:4], rows[4:], strict=True):
        place = first[:2]
        group = next(group for group in (FIRST, others, OTHER_MODULE) if place in group)
        more = median_us(loading, launch="1", kernels=group) - later
        assert first[2] - second[2] == pytest.approx(more, abs=ROUNDING_US + WARM_L2_US), place
