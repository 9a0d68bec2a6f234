"""What the rungs of the travellers' ladders (launches.toml) have to leave, in numpy.

wanted = TRUTHS["votes for lines"](rung, arguments)     # {2: array}, by place; arguments as they were before
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from helpers.references import Array, Wanted


def edges(rung: str, given: Sequence[Any]) -> Wanted:
    other, degree, here, there, _, n = given
    score = (here[:, None] + there[other.reshape(n, 64)]).astype(np.float64)
    score = np.where(score > 0, score, 0.2 * score)
    weight = np.exp(score) * (np.arange(64) < degree[:, None])
    return {4: weight / np.maximum(weight.sum(axis=1, keepdims=True), 1e-30)}


def sparse_by_dense(rung: str, given: Sequence[Any]) -> Wanted:
    column, value, count, x, _, n = given
    entries = value.astype(np.float64).reshape(n, 32) * (np.arange(32) < count[:, None])
    dense = x.astype(np.float64).reshape(n, 64)
    return {4: sum(entries[:, k, None] * dense[column.reshape(n, 32)[:, k]] for k in range(32))}


def shortest_ways(rung: str, given: Sequence[Any]) -> Wanted:
    n = given[3]
    a, b, least = (part.reshape(n, n) for part in given[:3])
    for k in range(n):
        least = np.minimum(least, a[:, k, None] + b[k])
    return {2: least}


def decimation(rung: str, given: Sequence[Any]) -> Wanted:
    x, weights, _, n = given
    pairs = x.astype(np.float64).reshape(-1, 2)
    return {2: sum(weights[k] * pairs[k : k + 8 * n : 8] for k in range(64))}


def recurrence(rung: str, given: Sequence[Any]) -> Wanted:
    a, b = (part.astype(np.float64).reshape(-1, 1024) for part in given[:2])
    found = b.copy()
    for k in range(1, 1024):
        found[:, k] += a[:, k] * found[:, k - 1]
    return {2: found}


def votes_for_lines(rung: str, given: Sequence[Any]) -> Wanted:
    points, directions = (part.astype(np.int32).reshape(-1, 2) for part in given[:2])
    far = (points @ directions.T >> 15) + 256
    votes = np.bincount((far + 520 * np.arange(180)).reshape(-1), minlength=180 * 520)
    return {2: votes.astype(np.uint32)}


def bones(rung: str, given: Sequence[Any]) -> Wanted:
    bone, who, by, point, look = (part.astype(np.float64) for part in given[:5])
    each = bone.reshape(64, 3, 4)[who.astype(int).reshape(-1, 4)]
    mixed = np.einsum("nk,nkrc->nrc", by.reshape(-1, 4), each)
    turned = [np.einsum("nrc,nc->nr", mixed[:, :, :3], part.reshape(-1, 3)) for part in (point, look)]
    return {5: turned[0] + mixed[:, :, 3], 6: turned[1]}


def numbers_of_seven_bits(rung: str, given: Sequence[Any]) -> Wanted:
    pieces = given[0].reshape(-1, 128)
    found: Array = np.zeros(pieces.shape, np.uint32)
    value, count = np.zeros(len(pieces), np.uint32), np.zeros(len(pieces), np.int32)
    for byte in pieces.T:
        value = value << 7 | (byte & 127)
        ends = np.flatnonzero(byte < 128)
        found[ends, count[ends]] = value[ends]
        count[ends] += 1
        value[ends] = 0
    return {1: found, 2: count}


TRUTHS: Mapping[str, Callable[[str, Sequence[Any]], Wanted]] = {
    truth.__name__.replace("_", " "): truth
    for truth in (
        edges, sparse_by_dense, shortest_ways, decimation, recurrence, votes_for_lines, bones, numbers_of_seven_bits
    )
}  # fmt: skip
