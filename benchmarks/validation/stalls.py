"""What warps wait for most, as predicted today for each launch of a list that was measured, without a GPU:

    python benchmarks/validation/stalls.py --settlers > tests/validation/settlers/h200/stalls.csv

No blind test: the list had been measured.  Cycles in which a warp issues are no wait.
docs/validation_table.py compares.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Mapping
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))
from validation.lists import kernels

ISSUED = "selected"


def top(stalls: Mapping[str, float]) -> tuple[str, float]:
    """The reason with the most warp cycles, and its percentage of all."""
    reason = max((name for name in stalls if name != ISSUED), key=lambda name: stalls[name])
    return reason, 100 * stalls[reason] / sum(stalls.values())


def main() -> None:
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(["name", "top", "percent"])
    for wanted, kernel in kernels(sys.argv[1:]):
        run = kernel.launch(wanted.grid, wanted.block, *wanted.arguments(), shared=wanted.shared)
        reason, percent = top(run.predict("h200").stalls)
        out.writerow([wanted.name, reason, f"{percent:.1f}"])
        sys.stdout.flush()


if __name__ == "__main__":
    main()
