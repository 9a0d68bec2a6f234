"""Linker: pieces of code that a program links at run time."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import warplens as wl
from helpers.whole_program import PROGRAMS, run
from warplens.compiler import compile_source
from warplens.compiler.nv_info import RECURSIVE_STACK
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


DOWN = """
__device__ int step(int n);
__device__ int sum(int n) { return n ? n + step(n - 1) : 0; }
extern "C" __global__ void add(int* to) { *to = sum(*to); }
"""
BACK = "__device__ int sum(int n); __device__ int step(int n) { return sum(n); }"


def linked(**files: str) -> wl.Module:
    pieces = [compile_source(text, f"{name}.cu", "sm_90", ["-rdc=true"])[0] for name, text in files.items()]
    payload = b"".join(PIECE.pack(PieceKind.CUBIN, len(piece)) + piece for piece in pieces)
    return wl.load(link(payload, machine("h200")))


def test_the_stack_of_recursion_is_bounded() -> None:
    kernel = linked(a=DOWN, b=BACK)["add"]
    x = np.array([50], np.int32)
    kernel.launch((1,), (1,), x)
    assert x[0] == 50 * 51 // 2
    assert kernel.kernel.local_bytes == RECURSIVE_STACK


def test_files_that_are_compiled_by_themselves_are_one_program() -> None:
    """As nvcc -rdc=true does: functions, variables and texts of another file, printf called by name."""
    kernel = linked(a=MAIN, b=OTHER)["both"]
    x = np.zeros(8, np.int32)
    run = kernel.launch((1,), (8,), x)
    assert x.tolist() == [100, 99, 98, 121, 96, 95, 142, 93]
    assert run.counted.printed == "other 5\nmain 121\n"
    other = next(i for i in kernel.program.instructions if i.source and i.source.file.endswith("b.cu"))
    assert other.offset >= min(kernel.kernel.linked.values()) > 0


SHAPES = """
struct Shape { __device__ virtual int area() = 0; };
struct Square : Shape { int side; __device__ Square(int n) : side(n) {} __device__ int area() override; };
extern "C" __global__ void make(Shape** to) { *to = new Square(7); }
extern "C" __global__ void use(Shape** from, int* to) { to[threadIdx.x] = (*from)->area() + threadIdx.x; }
"""
CALLS = """
extern "C" __device__ int elsewhere();
extern "C" __global__ void make(int** to) { **to = elsewhere(); }
extern "C" __global__ void use(int** from, int* to) { *to = **from; }
"""
LAUNCHES = """
extern "C" __global__ void child(int** to) { *to = 0; }
extern "C" __global__ void make(int** to) { child<<<1, 1>>>(to); }
extern "C" __global__ void use(int** from, int* to) {}
"""
AREA = SHAPES.split("extern")[0] + "__device__ int Square::area() { return side * side; }"


def test_virtual_functions_are_called_in_another_kernel_than_made_the_object(
    capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """A function has the same address in all kernels of a program."""
    module = linked(shapes=SHAPES, area=AREA)
    make, use = module["make"].kernel, module["use"].kernel
    assert make.functions["_ZN6Square4areaEv"] == use.functions["_ZN6Square4areaEv"]
    (tmp_path / "shapes.cubin").write_bytes(module.cubin.data)
    ran = run(capfd, tmp_path, sys.executable, PROGRAMS / "shapes.py", tmp_path / "shapes.cubin")
    assert ran.out == "areas [49, 50, 51, 52]\n", ran.err


def test_code_that_was_not_linked_fails_as_a_kernel_fails(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "main.cubin").write_bytes(compile_source(CALLS, "a.cu", "sm_90", ["-rdc=true"])[0])
    ran = run(capfd, tmp_path, sys.executable, PROGRAMS / "shapes.py", tmp_path / "main.cubin")
    assert (ran.code, ran.out) == (1, "")
    assert "failed 715" in ran.err
    assert "make calls elsewhere, which is not in its code" in ran.document["faults"][0]


def test_a_kernel_that_launches_kernels_is_refused_when_it_is_launched(
    capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "main.cubin").write_bytes(compile_source(LAUNCHES, "a.cu", "sm_90", ["-rdc=true"])[0])
    ran = run(capfd, tmp_path, sys.executable, PROGRAMS / "shapes.py", tmp_path / "main.cubin")
    assert "failed 801" in ran.err
    assert ran.document["missing"] == ["launches by kernels (dynamic parallelism: make)"]
    assert ran.document["faults"] == []


def test_functions_of_the_same_name_and_content_in_two_files() -> None:
    """Each file brings its own copy of the division's slow path: the disassembler numbers them, name__0."""
    divide = 'extern "C" __global__ void {}(float* x) {{ x[threadIdx.x] = x[threadIdx.x] / x[threadIdx.x + 2]; }}'
    module = linked(a=divide.format("first"), b=divide.format("second"))
    for name in ("first", "second"):
        x = np.array([3e-40, 1, 2e-40, 3], np.float32)
        want = x[:2] / x[2:]
        module[name].launch((1,), (2,), x)
        assert x[:2].tolist() == want.tolist()
    assert any("__0" in function for function in module["first"].kernel.functions)
