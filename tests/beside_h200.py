"""Launches of the executor beside counters that an H200 gave: a file of measurements/h200 each."""

from __future__ import annotations

from pathlib import Path

from warplens.host import USUAL
from warplens.target import Flags, Target, targets
from warplens.validation import Emulated, with_record

ROOT = Path(__file__).parents[1]
RECORDS = ROOT / "measurements" / "h200"


def check(target: Target, record: str) -> None:
    """Every counter is what it was there."""
    (agreement,) = with_record([Emulated(target, USUAL, None)], str(RECORDS / record))
    assert len(agreement.rows) > 40
    assert agreement.equal, [(r.name, r.emulated.value, r.measured.value) for r in agreement.rows if not r.equal]


def names(record: str) -> list[str]:
    """The kernels of a record."""
    with open(RECORDS / record, encoding="utf-8") as file:
        return [line.split(",")[0] for line in file if not line.startswith(("#", "kernel,"))]


def found(files: str, name: str) -> Target:
    """The launch that a launch block in one of these files of tests/kernels gives the kernel."""
    sources = [file for file in sorted((ROOT / "tests" / "kernels").glob(files)) if f"[{name}]" in file.read_text()]
    (target,) = (target for file in sources for target in targets(str(file), Flags(kernel=name)))
    return target
