"""Linker: pieces of code that a program links at run time."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import warplens as wl
from helpers.whole_program import PROGRAMS, run
from warplens.compiler import compile_source
from warplens.machine import machine
from warplens.program.linker import PIECE, PieceKind, link
from warplens.system.nvidia_wheels import program_of

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="`warplens run` works on Linux alone"),
    pytest.mark.skipif(not program_of("nvidia-cuda-nvcc", "nvlink"), reason='needs pip install "warplens[build]"'),
]


def test_two_pieces_of_ptx_are_linked(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    ran = run(capfd, tmp_path, sys.executable, PROGRAMS / "linked.py")
    assert ran.out == "stored 42\n", ran.err


def test_a_missing_function_is_named(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    ran = run(capfd, tmp_path, sys.executable, PROGRAMS / "linked.py", "alone")
    assert ran.out == "failed 218\n"
    assert "twice" in ran.err


MAIN = """
#include <cstdio>
__device__ int scale(int x);
__device__ int offset = 100;
extern "C" __global__ void both(int* to) {
    to[threadIdx.x] = scale(threadIdx.x) + offset;
    if (threadIdx.x == 3) printf("main %d\\n", to[3]);
}
"""
OTHER = """
#include <cstdio>
__device__ int factor = 7;
__device__ __noinline__ int deeper(int x) { return x % 3 == 0 ? factor * x : -x; }
__device__ int scale(int x) {
    if (x == 5) printf("other %d\\n", x);
    return deeper(x);
}
"""


def test_files_that_are_compiled_by_themselves_are_one_program() -> None:
    """As nvcc -rdc=true does: functions, variables and texts of another file, printf called by name."""
    pieces = [compile_source(text, name, "sm_90", ["-rdc=true"])[0] for text, name in ((MAIN, "a.cu"), (OTHER, "b.cu"))]
    payload = b"".join(PIECE.pack(PieceKind.CUBIN, len(piece)) + piece for piece in pieces)
    kernel = wl.load(link(payload, machine("h200")))["both"]
    x = np.zeros(8, np.int32)
    run = kernel.launch((1,), (8,), x)
    assert x.tolist() == [100, 99, 98, 121, 96, 95, 142, 93]
    assert run.counted.printed == "other 5\nmain 121\n"
    other = next(i for i in kernel.program.instructions if i.source and i.source.file.endswith("b.cu"))
    assert other.offset >= min(kernel.kernel.linked.values()) > 0
