"""Idioms: each is found in code that was written for it, and not in its twin that was not."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

import warplens as wl
from warplens.core.program import Constant, Program
from warplens.counters.idioms import Idiom, idioms

LESSONS = Path(__file__).parents[1] / "data" / "kernels.sm_90.cubin"
ARCHITECTURES = ("sm_75", "sm_80", "sm_90", "sm_120")
DIVISORS = (3, 5, 6, 7, 10, 12, 100, 641, 1000, 65535)

ARITHMETIC = (
    """
extern "C" {
#define I int i = threadIdx.x
__global__ void signed_remainder(const int* x, int* y, int d) { I; y[i] = x[i] % d; }
__global__ void signed_division(const int* x, int* y, int d) { I; y[i] = x[i] / d; }
__global__ void unsigned_remainder(const unsigned* x, unsigned* y, unsigned d) { I; y[i] = x[i] % d; }
__global__ void unsigned_division(const unsigned* x, unsigned* y, unsigned d) { I; y[i] = x[i] / d; }
__global__ void both(const unsigned* x, unsigned* y, unsigned d) {
  I; unsigned v = x[i]; y[i] = v / d; y[i + 99] = v % d; }
__global__ void power_of_two(const unsigned* x, unsigned* y) { I; y[i] = x[i] / 8 + x[i] % 16; }
__global__ void hash(const unsigned* x, unsigned* y) {
  I; y[i] = __umulhi(x[i], 0xd2511f53u) ^ (x[i] * 0x9e3779b9u);
}
__global__ void divide(const float* x, float* y, float d) { I; y[i] = x[i] / d; }
__global__ void divide_fast(const float* x, float* y, float d) { I; y[i] = __fdividef(x[i], d); }
__global__ void root(const float* x, float* y) { I; y[i] = sqrtf(x[i]); }
__global__ void reciprocal_root(const float* x, float* y) { I; y[i] = rsqrtf(x[i]); }
__global__ void long_division(const long long* x, long long* y, long long d) { I; y[i] = x[i] / d; }
"""
    + "".join(
        f"__global__ void u{d}(const unsigned* x, unsigned* y) {{ I; y[i] = x[i] / {d}u; }}\n"
        f"__global__ void s{d}(const int* x, int* y) {{ I; y[i] = x[i] / {d}; }}\n"
        f"__global__ void r{d}(const unsigned* x, unsigned* y) {{ I; y[i] = x[i] % {d}u; }}\n"
        for d in DIVISORS
    )
    + "}"
)

ACCESSES = """
extern "C" {
#define I int i = threadIdx.x
__global__ void sum4(const float4* x, float* y) { I; float4 v = x[i]; y[i] = v.x + v.y + v.z + v.w; }
__global__ void twice2(const int2* x, int2* y) { I; int2 v = x[i]; y[i] = make_int2(2 * v.x, 2 * v.y); }
__global__ void doubles(const double* x, double* y) { I; y[i] = x[i] * 2 + 1; }
__global__ void floats(const float* x, float* y) { I; y[i] = x[i] * 2 + 1; }
__global__ void moved(const double* x, double* y) { I; y[i] = x[i]; }
__global__ void indexed(const float* x, float* y, int k) {
  float a[32];
  for (int j = 0; j < 32; ++j) a[j] = x[j * 32 + threadIdx.x];
  for (int j = 0; j < 32; ++j) y[j * 32 + threadIdx.x] = a[(j * k) & 31];
}
__global__ void __launch_bounds__(1024, 2) spilled(const float* x, float* y, int k) {
  float a[48];
  for (int j = 0; j < 48; ++j) a[j] = x[j * k + threadIdx.x];
  __syncthreads();
  for (int j = 0; j < 48; ++j) y[j * k + threadIdx.x] = a[j] * a[47 - j];
}
__global__ void butterfly(const float* x, float* y) {
  float v = x[threadIdx.x];
  for (int k = 16; k; k >>= 1) v += __shfl_xor_sync(~0u, v, k);
  y[threadIdx.x] = v;
}
__global__ void neighbour(const float* x, float* y) { I; y[i] = x[i] + __shfl_down_sync(~0u, x[i], 1); }
__global__ void checked(float* y, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = 1; }
__global__ void unchecked(float* y, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; y[i] = n; }
}
"""


def find(program: Program, part: str) -> list[Idiom]:
    return [found for found in idioms(program) if part in found.name]


@cache
def compiled(source: str, arch: str) -> wl.Module:
    return wl.compile(source=source, arch=arch)


@cache
def lessons() -> wl.Module:
    return wl.load(LESSONS)


def lesson(kernel: str, part: str) -> list[Idiom]:
    return find(lessons()[kernel].program, part)


@pytest.mark.parametrize("arch", ARCHITECTURES)
@pytest.mark.parametrize(
    ("kernel", "names"),
    [
        ("signed_remainder", ["remainder by a variable"]),
        ("signed_division", ["division by a variable"]),
        ("unsigned_remainder", ["remainder by a variable"]),
        ("unsigned_division", ["division by a variable"]),
        ("both", ["division and remainder by a variable"]),
        ("power_of_two", []),
        ("hash", []),
        ("divide", ["float division", "slow path of a float division"]),
        ("divide_fast", []),
        ("long_division", ["64-bit division", "division by a variable"]),
    ],
)
def test_divisions(kernel: str, names: list[str], arch: str) -> None:
    found = idioms(compiled(ARITHMETIC, arch)[kernel].program)
    assert sorted(i.name for i in found if "division" in i.name or "remainder" in i.name) == names


@pytest.mark.parametrize("arch", ARCHITECTURES)
@pytest.mark.parametrize("divisor", DIVISORS)
def test_the_divisor_is_worked_out_of_the_magic_number(divisor: int, arch: str) -> None:
    module = compiled(ARITHMETIC, arch)
    for kernel, kind in ((f"u{divisor}", "division"), (f"s{divisor}", "division"), (f"r{divisor}", "remainder")):
        found = find(module[kernel].program, "by the constant")
        assert [i.name for i in found] == [f"{kind} by the constant {divisor}"], kernel


def test_a_division_takes_all_that_a_product_does_not() -> None:
    """Without its instructions nothing is left of the Newton sequence, and nothing else is taken."""
    program = lessons()["nccopy"].program
    (remainder,) = find(program, "remainder")
    left = [i for i in program.instructions if i.index not in remainder.instructions and i.base != "NOP"]
    assert not {"I2F", "F2I", "MUFU", "IABS"} & {i.base for i in left}
    # ccopy has 17 instructions without padding; nccopy doubles the index besides.
    assert len(left) == len([i for i in lessons()["ccopy"].program.instructions if i.base != "NOP"]) + 1
    assert [line.line for line in remainder.lines] == [11]


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_square_root(arch: str) -> None:
    module = compiled(ARITHMETIC, arch)
    assert [i.name for i in find(module["root"].program, "square root")] == [
        "square root",
        "slow path of a float square root",
    ]
    assert not find(module["reciprocal_root"].program, "root")


@pytest.mark.parametrize("arch", ARCHITECTURES)
@pytest.mark.parametrize(
    ("kernel", "elements"),
    [("sum4", {"4"}), ("twice2", {"2"}), ("doubles", set()), ("floats", set()), ("moved", set())],
)
def test_vectorised(kernel: str, elements: set[str], arch: str) -> None:
    found = find(compiled(ACCESSES, arch)[kernel].program, "vectorised")
    assert {i.sentence.split()[0] for i in found} == elements


def test_vectorised_lessons() -> None:
    sizes = {
        kernel: {i.sentence.split()[0] for i in lesson(kernel, "vectorised")} for kernel in ("add1", "add2", "add4")
    }
    assert sizes == {"add1": set(), "add2": {"2"}, "add4": {"4"}}


@pytest.mark.parametrize(
    ("kernel", "factors"),
    [("add1", [4]), ("add_unroll4", [4]), ("add_nounroll", []), ("matmul_naive", [16, 4]), ("matmul_tiled", [])],
)
def test_unrolled(kernel: str, factors: list[int]) -> None:
    found = lesson(kernel, "loop unrolled by")
    assert [int(i.name.rsplit(" ", 1)[1]) for i in found] == factors
    assert all(i.encloses for i in found)


def test_an_unrolled_loop_is_proved_by_its_step() -> None:
    (found,) = lesson("add1", "loop unrolled")
    assert "steps 4 times as far" in found.sentence
    assert "the counter steps by 16" in lesson("matmul_naive", "loop unrolled")[0].sentence


def test_inner_loop_of_the_tiled_product() -> None:
    (found,) = lesson("matmul_tiled", "inner loop")
    assert found.sentence == "16 of its loads are in sequence, 64 bytes apart"
    assert not lesson("matmul_naive", "inner loop")


def test_addresses() -> None:
    program = lessons()["ccopy"].program
    (found,) = find(program, "64-bit address")
    assert [program.instructions[i].opcode for i in found.instructions] == ["IMAD.WIDE", "IMAD.WIDE"]
    pairs = lesson("reduce_unroll8_warp", "64-bit address")
    opcodes = {lessons()["reduce_unroll8_warp"].program.instructions[i].opcode for f in pairs for i in f.instructions}
    assert {"LEA", "LEA.HI.X"} <= opcodes


@pytest.mark.parametrize(
    ("kernel", "names"),
    [
        ("reduce_strided", ["tree reduction in shared memory"]),
        ("reduce_sequential", ["tree reduction in shared memory"]),
        ("reduce_unroll8_warp", ["tree reduction in global memory"]),
        ("matmul_tiled", []),
    ],
)
def test_trees(kernel: str, names: list[str]) -> None:
    assert [i.name for i in lesson(kernel, "tree reduction")] == names


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_shuffles(arch: str) -> None:
    module = compiled(ACCESSES, arch)
    (found,) = find(module["butterfly"].program, "shuffle")
    assert found.sentence.endswith("16, 8, 4, 2, 1")
    opcodes = [module["butterfly"].program.instructions[i].base for i in found.instructions]
    assert opcodes.count("SHFL") == 5
    assert opcodes.count("FADD") == 5
    assert not find(module["neighbour"].program, "shuffle")


def test_shuffles_by_more_and_more_lanes() -> None:
    source = """extern "C" __global__ void up(float* x) {
      float v = x[threadIdx.x];
      for (int lanes = 1; lanes < 32; lanes *= 2) v += __shfl_xor_sync(0xFFFFFFFF, v, lanes);
      x[threadIdx.x] = v;
    }"""
    (found,) = find(wl.compile(source=source)["up"].program, "shuffle")
    assert found.sentence.endswith(": 1, 2, 4, 8, 16")


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_local_memory(arch: str) -> None:
    module = compiled(ACCESSES, arch)
    assert find(module["spilled"].program, "register spill")
    assert not find(module["spilled"].program, "array in local memory")
    assert find(module["indexed"].program, "array in local memory")
    assert not find(module["floats"].program, "local") + find(module["floats"].program, "spill")


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_bounds(arch: str) -> None:
    module = compiled(ACCESSES, arch)
    assert len(find(module["checked"].program, "bounds check")) == 1
    assert not find(module["unchecked"].program, "bounds check")
    assert not find(module["checked"].program, "early exit")


def test_early_exit() -> None:
    assert len(lesson("reduce_sequential", "early exit")) == 1
    assert not lesson("ccopy", "early exit")


def test_grid_stride_needs_names() -> None:
    def name_of(constant: Constant) -> str | None:
        return {0x0: "blockDim.x", 0xC: "gridDim.x"}.get(constant.offset) if constant.bank == 0 else None

    program = lessons()["add_nounroll"].program
    assert [i.name for i in idioms(program, name_of) if "grid" in i.name] == ["grid-stride loop"]
    assert not find(program, "grid-stride")
    tiled = lessons()["matmul_tiled"].program
    assert not [i for i in idioms(tiled, name_of) if "grid" in i.name]


@pytest.mark.parametrize("kernel", ["ccopy", "add4", "matmul_coarse2", "reduce_modulo"])
def test_idioms_name_real_instructions(kernel: str) -> None:
    program = lessons()[kernel].program
    for found in idioms(program):
        assert list(found.instructions) == sorted(set(found.instructions))
        assert found.instructions
        assert set(found.instructions) <= set(range(len(program.instructions)))
        assert {program.instructions[i].source for i in found.instructions} - {None} == set(found.lines)


UNROLLED = """
extern "C" __global__ void known(const float* x, float* z, int all) {
#pragma unroll 2
  for (int k = 0; k < 8; ++k) z[k * all] = x[k * all];
}
extern "C" __global__ void pointers(const float* __restrict__ x, float* __restrict__ z) {
#pragma unroll 4
  for (int k = 0; k < 64; ++k) z[k] = x[k] * 3.f;
}
extern "C" __global__ void by_2(const float* __restrict__ x, float* __restrict__ z, int n, int all) {
#pragma unroll 2
  for (int k = 0; k < n; ++k) z[k] = x[k * all] * 3.f;
}
extern "C" __global__ void by_3(const float* x, float* z, int n) {
#pragma unroll 3
  for (int k = 0; k < n; ++k) z[k] = x[k] * 3.f;
}
extern "C" __global__ void kept(const float* x, float* z, int n) {
#pragma unroll 1
  for (int k = 0; k < n; ++k) z[k] = x[k] * 3.f;
}
struct Pair { float4 a, b; };
extern "C" __global__ void structs(const Pair* x, Pair* z, int n) {
  int all = blockDim.x * gridDim.x;
#pragma unroll 1
  for (int k = threadIdx.x; k < n; k += all) z[k] = x[k];
}
"""


@pytest.mark.parametrize(
    ("kernel", "names", "proof"),
    [
        ("known", ["loop unrolled by 2"], "counter steps by 2"),
        ("pointers", ["loop unrolled by 4"], "a step apart"),
        ("by_2", ["loop unrolled by 2"], "remaining round is outside"),
        ("by_3", ["loop unrolled by 3"], "counter steps by 3"),
        ("kept", [], ""),
        ("structs", [], ""),  # two accesses of 16 bytes each are no two rounds
    ],
)
def test_unrolled_with_and_without_a_loop_for_the_rest(kernel: str, names: list[str], proof: str) -> None:
    found = find(compiled(UNROLLED, "sm_90")[kernel].program, "loop unrolled")
    assert [i.name for i in found] == names
    assert all(proof in i.sentence for i in found)
