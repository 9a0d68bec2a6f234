"""docs/metrics.md lists the names of nvprof that budgets take."""

from __future__ import annotations

import re
from pathlib import Path

from warplens.regression.nvprof_names import EXPRESSIONS

PAGE = Path(__file__).parents[2] / "docs" / "metrics.md"


def test_all_names_of_nvprof() -> None:
    (listed,) = re.findall(r"nvprof's names: (.*)", PAGE.read_text(encoding="utf-8"))
    assert re.findall(r"`(\w+)`", listed) == sorted(EXPRESSIONS)
