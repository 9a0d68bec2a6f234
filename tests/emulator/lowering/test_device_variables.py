"""`__device__` and `__constant__` variables, set and read by the host; parameters of any size."""

from __future__ import annotations

import zlib

import numpy as np
import pytest

import warplens as wl
from helpers.kernel_launches import KERNELS, same, written_module
from warplens.errors import KernelFault, UsageError

P = np.dtype(
    {"names": ["a", "f", "d"], "formats": [("i4", 20), ("f4", 4), "f8"], "offsets": [0, 80, 96], "itemsize": 112}
)


def module(file: str, arch: str) -> wl.Module:
    """A file of tests/kernels, of this test alone: other files' tests expect variables as they are at first."""
    return wl.compile(KERNELS / file, arch=arch)


def parameter(rng: np.random.Generator) -> np.ndarray:
    p = np.zeros((), P)
    p["a"], p["f"], p["d"] = rng.integers(-99, 99, 20), rng.random(4) * 100, rng.random() * 100
    return p


def test_cst(arch: str) -> None:
    m, rng = module("k12_constant.cu", arch), np.random.default_rng(1)
    ct, cd = rng.integers(-999, 999, 256, dtype=np.int32), rng.random(16) * 50
    cb = rng.integers(0, 256, 64, dtype=np.uint8)
    m.variables["ct"], m.variables["cd"], m.variables["cb"] = ct, cd, cb
    p, n = parameter(rng), 21
    for blocks in (1, 3):
        o = np.zeros(96, np.int32)
        m["cst"].launch(blocks, 96, o, n, p.tobytes(), threads=1)  # one host thread runs the blocks in order
        i, block = np.arange(96), blocks - 1  # the last one wins
        want = ct[block] + ct[i] + ct[5] + p["a"][3] + int(p["f"][1]) + cb[i & 63] + np.trunc(cd[i & 15]).astype(int)
        same(o, (want + int(p["d"] + cd[n & 15])).astype(np.int32))


def test_gc(arch: str) -> None:
    p, o = parameter(np.random.default_rng(2)), np.zeros(70, np.int32)
    module("k12_constant.cu", arch)["gc"].launch(1, 70, p.tobytes(), o, 33)
    same(o, p["a"][np.arange(70) % 20] + p["a"][13])


def test_crck(arch: str) -> None:
    table = [0] * 256
    for k in range(256):
        c = k
        for _ in range(8):
            c = c >> 1 ^ (0xEDB88320 if c & 1 else 0)
        table[k] = c
    m, n = module("k32_rng_crypto.cu", arch), 41
    m.variables["crc"] = np.array(table, np.uint32)
    a, o = np.random.default_rng(3).integers(0, 256, (75, n), dtype=np.uint8), np.zeros(75, np.uint32)
    m["crck"].launch(3, 25, a, o, n)
    same(o, np.array([zlib.crc32(row.tobytes()) for row in a], np.uint32))


def test_calls_count(arch: str) -> None:
    m = module("k20_calls.cu", arch)
    m.variables.reset()
    m.variables["gtab"] = np.arange(16, dtype=np.float32)
    for launch in (1, 2):
        o = np.zeros(40, np.int32)
        m["calls"].launch(1, 40, o, 0)
        assert m.variables["gcount"].read(np.int32)[0] == 40 * launch
    fib = np.array([0, 1, 1, 2, 3, 5, 8])
    i = np.arange(40)
    same(o, (3 + 15 * i * (i & 1) + fib[i % 7] + (i & 15)).astype(np.int32))


SOURCE = """
static __device__ int hidden = 4;
namespace ns { __constant__ float scale[3] = {1, 2, 3}; }
__device__ int *where = &hidden;
__device__ int big[3];
extern "C" __global__ void step(float *o, int limit) {
  *where += 1;
  o[0] = hidden * ns::scale[1];
  big[limit] = 5;
}
extern "C" __global__ void away(int *p) { where = p; }
"""


