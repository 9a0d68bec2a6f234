"""The table of docs/validation.md about the labs: times of their rungs predicted for an H200, and measured there.

    python docs/lab_times.py

Both stand beside each lab, in results.csv and measured.csv, at the lab's full size.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from itertools import combinations

from warplens.labs.lab import Lab
from warplens.labs.lab_catalog import find, names
from warplens.labs.result_files import read_measured, read_results
from warplens.report.lab.lab_table import Predicted

GPU, DEVICE = "h200", "NVIDIA H200"
ALIKE = 0.03  # rungs whose measured times differ by less have no order

Pair = tuple[Predicted, float]  # predicted, and microseconds measured


def pairs(lab: Lab) -> list[Pair]:
    measured = {t.rung: t.time_us for t in read_measured(lab.folder) if (t.gpu, t.size) == (DEVICE, "full")}
    results = {rung: kept.predicted for (size, rung), kept in read_results(lab.folder).items() if size == "full"}
    return [(times[GPU], measured[rung]) for rung, times in results.items() if GPU in times and rung in measured]


def tau(found: Sequence[Pair]) -> str:
    """Kendall's, over pairs of rungs of one lab."""
    votes = [
        1 if (a.time_us > b.time_us) == (first > second) else -1
        for (a, first), (b, second) in combinations(found, 2)
        if abs(first / second - 1) >= ALIKE
    ]
    return f"{sum(votes) / len(votes):.2f} ({len(votes)})" if votes else "–"


def line(title: str, found: Sequence[Pair], order: str) -> str:
    sizes = sorted(abs(predicted.time_us / measured - 1) for predicted, measured in found)
    cells = (statistics.median(sizes), statistics.mean(sizes), sizes[int(0.9 * len(sizes))], sizes[-1])
    told = " | ".join(f"{100 * cell:.1f} %" for cell in cells)
    ranges = [(p.low_us, p.high_us, measured) for p, measured in found]
    inside = [low <= measured <= high for low, high, measured in ranges if low is not None and high is not None]
    return f"| {title} | {len(found)} | {told} | {f'{sum(inside)} of {len(inside)}' if inside else '–'} | {order} |"


def main() -> None:
    by_lab = {name: found for name in names() if (found := pairs(find(name)))}
    print("| lab | rungs | median | mean | 90 % below | largest | in the interval | Kendall's tau (pairs) |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|")
    for name, found in by_lab.items():
        print(line(name, found, tau(found)))
    print(line("all", [pair for found in by_lab.values() for pair in found], ""))


if __name__ == "__main__":
    main()
