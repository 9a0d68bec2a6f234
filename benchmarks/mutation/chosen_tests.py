"""Chosen tests: which test files run the lines of a mutant, those first that are likely to notice it soon."""

from __future__ import annotations

import re
from bisect import bisect_left
from pathlib import Path

from mutants import Mutant

OF_FILE = 8.0  # seconds: what a file may take, and takes if it is not known
ROOT = Path(__file__).resolve().parents[2]


class Coverage:
    """What `collect.py` wrote into a folder."""

    def __init__(self, folder: Path) -> None:
        self.seconds: dict[str, float] = {}
        self.lines: dict[str, dict[str, list[int]]] = {}  # of a test file: path of the source to lines in functions
        self.failed: set[str] = set()
        for kept in sorted(folder.iterdir()):
            if kept.suffix != ".making":
                self._read(kept)
        paths = sorted((ROOT / "tests").rglob("test_*.py"))
        self.texts = {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in paths}
        self.sources: dict[Path, list[str]] = {}

    def _read(self, kept: Path) -> None:
        test = kept.name.replace("+", "/")
        seen: dict[str, set[int]] = {}
        for file in kept.glob("*.lines"):
            for row in file.read_text(encoding="utf-8").splitlines():
                path, first, lines = row.split("\t")
                if first != "1" and lines:
                    seen.setdefault(path, set()).update(map(int, lines.split(",")))
        log = kept / "log"
        for row in log.read_text(encoding="utf-8").splitlines() if log.exists() else []:
            at, what, name = row.split("\t")
            self.seconds[test] = float(at)
            if what == "failed":
                self.failed.add(name)
        self.lines[test] = {path: sorted(lines) for path, lines in seen.items()}

    def tests(self, mutant: Mutant, sources: Path) -> list[str]:
        """Test files in the order in which they are tried."""
        path = str(mutant.path.relative_to(sources))
        if mutant.names or mutant.function == "(module)":
            covering = [test for test in self._known() if self._names(test, mutant, path, sources)]
            if not covering:
                covering = [test for test in self._known() if path in self.lines[test]]
        else:
            covering = [test for test in self._known() if _any_in(self.lines[test].get(path, []), mutant.lines)]
        others = [test for test in self.texts if test not in covering and self._near(test, mutant, path)]
        cost = {test: self._cost(test, mutant) * (1 if test in covering else 2) for test in covering + others}
        return sorted(cost, key=cost.__getitem__)

    def _near(self, test: str, mutant: Mutant, path: str) -> bool:
        """Whether a test may run the line, since it was not seen to its end: it stands beside, or runs its file."""
        if test not in self.lines and self._spoken(test, mutant):
            return True
        return _beside(test, mutant) or path in self.lines.get(test, ())

    def _names(self, test: str, mutant: Mutant, path: str, sources: Path) -> bool:
        """Whether the test ran a line of the same file that names what the mutant is assigned to."""
        if mutant.path not in self.sources:
            self.sources[mutant.path] = mutant.path.read_text(encoding="utf-8").splitlines()
        text = self.sources[mutant.path]
        used = re.compile(r"\b(" + "|".join(map(re.escape, mutant.names or ("^",))) + r")\b")
        return any(line <= len(text) and used.search(text[line - 1]) for line in self.lines[test].get(path, []))

    def _known(self) -> list[str]:
        return [test for test in self.texts if test in self.lines]

    def _cost(self, test: str, mutant: Mutant) -> float:
        """Its time, less for a test that speaks of the function or the module."""
        own = Path(test).stem == f"test_{mutant.path.stem}"
        near = 1 + 2 * _beside(test, mutant) + 4 * self._spoken(test, mutant) + 20 * own
        return (min(self.seconds.get(test, OF_FILE), OF_FILE) + 1) / near

    def _spoken(self, test: str, mutant: Mutant) -> int:
        """Which of the function and the module a test names; used alone for one that `collect.py` did not run."""
        text, names = self.texts[test], (*mutant.function.split("."), *mutant.names)
        function = any(re.search(rf"\b{re.escape(name)}\b", text) for name in names if len(name) > 2)
        return function + bool(re.search(rf"\b{re.escape(mutant.path.stem)}\b", text + test))


def _beside(test: str, mutant: Mutant) -> bool:
    return Path(test).parent.name == mutant.path.parent.name


def _any_in(lines: list[int], span: tuple[int, int]) -> bool:
    at = bisect_left(lines, span[0])
    return at < len(lines) and lines[at] <= span[1]
