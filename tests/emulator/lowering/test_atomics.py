"""Atomics on global and shared memory.

What does not depend on the order of the lanes holds on every machine; where the old values are used, lanes come in
the order of their number, which is ours.
"""

from __future__ import annotations

import csv
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from helpers.kernel_launches import KERNELS, kernel, same

GLOBAL, SHARED = "k14_atomics_global.cu", "k15_atomics_shared.cu"


def wrapped(value: int) -> int:
    return (value + 2**31) % 2**32 - 2**31


def test_at(arch: str) -> None:
    """One warp: each instruction is done by all lanes before the next."""
    rng, lanes = np.random.default_rng(1), np.arange(32)
    p = rng.integers(-50, 50, 64, dtype=np.int32)
    u, q = np.array([3, 4], np.uint32), np.array([9, 4, 0, 2**63], np.uint64)
    f, d = np.array([0.25], np.float32), np.array([0.125])
    p[8] = 20
    was = p.copy()
    kernel(GLOBAL, "at", arch).launch(1, 32, p, u, q, f, d, None, 0)
    want = was.copy()
    want[0] += lanes.sum()
    want[1] -= lanes.sum()
    want[2], want[3] = min(was[2], 0), max(was[3], 31)
    want[4], want[5] = 0, was[5] | 31
    want[6] ^= np.bitwise_xor.reduce(lanes)
    want[7] = p[7] - 1
    assert want[7] in lanes
    want[8] = 5  # lane 20 puts 5 there; lane 5 puts 5 in its place, or came too early
    want[:32] += 1
    same(p, want)
    up, down = 3, 4
    for _ in lanes:
        up = 0 if up >= 9 else up + 1
        down = 9 if down == 0 or down > 9 else down - 1
    same(u, np.array([up, down], np.uint32))
    same(q, np.array([9 + lanes.sum(), 31, 0, 2**63], np.uint64))  # as a signed number, 2^63 is the least
    assert (f[0], d[0]) == (0.25 + 48, 0.125 + 80)


def test_atr(arch: str) -> None:
    rng = np.random.default_rng(2)
    p = rng.integers(-50, 50, 64, dtype=np.int32)
    p[8], p[30] = 17, 0x70001 - 30
    u, q = np.array([3, 4], np.uint32), np.array([9, 4, 0, 0, 1, 6], np.uint64)
    f, d, o = np.array([0.25], np.float32), np.array([0.125]), np.zeros(32, np.int32)
    g, h, longs, floats = [int(v) for v in p], [3, 4], [int(v) for v in q], [0.25, 0.125]
    kernel(GLOBAL, "atr", arch).launch(1, 32, p, u, q, f, d, o, 0)
    r = [0] * 32

    def each(place: list[Any], at: int, new: Any) -> None:
        """One instruction: r grows by the old values, lane after lane."""
        for i in range(32):
            k = i if at < 0 else at
            r[i] += int(place[k])
            place[k] = new(place[k], i)

    each(g, -1, lambda old, i: old + i)
    each(g, 2, min)
    each(g, 3, max)
    each(g, 4, lambda old, i: old & i)
    each(g, 5, lambda old, i: old | i)
    each(g, 6, lambda old, i: old ^ i)
    each(h, 0, lambda old, i: 0 if old >= 9 else old + 1)
    each(h, 1, lambda old, i: 9 if old == 0 or old > 9 else old - 1)
    each(g, 7, lambda old, i: i)
    each(g, 8, lambda old, i: 5 if old == i else old)
    each(longs, 0, lambda old, i: old + i)
    each(floats, 0, lambda old, i: old + 1.5)
    each(floats, 1, lambda old, i: old + 2.5)
    each(longs, 4, lambda old, i: 2 if old == 1 else old)
    each(longs, 5, lambda old, i: 7)
    each(g, 20, lambda old, i: old + 1)
    each(g, 21, lambda old, i: old + 2)
    each(g, 22, lambda old, i: old + 3)
    for i in range(32):  # 16 bits: the first lane finds 1 and puts 2
        r[i] += 1 if i == 0 else 2
    g[30] = 0x70002
    same(p, np.array(g, np.int32))
    same(u, np.array(h, np.uint32))
    same(q, np.array(longs, np.uint64))
    assert [f[0], d[0]] == floats
    same(o, np.array([wrapped(v) for v in r], np.int32))


