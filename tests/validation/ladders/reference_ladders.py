"""What the rungs of each ladder (launches.toml) have to leave, in numpy.

wanted = TRUTHS["blur"](rung, arguments)     # {2: array}, by place; arguments as they were before
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Wanted = dict[int, Array]
BLUR = np.array([1, 8, 28, 56, 70, 56, 28, 8, 1])
OFFSET = np.uint32(2166136261)  # FNV-1a, 32 bits
FNV_PRIME = np.uint32(16777619)


def column_sums(rung: str, given: Sequence[Any]) -> Wanted:
    x, _, w, h = given
    return {1: x.reshape(h, w).sum(axis=0, dtype=np.int32)}


def small_products(rung: str, given: Sequence[Any]) -> Wanted:
    a, b = (x.reshape(-1, 16, 16).astype(np.float64) for x in given[:2])
    return {2: (a @ b).reshape(-1)}


def matrix_times_vector(rung: str, given: Sequence[Any]) -> Wanted:
    a, x, _, rows, n = given
    return {2: a.reshape(rows, n).astype(np.float64) @ x}


def product(rung: str, given: Sequence[Any]) -> Wanted:
    a, b, _, n = given
    return {2: (a.reshape(n, n).astype(np.float64) @ b.reshape(n, n).astype(np.float64)).reshape(-1)}


def shortest_ways(rung: str, given: Sequence[Any]) -> Wanted:
    a, b, _, n = given
    ways = ((a.reshape(n, n)[i][:, None] + b.reshape(n, n)).min(axis=0) for i in range(n))
    return {2: np.concatenate(list(ways))}


def blur(rung: str, given: Sequence[Any]) -> Wanted:
    x, _, w, h = given
    wide = np.pad(x.reshape(h, w).astype(np.int64), 4, mode="edge")
    lines = sum(weight * wide[:, k : k + w] for k, weight in enumerate(BLUR))
    both = sum(weight * lines[k : k + h] for k, weight in enumerate(BLUR))
    return {1: (both + (1 << 15) >> 16).astype(np.uint8).reshape(-1)}


def colour_planes(rung: str, given: Sequence[Any]) -> Wanted:
    r, g, b = given[0].reshape(-1, 3).T.astype(np.int64)
    planes = (66 * r + 129 * g + 25 * b + 4224, 112 * b - 38 * r - 74 * g + 32896, 112 * r - 94 * g - 18 * b + 32896)
    return {place + 1: (plane >> 8).astype(np.uint8) for place, plane in enumerate(planes)}


def heat(rung: str, given: Sequence[Any]) -> Wanted:
    x, _, w = given
    cube = x.reshape(w, w, w).astype(np.float64)
    inner = slice(1, -1)
    around = sum(np.roll(cube, step, axis)[inner, inner, inner] for axis in range(3) for step in (1, -1))
    wanted = cube.copy()
    wanted[inner, inner, inner] = 0.4 * cube[inner, inner, inner] + 0.1 * around
    return {1: wanted.reshape(-1)}


def tone_curve(rung: str, given: Sequence[Any]) -> Wanted:
    v, knots = given[0].astype(np.int64), given[2].astype(np.int64)
    left, part = v >> 11, v & 2047
    return {1: (knots[left] * (2048 - part) + knots[left + 1] * part >> 11).astype(np.uint16)}


def running_sums(rung: str, given: Sequence[Any]) -> Wanted:
    return {1: given[0].reshape(-1, 1024).cumsum(axis=1, dtype=np.int32).reshape(-1)}


def sums_by_group(rung: str, given: Sequence[Any]) -> Wanted:
    a, b, value = (x.astype(np.int64) for x in given[:3])
    return {3: np.bincount(a * b >> 8, value, 256).astype(np.int32)}


def fetch_by_place(rung: str, given: Sequence[Any]) -> Wanted:
    x, place, _, n = given
    around = {"fetch_region": 4095, "fetch_line": 31}.get(rung, int(n) - 1)
    return {2: x[np.arange(n) & ~around | place & around]}


def records(rung: str, given: Sequence[Any]) -> Wanted:
    shape, axis = {"records_arrays": ((12, -1), 0), "records_groups": ((-1, 12, 32), 1)}.get(rung, ((-1, 12), 1))
    wanted = given[0].reshape(shape).copy()
    first, second, third = (wanted.take(word, axis) for word in range(3))
    np.moveaxis(wanted, axis, 0)[1] = np.where(first & 1, 3 * second + third, second)
    return {0: wanted.reshape(-1)}


def sparse_product(rung: str, given: Sequence[Any]) -> Wanted:
    length, column, value, x, _, rows = given
    count = 1 + (length.astype(np.int64) ** 2 >> 4)
    taken = np.where(np.arange(16) < count[:, None], value.reshape(rows, 16), 0)
    return {4: np.einsum("rk,rkj->rj", taken, x.reshape(-1, 8)[column.reshape(rows, 16)]).reshape(-1)}


def hash_of_lines(rung: str, given: Sequence[Any]) -> Wanted:
    letters = given[0].reshape(-1, 64).T.astype(np.uint32)
    start = np.full(letters.shape[1], OFFSET)
    return {1: reduce(lambda hashes, letter: (hashes ^ letter) * FNV_PRIME, letters, start)}


def filtered(rung: str, given: Sequence[Any]) -> Wanted:
    x, taps = (a.astype(np.int64) for a in given[:2])
    return {2: np.correlate(x, taps)[: given[3]].astype(np.int32)}


def random_walk(rung: str, given: Sequence[Any]) -> Wanted:
    state, _, steps, n = given
    s, place = state | np.uint32(1), np.zeros((2, n), np.int32)
    farthest = np.zeros(n, np.int32)
    for _ in range(steps):
        s = s ^ s << np.uint32(13)
        s = s ^ s >> np.uint32(17)
        s = s ^ s << np.uint32(5)
        axis = 1 - (s >> np.uint32(30) & np.uint32(1)).astype(np.int32)
        place[axis, np.arange(n)] += 1 - 2 * (s >> np.uint32(31)).astype(np.int32)
        farthest = np.maximum(farthest, np.abs(place).sum(axis=0))
    return {1: farthest.astype(np.int32)}


def squares_modulo_a_prime(rung: str, given: Sequence[Any]) -> Wanted:
    x, _, prime, rounds, _ = given
    squares = reduce(lambda v, _: v * v % np.uint64(prime), range(rounds), x.astype(np.uint64))
    return {1: squares.astype(np.uint32)}


def polynomial(rung: str, given: Sequence[Any]) -> Wanted:
    return {2: np.polynomial.polynomial.polyval(given[0], given[1])}


TRUTHS: Mapping[str, Callable[[str, Sequence[Any]], Wanted]] = {
    truth.__name__.replace("_", " "): truth
    for truth in (
        column_sums, small_products, matrix_times_vector, shortest_ways, blur, colour_planes, heat, tone_curve,
        running_sums, sums_by_group, fetch_by_place, records, sparse_product, hash_of_lines, random_walk,
        squares_modulo_a_prime, polynomial,
    )
} | {"product on tensor cores": product, "filter": filtered}  # fmt: skip
"""By lesson."""
