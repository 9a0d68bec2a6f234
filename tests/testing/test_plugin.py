"""The pytest plugin: in a pytest of its own, and its answers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from warplens.errors import UsageError
from warplens.testing.checked_run import BudgetError
from warplens.testing.kernel_tester import KernelTester

pytest_plugins = ["pytester"]
COPY = str(Path(__file__).parents[2] / "examples" / "copy.cu")
TEST = f"""
def test_good(warplens):
    warplens.launch({COPY!r}, "ccopy", n=32768).check("gld_efficiency >= 95", "spills == 0")

def test_bad(warplens):
    run = warplens.launch({COPY!r}, "nccopy", n=32768)
    assert run["smsp__inst_executed.sum"] > 0
    run.check("gld_efficiency >= 95", "spills == 0")
"""


def test_a_failing_test_shows_its_counts_like_a_diff(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(TEST)
    not_twice = ("-p", "no:warplens")  # where the package is installed, its entry point loads the plugin, too
    result = pytester.runpytest_subprocess(*not_twice, "-p", "warplens.testing.plugin", "-p", "no:cacheprovider")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines([
        "*BudgetError: nccopy: 1 of 2 budgets not kept", "E*- gld_efficiency >= 95", "E*+ 50 %, bound 95",
        "E*copy.cu:40: if (i < n) out[[]i] = in[[](2 * i) % n];*",
    ])  # fmt: skip
    assert "checked_run.py" not in result.stdout.str(), "the line of the test is shown"


def test_against_another_run() -> None:
    tester = KernelTester()
    module = tester.compile(COPY)
    x = np.zeros(4096, np.float32)
    one, other = (tester.launch(module[name], 32, 128, x, x.copy(), np.int32(x.size)) for name in ("ccopy", "nccopy"))
    other.check("smsp__inst_executed.sum <= 3 * baseline", against=one)
    with pytest.raises(BudgetError, match=r"\+ 4,864 inst \(baseline 2,048\), bound 2,089"):
        other.check("smsp__inst_executed.sum <= 1.02 * baseline", against=one.run)
    with pytest.raises(ValueError, match=r"give check\(..., against=run\)"):
        one.check("smsp__inst_executed.sum <= baseline")


def test_what_makes_no_sense() -> None:
    tester = KernelTester()
    with pytest.raises(UsageError, match="has 2 kernels; name one: ccopy, nccopy"):
        tester.launch(COPY)
    with pytest.raises(UsageError, match="takes the kernel's name"):
        tester.launch(COPY, "ccopy", 32)
    with pytest.raises(UsageError, match="takes grid, block"):
        tester.launch(tester.compile(COPY)["ccopy"], 32)
    with pytest.raises(UsageError, match="did you mean gld_efficiency"):
        tester.launch(COPY, "ccopy", n=128).check("gld_eficiency > 3")
