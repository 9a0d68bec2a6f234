"""Divergence: the result of every thread is the one it has when it runs alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from helpers.kernel_launches import awkward_integers, kernel, on_host, same, written

FILE = "k18_divergence.cu"


def test_ifelse(arch: str) -> None:
    n, rng = 1003, np.random.default_rng(1)
    a = rng.integers(-6, 40, 1100, dtype=np.int32)
    a[:512] = np.abs(a[:512]) + 1  # subtracted until v <= 3
    a[600:900] = awkward_integers(rng, 300, np.int32) & ~1  # even: no loop of 2^31 turns
    o = np.full(n + 3, 5, np.int32)
    want = o.copy()
    kernel(FILE, "ifelse", arch).launch(21, 48, a, o, n)
    on_host("ifelse", a, want, n)
    same(o, want)


def loop_input(rng: np.random.Generator, n: int) -> NDArray[Any]:
    """Bounds of the loops in the first row; below: continue, break, goto and long inner loops."""
    chances = {-3: 0.1, 77: 0.1, 99: 0.05, **dict.fromkeys((1, 2, 5, 9, 14, 30), 0.125)}
    a = rng.choice(np.array(list(chances), np.int32), 120_000, p=list(chances.values()))
    a[: n + 8] = rng.integers(0, 7, n + 8)
    a[n * 3 + 4] = 110_000  # s > 100000: return
    return a.astype(np.int32)


def test_loops_in_blocks_of_one_thread(arch: str) -> None:
    n = 75
    a = loop_input(np.random.default_rng(2), n)
    o = np.full(n + 10, -1, np.int32)
    want = o.copy()
    kernel(FILE, "loops", arch).launch(n, 1, a, o, n, threads=1)  # in order: who writes last is known
    on_host("loops", a, want, n, n)
    same(o, want)


def test_loops_in_warps(arch: str) -> None:
    """Threads overwrite each other's o[i + x]: what is there must be the last that one of them wrote."""
    n = 75
    a = loop_input(np.random.default_rng(3), n)
    o = np.full(n + 10, -1, np.int32)
    kernel(FILE, "loops", arch).launch(1, n, a, o, n)
    allowed: list[set[int]] = [set() for _ in range(n + 10)]
    for i in range(n):
        alone = np.full(n + 10, -(10**9), np.int32)
        on_host("loops_thread", a, alone, n, i)
        for place in np.flatnonzero(alone != -(10**9)):
            allowed[place].add(int(alone[place]))
    for at, value in enumerate(o.tolist()):
        assert value in (allowed[at] or {-1}), at


def test_collatz(arch: str) -> None:
    n = 1003
    a = np.arange(1, n + 1, dtype=np.uint32)
    a[7] = 0  # stays 0: ended by the break
    o = np.zeros(n + 3, np.uint32)
    want = o.copy()
    kernel(FILE, "collatz", arch).launch(26, 40, a, o, n)
    on_host("collatz", a, want, n)
    same(o, want)
    assert o[7] == 1001


@pytest.mark.parametrize("fused", [True, False])
def test_mandel(arch: str, fused: bool) -> None:
    w, h = 45, 31
    o, want = np.zeros(w * h + 4, np.float32), np.zeros(w * h + 4, np.float32)
    options = () if fused else ("--fmad=false",)
    kernel(FILE, "mandel", arch, *options).launch((6, 7), (8, 5), o, w, h)
    on_host("mandel", want, w, h, int(fused))
    same(o, want)


@pytest.mark.parametrize("n", [3, 50])
def test_divsync(arch: str, n: int) -> None:
    """Lanes above zero all hold 7, so which of them are active together changes nothing."""
    threads = 40
    for first in (0, 4, 34):
        a = np.full(threads, -2, np.int32)
        a[first : first + 2], a[36:38] = 7, 7
        o = np.full(100, -9, np.int32)
        kernel(FILE, "divsync", arch).launch(1, threads, a, o, n)
        want = np.full(100, -9, np.int32)
        high = np.flatnonzero(a > n)
        want[high], want[high + n] = 7, 7
        want[: min(first, 7)] = 7  # the loop ends where a[k] == 7, or after seven turns
        same(o, want)


SWITCH = r"""
extern "C" __global__ void sw(const int *a, int *o, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int v = a[i], r = 0;
  for (int k = 0; k < 3; k++) {
    switch (v) {
      case 0: r += 11; break;
      case 1: r = r * 3 + 1; break;
      case 2: r ^= a[(i + 1) % n]; continue;
      case 3: r -= 5;                       // falls through
      case 4: r += v * v; break;
      case 5: for (int j = 0; j < i % 5; j++) r += a[j]; break;
      case 6: if (i & 1) goto out; r += 100; break;
      case 7: r = __popc(r + i); break;
      case 8: o[i] = -1; return;
      case 9: r += a[i / 2] / 3; break;
      default: r += 1000; break;
    }
    v = (v + 3) % 12;
  }
out:
  o[i] = r;
}
__device__ __noinline__ int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
__device__ __noinline__ int twice(int x) { return 2 * x + 1; }
__device__ __noinline__ int thrice(int x) { return 3 * x - 1; }
extern "C" __global__ void calls(const int *a, int *o, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int (*f)(int) = a[i] & 1 ? twice : thrice;
  o[i] = fib(a[i] % 9) + f(i) + (a[i] > 5 ? twice(a[i]) : 0);
}
"""


