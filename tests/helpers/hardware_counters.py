"""Launches of the executor beside counters that an H200 gave."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

from validation.lists import FOLDER, LISTS
from warplens.commands.target import Target
from warplens.commands.validate import Emulated, with_record
from warplens.core.run_options import USUAL, RunOptions

ROOT = Path(__file__).parents[2]
KNOWN_DIFFERENCES = FOLDER / "known_differences.toml"
COUNTED = {name: path for name, one in LISTS.items() if (path := one.folder / "h200" / "counters.csv").is_file()}
"""The record of each validation list that has one."""


@cache
def known_differences(record: str) -> dict[str, Any]:
    """Kernel -> reason and counters that differ, of one record."""
    with KNOWN_DIFFERENCES.open("rb") as file:
        found: dict[str, Any] = tomllib.load(file).get(record, {})
    return found


def check(target: Target, name: str) -> None:
    """Every counter of a list is what it was there, but for exactly those that known_differences.toml names."""
    known = known_differences(name).get(target.title)
    # A kernel whose counts depend on the order of its blocks has one order with one host thread.
    host = RunOptions(threads=1) if known else USUAL
    (agreement,) = with_record([Emulated(target, host, None)], str(COUNTED[name]))
    assert len(agreement.rows) > 40
    different = {r.name: (r.emulated.value, r.measured.value) for r in agreement.rows if not r.equal}
    assert sorted(different) == (known["counters"] if known else []), different


def names(record: Path) -> list[str]:
    """The kernels of a record."""
    with record.open(encoding="utf-8") as file:
        return [line.split(",")[0] for line in file if not line.startswith(("#", "kernel,"))]
