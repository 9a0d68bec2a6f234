"""Times that programs print of themselves, on an H200 and under `warplens run`, as Markdown.

printed.py NATIVE OUT [ANEW]   folders with NAME.native, the output on the GPU, and NAME.out, that under `warplens run`;
                               ANEW: of some of them, by a later version

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
    place: int  # among the numbers of the line

    @property
    def error(self) -> float:
        return 100 * (self.here / self.there - 1)

    def anew(self, out: Path) -> Printed | None:
        """The same number of a later run."""
        path = out / f"{self.program}.out"
        alike = {NUMBER.sub("#", line): line for line in reversed(lines(path))} if path.exists() else {}
        found = alike.get(NUMBER.sub("#", self.line))
        return self._replace(here=float(NUMBER.findall(found)[self.place])) if found else None


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
        for place, (a, b) in enumerate(zip(NUMBER.findall(line), NUMBER.findall(other), strict=False)):
            if a != b and float(a):
                return Printed(program, line, float(a), float(b), place)
    return None


def summary(found: list[Printed]) -> str:
    errors = [abs(one.error) for one in found]
    return f"error median {np.median(errors):.1f} %, p90 {np.percentile(errors, 90):.1f} %"


def main() -> None:
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    found = list(printed(Path(sys.argv[1]), Path(sys.argv[2])))
    later = {one.program: again for one in found if len(sys.argv) == 4 and (again := one.anew(Path(sys.argv[3])))}
    print(f"{len(found)} programs: {summary(found)}.")
    if later:
        before = [one for one in found if one.program in later]
        print(f"Of {len(later)} that were run anew: {summary(before)} before, {summary(list(later.values()))} anew.")
        print(f"All {len(found)}, with these rows: {summary([later.get(one.program, one) for one in found])}.")
    print("\n| Program | What it prints on an H200 | There | Here | | Anew | |\n|---|---|--:|--:|--:|--:|--:|")
    for one in found:
        shown = re.sub(r"\s+", " ", one.line).replace("|", "/")[:WIDEST]
        row = f"| {one.program} | `{shown}` | {one.there:g} | {one.here:g} | {one.error:+.0f} % |"
        again = later.get(one.program)
        print(row + (f" {again.here:g} | {again.error:+.0f} % |" if again else " | |"))


if __name__ == "__main__":
    main()
