"""Warp-level primitives (tests/kernels/warp_lanes.cu) with lanes outside the mask and with lanes of the mask missing:
the launches, and the record of what an H200 did (measurements/h200/warp_lanes.csv).

    python tests/validation/warp_lanes.py prepare FOLDER    here: a job for each launch that ends
    python tests/validation/warp_lanes.py launch FOLDER     on the GPU: results.csv and ncu.csv in FOLDER
    python tests/validation/warp_lanes.py record FOLDER HEADING    here: the record
"""

from __future__ import annotations

import csv
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import astuple, dataclass
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[2]
KERNELS = ROOT / "tests" / "kernels" / "warp_lanes.cu"
RECORD = ROOT / "measurements" / "h200" / "warp_lanes.csv"
COUNTERS = ("smsp__inst_executed.sum", "smsp__thread_inst_executed.sum", "smsp__thread_inst_executed_pred_on.sum")
COLUMNS = ("kernel", "threads", "gone", "present", "masks", "after", "outcome", *COUNTERS, "results")
ALL, UNWRITTEN, STARTING, PATIENCE, AT_MOST = 0xFFFFFFFF, 0xEEEEEEEE, 8, 4, 120

STRAIGHT = [  # threads, lanes that have exited, mask
    *((32, 0, mask) for mask in (ALL, 0x0000FFFF, 0xFFFF0000, 1, 0xF0F0F0F0, 0x80000001)),
    (32, 0x0000FFFF, 0xFFFF0000), (32, 0x0000FFFF, ALL), (32, 0x000000F0, ALL), (32, 0x000000F0, 0x000000FF),
    (20, 0, ALL), (20, 0, 0x000FFFFF),
]  # fmt: skip
CONSTANT = [  # threads, exited, in the branch; the mask is 0x0000FFFF in it and 0x00FF00FF behind
    (32, 0, ALL), (32, 0, 0x0000FFFF), (32, 0, 0x00FFFFFF), (32, 0x0000F000, ALL), (32, 0xFF000000, 0x0000FFFF),
    (20, 0, ALL), (32, 0, 0),
]  # fmt: skip
BRANCH = [  # threads, exited, in the branch, mask in it, mask behind
    (32, 0, ALL, 0x0000FFFF, ALL), (32, 0, 0x0000FFFF, 0x0000FFFF, ALL), (32, 0, 0x00FF00FF, 0x00FF00FF, 0xFFFF0000),
    (32, 0, ALL, 0xF0, 0x0F), (32, 0x0000FFFF, ALL, ALL, ALL), (32, 0x0F, ALL, ALL, 0xF0F0F0F0),
    (32, 0, 0xFFFFFF00, 0xFF00, ALL), (20, 0, 0x55555555, 0x00055555, 0x000FFFFF), (20, 0, ALL, 0xFF, ALL),
    (32, 0xAAAAAAAA, 0x0000FFFF, 0x0000FFFF, 0x55555555),
]  # fmt: skip
TILES = {
    "all": [ALL] * 32,
    "halves": [0x0000FFFF] * 16 + [0xFFFF0000] * 16,
    "eights": [0xFF << lane // 8 * 8 for lane in range(32)],
    "parity": [0x55555555 << lane % 2 & ALL for lane in range(32)],
    "alone": [1 << lane for lane in range(32)],
    "uneven": [0x0000000F] * 4 + [0xFFFFFFF0] * 28,
    "low": [0x0000FFFF] * 32,
    "foreign": [0xFF << (lane // 8 * 8 + 8) % 32 for lane in range(32)],
    "overlapping": [0x0000FFFF] * 16 + [ALL] * 16,
}
LANES = [  # threads, exited, in the branch, masks
    (32, 0, ALL, "all"), (32, 0, ALL, "halves"), (32, 0, ALL, "eights"), (32, 0, ALL, "parity"), (32, 0, ALL, "alone"),
    (32, 0, ALL, "uneven"), (32, 0, ALL, "low"), (32, 0, 0x0000FFFF, "halves"), (32, 0, 0x00FF00FF, "eights"),
    (32, 0x000000F0, ALL, "halves"), (32, 0x11111111, 0x33333333, "parity"), (20, 0, ALL, "eights"),
    (32, 0, ALL, "foreign"), (32, 0x0000FFFF, ALL, "overlapping"),
]  # fmt: skip


@dataclass(frozen=True)
class Case:
    kernel: str
    threads: int
    gone: int
    present: int
    masks: int | str
    after: int

    @property
    def key(self) -> tuple[str, ...]:
        words = [f"{word:08x}" if isinstance(word, int) else word for word in astuple(self)[2:]]
        return (self.kernel, str(self.threads), *words)

    def arguments(self) -> tuple[Any, ...]:
        """Results, 100 + lane, and what this form of kernel takes."""
        out, numbers = np.full(64, UNWRITTEN, np.uint32), np.arange(100, 132, dtype=np.uint32)
        u = np.uint32
        if isinstance(self.masks, str):
            return out, numbers, u(self.gone), u(self.present), np.array(TILES[self.masks], u)
        rest = {
            "straight": (self.masks,), "constant": (self.present,), "branch": (self.present, self.masks, self.after)
        }  # fmt: skip
        return out, numbers, u(self.gone), *map(u, rest[self.kernel.split("_")[0]])


def cases(kernels: list[str]) -> Iterator[Case]:
    for kernel in kernels:
        match kernel.split("_")[0]:
            case "straight":
                yield from (Case(kernel, threads, gone, ALL, mask, 0) for threads, gone, mask in STRAIGHT)
            case "constant":
                yield from (Case(kernel, *values, 0x0000FFFF, 0x00FF00FF) for values in CONSTANT)
            case "branch":
                yield from (Case(kernel, *values) for values in BRANCH)
            case "lanes":
                yield from (Case(kernel, *values, 0) for values in LANES)


@cache
def module() -> Any:
    import warplens as wl

    return wl.compile(KERNELS, arch="sm_90")


def executed(case: Case) -> tuple[str, list[int], str]:
    """How the launch ends here ("ends", "faults", "hangs"), its counters, and the results."""
    from warplens.errors import KernelFault

    arguments = case.arguments()
    try:
        run = module()[case.kernel].launch(1, case.threads, *arguments, gpu="h200", threads=1, budget=100_000)
    except KernelFault as fault:
        return ("faults" if "illegal" in str(fault) else "hangs"), [], str(fault)
    return "ends", [int(run[name]) for name in COUNTERS], shortened(arguments[0])


def shortened(words: Any) -> str:
    """Hexadecimal words; runs of one word as word*times."""
    runs = ((f"{word:x}", len(list(same))) for word, same in groupby(int(word) for word in words))
    return " ".join(word if times == 1 else f"{word}*{times}" for word, times in runs)


def prepare(folder: Path) -> None:
    """Launches that end come first; those that hang are left out."""
    from warplens.core.launch import Launch
    from warplens.kernel import dim3

    order = []
    for case in cases(list(module())):
        outcome, _, _ = executed(case)
        print(outcome, *case.key)
        if outcome != "hangs":
            order.append((outcome, case))
    order.sort(key=lambda entry: entry[0])
    (folder / "jobs").mkdir(parents=True)
    for number, (_, case) in enumerate(order):
        launch = Launch(dim3(1, "grid"), dim3(case.threads, "block"), 0, False)
        module()[case.kernel].job(launch, *case.arguments()).save(folder / "jobs" / f"{number:06}.npz")
    with (folder / "cases.csv").open("w") as file:
        csv.writer(file).writerows([*case.key, outcome] for outcome, case in order)


def launch_all(folder: Path) -> None:
    """Each job on the GPU; a process that faults or hangs is followed by one that goes on behind that job.  Then the
    counters of those that end."""
    count, done, began = len(list((folder / "jobs").glob("*.npz"))), 0, time.monotonic()
    while done < count and time.monotonic() - began < AT_MOST:
        with subprocess.Popen([sys.executable, __file__, "from", str(folder), str(done)]) as child:
            seen, since = done, time.monotonic() + STARTING
            while child.poll() is None and time.monotonic() - since < PATIENCE:
                time.sleep(0.05)
                if (now := len(outcomes(folder))) > seen:
                    seen, since = now, time.monotonic()
            hangs = child.poll() is None
            child.kill()
        if hangs:
            tell(folder, "hangs", "")
        elif child.returncode:
            sys.exit(f"the process from job {done} on ended with {child.returncode}")
        done = len(outcomes(folder))
    for job, outcome in zip(sorted((folder / "jobs").glob("*.npz")), [*outcomes(folder), *[""] * count], strict=False):
        if outcome != "ends":
            job.unlink()
    command = [
        "ncu", "--clock-control", "none", "--cache-control", "none", "--csv", "--page", "raw", "--print-units", "base",
        "--log-file", str(folder / "ncu.csv"), "--metrics", ",".join(COUNTERS),
        sys.executable, "-m", "warplens.hardware.replay", str(folder / "jobs"),
    ]  # fmt: skip
    subprocess.run(command, check=True)


def outcomes(folder: Path) -> list[str]:
    path = folder / "results.csv"
    return [line.split(",")[0] for line in path.read_text().splitlines()] if path.exists() else []


def tell(folder: Path, outcome: str, results: str) -> None:
    with (folder / "results.csv").open("a") as file:
        file.write(f"{outcome},{results}\n")


def launch_from(folder: Path, first: int) -> None:
    """Jobs from this one on, until one faults."""
    from warplens.errors import KernelFault
    from warplens.hardware import Job, launch, open_gpu

    gpu = open_gpu()
    for path in sorted((folder / "jobs").glob("*.npz"))[first:]:
        try:
            out = launch(Job.load(path), gpu)[0].view(np.uint32)
        except KernelFault as fault:
            tell(folder, "faults", " ".join(str(fault).replace(",", " ").split())[-100:])
            return
        tell(folder, "ends", shortened(out))


def record(folder: Path, heading: str) -> None:
    """The record of what `launch` left in the folder; counters follow for the launches that end, in order."""
    from warplens.hardware.ncu import read_csv

    counted = read_csv((folder / "ncu.csv").read_text())
    with RECORD.open("w", newline="") as file:
        file.write(f"# {heading}\n")
        out = csv.writer(file, lineterminator="\n")
        out.writerow(COLUMNS)
        lines = (folder / "results.csv").read_text().splitlines()
        for line, case in zip(lines, csv.reader((folder / "cases.csv").open()), strict=False):
            outcome, results = line.split(",", 1)
            ends = outcome == "ends"
            found = next(counted) if ends else {}
            counters = [found[name].value if ends else "" for name in COUNTERS]
            out.writerow([*case[:-1], outcome, *counters, results if ends else ""])


if __name__ == "__main__":
    verb, place, *rest = sys.argv[1:]
    match verb:
        case "prepare":
            prepare(Path(place))
        case "launch":
            launch_all(Path(place))
        case "from":
            launch_from(Path(place), int(rest[0]))
        case "record":
            record(Path(place), rest[0])
