"""What the rungs of the guests' ladders (launches.toml) have to leave, in numpy.

wanted = TRUTHS["median"](rung, arguments)     # {1: array}, by place; arguments as they were before
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from helpers.references import Array, Wanted, floats


def top_four(rung: str, given: Sequence[Any]) -> Wanted:
    rows = given[0].reshape(-1, 256)
    places = np.argsort(-rows, axis=1, kind="stable")[:, :4]
    return {1: np.take_along_axis(rows, places, axis=1), 2: places.astype(np.int32)}


def quantise(rung: str, given: Sequence[Any]) -> Wanted:
    rows = floats(given[0]).reshape(-1, 1024)
    most = np.abs(rows).max(axis=1, keepdims=True)
    return {1: np.rint(rows * (np.float32(127) / most)).astype(np.int8), 2: most / np.float32(127)}


def hadamard(rung: str, given: Sequence[Any]) -> Wanted:
    places = np.arange(256)
    signs = 1 - 2 * (np.bitwise_count(places & places[:, None]) & 1).astype(np.float64)
    return {1: given[0].reshape(-1, 256) @ signs}


def median(rung: str, given: Sequence[Any]) -> Wanted:
    x, _, w, h = given
    wide = np.pad(x.reshape(h, w), 1, mode="edge")
    return {1: np.median([wide[b : b + h, a : a + w] for b in range(3) for a in range(3)], axis=0).astype(np.uint8)}


def rays(rung: str, given: Sequence[Any]) -> Wanted:
    """In float32, in the kernels' order: whether a ray that touches an edge meets the cube is a matter of rounding."""
    start, along, cubes = (x.reshape(-1, 4) for x in given[:3])
    one = np.float32(1)
    nearest, found = np.full(len(start), np.float32(1e30)), np.full(len(start), -1, np.int32)
    inverse = one / along[:, :3]
    for k, (*centre, width) in enumerate(cubes):
        half = np.abs(width) / np.float32(8)
        low = (np.array(centre) - half - start[:, :3]) * inverse
        high = (np.array(centre) + half - start[:, :3]) * inverse
        enter, leave = np.maximum(np.minimum(low, high).max(axis=1), 0), np.maximum(low, high).min(axis=1)
        meets = (enter <= leave) & (enter < nearest)
        nearest[meets], found[meets] = enter[meets], k
    return {3: found}


def lines(rung: str, given: Sequence[Any]) -> Wanted:
    turn: Callable[[Array], Array] = (lambda x: x.reshape(32, -1)) if rung == "lines_across" else rows_down
    a, b, c, d = (turn(x) for x in given[:4])
    slope, rest = c[0] / b[0], d[0] / b[0]
    slopes, rests = [slope], [rest]
    for k in range(1, 32):
        below = b[k] - a[k] * slope
        slope, rest = c[k] / below, (d[k] - a[k] * rest) / below
        slopes.append(slope)
        rests.append(rest)
    found = [rests[31]]
    for k in range(30, -1, -1):
        found.append(rests[k] - slopes[k] * found[-1])
    unknowns = np.stack(found[::-1])
    return {4: unknowns if rung == "lines_across" else unknowns.T}


def rows_down(x: Array) -> Array:
    return x.reshape(-1, 32).T


def unpack(rung: str, given: Sequence[Any]) -> Wanted:
    x, _, n = given
    bits = np.unpackbits(x.view(np.uint8), bitorder="little")[: 11 * n].reshape(n, 11)
    return {1: (bits.astype(np.uint16) << np.arange(11, dtype=np.uint16)).sum(axis=1, dtype=np.uint16)}


def product_of_bytes(rung: str, given: Sequence[Any]) -> Wanted:
    a, b, _, n = given
    return {2: a.reshape(n, n).astype(np.int32) @ b.reshape(n, n).astype(np.int32).T}


TRUTHS: Mapping[str, Callable[[str, Sequence[Any]], Wanted]] = {
    truth.__name__.replace("_", " "): truth
    for truth in (top_four, quantise, hadamard, median, rays, lines, unpack, product_of_bytes)
}
