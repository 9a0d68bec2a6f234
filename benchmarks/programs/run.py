"""Runs programs of others under `warplens run`: which build, end, and find their own results right.

    run.py SOURCES OUT [NAME ...] [--timeout SECONDS]

OUT gets the report of each as JSON.  Ends with 1 if one fails.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

from suite import Program, programs

STOPPED = 124


def outcome(program: Program, sources: Path, out: Path, timeout: str) -> str:
    """`passed`, or why not."""
    try:
        error = program.built(sources)
    except (OSError, subprocess.TimeoutExpired) as reason:
        error = str(reason)
    if error:
        return f"not built: {error.splitlines()[-1]}"
    warplens = f"{sys.executable} -m warplens run --gpu h200 --timeout {timeout} --json {out / program.name}.json"
    report = out / f"{program.name}.txt"
    command = f"exec {warplens} --report {report} -- {program.command}"
    done = subprocess.run(
        command, shell=True, cwd=program.place(sources), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, errors="replace", check=False,
    )  # fmt: skip
    (out / f"{program.name}.out").write_text(done.stdout, encoding="utf-8")
    if done.returncode == STOPPED:
        return f"did not end in {timeout} s"
    if done.returncode:
        return f"exit code {done.returncode}"
    return "passed" if program.expected in done.stdout else f"{program.expected!r} is not in its output"


def main() -> None:
    words, timeout = sys.argv[1:], "120"
    if "--timeout" in words:
        at = words.index("--timeout")
        timeout = words[at + 1]
        del words[at : at + 2]
    if len(words) < 2:
        sys.exit(__doc__)
    sources, out, passed, wanted = Path(words[0]).resolve(), Path(words[1]).resolve(), 0, programs(words[2:])
    out.mkdir(parents=True, exist_ok=True)
    outcomes: dict[str, str] = {}
    for program in wanted:
        began = time.monotonic()
        outcomes[program.name] = outcome(program, sources, out, timeout)
        passed += outcomes[program.name] == "passed"
        print(f"{program.name}: {outcomes[program.name]} ({time.monotonic() - began:.0f} s)", flush=True)
    (out / "outcomes.json").write_text(json.dumps(outcomes, indent=1), encoding="utf-8")
    print(f"{passed} of {len(wanted)} passed")
    sys.exit(passed < len(wanted))


if __name__ == "__main__":
    main()
