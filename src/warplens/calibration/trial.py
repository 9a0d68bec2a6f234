"""Trial: a micro-benchmark; its kernel, launch and reading.

Each file of `subjects` has trials of one part of the GPU, next to the .cu file of the same name with their kernels.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import Literal

FOLDER = Path(__file__).with_name("subjects")
COMMON = "common.cuh"
MIB = 1 << 20

Kind = Literal["ticks", "time", "each", "starts"]


@dataclass(frozen=True)
class Buffer:
    """An argument: device memory of so many bytes, filled as `fill` describes.

    numbers   floats;  zeros;  chain N: p[i] = (i + N) % n;  pointers N: p[i] = &p[(i + N) % n]
    cleared   zeros again before each launch
    """

    bytes: int
    fill: str = "numbers"


class _Ticks:
    """The argument into which warps or blocks write clock cycles."""


TICKS = _Ticks()
SINK = Buffer(4096, "zeros")
Argument = Buffer | _Ticks | int | float
Arguments = tuple[Argument, ...]


@dataclass(frozen=True)
class Trial:
    """One launch.

    name     what is tried, then ", " and the circumstances
    reads    time: microseconds of the whole kernel, by events, the median of some launches
             ticks: cycles of the slowest warp, for each of `per` things that it did, likewise
             each: cycles that warps, or the first `count` of them, wrote, as they are distributed, zeros left out
             starts: likewise of the times between two blocks that one multiprocessor starts
    shared   dynamic shared memory of a block
    warm     the same launch ran right before it; else something else has been read that fills L2
    moves    bytes that the kernel reads and writes, if they are the point
    """

    name: str
    kernel: str
    grid: int
    block: int
    args: Arguments = ()
    reads: Kind = "time"
    per: int = 1
    shared: int = 0
    warm: bool = False
    moves: int = 0
    count: int = 0
    subject: str = field(default="", compare=False)


def subjects() -> list[str]:
    return sorted(path.stem for path in FOLDER.glob("*.cu"))


def source_of(subject: str) -> str:
    """CUDA C++ of the subject's kernels."""
    return (FOLDER / COMMON).read_text(encoding="utf-8") + (FOLDER / f"{subject}.cu").read_text(encoding="utf-8")


def trials(multiprocessors: int) -> Iterator[Trial]:
    """All of them, subject by subject."""
    for subject in subjects():
        for trial in import_module(f"warplens.calibration.subjects.{subject}").trials(multiprocessors):
            yield replace(trial, subject=subject)
