"""MUFU as an H200 has it, bit for bit (driver 580.159.04, 2026-11-21), kept as check sums of the results.

Edges: 6 runs of 256 numbers at every sign and exponent.  Binades: all 2^23 numbers of one.
"""

from __future__ import annotations

from functools import cache
from zlib import crc32

import numpy as np
import pytest

import warplens as wl

RUNS = np.array([0, 0x155500, 0x2AAA00, 0x400000, 0x6F3C00, 0x7FFF00], np.uint32)
EDGES = {"rcp": "a33009e3", "rsqrt": "0f4d55d6", "sqrt": "09391947", "ex2": "beb09af4"}
BINADES = [
    ("rcp", 1.0, "a9f2ecfc"), ("rsqrt", 1.0, "efe1faf5"), ("rsqrt", 2.0, "510dc204"), ("sqrt", 1.0, "851c4f4c"),
    ("sqrt", 2.0, "279bc15f"), ("ex2", 1.0, "676486cd"), ("ex2", 0.5, "2746c468"), ("ex2", -1.0, "c99445cd"),
]  # fmt: skip


@cache
def kernel(function: str) -> wl.api.LaunchableKernel:
    return wl.compile(source=f"""extern "C" __global__ void f(const unsigned* first, unsigned* out) {{
      unsigned i = blockIdx.x * 256 + threadIdx.x, r, x = first[blockIdx.x] + threadIdx.x;
      asm("{function}.approx.ftz.f32 %0, %1;" : "=r"(r) : "r"(x)); out[i] = r; }}""", arch="sm_90")["f"]  # fmt: skip


def digest(function: str, first: np.ndarray) -> str:
    """Of the results of 256 numbers from each of these on."""
    out = np.zeros((first.size, 256), np.uint32)
    kernel(function).launch(first.size, 256, first, out.reshape(-1), threads=1)
    return f"{crc32(out.tobytes()):08x}"


@pytest.mark.parametrize("function", EDGES)
def test_at_every_exponent(function: str) -> None:
    exponents = np.arange(512, dtype=np.uint32) << np.uint32(23)
    assert digest(function, (exponents[:, None] + RUNS).reshape(-1)) == EDGES[function]


@pytest.mark.long
@pytest.mark.parametrize(("function", "start", "measured"), BINADES)
def test_whole_binade(function: str, start: float, measured: str) -> None:
    first = int(np.float32(start).view(np.uint32))
    assert digest(function, first + np.arange(0, 1 << 23, 256, dtype=np.uint32)) == measured
