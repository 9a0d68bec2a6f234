"""Planted faults (tests/emulator/instrument): what compute-sanitizer and warplens say of each, on an H200.

python docs/sanitizer_table.py            a row a kernel
python docs/sanitizer_table.py --counts   how many of each sort are found
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tests" / "emulator" / "instrument"))

from planted_faults import ALARMS, CHECK_OF, FAULTS, NOT_FOUND, Planted, planted  # noqa: E402

TOOLS = ("memcheck", "racecheck", "initcheck", "synccheck")
SORTS = {"memory": "out of bounds or misaligned", "race": "race", "init": "never written", "barrier": "barrier misused",
         "clean": "nothing wrong"}  # fmt: skip
Row = dict[str, str]


def measured() -> dict[str, Row]:
    with (ROOT / "measurements" / "h200" / "sanitizer.csv").open(encoding="utf-8") as file:
        return {row["kernel"]: row for row in csv.DictReader(file)}


def sanitizer(row: Row) -> str:
    """What the four tools say; a hang ends none of them."""
    said = [f"{tool}: {row[tool]}" for tool in TOOLS if row[tool] not in ("", "hang")]
    return "; ".join(said) or ("none ends" if row["memcheck"] == "hang" else "")


def here(kernel: Planted) -> str:
    if kernel.name in NOT_FOUND:
        return ""
    if kernel.truth == "clean":
        return "races" if kernel.name in ALARMS else ""
    if kernel.name in FAULTS or kernel.truth == "memory":
        return "fault"
    return CHECK_OF[kernel.truth]


def counts(rows: dict[str, Row]) -> list[str]:
    lines = ["| planted | kernels | compute-sanitizer | warplens |", "|---|--:|--:|--:|"]
    for truth, words in SORTS.items():
        kernels = [kernel for kernel in planted() if kernel.truth == truth]
        theirs = sum(sanitizer(rows[kernel.name]) not in ("", "none ends") for kernel in kernels)
        ours = sum(here(kernel) != "" for kernel in kernels)
        lines.append(f"| {words} | {len(kernels)} | {theirs} | {ours} |")
    return lines


def table(rows: dict[str, Row]) -> list[str]:
    lines = ["| kernel | planted | without a tool | compute-sanitizer | warplens |", "|---|---|---|---|---|"]
    for kernel in planted():
        row = rows[kernel.name]
        cells = (kernel.name, SORTS[kernel.truth], row["alone"], sanitizer(row), here(kernel))
        lines.append(f"| {' | '.join(cell or '–' for cell in cells)} |")
    return lines


if __name__ == "__main__":
    print("\n".join((counts if "--counts" in sys.argv else table)(measured())))
