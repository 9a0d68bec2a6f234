"""What the rungs of the wanderers' ladders (launches.toml) have to leave, in numpy.

wanted = TRUTHS["beams"](rung, arguments)     # {2: array}, by place; arguments as they were before
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from helpers.references import Array, Wanted


def coded_distances(rung: str, given: Sequence[Any]) -> Wanted:
    codes, table, *_ = given
    return {2: table.astype(np.float64).reshape(16, 256)[np.arange(16), codes.reshape(-1, 16)].sum(axis=1)}


def degrees_of_nodes(rung: str, given: Sequence[Any]) -> Wanted:
    edges, nodes = given[0].reshape(-1, 2), len(given[1])
    leave, come = (np.bincount(edges[:, side], minlength=nodes).astype(np.int32) for side in (0, 1))
    return {1: come, 2: leave}


def bits_turned(rung: str, given: Sequence[Any]) -> Wanted:
    squares = np.unpackbits(given[0].view(np.uint8), bitorder="little").reshape(-1, 32, 32)
    return {1: np.packbits(squares.transpose(0, 2, 1).copy(), bitorder="little").view(np.uint32)}


def words_found(rung: str, given: Sequence[Any]) -> Wanted:
    text, first, word, letters, _, n = given
    starts = 32 * np.arange(n + 1) + first
    wanted, everything = word[:letters].tobytes(), text.tobytes()
    return {4: np.array([everything[a:b].find(wanted) for a, b in pairwise(starts)], np.int16)}


def packed_triangle(rung: str, given: Sequence[Any]) -> Wanted:
    packed, x, _, n = given
    triangle = np.zeros((n, n))
    triangle[np.tril_indices(n)] = packed
    return {2: triangle @ x}


def beams(rung: str, given: Sequence[Any]) -> Wanted:
    weights, signals = (part.astype(np.float64).view(np.complex128) for part in given[:2])
    return {2: np.abs(weights.reshape(64, 64) @ signals.reshape(64, -1)) ** 2}


def small_network(rung: str, given: Sequence[Any]) -> Wanted:
    weights: Array = given[0].astype(np.float64)
    x: Array = given[1].astype(np.float64).reshape(-1, 16)
    for ins, outs in ((16, 32), (32, 32), (32, 3)):
        matrix, more, weights = np.split(weights, [ins * outs, ins * outs + outs])
        x = x @ matrix.reshape(outs, ins).T + more
        x = np.maximum(x, 0) if outs == 32 else 1 / (1 + np.exp(-x))
    return {2: x}


TRUTHS: Mapping[str, Callable[[str, Sequence[Any]], Wanted]] = {
    truth.__name__.replace("_", " "): truth
    for truth in (
        coded_distances, degrees_of_nodes, bits_turned, words_found, packed_triangle, beams, small_network
    )
}  # fmt: skip
