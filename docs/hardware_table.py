"""Prints every difference between warplens and an H200 over the kernels of the test suite, with its explanation.

Reads measurements/h200/validation.csv (what the GPU counted) and differences.csv (where warplens says otherwise).
"""

from __future__ import annotations

import csv
import sys
from collections import defaultdict
from pathlib import Path

H200 = Path(__file__).parent.parent / "measurements" / "h200"
SPINS = "blocks wait for each other by reading memory until it changes: how often is a matter of time"
RETRIES = "warps compete, and a try that fails is repeated, as often as time has it (`fmaxat` of one warp: equal)"
RECURSION = (
    "recursion: the instrumented code saves barriers elsewhere, so that its lanes meet elsewhere (`sass`, "
    "`theoretical`); of the hardware's own counters only issues of BSYNC differ, by 6 of 65,870 and 2 of 17,599"
)
CAUSES = {
    "bfs": "the order in which blocks reach their atomics decides what they do",
    "calls": RECURSION,
    "cg1": "outputs of one launch; not looked into",
    "cg2": SPINS,
    "fmaxat": RETRIES,
    "grid_barrier": SPINS,
    "in_place": "later blocks read what earlier ones wrote (outputs)",
    "lanem": "%smid (outputs)",
    "late": "order of blocks (outputs)",
    "leaving": "the instrumented counters merge lanes at another place; the hardware's own are equal",
    "look_back": SPINS,
    "loops": "a race (outputs)",
    "phases": SPINS,
    "rec": RECURSION,
    "spin_lock": RETRIES,
    "tickets": "order of blocks (outputs)",
    "volsh": "a race (outputs)",
}


def main() -> int:
    launches = list(csv.DictReader((H200 / "validation.csv").open()))
    different: dict[str, list[dict[str, str]]] = defaultdict(list)
    for row in csv.DictReader((H200 / "differences.csv").open()):
        different[row["kernel"]].append(row)
    counters = len(launches[0]) - 5
    print("| kernels | launches | counters each | differ | example (warplens, H200) | why |")
    print("|---|--:|--:|--:|---|---|")
    equal = [row for row in launches if row["kernel"] not in different]
    names = {row["kernel"] for row in equal}
    print(f"| {len(names)} kernels | {len(equal)} | {counters} | 0 | | |")
    for kernel, rows in sorted(different.items()):
        of = sum(row["kernel"] == kernel for row in launches)
        counts = [row for row in rows if row["metric"] != "outputs"]
        metrics = {row["metric"] for row in counts}
        first = counts[0] if counts else None
        shown = f"`{first['metric']}` {first['warplens']}, {first['h200']}" if first else "outputs only"
        print(f"| {kernel} | {of} | {counters} | {len(metrics)} | {shown} | {CAUSES[kernel]} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
