"""Predictions beside measurements: `table.py PREDICTED.csv MEASURED.csv GPU OUT.csv`.

GPU is the column of predictions, h200 or h100: of the files that capture.py and measure.py wrote.
"""

from __future__ import annotations

import csv
import sys
from collections import defaultdict
from itertools import combinations
from pathlib import Path
from statistics import mean, median, quantiles

GPUS = ("h200", "h100")  # in the order of predicted.csv
APART = 0.03  # as in docs/validation.md
TOLD = 6  # columns of predicted.csv before the predictions
HEAD = ("case", "launch", "kernel", "grid", "threads", "shared", "predicted_us", "measured_us", "low_us", "high_us")

Row = dict[str, str]


def kendall(pairs: list[tuple[float, float]], apart: float = 0.0) -> float:
    """Kendall's tau of predictions and measurements: concordant pairs less discordant ones, as a share.

    apart   share by which measured times have to differ, for the pair to count
    """
    differ = [(a, b) for a, b in combinations(pairs, 2) if max(a[1], b[1]) >= (1 + apart) * min(a[1], b[1])]
    signs = [(a[0] - b[0]) * (a[1] - b[1]) for a, b in differ]
    return sum((sign > 0) - (sign < 0) for sign in signs) / max(len(signs), 1)


def joined(predicted: Path, measured: Path, gpu: str) -> list[Row]:
    with measured.open(encoding="utf-8") as file:
        found = {(row["case"], row["launch"]): row for row in csv.DictReader(file)}
    rows = []
    with predicted.open(encoding="utf-8") as file:
        for told in csv.reader(file):
            row, time = found.get((told[0], told[1])), told[TOLD + GPUS.index(gpu)]
            if row is not None:
                values = (*told[:TOLD], time, row["cold_us"], row["low_us"], row["high_us"])
                rows.append(dict(zip(HEAD, values, strict=True)))
    return sorted(rows, key=lambda row: (row["case"], row["launch"]))


def errors(rows: list[Row]) -> list[float]:
    return [abs(float(row["predicted_us"]) / float(row["measured_us"]) - 1) for row in rows if row["predicted_us"]]


def main(predicted: str, measured: str, gpu: str, out: str) -> None:
    rows = joined(Path(predicted), Path(measured), gpu)
    with open(out, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, HEAD, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    found = errors(rows)
    print(f"{len(found)} of {len(rows)} predicted: median {median(found):.1%}, mean {mean(found):.1%}, "
          f"p90 {quantiles(found, n=10)[-1]:.1%}, worst {max(found):.1%}")  # fmt: skip
    families = defaultdict(list)
    for row in rows:
        if row["predicted_us"]:
            families[row["case"].split("/")[0]].append((float(row["predicted_us"]), float(row["measured_us"])))
    for family, pairs in sorted(families.items()):
        if len(pairs) > 1:
            told = f"{family}: {len(pairs)} launches, tau {kendall(pairs):.2f}"
            print(f"{told}, of times that differ by 3 % or more {kendall(pairs, APART):.2f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
