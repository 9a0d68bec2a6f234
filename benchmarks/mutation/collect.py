"""Coverage: which test file runs which lines of src, and how long it takes.

    benchmarks/mutation/collect.py FOLDER [SECONDS]

One process a test file, with line tracing in it and in its children; no further test of a file begins after SECONDS
(8).  Files that FOLDER holds already are not run again.  `mutate.py` chooses the tests for a mutant from FOLDER.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HOOK = Path(__file__).parent / "hook"


def main() -> None:
    folder = Path(sys.argv[1]).resolve()
    seconds = sys.argv[2] if len(sys.argv) > 2 else "8"
    files = sorted(
        (ROOT / "tests").rglob("test_*.py"), key=lambda path: ("hardware" in path.parts, path.stat().st_size)
    )
    for number, path in enumerate(files):
        name = str(path.relative_to(ROOT))
        into = folder / name.replace("/", "+")
        if into.exists():
            continue
        begun = time.monotonic()
        status = collect(name, into, seconds)
        print(f"{number + 1}/{len(files)} {name} {time.monotonic() - begun:.1f} s, status {status}", flush=True)


def collect(name: str, into: Path, seconds: str) -> int:
    """Runs one test file; its lines and log lie in `into` afterwards."""
    making = into.with_name(into.name + ".making")
    making.mkdir(parents=True, exist_ok=True)
    for old in making.iterdir():
        old.unlink()
    environment = os.environ | {
        "MUTATION_COVERAGE": str(making), "MUTATION_SOURCES": f"{ROOT}/src/", "MUTATION_LOG": f"{making}/log",
        "MUTATION_SECONDS": seconds, "PYTHONPATH": f"{HOOK}:{ROOT}/src",
    }  # fmt: skip
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "one_file", "-p", "no:xdist", "-q", name]
    with open(making / "output", "w", encoding="utf-8") as output:
        status = subprocess.run(command, cwd=ROOT, env=environment, stdout=output, stderr=output).returncode
    making.rename(into)
    return status


if __name__ == "__main__":
    main()
