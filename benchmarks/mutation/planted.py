"""Planted: a copy of src in which one mutant at a time is planted, and the tests that are run on it."""

from __future__ import annotations

import importlib.util
import os
import py_compile
import re
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from mutants import Mutant

ROOT = Path(__file__).resolve().parents[2]
HOOK = Path(__file__).parent / "hook"
STUCK, SILENT = 45.0, 300.0  # seconds of processor in one test, or seconds: it hangs
HARMLESS = (0, 2, 5)  # all passed, ended by the plug-in, no tests
ENDED = (-9, -15)  # from outside
PLUG_INS = ("-p", "no:cacheprovider", "-p", "no:xdist", "-p", "one_file")


@dataclass(frozen=True)
class Outcome:
    """caught: the test that failed or hung, or None.  complete: whether all the tests were run."""

    caught: str | None
    complete: bool
    seconds: float


class Copy:
    """A copy of the folder of sources, of its own."""

    def __init__(self, sources: Path) -> None:
        self.sources = sources
        self.folder = Path(tempfile.mkdtemp(prefix="warplens-mutation-"))
        self.root = self.folder / "src"
        shutil.copytree(sources, self.root, ignore=shutil.ignore_patterns("__pycache__"))
        for path in self.root.rglob("*.py"):
            py_compile.compile(str(path), quiet=2)

    def remove(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    def run(self, mutant: Mutant | None, tests: list[str], budget: float, left_out: set[str] | None = None) -> Outcome:
        """The tests in order, until one fails; with the sources as they are if no mutant is named.

        budget    seconds after which no further test begins, half of it for tests of one file; 0 for no limit, and
                  for tests marked `long` too
        """
        if mutant is None:
            return self._run(tests, budget, left_out or set())
        path = self.root / mutant.path.relative_to(self.sources)
        whole = path.read_bytes()
        compiled = Path(_cached(path))
        compiled.unlink(missing_ok=True)  # tells sources apart by time and size, which may both be the same
        path.write_bytes(whole[: mutant.begin] + mutant.text.encode() + whole[mutant.end :])
        try:
            return self._run(tests, budget, left_out or set())
        finally:
            path.write_bytes(whole)
            py_compile.compile(str(path), quiet=2)

    def _run(self, tests: list[str], budget: float, left_out: set[str]) -> Outcome:
        log = self.folder / "log"
        log.unlink(missing_ok=True)
        environment = os.environ | {
            "MUTATION_LOG": str(log), "PYTHONPATH": f"{HOOK}:{self.root}", "PYTHONDONTWRITEBYTECODE": "1",
            "MUTATION_SECONDS": str(budget or "inf"), "MUTATION_FILE_SECONDS": str(budget / 2 or "inf"),
        }  # fmt: skip
        command = [sys.executable, "-m", "pytest", "-x", "-q", *PLUG_INS, *(f"--deselect={name}" for name in left_out)]
        command += ["--long"] * (not budget) + tests
        begun = time.monotonic()
        with open(self.folder / "output", "w", encoding="utf-8") as output:
            process = subprocess.Popen(
                command, cwd=ROOT, env=environment, stdout=output, stderr=output, start_new_session=True
            )
            stuck = _wait(process, log)
        seconds = time.monotonic() - begun
        rows = [row.split("\t") for row in log.read_text(encoding="utf-8").splitlines()] if log.exists() else []
        text = (self.folder / "output").read_text(encoding="utf-8", errors="replace")
        return Outcome(_caught(process.returncode, stuck, rows, text, tests[0]), process.returncode == 0, seconds)


def _caught(status: int, stuck: bool, rows: list[list[str]], text: str, first: str) -> str | None:
    """The test that noticed, and how if it did not just fail."""
    last = rows[-1][2] if rows else first
    failed = [name for _, what, name in rows if what == "failed"]
    if failed:
        return failed[0]
    if stuck:
        return f"{last} (hangs)"
    if "no match in any of" in text or "file or directory not found" in text:
        return None  # there is no such test
    if re.search(r"errors? during collection|while loading conftest", text):
        return f"{first} (cannot be imported)"
    return None if status in (*HARMLESS, *ENDED) else f"{last} (status {status})"


def _wait(process: subprocess.Popen[bytes], log: Path) -> bool:
    """Until it ends; ends it if one test takes very long, and says so."""
    size, since, before = -1, 0.0, 0.0
    while process.poll() is None:
        time.sleep(0.1)
        now = log.stat().st_size if log.exists() else 0
        if now != size:
            size, since, before = now, time.monotonic(), _processor(process.pid)
        elif time.monotonic() - since > SILENT or _processor(process.pid) - before > STUCK:
            os.killpg(process.pid, 9)
            process.wait()
            return True
    return False


def _processor(number: int) -> float:
    """Seconds that a process had of a processor; 0 where the system does not tell."""
    try:
        fields = Path(f"/proc/{number}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _cached(path: Path) -> str:
    return importlib.util.cache_from_source(str(path))
