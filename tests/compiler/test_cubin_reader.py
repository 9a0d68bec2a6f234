"""What read_cubin says of binaries whose source fixes the answer; no exception but CubinError escapes."""

from __future__ import annotations

import random
import struct
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from warplens.compiler import ARCHITECTURES, compile_source, read_cubin
from warplens.core.cubin import Parameter, Relocation, SourceLine, Variable
from warplens.errors import CubinError

MEASURED = Path(__file__).parents[1] / "data" / "kernels.sm_90.cubin"

SOURCE = """
struct Big { float a[1200]; };
__device__ int table[4] = {1, 2, 3, 4};
__device__ int *inside = &table[2];
__device__ int zeroed[10];
__constant__ short weights[3] = {7, 8, 9};
extern "C" __global__ void __launch_bounds__(96) small(float *y, char c, double d) {
    __shared__ float tile[100];
    tile[threadIdx.x] = c;
    __syncthreads();
    y[threadIdx.x] = tile[95 - threadIdx.x] + d + weights[c] + *inside + zeroed[c];
}
extern "C" __global__ void large(Big b, float *y) { y[threadIdx.x] = b.a[threadIdx.x]; }
__device__ __noinline__ int twice(int n) { return n < 2 ? n : twice(n - 1) + twice(n - 2); }
extern "C" __global__ void calls(int *y) { *y = twice(*y); }
extern "C" __global__ void nothing() {}
"""


@pytest.fixture(scope="module", params=["sm_75", "sm_90", "sm_120"])
def cubin(request: pytest.FixtureRequest):
    data, _ = compile_source(SOURCE, "four.cu", request.param)
    return read_cubin(data, {"four.cu": SOURCE})


def test_kernels_in_order_of_source(cubin):
    assert list(cubin.kernels) == ["small", "large", "calls", "nothing"]


def test_parameters(cubin):
    base = {"sm_75": 0x160, "sm_90": 0x210, "sm_120": 0x380}[cubin.arch]
    small = cubin.kernels["small"]
    assert small.parameter_base == base
    assert small.parameters == (Parameter(0, 0, 8), Parameter(1, 8, 1), Parameter(2, 16, 8))
    assert small.parameter_bytes == 24
    assert len(small.constants[0]) == base + 24
    assert cubin.kernels["nothing"].parameters == ()


def test_parameters_of_more_than_4_kb(cubin):
    large = cubin.kernels["large"]
    assert large.parameters == (Parameter(0, 0, 4800), Parameter(1, 4800, 8))
    assert len(large.constants[0]) == large.parameter_base + 4808


def test_resources(cubin):
    small = cubin.kernels["small"]
    assert small.shared_bytes == 400
    assert small.max_threads == 96
    assert small.barriers == 1
    assert small.local_bytes == 0
    assert 0 < small.registers <= 255
    assert cubin.kernels["large"].max_threads is None
    assert cubin.kernels["calls"].local_bytes % 4 == 0


def test_device_functions_stand_behind_the_kernel(cubin):
    functions = cubin.kernels["calls"].functions
    assert functions["calls"] == 0
    (twice,) = (offset for name, offset in functions.items() if "twice" in name)
    assert 0 < twice < len(cubin.kernels["calls"].code)
    assert twice % 16 == 0


def test_variables(cubin):
    place = cubin.globals["table"]
    assert place.size == 16
    assert struct.unpack_from("<4i", cubin.globals_image, place.offset) == (1, 2, 3, 4)
    zeroed = cubin.globals["zeroed"]
    assert zeroed.size == 40
    assert cubin.globals_image[zeroed.offset : zeroed.offset + 40] == bytes(40)
    assert len(cubin.globals_image) >= zeroed.offset + 40
    spans = sorted((v.offset, v.offset + v.size) for v in cubin.globals.values())
    assert all(end <= start for (_, end), (start, _) in pairwise(spans))


def test_constant_variables(cubin):
    assert cubin.constants == {"weights": Variable(0, 6)}
    assert struct.unpack_from("<3h", cubin.kernels["small"].constants[3]) == (7, 8, 9)


def test_relocations(cubin):
    assert Relocation(cubin.globals["inside"].offset, "table", 8) in cubin.relocations
    found = cubin.kernels["small"].relocations
    assert {relocation.symbol for relocation in found} <= set(cubin.globals)
    assert "zeroed" in {relocation.symbol for relocation in found}
    assert all(r.addend == 0 and r.offset + 8 <= len(cubin.kernels["small"].constants[4]) for r in found)