def switch(a: NDArray[Any], i: int) -> int:
    """Python integers do: nothing here leaves 32 bits."""
    v, r, n = int(a[i]), 0, len(a)
    for _ in range(3):
        match v:
            case 0:
                r += 11
            case 1:
                r = r * 3 + 1
            case 2:
                r ^= int(a[(i + 1) % n])
                continue
            case 3 | 4:
                r += v * v - (5 if v == 3 else 0)
            case 5:
                r += sum(int(x) for x in a[: i % 5])
            case 6:
                if i & 1:
                    return r
                r += 100
            case 7:
                r = ((r + i) & 0xFFFFFFFF).bit_count()
            case 8:
                return -1
            case 9:
                r += int(a[i // 2]) // 3
            case _:
                r += 1000
        v = (v + 3) % 12
    return r


def test_switch(arch: str) -> None:

    n = 203
    a = np.random.default_rng(5).integers(0, 13, n, dtype=np.int32)
    o = np.full(n + 2, 77, np.int32)
    written(SWITCH, "sw", arch).launch(6, 40, a, o, n)
    same(o, np.array([*(switch(a, i) for i in range(n)), 77, 77], np.int32))


def test_calls(arch: str) -> None:
    """Recursion, and function pointers that differ within a warp."""
    n, fib = 203, [0, 1, 1, 2, 3, 5, 8, 13, 21]
    a = np.random.default_rng(6).integers(0, 20, n, dtype=np.int32)
    o = np.zeros(n, np.int32)
    written(SWITCH, "calls", arch).launch(6, 40, a, o, n)
    i = np.arange(n)
    want = np.array(fib)[a % 9] + np.where(a & 1, 2 * i + 1, 3 * i - 1) + np.where(a > 5, 2 * a + 1, 0)
    same(o, want.astype(np.int32))


ESCAPES = r"""
extern "C" __global__ void escapes(const int *a, int *o, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, s = 0;
  if (i >= n) return;
  for (int x = 0; x < 8; x++) {
    if (a[i] == x) { if (i % 3 == 0) return; continue; }
    for (int y = 0; y < a[(i + x) % n]; y++) {
      if (y == 5) break;
      if ((s + y) % 11 == 10) goto next;
      for (int z = y; z < 6; z++) {
        if (z * y == 12) { s += 1000; goto done; }
        if ((z ^ i) & 1) continue;
        s += z;
      }
    }
    s = s * 2 + 1;
  next:
    o[i + n] += x;
  }
done:
  o[i] = s;
}
"""


def escape(a: NDArray[Any], i: int) -> tuple[int | None, int]:
    """(what is stored, or None after the early return; what is added)."""
    s = added = 0
    n = len(a)

    def inner(s: int, x: int) -> tuple[int, str]:
        for y in range(int(a[(i + x) % n])):
            if y == 5:
                break
            if (s + y) % 11 == 10:
                return s, "next"
            for z in range(y, 6):
                if z * y == 12:
                    return s + 1000, "done"
                if (z ^ i) & 1 == 0:
                    s += z
        return s * 2 + 1, "next"

    for x in range(8):
        if a[i] == x:
            if i % 3 == 0:
                return None, added
            continue
        s, where = inner(s, x)
        if where == "done":
            return s, added
        added += x
    return s, added


def test_escapes(arch: str) -> None:

    n = 203
    a = np.random.default_rng(7).integers(0, 9, n, dtype=np.int32)
    o = np.full(2 * n, -4, np.int32)
    written(ESCAPES, "escapes", arch).launch(6, 40, a, o, n)
    results = [escape(a, i) for i in range(n)]
    want = [-4 if stored is None else stored for stored, _ in results] + [added - 4 for _, added in results]
    same(o, np.array(want, np.int64).astype(np.int32))


def test_the_warp_instructions_of_a_loop_are_those_of_its_longest_lane() -> None:
    """Every lane of the loop leaves at its own time; groups merge only behind the loop."""

    source = """
    extern "C" __global__ void spin(const int *a, int *o) {
      int i = blockIdx.x * blockDim.x + threadIdx.x, s = 0;
      #pragma unroll 1
      for (int k = 0; k < a[i]; k++) s = s * 5 + k;
      o[i] = s;
    }"""
    n = 128
    a = np.random.default_rng(8).integers(1, 60, n, dtype=np.int32)
    code = written(source, "spin")
    run = code.launch(4, 32, a, np.zeros(n, np.int32))
    (loop,) = code.program.loops
    inside = [b for b in code.program.blocks if b.first in loop.blocks]
    turns, lanes = np.maximum.reduceat(a, range(0, n, 32)).sum(), a.sum()
    for block in inside:
        assert run.trace.executed[block.first] == turns
        assert run.trace.threads[block.first] == lanes
    parts = sum(len(set(w.tolist())) - 1 for w in a.reshape(4, 32))  # once for every end but the last
    assert run.trace.divergent.sum() == parts
