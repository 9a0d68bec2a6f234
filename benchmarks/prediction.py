"""Processor seconds of predictions: `python benchmarks/prediction.py [--ladders | --field ...] [NAMES] > seconds.csv`.

Each launch of a list is executed once and predicted twice.  The second prediction is asked of the same launch as if
nobody had asked before: its blocks are recorded and simulated anew, but the machine code for that is there.  Peak
memory is that of the process, less the arrays of the launch that made it grow; 0 where it did not grow.  Behind the
rows, as comments, what is asked for.  Set WARPLENS_CACHE, run it once to fill the cache, and take the second run.
"""

from __future__ import annotations

import csv
import resource
import sys
import time
from collections.abc import Iterator
from dataclasses import astuple, dataclass, fields, replace
from pathlib import Path

import numpy as np

import warplens as wl
from warplens.errors import Unpredictable

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from validation.lists import Configuration, kernels

LONGEST = 1000.0  # microseconds: what is asked for is asked of launches up to this
ENOUGH = 2.0  # processor seconds


@dataclass(frozen=True)
class Row:
    """time_us: predicted;  executing, first, second: processor seconds;  mebibytes: new peak less its arrays"""

    name: str
    time_us: float
    executing: float
    first: float
    second: float
    mebibytes: int


def measured(wanted: Configuration, kernel: wl.Kernel) -> Row:
    arguments, before = wanted.arguments(), peak()
    begin = time.process_time()
    run = kernel.launch(wanted.grid, wanted.block, *arguments, shared=wanted.shared)
    times = [time.process_time() - begin]
    for _ in range(2):
        begin = time.process_time()
        found = replace(run).predict("h200")  # which remembers nothing of the one before
        times.append(time.process_time() - begin)
    arrays = sum(a.nbytes for a in arguments if isinstance(a, np.ndarray)) >> 20
    return Row(wanted.name, found.time_us, *times, peak() - arrays if peak() > before else 0)


def peak() -> int:
    """Of the process, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10


def rows(words: list[str]) -> Iterator[Row]:
    for wanted, kernel in kernels(words):
        try:
            yield measured(wanted, kernel)
        except Unpredictable:
            continue


def main() -> None:
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow([field.name for field in fields(Row)])
    found = []
    for row in rows(sys.argv[1:]):
        found.append(row)
        out.writerow([f"{value:.6g}" if isinstance(value, float) else value for value in astuple(row)])
        sys.stdout.flush()
    if not found:
        sys.exit("no launch of this list has a name that begins so")
    short = [row for row in found if row.time_us <= LONGEST]
    for name in ("first", "second"):
        seconds = np.array([getattr(row, name) for row in short])
        share = f"{(seconds <= ENOUGH).sum()} of {seconds.size} within {ENOUGH:g} s"
        print(f"# {name}: {share}, median {np.median(seconds):.2f}, longest {seconds.max():.2f}")
    print(f"# peak memory less arrays: {max(row.mebibytes for row in found)} MiB")


if __name__ == "__main__":
    main()
