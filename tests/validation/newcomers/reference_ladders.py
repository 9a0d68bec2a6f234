"""What the rungs of the newcomers' ladders (launches.toml) have to leave, in numpy.

wanted = TRUTHS["segments"](rung, arguments)     # {2: array}, by place; arguments as they were before
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from helpers.references import Array, Wanted


def rows_by_rows(rung: str, given: Sequence[Any]) -> Wanted:
    a = given[0].astype(np.float64).reshape(-1, given[3])
    return {1: a @ a.T}


def channels_together(rung: str, given: Sequence[Any]) -> Wanted:
    pictures = given[0].view(np.uint16).reshape(-1, 96, given[2])
    return {1: pictures.transpose(0, 2, 1).copy().view(np.float16)}


def batch_norm(rung: str, given: Sequence[Any]) -> Wanted:
    plane = given[7] if rung == "batch_norm_plain" else given[6]
    mean, variance, weight, bias = (part.astype(np.float64)[:, None] for part in given[2:6])
    x = given[0].reshape(-1, len(mean), plane)
    return {1: np.maximum((x - mean) / np.sqrt(variance + 1e-5) * weight + bias, 0)}


def layer_of_filters(rung: str, given: Sequence[Any]) -> Wanted:
    x, weight, bias, _, w, h = given
    filters = weight.astype(np.float64).reshape(32, 16, 3, 3)
    wide = np.pad(x.astype(np.float64).reshape(-1, 16, h, w), ((0, 0), (0, 0), (1, 1), (1, 1)))
    sums = sum(
        np.einsum("oc,nchw->nohw", filters[:, :, b, a], wide[:, :, b : b + h, a : a + w])
        for b in range(3)
        for a in range(3)
    )
    return {3: np.maximum(sums + bias[:, None, None], 0)}


def segments(rung: str, given: Sequence[Any]) -> Wanted:
    x, first, *_, n = given
    starts = 40 * np.arange(n + 1) + first
    parts = [x[a:b] for a, b in pairwise(starts)]
    return {
        2: np.array([part.sum() for part in parts], np.int32),
        3: np.array([part.max(initial=0) for part in parts], np.int32),
    }


def colours_counted(rung: str, given: Sequence[Any]) -> Wanted:
    pixels = given[0].reshape(-1, 4)
    return {1: np.concatenate([np.bincount(pixels[:, c], minlength=256) for c in range(3)]).astype(np.uint32)}


def steps_to_one(rung: str, given: Sequence[Any]) -> Wanted:
    start, steps, n = given
    v: Array = np.arange(start, start + n, dtype=np.uint64)
    found = np.zeros_like(steps)
    while (left := v > 1).any():
        found += left
        v = np.where(left, np.where(v % 2 == 1, 3 * v + 1, v // 2), v)
    return {1: found}


def spelling(rung: str, given: Sequence[Any]) -> Wanted:
    words, length, asked, has, _, n = given
    letters = words.reshape(n, 24)
    row = np.tile(np.arange(has + 1), (n, 1))
    for i in range(24):
        change = row[:, :-1] + (letters[:, i, None] != asked[:has])
        next_row = np.full_like(row, i + 1)
        for k in range(has):
            next_row[:, k + 1] = np.minimum(np.minimum(next_row[:, k], row[:, k + 1]) + 1, change[:, k])
        row = np.where((i < length)[:, None], next_row, row)
    return {4: row[:, has].astype(np.uint8)}


TRUTHS: Mapping[str, Callable[[str, Sequence[Any]], Wanted]] = {
    truth.__name__.replace("_", " "): truth
    for truth in (
        rows_by_rows, channels_together, batch_norm, layer_of_filters, segments, colours_counted, steps_to_one, spelling
    )
}  # fmt: skip
