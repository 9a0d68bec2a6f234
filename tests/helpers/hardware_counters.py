"""Launches of the executor beside counters that an H200 gave: a file of measurements/h200 each."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

from warplens.commands.target import Flags, Target, targets
from warplens.commands.validate import Emulated, with_record
from warplens.core.run_options import USUAL, RunOptions

ROOT = Path(__file__).parents[2]
RECORDS = ROOT / "measurements" / "h200"


KNOWN_DIFFERENCES = Path(__file__).parents[1] / "validation" / "counters" / "known_differences.toml"


@cache
def known_differences(record: str) -> dict[str, Any]:
    """Kernel -> reason and counters that differ, of one record."""
    with KNOWN_DIFFERENCES.open("rb") as file:
        found: dict[str, Any] = tomllib.load(file).get(record, {})
    return found


def check(target: Target, record: str) -> None:
    """Every counter is what it was there, but for exactly those that known_differences.toml lists."""
    known = known_differences(record).get(target.title)
    # A kernel whose counts depend on the order of its blocks has one order with one host thread.
    host = RunOptions(threads=1) if known else USUAL
    (agreement,) = with_record([Emulated(target, host, None)], str(RECORDS / record))
    assert len(agreement.rows) > 40
    different = {r.name: (r.emulated.value, r.measured.value) for r in agreement.rows if not r.equal}
    assert sorted(different) == (known["counters"] if known else []), different


def names(record: str) -> list[str]:
    """The kernels of a record."""
    with open(RECORDS / record, encoding="utf-8") as file:
        return [line.split(",")[0] for line in file if not line.startswith(("#", "kernel,"))]


def found(files: str, name: str) -> Target:
    """The launch that a launch block in one of these files of tests/kernels gives the kernel."""
    sources = [file for file in sorted((ROOT / "tests" / "kernels").glob(files)) if f"[{name}]" in file.read_text()]
    (target,) = (target for file in sources for target in targets(str(file), Flags(kernel=name)))
    return target
