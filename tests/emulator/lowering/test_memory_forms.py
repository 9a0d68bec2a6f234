"""Forms of memory instructions that no other kernel has (tests/kernels/spellings.cu): what they leave, by numpy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from helpers.kernel_launches import ARCHITECTURES, kernel

T = np.arange(32, dtype=np.uint32)
RNG = np.random.default_rng(8)
WORDS = RNG.integers(0, 1 << 32, 512, dtype=np.uint32)
Array = NDArray[Any]
Case = tuple[list[Any], dict[int, Array]]  # arguments, and what some of them are to be afterwards
CASES: dict[str, Callable[[], Case]] = {}


def case(function: Callable[[], Case]) -> Callable[[], Case]:
    CASES[function.__name__] = function
    return function


def generic_longs(where: int) -> Case:
    t = T.astype(np.uint64)
    g = WORDS[:40].astype(np.uint64) << np.uint64(13)
    g[1] = 7
    old = np.where(t == 0, np.uint64(7), np.uint64(9))
    first = g[0] + 3 * t + 5 * old + g[2:34]
    after = g.copy()
    after[0], after[1], after[2:34] = g[0] + np.uint64(96), 9, t
    return [g, where, np.zeros(64, np.uint64)], {2: np.concatenate([first, after[:32]])} | kept(where, after)


def generic_words(where: int) -> Case:
    g = WORDS[:64].copy()
    g[40:42] = 5, 7
    high = g[32:].view(np.int32)
    first = g[:32] + g[32:]
    after = g.copy()
    after[:32] |= np.uint32(1) << T
    after[32:] = np.maximum(high, 40 - T.astype(np.int32)).view(np.uint32)
    for t in range(32):
        after[t & 7] ^= np.uint32(1 << t)
    after[40] += np.uint32(496)
    after[41] = np.array(min(int(after[41:42].view(np.int32)[0]), -31), np.int32).view(np.uint32)
    return [g, where, np.zeros(96, np.uint32)], {2: np.concatenate([first, after])} | kept(where, after)


def generic_rows(where: int) -> Case:
    g = WORDS[:128].copy()
    after = np.roll(g.reshape(32, 4)[T ^ 1], -1, axis=1)
    return [g, where, np.zeros(128, np.uint32)], {2: after[T ^ 3].reshape(-1)} | kept(where, after.reshape(-1))


def generic_scopes(where: int) -> Case:
    g = WORDS[:64].copy()
    read = g[63 - T] + (g[:32] >> np.uint32(8) & np.uint32(0xFF)) + g[2 * T + 1]
    after = g.copy()
    after[:32] = (g[:32] + np.uint32(1)) & np.uint32(0xFFFFFF) | (T + 5) << np.uint32(24)
    after[32:] = g[32:] & np.uint32(0xFFFFFF00) | (T + 6)
    return [g, where, np.zeros(96, np.uint32)], {2: np.concatenate([read, after])} | kept(where, after)


def kept(where: int, after: Array) -> dict[int, Array]:
    return {0: after} if where == 0 else {}


for made in (generic_longs, generic_words, generic_rows, generic_scopes):
    for space in (0, 1):
        CASES[f"{made.__name__} {space}"] = lambda made=made, space=space: made(space)  # type: ignore[misc]


@case
def narrow_constants() -> Case:
    index = (T * 7 % 19).astype(np.int32)
    signed = np.zeros(64, np.int32)
    signed[:16] = np.arange(1, 17) * np.where(np.arange(16) % 2, 1, -1)
    return [index, 2, np.zeros(32, np.int32)], {2: signed[index] + 1000 * 65533}


@case
def narrow_shared() -> Case:
    given = WORDS[:8].view(np.int8)
    wide = (given.astype(np.int32) * 300).astype(np.int16).astype(np.int32)
    return [given, np.zeros(32, np.int32)], {1: given[::-1].astype(np.int32) + 1000 * wide[T ^ 5]}


@case
def hints() -> Case:
    narrow = WORDS[200:208].view(np.int8)
    rows, far, once = WORDS[:128].reshape(32, 4).copy(), WORDS[128:160], WORDS[160:192]
    rows[:, 0] += far
    rows[:, 1] ^= once
    rows[:, 2] += narrow.astype(np.int32).view(np.uint32)
    pairs = np.stack([rows[:, 3], far], 1).reshape(-1)
    return [WORDS, np.zeros(128, np.uint32), narrow, np.zeros(64, np.uint32)], {1: rows.reshape(-1), 3: pairs}


@case
def unread() -> Case:
    g, wide, spread = np.arange(4, dtype=np.uint32), np.array([1, 2], np.uint64), T * np.uint32(0x9E3779B9)
    bits = [sum(1 << (t + 20) for t in range(32) if t & 1 == half) for half in (0, 1)]
    extremes = np.array([max(100, (spread & ~np.uint32(1)).max()), min(100, (spread + np.uint32(50)).min())], np.uint32)
    sums = g + np.array([T[k::4].sum() for k in range(4)], np.uint32)
    return [g, wide, np.zeros(2, np.uint32)], {0: sums, 1: wide | np.array(bits, np.uint64), 2: extremes}


@case
def fences() -> Case:
    g = np.zeros(96, np.uint32)
    return [g, np.zeros(32, np.uint32)], {0: np.concatenate([3 * T, 0 * T, 0 * T + 1]), 1: 3 * T}


@case
def uniform_words() -> Case:
    a, b, c, l, m = 0x89ABCDEF, 0x01234567, 0x7254, (1 << 40) + 5, (1 << 41) + 5  # noqa: E741
    turned = sum(((b << 32 | a) >> 8 * (c >> 4 * k & 7) & 0xFF) << 8 * k for k in range(4))
    shift = c & 31
    left, right = (b << 32 | a) << shift >> 32 & 0xFFFFFFFF, (b << 32 | a) >> shift & 0xFFFFFFFF
    out = np.concatenate([turned + T, left ^ T, right + 1 + 0 * T]).astype(np.uint32)
    scalars = [np.uint32(a), np.uint32(b), np.uint32(c), np.uint64(l), np.uint64(m)]
    return [*scalars, np.zeros(96, np.uint32)], {5: out}


def vector_sums() -> Case:
    g = WORDS[:72].view(np.float32).copy()
    g[:] = np.arange(72)
    t = T.astype(np.float32)
    after = g.copy()
    for k in (0, 1):
        after[4 * k : 4 * k + 4] += np.array([16, t[k::2].sum(), 2 * t[k::2].sum(), 8], np.float32)
    pairs = g[8:]
    after[8:] = pairs + np.stack([t, -t], 1).reshape(-1)
    return [g, np.zeros(64, np.float32)], {0: after, 1: pairs}


def strong_rows() -> Case:
    g, t = WORDS[:256].view(np.uint64).copy(), T.astype(np.uint64)
    after = g.copy()
    after[:64] = np.stack([g[64:96], t], 1).reshape(-1)
    return [g, np.zeros(64, np.uint64)], {0: after, 1: np.stack([g[96:], t + np.uint64(9)], 1).reshape(-1)}


def proxies() -> Case:
    return [WORDS[:32], np.zeros(32, np.uint32)], {1: WORDS[T ^ 9]}


HOPPER = {made.__name__: made for made in (vector_sums, strong_rows, proxies)}
SINCE = dict.fromkeys(HOPPER, ARCHITECTURES[4:])


@pytest.mark.every(3)
@pytest.mark.parametrize(
    ("name", "there"),
    [
        pytest.param(name, arch, marks=[pytest.mark.long] * (arch != "sm_90"))
        for name in [*CASES, *HOPPER]
        for arch in SINCE.get(name, ARCHITECTURES)
    ],
)
def test_leaves_what_numpy_says(name: str, there: str) -> None:
    arguments, expected = (CASES | HOPPER)[name]()
    arrays = [x.copy() if isinstance(x, np.ndarray) else np.int32(x) if isinstance(x, int) else x for x in arguments]
    block = 64 if name == "fences" else 32
    kernel("spellings.cu", name.split()[0], there).launch(1, block, *arrays, threads=1)
    for place, wanted in expected.items():
        np.testing.assert_array_equal(arrays[place], wanted, err_msg=f"argument {place}")
