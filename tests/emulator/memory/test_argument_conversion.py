"""Arguments: converted where nothing is lost, refused where something would be."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import warplens as wl
from helpers.source_files import source_file
from warplens.commands.target import Flags, targets
from warplens.compiler.parameter_type import types_of
from warplens.errors import UsageError

SOURCE = """#include <cuda_fp16.h>
#include <cuda_bf16.h>
typedef double real;
struct Pair { int a, b; };
extern "C" __global__ void store(
    float* f, const int* i, double* d, float x = 2.0f, int n = 1, bool yes = true, half h = 1, __nv_bfloat16 g = 1,
    unsigned long long u = 1, const unsigned char q = 1
) { f[0] = x; f[1] = n; f[2] = yes; f[3] = __half2float(h); f[4] = __bfloat162float(g); f[5] = u; f[6] = q; }
extern "C" __global__ void loose(void* p, Pair* s, real r, Pair t, float4* v, __half2* w, float** a, unsigned m[]) {}
template <class T> __global__ void scale(const T* __restrict__ x, T a, T* y, int n) { y[0] = a * x[0]; }
"""
F, N, D = np.zeros(8, np.float32), np.zeros(8, np.int32), np.zeros(8)
GOOD: list[Any] = [F, N, D, 2, 32.0, True, 1, 1.5, 7, 9]


@pytest.fixture(scope="module")
def module() -> wl.Module:
    return wl.compile(source=SOURCE, arch="sm_90", names=["scale<float>", "scale<double>"])


def store(module: wl.Module, place: int, value: Any) -> float:
    f = np.zeros(8, np.float32)
    module["store"].launch(1, 1, f, *GOOD[1:place], value, *GOOD[place + 1 :])
    return float(f[place - 3])


@pytest.mark.parametrize(
    ("place", "value", "held"),
    [
        (3, 2, 2.0), (3, np.int32(2), 2.0), (3, np.float64(0.1), np.float32(0.1)), (3, True, 1.0),
        (3, 1 << 24, 2.0**24),
        (3, float("inf"), float("inf")), (3, np.array(3), 3.0), (3, np.float32(0.5).tobytes(), 0.5),
        (4, 32.0, 32.0), (4, np.float32(-3), -3.0), (4, np.int64(5), 5.0), (4, 0xFFFFFFFF, -1.0),
        (4, np.bool_(True), 1.0),
        (5, 0, 0.0), (5, 1.0, 1.0), (6, 2048, 2048.0), (6, 0.1, np.float16(0.1)), (7, 256, 256.0),
        (7, 0.1, 0.10009765625),
        (7, np.uint16(0x3F80), 1.0), (8, 2.0**40, 2.0**40), (9, np.int64(200), 200.0),
    ],
)  # fmt: skip
def test_numbers_are_converted_to_the_type_of_the_parameter(
    module: wl.Module, place: int, value: Any, held: float
) -> None:
    assert store(module, place, value) == held


@pytest.mark.parametrize(
    ("place", "value", "says"),
    [
        (0, np.zeros(8), r"argument 1 \(f\) is an array of float64, and the kernel takes float\*: .*astype"),
        (0, N, r"argument 1 \(f\) is an array of int32, and the kernel takes float\*: .*\.view\(np.float32\)"),
        (0, np.zeros(8, ">f4"), r"array of >f4 in another byte order .*astype\('float32'\)"),
        (0, 3, r"argument 1 \(f\) is 3, and the kernel takes a pointer there, float\*: pass an array, or None"),
        (1, np.zeros(8, np.int64), "array of int64, and the kernel takes int"),
        (1, F, "array of float32, and the kernel takes int"), (2, F, "array of float32, and the kernel takes double"),
        (3, 16777217, r"argument 4 \(x\) is 16777217, and the kernel takes float there: .* write 16777216.0"),
        (3, 1e39, "largest number is 3.40282e"), (3, "2", "is a str, .*: pass a number"), (3, None, "pass a number"),
        (3, 1j, "pass a number"),
        (4, 32.5, r"argument 5 \(n\) is 32.5, and the kernel takes int there: write a whole number such as 32"),
        (4, np.float32(0.5), r"0.5 \(float32\), .* write a whole number"), (4, float("nan"), "write a whole number"),
        (4, 1 << 32, "possible are -2147483648 to 4294967295"), (5, 2, "takes bool there: write 0 or 1"),
        (6, 2049, "takes half there: .* write 2048.0"), (6, 70000.0, "its largest number is 65504"),
        (7, 257, "write 256.0"), (8, F, "is an array, and the kernel takes a number there, unsigned long long"),
        (9, 300, "takes unsigned char there: possible are"),
    ],
)  # fmt: skip
def test_what_would_be_changed_is_refused(module: wl.Module, place: int, value: Any, says: str) -> None:
    with pytest.raises(UsageError, match=says) as refused:
        module["store"].launch(1, 1, *GOOD[:place], value, *GOOD[place + 1 :])
    assert "\n" not in str(refused.value)


def test_arrays_of_another_sign_of_lanes_and_of_unknown_types_are_taken(module: wl.Module) -> None:
    module["store"].launch(1, 1, F, N.view(np.uint32), *GOOD[2:])
    anything, pair, a = np.zeros(9, np.int16), bytes(8), np.zeros(2, np.uint64)
    halves = np.zeros(4, np.float16)
    for v in (F, F.view(np.complex64), F.view([("x", "f4"), ("y", "f4")])):
        module["loose"].launch(1, 1, anything, anything, 2.5, pair, v, halves, a, N)
    module["loose"].launch(1, 1, None, np.uint64(0), 2.5, np.int64(0), None, 0, a, None)
    with pytest.raises(UsageError, match=r"array of int32, and the kernel takes float4\*"):
        module["loose"].launch(1, 1, anything, anything, 2.5, pair, N, halves, a, N)
    with pytest.raises(UsageError, match=r"argument 5 \(v\) .* array of float64"):
        module["loose"].launch(1, 1, anything, anything, 2.5, pair, wl.pitched(np.zeros((2, 2))), halves, a, N)


def test_data_of_any_type_are_bytes_and_words_hold_narrower_data() -> None:
    source = 'extern "C" __global__ void k(char* bytes, uint4* wide, int* words, float4* floats) {}'
    kernel = wl.compile(source=source)["k"]
    kernel.launch(1, 1, D, F, np.zeros(8, np.int8), np.zeros(8, np.float16))
    kernel.launch(1, 1, N, D, np.zeros(8, np.float16), np.zeros(16, np.uint8))
    with pytest.raises(UsageError, match="argument 3"):
        kernel.launch(1, 1, D, F, np.zeros(8, np.int64), F)


def test_types_of_templates_are_those_of_the_instance(module: wl.Module) -> None:
    for name, dtype, other in (("scale<float>", np.float32, np.float64), ("scale<double>", np.float64, np.float32)):
        x, y = np.full(4, 3, dtype), np.zeros(4, dtype)
        module[name].launch(1, 1, x, 2, y, 4.0)
        assert y[0] == 6
        with pytest.raises(UsageError, match="argument 3"):
            module[name].launch(1, 1, x, 2, np.zeros(4, other), 4)
        loaded = wl.load(module.cubin.data, kernel=name)[name]  # its name alone tells the types
        loaded.launch(1, 1, x, 1, y, 4.0)
        assert y[0] == 3


@pytest.mark.parametrize(
    "source",
    [
        "#define float double\n#undef float\nextern \"C\" __global__ void k(float x) {}",
        "#ifdef NEVER\nextern \"C\" __global__ void k(int x) {}\n#endif\nextern \"C\" __global__ void k(float x) {}",
        "#define K(T) extern \"C\" __global__ void k(T x) {}\nK(float)",
    ],
)  # fmt: skip
def test_a_type_that_may_be_another_is_unknown(source: str) -> None:
    kernel = wl.compile(source=source)["k"]
    assert [kind.element for kind in types_of(kernel.kernel, kernel.cubin.sources)] == [None]


@pytest.mark.parametrize(
    ("arg", "says"), [("32.0", ""), ("2", ""), ("16777217.0", ""), ("32.5", r"argument 2 \(n\) is 32.5, .* int there")]
)
def test_numbers_of_the_command_line(arg: str, says: str) -> None:
    source = source_file('extern "C" __global__ void k(int* out, int n) { out[0] = n; }')
    (target,) = targets(str(source), Flags(grid="1", block="1", args=("zeros:i32[1]", arg)))
    if says:
        with pytest.raises(UsageError, match=says):
            target.run()
        return
    values = target.fresh_values()
    target.run_with(values)
    assert values[0][0] == float(arg)


VARIABLES = """__device__ float scale = 1; static __constant__ double table[4]; __device__ unsigned char flag;
namespace ns { __device__ int count; } struct S { float a, b; }; __device__ S whole;
__device__ float f(float x) { return 2 * x; }
extern "C" __global__ void k(float* x) { x[0] = f(scale); x[1] = table[0]; x[2] = ns::count; x[3] = flag + whole.b; }
"""


@pytest.mark.parametrize(
    ("setting", "place", "held"),
    [
        ("scale=2", 0, 4.0), ("scale=0.5", 0, 1.0), ("table=full(3) f64[4]", 1, 3.0), ("ns::count=7.0", 2, 7.0),
        ("flag=1", 3, 1.0), ("whole=struct(f32 1, f32 2)", 3, 2.0), ("scale=full(2) f32[1]", 0, 4.0),
    ],
)  # fmt: skip
def test_variables_are_set_to_numbers_of_their_types(setting: str, place: int, held: float) -> None:
    flags = Flags(grid="1", block="1", args=("zeros f32[4]",), settings=(setting,))
    (target,) = targets(str(source_file(VARIABLES)), flags)
    values = target.fresh_values()
    target.run_with(values)
    assert values[0][place] == held


@pytest.mark.parametrize(
    ("setting", "says"),
    [
        ("ns::count=2.5", "ns::count is 2.5, and the kernel takes int there: write a whole number"),
        ("table=3", r"table: it has 32 bytes: set it to an array"), ("flag=256", "possible are -128 to 255"),
        ("table=full(3) f32[4]", "table is an array of float32, and the kernel takes double"),
        ("scale=ones i32[1]", "scale is an array of int32, and the kernel takes float"),
        ("scale=16777217", "16777216.0"),
    ],
)  # fmt: skip
def test_variables_are_not_set_to_numbers_that_would_be_changed(setting: str, says: str) -> None:
    flags = Flags(grid="1", block="1", args=("zeros f32[4]",), settings=(setting,))
    (target,) = targets(str(source_file(VARIABLES)), flags)
    with pytest.raises(UsageError, match=says):
        target.run()
