"""A long run:  python -m random_programs FIRST LAST [--jobs N] [--shrink]   (with tests/ and src/ on PYTHONPATH)

Seeds FIRST to LAST - 1, forty in one compilation, each forty for the next of the seven architectures.  Prints one line
for each program that differs, and where the run stands; exit code 1 if any differed.
"""

from __future__ import annotations

import argparse
import os
import time
from collections import Counter
from collections.abc import Sequence
from multiprocessing import get_context

from random_programs.compare import ARCHITECTURES, compiled, difference, differences
from random_programs.cuda import source
from random_programs.generate import generate
from random_programs.interpret import TooLong
from random_programs.shrink import shrink
from random_programs.tree import Program
from warplens.errors import WarplensError

BATCH = 40


def batch(seeds: tuple[int, int]) -> tuple[str, list[tuple[int, str | None]]]:
    first, last = seeds
    arch = ARCHITECTURES[first // BATCH % len(ARCHITECTURES)]
    return arch, list(differences(range(first, last), arch))


def reduced(seed: int, arch: str) -> str:
    """The smallest program found that still differs, as CUDA."""

    def fails(program: Program) -> bool:
        try:
            return bool(difference(program, compiled([program], arch)))
        except (WarplensError, TooLong, KeyError):  # does not compile, does not end, lost a variable
            return False

    return source([shrink(generate(seed), fails)])


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="random_programs", description=__doc__)
    parser.add_argument("first", type=int)
    parser.add_argument("last", type=int)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--shrink", action="store_true", help="print a smaller program that still differs")
    chosen = parser.parse_args(arguments)
    os.environ.setdefault("WARPLENS_CACHE", "off")  # nothing of this is asked for twice
    outcome: Counter[str] = Counter()
    started = time.monotonic()
    starts = range(chosen.first, chosen.last, BATCH)
    batches = [(first, min(first + BATCH, chosen.last)) for first in starts]
    # A process keeps the code that it has translated: it may not live too long.
    with get_context("spawn").Pool(chosen.jobs, maxtasksperchild=5) as pool:
        for arch, found in pool.imap(batch, batches):
            for seed, what in found:
                outcome["too long" if what is None else "different" if what else "equal"] += 1
                if what:
                    print(f"seed {seed} {arch}: {what}", flush=True)
                    if chosen.shrink:
                        print(reduced(seed, arch), flush=True)
            seconds = time.monotonic() - started
            print(f"up to {found[-1][0]} ({arch}): {dict(outcome)}, {seconds:.0f} s", flush=True)
    return int(outcome["different"] > 0)
