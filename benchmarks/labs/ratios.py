"""Errors of predicted ratios: neighbouring rungs of each lab, predicted and measured on an H200 at full size.

python benchmarks/labs/ratios.py
"""

from __future__ import annotations

import csv
import math
import statistics
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

LABS = Path(__file__).parents[2] / "src" / "warplens" / "labs"
ALIKE = 0.1  # of the logarithm of the measured ratio


def times(path: Path) -> dict[str, float]:
    """Microseconds by rung: predicted (results.csv) or measured (measured.csv)."""
    found = {}
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["size"] == "full":
                if row.get("quantity") == "predicted_us":
                    found[row["rung"]] = float(row["value"])
                elif "H200" in row.get("gpu", ""):
                    found[row["rung"]] = float(row["time_us"])
    return found


def errors() -> Iterator[tuple[float, float]]:
    """Logarithms of each pair: (predicted ratio / measured ratio, measured ratio)."""
    for path in sorted(LABS.glob("*/measured.csv")):
        predicted, measured = times(path.with_name("results.csv")), times(path)
        for a, b in pairwise(rung for rung in predicted if rung in measured):
            ratio = measured[b] / measured[a]
            yield math.log(predicted[b] / predicted[a] / ratio), math.log(ratio)


def main() -> None:
    found = list(errors())
    alike = [error for error, ratio in found if abs(ratio) < ALIKE]
    for title, chosen in (("all", [error for error, _ in found]), ("measured times within 10 %", alike)):
        sizes = sorted(map(abs, chosen))
        p90 = sizes[int(0.9 * len(sizes))]
        print(f"{title}: {len(sizes)} pairs, median {statistics.median(sizes):.1%}, p90 {p90:.1%}")


if __name__ == "__main__":
    main()
