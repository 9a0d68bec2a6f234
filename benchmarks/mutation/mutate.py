"""Mutation run: small faults planted in src one at a time, and whether the tests notice.

    mutate.py check [--jobs N]             each mutant of sample.toml against the test that noticed it
    mutate.py search DATA TIMES OUT COUNT  COUNT mutants spread over src against the tests that run their lines
    mutate.py again DATA TIMES OUT         those of OUT that no test noticed once more, after tests were added
    mutate.py keep OUT                     writes sample.toml from what a search found

DATA is the coverage of each test, TIMES its time (README.md says how to collect them).

`check` ends with 1 if a mutant survives that survivors.toml does not list, if a listed one is found no more in the
sample, if more than one in five has gone with its code, or if less than nine in ten are caught.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Queue
from typing import TYPE_CHECKING

from mutants import Mutant, all_mutants
from planted import ROOT, Copy, Outcome

HERE = Path(__file__).parent
SOURCES = ROOT / "src"
BUDGET = 45.0  # seconds of tests for a mutant
WANTED = 0.9
GONE = 0.2
HOW = r" \((hangs|status -?\d+|cannot be imported)\)$"
Name = tuple[str, str, str, int]

if TYPE_CHECKING:
    from chosen_tests import Coverage


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    check_verb = verbs.add_parser("check")
    check_verb.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    search_verb = verbs.add_parser("search")
    again_verb = verbs.add_parser("again")
    for verb in (search_verb, again_verb):
        for name in ("data", "times", "out"):
            verb.add_argument(name, type=Path)
    search_verb.add_argument("count", type=int)
    verbs.add_parser("keep").add_argument("out", type=Path)
    asked = parser.parse_args()
    if asked.verb == "check":
        return check(asked.jobs)
    if asked.verb == "search":
        chosen = spread(all_mutants(SOURCES), asked.count)
        search([mutant for first in range(5) for mutant in chosen[first::5]], _coverage(asked), asked.out)
    elif asked.verb == "again":
        missed = {_name(row) for row in results(asked.out).values() if row["caught"] is None}
        search([m for m in all_mutants(SOURCES) if m.name in missed], _coverage(asked), asked.out, True)
    else:
        keep(asked.out)
    return 0


def _coverage(asked: argparse.Namespace) -> Coverage:
    from chosen_tests import Coverage  # needs coverage.py, `check` does not

    return Coverage(asked.data, asked.times, SOURCES)


def spread(mutants: list[Mutant], count: int) -> list[Mutant]:
    """Every so many, beginning with the middle of the first stretch."""
    return [mutants[(2 * place + 1) * len(mutants) // (2 * count)] for place in range(count)]


def search(chosen: list[Mutant], coverage: Coverage, out: Path, again: bool = False) -> None:
    """Runs each mutant that OUT does not hold yet, and adds one line of JSON for each."""
    copy = Copy(SOURCES)
    try:
        for mutant in chosen:
            if not again and mutant.name in results(out):  # another process may write to it
                continue
            tests = coverage.tests(mutant)
            outcome = copy.run(mutant, tests, BUDGET, coverage.failed) if tests else Outcome(None, True, 0.0)
            row = {"function": mutant.function, "line": mutant.line, "change": mutant.change, "number": mutant.number,
                   "caught": outcome.caught, "complete": outcome.complete, "seconds": round(outcome.seconds, 1),
                   "tests": tests, "file": mutant.path.name}  # fmt: skip
            with open(out, "a", encoding="utf-8") as lines:
                lines.write(json.dumps(row) + "\n")
            found = outcome.caught or "SURVIVES"
            print(f"{found}  {outcome.seconds:.1f} s  {mutant.name} {mutant.path.name}", flush=True)
    finally:
        copy.remove()


def results(out: Path) -> dict[Name, dict[str, object]]:
    """What was found, the latest line of each mutant."""
    rows = map(json.loads, out.read_text(encoding="utf-8").splitlines() if out.exists() else [])
    return {_name(row): row for row in rows}


def _name(row: dict[str, object]) -> Name:
    return str(row["function"]), str(row["line"]), str(row["change"]), int(str(row.get("number", 0)))


def keep(out: Path) -> None:
    """Writes the sample: those that were caught with their test, the others without."""
    with open(HERE / "sample.toml", "w", encoding="utf-8") as sample:
        sample.write("# Written by `mutate.py keep`: the fixed sample of mutants, and the test that notices each.\n")
        for row in sorted(results(out).values(), key=_name):
            sample.write("\n[[mutant]]\n")
            for key in ("function", "line", "change", "number", "caught"):
                if row[key] is not None:
                    value = re.sub(HOW, "", str(row[key])) if key == "caught" else row[key]
                    sample.write(f"{key} = {json.dumps(value, ensure_ascii=False)}\n")


def check(jobs: int) -> int:
    """The fixed sample; prints what is wrong and the sum."""
    sample = _tables("sample.toml", "mutant")
    reasons = {_name(row): str(row["reason"]) for row in _tables("survivors.toml", "survivor")}
    known = {mutant.name: mutant for mutant in all_mutants(SOURCES)}
    faults = [f"survivors.toml lists what sample.toml does not hold: {name}" for name in reasons if name not in
              {_name(row) for row in sample}]  # fmt: skip
    there = [row for row in sample if _name(row) in known]
    listed = [row for row in there if _name(row) in reasons]
    tried = [row for row in there if _name(row) not in reasons]
    copies: Queue[Copy] = Queue()
    for _ in range(jobs):
        copies.put(Copy(SOURCES))

    def caught(row: dict[str, object]) -> bool:
        copy = copies.get()
        try:
            test = _found(str(row["caught"])) if "caught" in row else None
            outcome = copy.run(known[_name(row)], [test], 0) if test else Outcome(None, True, 0.0)
        finally:
            copies.put(copy)
        print("." if outcome.caught else "F", end="", flush=True)
        return outcome.caught is not None

    with ThreadPoolExecutor(jobs) as pool:
        noticed = list(pool.map(caught, tried))
    print()
    while not copies.empty():
        copies.get().remove()
    faults += [f"survives, and survivors.toml gives no reason: {_name(row)}, not noticed by {row.get('caught')}"
               for row, found in zip(tried, noticed, strict=True) if not found]  # fmt: skip
    if len(there) < (1 - GONE) * len(sample):
        faults.append(f"{len(sample) - len(there)} of {len(sample)} mutants have gone with their code: search and keep")
    if sum(noticed) < WANTED * len(there):
        faults.append(f"less than {WANTED:.0%} are caught")
    print(*faults, sep="\n")
    print(f"{sum(noticed)} of {len(there)} mutants caught ({sum(noticed) / max(len(there), 1):.1%}), {len(listed)} "
          f"listed survivors, {len(sample) - len(there)} gone with their code")  # fmt: skip
    return 1 if faults else 0


def _tables(file: str, key: str) -> list[dict[str, object]]:
    return list(tomllib.loads((HERE / file).read_text(encoding="utf-8")).get(key, []))


def _found(test: str) -> str:
    """The test's name, with the folder where its file is now."""
    file, _, rest = test.partition("::")
    if not (ROOT / file).exists():
        elsewhere = sorted((ROOT / "tests").rglob(Path(file).name))
        file = str(elsewhere[0].relative_to(ROOT)) if elsewhere else file
    return f"{file}::{rest}" if rest else file


if __name__ == "__main__":
    sys.exit(main())
