"""The table of docs/rules.md is what docs/rules_table.py prints, and every rule says what to write instead."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from warplens.rules import Rule, rules

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def table() -> str:
    command = [sys.executable, str(DOCS / "rules_table.py")]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def test_the_page_has_the_table(table: str) -> None:
    assert table in (DOCS / "rules.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("rule", rules(), ids=lambda rule: rule.fault)
def test_a_row_is_complete(rule: Rule, table: str) -> None:
    (row,) = [line for line in table.splitlines() if line.startswith(f"| `{rule.fault}` |")]
    fault, weight, fires, silent, instead = (cell.strip() for cell in row.split(" | ")[1:6])
    assert (fires, silent) == (rule.fires, rule.silent)
    assert weight.endswith(" %")
    assert min(len(fault), len(instead)) > 20