def test_what_kernels_write_stays_until_it_is_reset() -> None:
    m, o = written_module(SOURCE), np.zeros(1, np.float32)
    m.variables.reset()
    assert set(m.variables) == {"hidden", "ns::scale", "where", "big"}
    assert m.variables["hidden"].read(np.int32).tolist() == [4]
    m["step"].launch(1, 1, o, 0)
    m.variables["ns::scale"] = np.array([0, 10], np.float32)
    m["step"].launch(1, 1, o, 1)
    assert o[0] == 60
    assert m.variables["ns::scale"].read(np.float32).tolist() == [0, 10, 3]
    assert m.variables["big"].read(np.int32).tolist() == [5, 5, 0]
    m.variables.reset()
    m["step"].launch(1, 1, o, 2)
    assert o[0] == 10
    assert m.variables["big"].read(np.int32).tolist() == [0, 0, 5]


def test_a_pointer_that_a_kernel_changed_is_not_linked_again() -> None:
    m, o, p = written_module(SOURCE), np.zeros(1, np.float32), np.zeros(1, np.int32)
    m.variables.reset()
    m["away"].launch(1, 1, p)
    assert m.variables["where"].read(np.uint64)[0] != 0
    with pytest.raises(KernelFault):  # p is gone, and so is what lay there
        m["step"].launch(1, 1, o, 1000)
    assert m.variables["hidden"].read(np.int32).tolist() == [4]


def test_variables_are_as_they_were_at_the_fault() -> None:
    m = wl.compile(source="""
    __device__ int before = 1, after = 2;
    extern "C" __global__ void k(int *p) { before = 5; *(volatile int *)p = 0; after = 6; }
    """, arch="sm_90")  # fmt: skip
    with pytest.raises(KernelFault):
        m["k"].launch(1, 1, None)
    assert [int(m.variables[name].read(np.int32)[0]) for name in ("before", "after")] == [5, 2]


def test_two_kernels_with_pointers_to_functions() -> None:
    source = """
    typedef int (*op)(int);
    __device__ __noinline__ int one(int x) { return x + 1; }
    __device__ __noinline__ int two(int x) { return x * 2; }
    __device__ op table[2] = {one, two};
    extern "C" __global__ void swap() { op first = table[0]; table[0] = table[1]; table[1] = first; }
    extern "C" __global__ void use(int *o, int k) { o[0] = table[k](20); }
    extern "C" __global__ void use_more(int *o, int k) { o[1] = 7; o[0] = 100 + table[k](20); }
    """
    m, o = written_module(source), np.zeros(2, np.int32)
    for swapped in (False, True):
        for k in (0, 1):
            want = 21 if (k == 0) != swapped else 40
            m["use"].launch(1, 1, o, k)
            assert o[0] == want
            m["use_more"].launch(1, 1, o, k)
            assert o[0] == 100 + want
        m["swap"].launch(1, 1)


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda v: v["nothing"], "no variable 'nothing' here; there are: .*hidden"),
        (lambda v: v["hidden"].write(np.zeros(2, np.int32)), "hidden has 4 bytes, and 8 are given"),
        (lambda v: v["hidden"].write(3), r"hidden is set from int, which has no size; .* np.float32\(3\)"),
        (lambda v: v["hidden"].write("x"), "hidden is set from str; give a numpy array"),
        (lambda v: v["big"].read(np.int64), "big has 12 bytes, no multiple of the 8 of int64"),
    ],
)
def test_refused(act: object, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        act(written_module(SOURCE).variables)  # type: ignore[operator]


def test_no_variables() -> None:
    m = module("k18_divergence.cu", "sm_90")
    assert list(m.variables) == []
    assert (KERNELS / "k18_divergence.cu").is_file()
    with pytest.raises(UsageError, match="there are: none"):
        m.variables["x"]