def test_lines_name_the_file_as_it_was_given(cubin):
    lines = SOURCE.splitlines()
    for name, kernel in cubin.kernels.items():
        assert len(kernel.lines) * 16 == len(kernel.code)
        assert {line.file for line in kernel.lines if line} == {"four.cu"}
        assert f"void {name}(" in lines[kernel.lines[0].line - 1].replace("__launch_bounds__(96) ", "")


def test_measured_binary():
    cubin = read_cubin(MEASURED.read_bytes())
    assert cubin.arch == "sm_90"
    assert list(cubin.kernels)[:2] == ["ccopy", "nccopy"]
    assert cubin.kernels["ccopy"].lines[0] == SourceLine("/kernels.cu", 5)
    assert cubin.kernels["matmul_tiled"].shared_bytes == 2 * 16 * 16 * 4


def test_without_line_table():
    # the name of .debug_line in the section names' table, made into another
    data = MEASURED.read_bytes().replace(b".debug_line\0", b".debug_lime\0")
    kernels = read_cubin(data).kernels
    assert len(kernels) == 14
    assert set(kernels["ccopy"].lines) == {None}


@pytest.mark.parametrize(
    ("data", "word"),
    [
        (b"", "empty"),
        (b'extern "C" __global__ void f() {}', "text"),
        (b"//\n.version 9.0\n.target sm_90\n.visible .entry f() {}", "PTX"),
        (b"\x50\xed\x55\xba\x01\x00\x10\x00" + bytes(100), "fatbin"),
        (b"\x00\xff" * 500, "not an ELF"),
        (b"\x7fELF\x02\x01\x01", "cut short"),
        (b"\x7fELF\x02\x01\x01" + bytes(11) + b"\x3e\x00" + bytes(100), "NVIDIA"),
    ],
)
def test_other_formats_are_named(data, word):
    with pytest.raises(CubinError, match=word):
        read_cubin(data)


def test_unknown_architecture():
    data = bytearray(MEASURED.read_bytes())
    data[49] = 70  # e_flags at 48, the architecture in its second byte
    with pytest.raises(CubinError, match=r"sm_70.*sm_75"):
        read_cubin(bytes(data))


@pytest.mark.parametrize("part", [0.1, 0.5, 0.9, 0.999])
def test_cut_short(part):
    data = MEASURED.read_bytes()
    with pytest.raises(CubinError):
        read_cubin(data[: int(len(data) * part)])


@pytest.mark.every(4)  # beside tests/fuzzing
@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_damaged_bytes_never_raise_anything_else(seed):
    """500 changed binaries: most still read, some do not; none may end in another exception."""
    data, _ = compile_source('extern "C" __global__ void f(int *y) { *y = 1; }', "f.cu", "sm_90")
    whole = read_cubin(data)
    chance = random.Random(seed)
    tables = int.from_bytes(data[40:48], "little")  # section headers: where damage matters most
    refused = 0
    for _ in range(500):
        changed = bytearray(data)
        for _ in range(chance.randint(1, 4)):
            start, end = chance.choice(((0, len(data)), (0, 64), (tables, len(data))))
            changed[chance.randrange(start, end)] = chance.choice((0, 0xFF, chance.randrange(256)))
        if chance.random() < 0.1:
            changed = changed[: chance.randrange(len(changed))]
        try:
            read_cubin(bytes(changed))
        except CubinError:
            refused += 1
    assert 50 < refused < 500
    assert replace(read_cubin(data), sources={}) == replace(whole, sources={})


def test_every_architecture():
    for arch in ARCHITECTURES:
        data, _ = compile_source('extern "C" __global__ void f(int *y) { *y = 1; }', "f.cu", arch)
        cubin = read_cubin(data)
        assert cubin.arch == arch
        assert cubin.kernels["f"].parameters == (Parameter(0, 0, 8),)


STACKS = """
extern "C" __global__ void first(int *y, int n) { volatile int a[30]; a[n] = n; a[3] = y[1]; *y = a[y[2]]; }
extern "C" __global__ void none(int *y) { *y = 1; }
extern "C" __global__ void last(int *y, int n) { volatile int a[50]; a[n] = n; a[3] = y[1]; *y = a[y[2]]; }
"""


@pytest.mark.parametrize("arch", ["sm_75", "sm_90", "sm_120"])
def test_each_kernel_has_the_stack_of_its_own_frame(arch: str) -> None:
    data, _ = compile_source(STACKS, "stacks.cu", arch)
    assert {name: kernel.local_bytes for name, kernel in read_cubin(data).kernels.items()} == {
        "first": 120, "none": 0, "last": 200,
    }  # fmt: skip
