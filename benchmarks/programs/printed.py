"""Times that programs print of themselves, on an H200 and under `warplens run`, as Markdown.

printed.py NATIVE OUT     folders with NAME.native, the output on the GPU, and NAME.out, that under `warplens run`

Of each program the first line that both print and that has a time or a rate, alike but for its numbers; of these the
first that differs.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

NUMBER = re.compile(r"(?<![\w.])\d+\.?\d*(?:[eE][-+]?\d+)?(?![\w.]*\w)|(?<=:)\d+\.\d+")
TIMED = re.compile(r"\b([mun]?s|m?secs?|usec|seconds|[GM]B(ytes)?/s(ec)?|G[Ff][Ll][Oo][Pp]/?s|[Tt]ime|latency)\b")
HOST = re.compile(r"host|wall|cpu|offload|verif|total time|time step|interval|sample", re.IGNORECASE)
WIDEST = 64  # characters of a line that are shown


class Printed(NamedTuple):
    program: str
    line: str
    there: float
    here: float

    @property
    def error(self) -> float:
        return 100 * (self.here / self.there - 1)


def printed(native: Path, out: Path) -> Iterator[Printed]:
    for path in sorted(native.glob("*.native")):
        beside = out / f"{path.stem}.out"
        found = beside.exists() and first_time(path.stem, lines(path), lines(beside))
        if found:
            yield found


def lines(path: Path) -> list[str]:
    return [line.strip() for line in path.read_text(encoding="utf-8", errors="replace").splitlines()]


def first_time(program: str, there: list[str], here: list[str]) -> Printed | None:
    alike = {NUMBER.sub("#", line): line for line in reversed(here)}
    for line in there:
        other = alike.get(NUMBER.sub("#", line), "")
        if not TIMED.search(line) or HOST.search(line):
            continue
        for a, b in zip(NUMBER.findall(line), NUMBER.findall(other), strict=False):
            if a != b and float(a):
                return Printed(program, line, float(a), float(b))
    return None


def main() -> None:
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    found = list(printed(Path(sys.argv[1]), Path(sys.argv[2])))
    errors = [abs(one.error) for one in found]
    print(f"{len(found)} programs: error median {np.median(errors):.1f} %, p90 {np.percentile(errors, 90):.1f} %\n")
    print("| Program | What it prints on an H200 | There | Here | |\n|---|---|--:|--:|--:|")
    for one in found:
        shown = re.sub(r"\s+", " ", one.line).replace("|", "/")[:WIDEST]
        print(f"| {one.program} | `{shown}` | {one.there:g} | {one.here:g} | {one.error:+.0f} % |")


if __name__ == "__main__":
    main()
