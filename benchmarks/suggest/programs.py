"""Suggestions for programs that others wrote: `programs.py SOURCES OUT [NAME ...]`.

SOURCES has their repositories, as benchmarks/programs/README.md says.  OUT gets a JSON document a program, once; then
programs.csv, with a row for each kernel that was searched, is made of all documents there.  No source leaves SOURCES.
"""

from __future__ import annotations

import csv
import json
import shlex
import subprocess
import sys
import time
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "programs"))
from suite import Program, programs  # noqa: E402

SECONDS = 600  # of one program, all its versions
RUN_SECONDS = 120  # of one run of it
COLUMNS = (
    "program", "kernel", "launches", "time_us", "changed_us", "changes", "line", "tried", "not_tried", "program_us",
    "program_changed_us", "note",
)  # fmt: skip


def listed() -> dict[str, dict[str, Any]]:
    """By name: sources, options and what else differs from benchmarks/programs/programs.toml."""
    entries = tomllib.loads((HERE / "programs.toml").read_text(encoding="utf-8"))["program"]
    return {entry["name"]: entry for entry in entries}


def suggested(program: Program, entry: dict[str, Any], sources: Path) -> dict[str, Any]:
    """The document of `warplens suggest`, or {"error": ...}."""
    arguments = shlex.split(entry.get("arguments", program.command))
    arguments = arguments if "arguments" in entry else arguments[1:]
    expect = entry.get("expected", program.expected)
    command = [
        sys.executable, "-m", "warplens", "suggest", *entry["sources"].split(), "--gpu", "h200", "--json",
        f"--timeout={RUN_SECONDS}", f"--expect={expect}", *(f"--nvcc={one}" for one in entry["options"].split()),
        "--", *arguments,
    ]  # fmt: skip
    try:
        done = subprocess.run(
            command, cwd=program.place(sources), capture_output=True, text=True, timeout=SECONDS, check=False,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return {"error": f"not done after {SECONDS} s"}
    return json.loads(done.stdout) if done.returncode == 0 else {"error": done.stderr.strip()[-300:]}


def rows(name: str, document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if "error" in document:
        yield {"program": name, "note": document["error"].replace("\n", " ")}
        return
    program, searched = document["program"], {kernel["title"]: kernel for kernel in document["kernels"]}
    for kernel in program["kernels"]:
        found = searched.get(kernel["kernel"])
        made = found["changes"] if found else []
        yield {
            "program": name, "kernel": kernel["kernel"], "launches": kernel["launches"],
            "time_us": f"{kernel['before_us']:.2f}", "changed_us": f"{kernel['after_us']:.2f}" if made else "",
            "changes": "; ".join(change["title"] for change in made),
            "line": " ".join(str(change["line"]) for change in made),
            "tried": len(found["rejected"]) + len(made) if found else 0,
            "not_tried": len(found["refused"]) if found else 0, "program_us": f"{program['before_us']:.2f}",
            "program_changed_us": f"{program['after_us']:.2f}", "note": kernel["reason"],
        }  # fmt: skip


def main() -> None:
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    sources, out, wanted = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve(), listed()
    out.mkdir(parents=True, exist_ok=True)
    chosen = sys.argv[3:] or list(wanted)
    for program in sorted(programs(chosen), key=lambda program: list(wanted).index(program.name)):
        file, began = out / f"{program.name}.json", time.monotonic()
        if not file.exists():
            file.write_text(json.dumps(suggested(program, wanted[program.name], sources)), encoding="utf-8")
            print(f"{program.name}: {time.monotonic() - began:.0f} s", flush=True)
    documents = {file.stem: json.loads(file.read_text(encoding="utf-8")) for file in sorted(out.glob("*.json"))}
    with (out / "programs.csv").open("w", newline="", encoding="utf-8") as written:
        writer = csv.DictWriter(written, COLUMNS, lineterminator="\n")
        writer.writeheader()
        for name, document in documents.items():
            writer.writerows(rows(name, document))
    outcomes = Counter(outcome for document in documents.values() for outcome in reasons(document))
    for reason, count in outcomes.most_common():
        print(f"{count:5} {reason}")


def reasons(document: dict[str, Any]) -> Iterator[str]:
    """What came of each change that was proposed, in a few words."""
    for kernel in document.get("kernels", ()):
        yield from ("offered" for _ in kernel["changes"])
        for rejected in kernel["rejected"]:
            reason = rejected["reason"]
            known = ("no measurable gain", "more time", "same machine code", "not needed beside", "whole program:",
                     "launches of other sizes", "elements differ")  # fmt: skip
            yield next((word for word in known if word in reason), "not compiled, or a fault")
        yield from (f"not tried ({refused['title'] or 'all'})" for refused in kernel["refused"])


if __name__ == "__main__":
    main()
