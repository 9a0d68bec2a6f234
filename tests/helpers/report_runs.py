"""Small runs of kernels whose counts can be told from the source."""

from __future__ import annotations

from pathlib import Path

from warplens.commands.target import Flags, targets
from warplens.report.launch_view import LaunchView

ROOT = Path(__file__).parents[2]
COPY, REPORT = str(ROOT / "examples" / "copy.cu"), str(ROOT / "tests" / "kernels" / "report.cu")
RUNS = {
    "ccopy": (COPY, Flags(kernel="ccopy", settings=("n=32768",), gpu="h200")),
    "nccopy": (COPY, Flags(kernel="nccopy", settings=("n=32768",), gpu="h200")),
    "one_block": (COPY, Flags(kernel="ccopy", settings=("n=128",), gpu="h200")),
    "foreign": (COPY, Flags(kernel="ccopy", settings=("n=32768",), gpu="h200", arch="sm_80")),
    "transpose": (REPORT, Flags(kernel="transpose", gpu="h200")),
    "odd": (REPORT, Flags(kernel="odd", gpu="h200")),
    "matmul": (REPORT, Flags(kernel="matmul<16>", gpu="h200")),
}
PRINTS = str(ROOT / "tests" / "kernels" / "prints.cu")
RUNS["prints"] = (PRINTS, Flags(kernel="prints", gpu="h200", arch="sm_90"))
made: dict[str, LaunchView] = {}


def subject_of(name: str) -> LaunchView:
    if name not in made:
        (target,) = targets(*RUNS[name])
        made[name] = target.run().subject
    return made[name]
