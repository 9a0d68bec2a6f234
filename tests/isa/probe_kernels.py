"""CUDA expressions that make the compiler emit what there is, as kernels, and awkward numbers to try them on.

`probes/expressions.txt` has one expression a line, behind the name of its group; the third column is the first
architecture that has it (where that is not the first of all), the fourth what it is for the host's compiler, where C
leaves it undefined ("-" where C has nothing that is equal in every bit).  `probes/vocabulary.cuh` has what they are
written in, `probes/host*.h` the same for the host: `a b c` int, `u v w` unsigned (the same words), `l m` and `y z` 64
bits, `f g h` float, `d e x` double, `s t q` half pairs, `o i2 k` the same words as bfloat pairs, `p` bool.  Each kernel
takes 16 words a thread and gives one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

import warplens as wl

FOLDER = Path(__file__).with_name("probes")
COUNT = 4096
WORDS = [
    0, 1, 2, 3, 31, 32, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0xFFFF, 0x10000, 0x7FFF8000, 0x12345678, 0x7FFFFFFF,
    0x80000000, 0x80000001, 0xDEADBEEF, 0xFFFFFFFE, 0xFFFFFFFF, 0x80808080, 0x7F7F7F7F, 0x01010101,
]  # fmt: skip
FLOATS = [
    0, 0x80000000, 1, 0x80000001, 0x7FFFFF, 0x800000, 0x3F800000, 0xBF800000, 0x3F000000, 0x3EFFFFFF, 0x3FC00000,
    0x40200000, 0x4EFFFFFF, 0x4F000000, 0xCF000000, 0x4F7FFFFF, 0x4F800000, 0x5F000000, 0xDF000000, 0x5F800000,
    0x7F7FFFFF, 0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC12345, 0x7F800001, 0x437F0000, 0x43800000, 0x42FE0000,
    0xC3000000, 0x477FE000, 0x477FF000, 0x38800000, 0x33800000, 0x33000000, 0x43E00000, 0x43E80000, 0x3B000000,
    0x3A800000, 0x47600000, 0x47700000,
]  # fmt: skip
DOUBLES = [
    0, 1 << 63, 1, 0x3FF0000000000000, 0xBFF8000000000000, 0x41DFFFFFFFC00000, 0x41E0000000000000, 0xC1E0000000000000,
    0x43E0000000000000, 0x7FEFFFFFFFFFFFFF, 0x7FF0000000000000, 0xFFF0000000000000, 0x7FF8000000000000,
    0xFFF8000000000123, 0x7FF0000000000001, 0x36A0000000000000, 0x47EFFFFFE0000000, 0x47EFFFFFF0000000,
    0x40EFFFE000000000, 0x3F10000000000000,
]  # fmt: skip
HALVES = [
    0, 0x8000, 1, 0x8001, 0x3FF, 0x400, 0x3C00, 0xBC00, 0x3E00, 0x7BFF, 0xFBFF, 0x7C00, 0xFC00, 0x7E00, 0xFE01, 0x7C01,
    0x5BF8, 0x5C00, 0x77FF, 0x7800, 0x3800, 0x4100, 0x3F80, 0xBF80, 0x7F80, 0xFF80, 0x7FC0, 0x7F7F, 0x0080, 0x42FE,
]  # fmt: skip
LONGS = [
    [0, 1, (1 << 63) - 1, 1 << 63, (1 << 64) - 1, 1 << 32, (1 << 32) - 1, (1 << 53) + 1, (1 << 24) + 1],
    [0, 1, (1 << 63) - 1, 1 << 63, (1 << 64) - 1, 3, 7, 31],
]  # fmt: skip


@dataclass(frozen=True)
class Probe:
    """A line of expressions.txt: kernel `group` + number."""

    group: str
    number: int
    expression: str
    since: int  # 80: architectures before sm_80 have no such thing
    host: str | None  # the same for the host's compiler; None where it has nothing that is equal in every bit

    @property
    def kernel(self) -> str:
        return f"{self.group}{self.number}"

    def on(self, arch: str) -> bool:
        return int(arch.removeprefix("sm_")) >= self.since


@cache
def probes() -> tuple[Probe, ...]:
    made: list[Probe] = []
    for line in (FOLDER / "expressions.txt").read_text(encoding="utf-8").splitlines():
        group, expression, since, host = ([*line.split("\t"), "", ""])[:4]
        number = sum(probe.group == group for probe in made)
        made.append(Probe(group, number, expression, int(since or 75), None if host == "-" else host or expression))
    return tuple(made)


@cache
def module(group: str, arch: str) -> wl.Module:
    """All kernels of a group."""
    kernels = [
        f'extern "C" __global__ void {probe.kernel}(const ull*in,ull*out)'
        f"{{VARS(X) out[blockIdx.x*blockDim.x+threadIdx.x]=bits({probe.expression});}}\n"
        for probe in probes()
        if probe.group == group and probe.on(arch)
    ]
    vocabulary = (FOLDER / "vocabulary.cuh").read_text(encoding="utf-8")
    return wl.compile(source=vocabulary + "".join(kernels), arch=arch)


def results(probe: Probe, arch: str) -> NDArray[np.uint64]:
    """What the emulator makes of the inputs."""
    out = np.zeros(COUNT, np.uint64)
    module(probe.group, arch)[probe.kernel].launch(COUNT // 256, 256, inputs().reshape(-1), out, threads=1)
    return out


def digest(out: NDArray[np.uint64]) -> str:
    return f"{crc32(out.tobytes()):08x}"


class _Columns:
    """Corners against corners first, then corners and random numbers mixed."""

    def __init__(self) -> None:
        self.rng = np.random.default_rng(5)

    def corners(self, corners: list[int], bits: int, k: int) -> NDArray[np.uint64]:
        rng, n = self.rng, len(corners)
        column = rng.integers(0, 1 << min(bits, 63), COUNT, dtype=np.uint64)
        if bits == 64:
            column = (column << np.uint64(1)) | rng.integers(0, 2, COUNT, dtype=np.uint64)
        values = np.array(corners, np.uint64)
        picked = rng.random(COUNT) < 0.6
        column[picked] = values[rng.integers(0, n, picked.sum())]
        column[: n * n] = values[np.arange(n * n) // n**k % n][:COUNT]
        return column

    def reals(self, corners: list[int], bits: int, k: int, share: float, powers: tuple[int, int]) -> NDArray[np.uint64]:
        column = self.corners(corners, bits, k)
        ordinary = self.rng.random(COUNT) < share
        numbers = (self.rng.random(COUNT) - 0.5) * 2.0 ** self.rng.integers(*powers, COUNT)
        ordinary[: len(corners) ** 2] = False
        words = numbers.view(np.uint64) if bits == 64 else numbers.astype(np.float32).view(np.uint32)
        column[ordinary] = words[ordinary]
        return column

    def pairs(self, k: int) -> NDArray[np.uint64]:
        low = self.corners(HALVES, 16, k)
        return low | (self.corners(HALVES, 16, 1 - k if k < 2 else 0) << np.uint64(16))


@cache
def inputs() -> NDArray[np.uint64]:
    """(COUNT, 16) words."""
    made, table = _Columns(), np.zeros((COUNT, 16), np.uint64)
    for k in range(3):
        table[:, k] = made.corners(WORDS, 32, k)
    for k in range(2):
        table[:, 3 + k] = made.corners(LONGS[k], 64, k)
    short = made.rng.random(COUNT) < 0.3
    table[short, 3] >>= made.rng.integers(0, 63, short.sum()).astype(np.uint64)
    for k in range(3):
        table[:, 5 + k] = made.reals(FLOATS, 32, k, 0.35, (-30, 40))
    for k in range(3):
        table[:, 8 + k] = made.reals(DOUBLES, 64, k, 0.45, (-150, 150))
    for k in range(3):
        table[:, 11 + k] = made.pairs(k)
    table[:, 14] = made.rng.integers(0, 2, COUNT)
    return table
