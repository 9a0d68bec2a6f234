"""Functions: calls, recursion, pointers to them, tables of jumps; and the stack, where local arrays live."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from helpers.kernel_launches import awkward_integers, fractions, kernel, on_host, same, written
from warplens.emulator.execute import syscalls
from warplens.errors import UnsupportedInstruction

STACK, SWITCH, CALLS = "k11_local_array.cu", "k19_switch.cu", "k20_calls.cu"


@pytest.mark.every(5)
@pytest.mark.parametrize("n", [40, 64])
def test_loc(arch: str, n: int) -> None:
    threads = 40
    a = np.random.default_rng(n).integers(0, 1000, 41 * n, dtype=np.int32)
    o = np.full(n, -1, np.int32)
    want = o.copy()
    kernel(STACK, "loc", arch).launch(1, threads, a, o, n)
    on_host("loc", a, want, n, threads)
    same(o, want)


@pytest.mark.every(2)
@pytest.mark.parametrize("n", [0, 5, 22])
def test_locv(arch: str, n: int) -> None:
    threads, rng = 40, np.random.default_rng(n)
    a, b = awkward_integers(rng, 4 * 48, np.int32) >> 4, awkward_integers(rng, 200, np.uint8)
    o = np.zeros(4 * threads, np.int32)
    want = o.copy()
    kernel(STACK, "locv", arch).launch(1, threads, a, o, b, n)
    on_host("locv", a, want, b, n, threads)
    same(o, want)


def test_spill(arch: str) -> None:
    threads = 96
    a = fractions(np.random.default_rng(1), 64 * 1024)
    o, want = np.zeros(64 * 1024, np.float32), np.zeros(64 * 1024, np.float32)
    kernel(STACK, "spill", arch).launch(1, threads, a, o, 0)
    on_host("spill", a, want, threads)
    np.testing.assert_array_equal(o, want)


def case(which: int, v: Any) -> tuple[NDArray[Any], float]:
    """The value in double precision, and how far off it may be: CUDA C++ Programming Guide, in units of 2^-23."""
    table: dict[int, tuple[Any, float]] = {
        0: (np.sin, 2), 1: (lambda x: x * x + 3, 1), 2: (np.sqrt, 2), 3: (lambda x: x - 1, 1),
        4: (np.exp, 2), 5: (lambda x: 1 / x, 1), 6: (lambda x: np.log(x) * x, 3), 9: (lambda x: x, 0),
    }  # fmt: skip
    function, most = table.get(which, (np.zeros_like, 0))
    return function(v), most * 2.0**-23


def test_sw(arch: str) -> None:
    n, threads, rng = 100, 64, np.random.default_rng(2)
    a = rng.choice(np.array([0, 1, 2, 3, 4, 5, 6, 10, -1], np.int32), threads)
    a[60:] = 8  # reads beyond what other threads write
    o = (rng.random(2 * n) * 4 + 1).astype(np.float32)
    was = o.astype(np.float64)
    kernel(SWITCH, "sw", arch).launch(1, threads, a, o, n)
    for i in range(threads):
        if a[i] == 8:
            assert o[i] == was[i + 9]
            continue
        want, most = case(int(a[i]), was[i])
        want -= a[i] == 2  # goes on with the next case
        assert abs(o[i] - want) <= most * max(abs(want), 1), (i, a[i], o[i], want)
        assert o[i + n] == (o[i] if a[i] in (2, 3) else was[i + n])


@pytest.mark.parametrize("which", [7, 9])
def test_sw_one_way(arch: str, which: int) -> None:
    """All lanes together, as these cases read what others would write."""
    n, a = 5, np.full(32, which, np.int32)
    o = (np.random.default_rng(3).random(50) * 0.5).astype(np.float32)
    want = o[:32].copy()
    for k in range(n if which == 7 else 0):
        on_host("multiply_add", want, want, np.repeat(o[k], 32), want, 32)
    kernel(SWITCH, "sw", arch).launch(1, 32, a, o, n)
    same(o[:32].copy(), want)


@pytest.mark.every(9)
@pytest.mark.parametrize("which", [0, 1, 2, 3, 4, 5, 6, 7, 8])
def test_swu(arch: str, which: int) -> None:
    n = 40
    o = (np.random.default_rng(which).random(2 * n) + 0.5).astype(np.float32)
    was = o.astype(np.float64)
    want, most = case(which, was[:32])
    if which == 7:
        exact = o[:32].copy()
        for k in range(n):
            on_host("multiply_add", exact, exact, np.repeat(o[k], 32), exact, 32)
        want, most = exact.astype(np.float64), 0
    kernel(SWITCH, "swu", arch).launch(1, 32, which, o, n)
    finite = np.isfinite(want)
    got, want = o[:32][finite], want[finite]
    assert (np.abs(got - want) <= most * np.maximum(np.abs(want), 1)).all()
    assert (o[n : n + 32] == (o[:32] if which == 3 else was[n : n + 32])).all()


def test_fptr(arch: str) -> None:
    threads = 75
    a = np.random.default_rng(4).integers(1, 999, threads + 2, dtype=np.int32)
    o = np.zeros(threads, np.int32)
    kernel(SWITCH, "fptr", arch).launch(1, threads, a, o)
    x, y = a[1:-1], a[2:]
    same(o, np.choose(a[:-2] % 3, [x * y + 1, x // y, x ^ y]).astype(np.int32))


def test_calls(arch: str) -> None:
    threads, fib, table = 75, [0, 1, 1, 2, 3, 5, 8], [1, 2, 3] + [0] * 13
    for n in (1, 9):
        o = np.zeros(threads, np.int32)
        kernel(CALLS, "calls", arch).launch(1, threads, o, n)
        want = [i * n + 3 + (15 * i if i & 1 else 0) + fib[i % 7] + table[i & 15] for i in range(threads)]
        same(o, np.array(want, np.int32))


@pytest.mark.every(2)
@pytest.mark.parametrize("n", [1, 2, 33])
def test_rec(arch: str, n: int) -> None:
    threads = 40
    o = np.random.default_rng(n).integers(-50, 50, (threads, n), dtype=np.int32)
    want = np.sort(o, 1)
    kernel(CALLS, "rec", arch).launch(1, threads, o, n)
    same(o, want)


def work(a: NDArray[Any], i: int, n: int) -> int:
    for k in range(n):
        if a[k] == i:
            return k
        for j in range(-int(a[k])):
            if a[j] == 7:
                return 2 * j
    return -1


@pytest.mark.every(2)
@pytest.mark.parametrize("n", [1, 6, 30])
def test_ws(arch: str, n: int) -> None:
    """One warp writes, the other reads, with named barriers between; then calls under divergence."""
    a = np.random.default_rng(n).integers(-5, 40, 32 * n, dtype=np.int32)
    o = np.full(160, -9, np.int32)
    want = o.copy()
    kernel("k39_warpspec.cu", "ws", arch).launch(1, 64, a, o, n)
    want[:32] = a.reshape(n, 32).sum(0)[::-1]
    for warp in range(2):
        r = np.array([work(a, lane, n) if lane & 1 else 0 for lane in range(32)], np.int32)
        want[64 + 32 * warp : 96 + 32 * warp] = r + max(1, n - int(r.min()))
    same(o, want)


ALLOCA = """
extern "C" __global__ void reversed(int *o, int n) {
  int *on_stack, i = threadIdx.x;
  asm volatile("{ .reg .u64 p; alloca.u64 p, %1, 16; cvta.local.u64 %0, p; }" : "=l"(on_stack) : "l"(n * 4ull));
  for (int k = 0; k < n; k++) on_stack[k] = i * k;
  int sum = 0;
  for (int k = 0; k < n; k++) sum = sum * 3 + on_stack[n - 1 - k];
  o[i] = sum;
}
"""


def test_alloca() -> None:
    o, n = np.zeros(32, np.int32), 40
    written(ALLOCA, "reversed", "sm_90").launch(1, 32, o, np.int32(n))
    same(o, np.array([sum(i * k * 3**k for k in range(n)) & 0xFFFFFFFF for i in range(32)], np.uint32).view(np.int32))


def test_a_kernel_that_launches_kernels_is_refused_in_these_words() -> None:
    launching = replace(kernel(CALLS, "calls", "sm_90").kernel, externs=("child", "cudaLaunchDeviceV2"))
    with pytest.raises(UnsupportedInstruction, match="calls launches kernels itself"):
        syscalls.check(launching)
