"""How long the command line takes, against what it may take.  Ends with 1 if anything is slower."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
WARPLENS = str(Path(sys.executable).parent / "warplens")


@dataclass(frozen=True)
class Command:
    """`limit` in seconds; `warm`: run once before the clock starts, so that the cache holds what it needs."""

    title: str
    arguments: tuple[str, ...]
    limit: float
    warm: bool
    repeats: int = 3


COMMANDS = (
    Command("warplens --help", (WARPLENS, "--help"), 0.3, warm=True, repeats=10),
    Command("warplens explain, first", (WARPLENS, "explain", "examples/copy.cu"), 10.0, warm=False),
    Command("warplens explain, again", (WARPLENS, "explain", "examples/copy.cu"), 2.0, warm=True),
    Command("make demo, once installed", ("make", "demo"), 10.0, warm=False),
)


def seconds(command: Command) -> float:
    """The best of the repeats; each run of a command that is not warm finds an empty cache."""
    with tempfile.TemporaryDirectory() as shared:
        if command.warm:
            run(command, shared)
        return min(one(command, shared) for _ in range(command.repeats))


def one(command: Command, shared: str) -> float:
    with tempfile.TemporaryDirectory() as empty:
        start = time.perf_counter()
        run(command, shared if command.warm else empty)
        return time.perf_counter() - start


def run(command: Command, cache: str) -> None:
    environment = os.environ | {"WARPLENS_CACHE": cache}
    subprocess.run(command.arguments, cwd=ROOT, env=environment, check=True, stdout=subprocess.DEVNULL)


def main() -> int:
    taken = {command: seconds(command) for command in COMMANDS}
    for command, time_taken in taken.items():
        verdict = "" if time_taken < command.limit else "  TOO SLOW"
        print(f"{command.title:<28} {time_taken:6.2f} s of {command.limit:4.1f} s{verdict}")
    return int(any(time_taken >= command.limit for command, time_taken in taken.items()))


if __name__ == "__main__":
    sys.exit(main())
