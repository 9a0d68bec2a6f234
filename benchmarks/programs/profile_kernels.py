"""Counters and duration of the first launch of each kernel of programs of others, by Nsight Compute on this GPU.

profile.py SOURCES OUT.csv [NAME ...]
"""

from __future__ import annotations

import csv
import subprocess
import sys
import tempfile
from pathlib import Path

from suite import Program, programs

from warplens.hardware.ncu import CACHES, COUNTERS, KEEP

DURATION = "gpu__time_duration.sum"
KERNELS = 8  # of a program, at most
SECONDS = 20  # after which a program is ended
SHAPE = {"Kernel Name": "kernel", "Grid Size": "grid", "Block Size": "block"}


def profiled(program: Program, sources: Path, log: Path) -> list[dict[str, str]]:
    metrics = [*COUNTERS, DURATION]
    ncu = [
        "ncu", *KEEP, *CACHES[True], "--kernel-id", ":::1", "--launch-count", str(KERNELS), "--kill", "yes", "--csv",
        "--page", "raw", "--print-units", "base", "--log-file", str(log), "--metrics", ",".join(metrics),
    ]  # fmt: skip
    # The program alone is killed: ncu then writes what it has.
    command = f"{' '.join(ncu)} timeout --signal KILL {SECONDS} {program.command}"
    subprocess.run(
        command,
        shell=True,
        cwd=program.place(sources),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=False,
    )
    lines = log.read_text(encoding="utf-8").splitlines() if log.exists() else []
    rows = list(csv.DictReader(line for line in lines if line.startswith('"')))[1:]
    return [
        {"program": program.name} | {name: row[column] for column, name in SHAPE.items()}
        | {metric: row[metric].replace(",", "") for metric in metrics}
        for row in rows
    ]  # fmt: skip


def main() -> None:
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    sources, out = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
    with out.open("w", encoding="utf-8", newline="") as file, tempfile.TemporaryDirectory() as folder:
        writer = csv.DictWriter(file, ["program", *SHAPE.values(), *COUNTERS, DURATION], lineterminator="\n")
        writer.writeheader()
        for program in programs(sys.argv[3:]):
            error = program.built(sources)
            found = [] if error else profiled(program, sources, Path(folder, f"{program.name}.csv"))
            writer.writerows(found)
            print(f"{program.name}: {error or f'{len(found)} kernels'}", flush=True)


if __name__ == "__main__":
    main()
