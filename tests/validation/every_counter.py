"""Every counter that the executor gives for sm_90, of 40 launches on an H200 (measurements/h200/every_counter.csv).

python tests/validation/every_counter.py prepare FOLDER           here: a job for each launch
python tests/validation/every_counter.py measure FOLDER           on the GPU: ncu.csv in FOLDER
python tests/validation/every_counter.py record FOLDER HEADING    here: the record
"""

from __future__ import annotations

import csv
import re
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).parent
RECORD = FOLDER.parents[1] / "measurements" / "h200" / "every_counter.csv"
LAUNCHES = {
    "everyday/everyday": "attention histogram dot_half2 bitonic strings struct_of top2 floyd scan_warp spmv_vector "
    "binary_search levenshtein dct8",
    "odd/odd_library": "block_tools scoped_atomics phased warp_tools run_lengths labels group_reductions variants",
    "odd/odd_math": "parts float_errors float_parts",
    "odd/odd_memory": "by_value vector_atomics stacked turned_views atomic_kinds fetched_ahead",
    "odd/odd_narrow": "brain_pairs roundings half_pairs byte_floats",
    "strangers/stranger_numbers": "top_two_experts flash_rows block_quantised quantise_rows gram_schmidt "
    "jagged_diagonals",
}
"""Each counter is above zero in three of them or, where the file's kernels have fewer, in two."""


def prepare(folder: Path) -> None:
    from warplens.commands.target import Flags, targets
    from warplens.commands.validate import Emulated, identity
    from warplens.core.run_options import USUAL

    (folder / "jobs").mkdir(parents=True)
    order, names = [], set()
    for file, kernels in LAUNCHES.items():
        for kernel in kernels.split():
            (target,) = targets(str(FOLDER / f"{file}.cu"), Flags(kernel=kernel))
            done = Emulated(target, USUAL, None)
            done.job.save(folder / "jobs" / f"{len(order):06}.npz")
            order.append(identity(done.title, done.launch))
            names |= set(done.run.metrics)
    (folder / "names.txt").write_text("\n".join(sorted(names)))
    with (folder / "launches.csv").open("w") as file_:
        csv.writer(file_).writerows(order)


def measure(folder: Path) -> None:
    """With all names that this Nsight Compute knows."""
    names, log = (folder / "names.txt").read_text().split(), folder / "ncu.csv"
    while True:
        command = [
            "ncu", "--clock-control", "none", "--cache-control", "none", "--csv", "--page", "raw", "--print-units",
            "base", "--print-metric-instances", "none", "--log-file", str(log), "--metrics", ",".join(names),
            sys.executable, "-m", "warplens.hardware.replay", str(folder / "jobs"),
        ]  # fmt: skip
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        said = done.stdout + done.stderr + (log.read_text() if log.exists() else "")
        unknown = {name for line in said.splitlines() if line.startswith("==") for name in names
                   if re.search(rf"(?<![\w.]){re.escape(name)}(?![\w.])", line)}  # fmt: skip
        print(done.returncode, len(names), sorted(unknown), "\n".join(said.splitlines()[:6])[:1500], flush=True)
        if done.returncode == 0 or not unknown:
            return
        names = [name for name in names if name not in unknown]


def record(folder: Path, heading: str) -> None:
    from warplens.hardware.ncu import read_csv

    launches = list(csv.reader((folder / "launches.csv").open()))
    found = list(read_csv((folder / "ncu.csv").read_text()))
    wanted = set((folder / "names.txt").read_text().split())
    names = sorted(wanted & set().union(*found))
    with RECORD.open("w", newline="") as file:
        file.write(f"# {heading}\n")
        out = csv.writer(file, lineterminator="\n")
        out.writerow(["kernel", "grid", "block", *names])
        for launch, counters in zip(launches, found, strict=True):
            out.writerow([*launch, *(counters[name].value if name in counters else "" for name in names)])


if __name__ == "__main__":
    verb, place, *rest = sys.argv[1:]
    match verb:
        case "prepare":
            prepare(Path(place))
        case "measure":
            measure(Path(place))
        case "record":
            record(Path(place), rest[0])
