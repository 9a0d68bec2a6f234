"""Chosen tests: which tests run the lines of a mutant, those first that are likely to notice it soon."""

from __future__ import annotations

import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections import Counter
from pathlib import Path

from coverage import CoverageData
from mutants import Mutant

ROOT = Path(__file__).resolve().parents[2]
START = 0.2  # seconds that each test costs beside its own time
MOST = 200  # tests of a mutant
SHORT = 12  # characters of a line that says too little to be found in another file


class Coverage:
    """Line coverage: the lines of src that each test runs.

    data   written by coverage.py with one context a test (`pytest --cov-context=test`), of the files as they are now
          or were before a change
    times  written by `pytest --junit-xml`
    """

    def __init__(self, data: Path, times: Path, sources: Path) -> None:
        self.data = CoverageData(str(data))
        self.data.read()
        self.places: dict[str, list[tuple[str, int]]] = {}  # of the text of a line: files and line numbers
        for name in self.data.measured_files():
            for number, line in enumerate(Path(name).read_text(encoding="utf-8").splitlines(), 1):
                self.places.setdefault(line.strip(), []).append((name, number))
        self.contexts: dict[str, dict[int, list[str]]] = {}
        there = _collected()
        self.seconds: dict[str, float] = {}  # of each test that passed
        self.failed: set[str] = set()
        for case in ElementTree.parse(times).iter("testcase"):
            test = f"{case.attrib['classname'].replace('.', '/')}.py::{case.attrib['name']}"
            if any(case.find(outcome) is not None for outcome in ("failure", "error")):
                self.failed.add(test)
            elif case.find("skipped") is None and test in there:
                self.seconds[test] = float(case.attrib["time"])
        self.sources = {path: path.read_text(encoding="utf-8").splitlines() for path in sources.rglob("*.py")}

    def tests(self, mutant: Mutant) -> list[str]:
        """Tests in the order in which they are tried."""
        by_name = mutant.names or mutant.function == "(module)"
        covering = self._naming(mutant) if by_name else self._running(mutant.path, range(*_after(mutant.lines)))
        near = {test for test in self.seconds if _own(test, mutant)}  # what a cache gave them is not covered
        cost = {test: self._cost(test, mutant, test in covering) for test in (covering | near) & self.seconds.keys()}
        taken: Counter[str] = Counter()
        spread = {}
        for test in sorted(cost, key=lambda test: (cost[test], test)):
            file = test.partition("::")[0]
            spread[test] = cost[test] * (1 + taken[file] / 4)  # several tests of one file notice the same
            taken[file] += 1
        return sorted(spread, key=lambda test: (spread[test], test))[:MOST]

    def _running(self, path: Path, lines: range) -> set[str]:
        """Tests that ran a line with the text of one of these, in a file of that name if there is one: the sources may
        have changed since."""
        found: set[str] = set()
        for number in lines:
            text = self.sources[path][number - 1].strip()
            places = self.places.get(text, [])
            own = [place for place in places if Path(place[0]).name == path.name]
            for name, at in own or (places if len(text) > SHORT else []):
                found |= {context.rpartition("|")[0] for context in self._contexts(name).get(at, ()) if context}
        return found

    def _contexts(self, name: str) -> dict[int, list[str]]:
        """By line of a file: what ran it."""
        if name not in self.contexts:
            self.contexts[name] = self.data.contexts_by_lineno(name)
        return self.contexts[name]

    def _naming(self, mutant: Mutant) -> set[str]:
        """Tests that run a line with the name that a statement outside of functions assigns to."""
        name = re.compile(r"\b(" + "|".join(map(re.escape, mutant.names or ("^",))) + r")\b")
        found: set[str] = set()
        for path in [mutant.path, *self.sources]:
            numbers = [number for number, line in enumerate(self.sources[path], 1) if name.search(line)]
            found |= {test for number in numbers for test in self._running(path, range(number, number + 1))}
            if path == mutant.path and found:
                break
        return found or self._running(mutant.path, range(1, len(self.sources[mutant.path]) + 1))

    def _cost(self, test: str, mutant: Mutant, covers: bool) -> float:
        """Its time, less for a test that stands beside the function or names it."""
        beside = Path(test.partition("::")[0]).parent.name == mutant.path.parent.name
        name = mutant.function.rpartition(".")[2].strip("_")
        named = len(name) > 2 and name in test.partition("::")[2]
        return (self.seconds[test] + START) / (1 + 2 * beside + 4 * named + 8 * _own(test, mutant)) * (2 - covers)


def _collected() -> set[str]:
    """The tests that there are now."""
    command = [sys.executable, "-m", "pytest", "--collect-only", "--long", "-p", "no:cacheprovider"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return {line for line in done.stdout.splitlines() if "::" in line}


def _own(test: str, mutant: Mutant) -> bool:
    return Path(test.partition("::")[0]).stem == f"test_{mutant.path.stem}"


def _after(lines: tuple[int, int]) -> tuple[int, int]:
    return lines[0], lines[1] + 1