def test_ath(arch: str) -> None:
    h, s, f = np.full((40, 2), 0.5, np.float16), np.arange(40, dtype=np.float16), np.zeros(1, np.float32)
    kernel(GLOBAL, "ath", arch).launch(1, 32, h, s, f)
    want = np.full((40, 2), 0.5, np.float16)
    want[0] += 32
    want[4:36] += 2
    same(h, want)
    same(s, np.arange(40, dtype=np.float16) + (np.arange(40) < 32).astype(np.float16))


@pytest.mark.parametrize("threads", [96, 7])
def test_fmaxat(arch: str, threads: int) -> None:
    a = (np.random.default_rng(threads).random(threads) * 100 - 50).astype(np.float32)
    m = np.array([-60], np.float32)
    kernel(GLOBAL, "fmaxat", arch).launch(1, threads, m, a)
    assert m[0] == a.max()


def test_hist(arch: str) -> None:
    n = 3001
    a = np.random.default_rng(3).integers(0, 256, n, dtype=np.uint8)
    a[:500] = 7
    o = np.full(256, 4, np.uint32)
    kernel(SHARED, "hist", arch).launch(3, 256, a, o, n)
    same(o, (np.bincount(a, minlength=256) + 4).astype(np.uint32))


def shared_atomics(a: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """What `ats` leaves with one warp, lane after lane."""
    s, f, q = [int(v) for v in a] + [0] * 32, [float(v) for v in a] + [0.0] * 32, [int(v) % 2**64 for v in a]
    r, d = [0] * 32, 0.0

    def each(place: list[Any], at: Any, new: Any, used: bool = True) -> None:
        for i in range(32):
            k = at(i) if callable(at) else at
            r[i] += int(place[k]) if used else 0
            place[k] = new(place[k], i)

    each(s, lambda i: i & 7, lambda old, i: old + 1)
    each(s, 8, max, used=False)
    each(s, 9, min)
    each(s, 10, lambda old, i: old & i, used=False)
    each(s, 11, lambda old, i: old | i)
    each(s, 12, lambda old, i: old ^ i, used=False)
    each(s, 13, lambda old, i: i)
    each(s, 14, lambda old, i: i if old == 0 else old)
    each(f, lambda i: i & 3, lambda old, i: old + 1.5, used=False)
    each(f, 5, lambda old, i: old + 2.5)
    each(q, lambda i: i & 3, lambda old, i: old + 3, used=False)
    each(q, 5, lambda old, i: old + 3)
    each(q, 6, lambda old, i: 4 if old == 3 else old)
    each(q, 7, lambda old, i: 4)
    d = 32.0
    each(s, 15, lambda old, i: 0 if old % 2**32 >= 5 else old + 1)
    each(q, 9, max, used=False)
    o = [wrapped(r[i] + s[i] + q[i]) for i in range(32)]
    fo = [f[i] + (d if i & 3 == 0 else 0.0) for i in range(32)]
    return np.array(o, np.int32), np.array(fo, np.float32)


def test_ats(arch: str) -> None:
    """The lane that wins an addition of floats is unknown; which old values there are is not."""
    a = np.random.default_rng(4).integers(0, 9, 32, dtype=np.int32)
    a[6], a[14], a[15] = 3, 0, 7
    o, fo = np.zeros(32, np.int32), np.zeros(32, np.float32)
    kernel(SHARED, "ats", arch).launch(1, 32, a, o, fo)
    want_o, want_fo = shared_atomics(a)
    same(fo, want_fo)
    same(o, want_o)


def test_shared_atomics_are_counted_as_on_an_h200() -> None:
    """Among them compare-and-store loops of 8-byte words: a lane of each bank in each half warp a try."""
    a = np.random.default_rng(4).integers(0, 9, 32, dtype=np.int32)
    a[6], a[14], a[15] = 3, 0, 7
    run = kernel(SHARED, "ats", "sm_90").launch(1, 32, a, np.zeros(32, np.int32), np.zeros(32, np.float32))
    with (KERNELS.parents[1] / "measurements" / "h200" / "validation.csv").open() as file:
        (row,) = (row for row in csv.DictReader(file) if row["kernel"] == "ats")
    measured = {name: float(value) for name, value in row.items() if "__" in name or name.startswith("memory_")}
    assert measured["memory_l1_wavefronts_shared"] == 691
    for name, value in measured.items():
        assert run[name] == pytest.approx(value, abs=0.0051), name
