"""Suggestions for programs that others wrote: `programs.py SOURCES OUT [NAME ...]`, `programs.py --table OUT`.

SOURCES has their repositories, as benchmarks/programs/README.md says.  OUT gets a JSON document a program, once; then
programs.csv, with a row for each kernel that was searched, is made of all documents there.  No source leaves SOURCES.
"""

from __future__ import annotations

import csv
import json
import resource
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
    """By name: sources, options and what else differs from benchmarks/programs/programs.toml; of programs that are not
    there (`folder`) all."""
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


def table(documents: dict[str, dict[str, Any]]) -> None:
    """A line a kernel: what is offered, and what came of the program's own check with it."""
    print("| Program | Kernel | Launches | Predicted µs | Tried | Offered | Less time | Own check |")
    print("|---|---|--:|--:|--:|---|--:|---|")
    for name, document in documents.items():
        program = document.get("program")
        checked = program["output"].removeprefix("the changed program ") if program else ""
        for row in rows(name, document):
            if not program:
                print(f"| {name} | | | | | {row['note']} | | |")
                continue
            before, after = float(row["time_us"]), float(row["changed_us"] or 0)
            gain = f"{1 - after / before:.0%}" if after else ""
            offered = row["changes"] or (f"not searched: {row['note']}" if row["note"] else "")
            print(
                f"| {name} | `{row['kernel']}` | {row['launches']:,} | {before:,.1f} | {row['tried']} | {offered} | "
                f"{gain} | {checked if after else ''} |"
            )


def main() -> None:
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    if sys.argv[1] == "--table":
        table(_documents(Path(sys.argv[2])))
        return
    sources, out, wanted = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve(), listed()
    out.mkdir(parents=True, exist_ok=True)
    chosen = sys.argv[3:] or list(wanted)
    own = [
        Program(name, "zjin-lcf/HeCBench", entry["folder"], "", "", entry["expected"])
        for name, entry in wanted.items() if "folder" in entry and name in chosen
    ]  # fmt: skip
    for program in sorted([*programs(chosen), *own], key=lambda program: list(wanted).index(program.name)):
        file, began, used = out / f"{program.name}.json", time.monotonic(), _processor_seconds()
        if not file.exists():
            document = suggested(program, wanted[program.name], sources)
            document["seconds"] = round(_processor_seconds() - used, 1)
            file.write_text(json.dumps(document), encoding="utf-8")
            passed = time.monotonic() - began
            print(f"{program.name}: {passed:.0f} s, {document['seconds']:.0f} s of processor", flush=True)
    documents = _documents(out)
    with (out / "programs.csv").open("w", newline="", encoding="utf-8") as written:
        writer = csv.DictWriter(written, COLUMNS, lineterminator="\n")
        writer.writeheader()
        for name, document in documents.items():
            writer.writerows(rows(name, document))
    outcomes = Counter(outcome for document in documents.values() for outcome in reasons(document))
    for reason, count in outcomes.most_common():
        print(f"{count:5} {reason}")


def _documents(out: Path) -> dict[str, dict[str, Any]]:
    return {file.stem: json.loads(file.read_text(encoding="utf-8")) for file in sorted(out.glob("*.json"))}


def _processor_seconds() -> float:
    """Of the programs that have ended, and what they started."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


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
