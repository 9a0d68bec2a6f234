"""What the rungs of the visitors' ladders (launches.toml) have to leave, in numpy.

wanted = TRUTHS["order"](rung, arguments)     # {1: array}, by place; arguments as they were before
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from helpers.references import Array, Wanted

STAR = (-2.847222, 1.6, -0.2, 0.025396825, -0.0017857143)


def norm_backwards(rung: str, given: Sequence[Any]) -> Wanted:
    dy, x, weight, mean, rstd, _ = (part.astype(np.float64) for part in given)
    gradient = dy.reshape(-1, 1024) * weight
    hat = (x.reshape(-1, 1024) - mean[:, None]) * rstd[:, None]
    by = (gradient * hat).mean(axis=1, keepdims=True)
    return {5: rstd[:, None] * (gradient - gradient.mean(axis=1, keepdims=True) - hat * by)}


def four_bits(rung: str, given: Sequence[Any]) -> Wanted:
    words, scales, x, _, n = given
    weights = (words[:, None] >> np.arange(0, 32, 4, dtype=np.uint32) & 15).astype(np.float64) - 8
    scaled = weights.reshape(-1, 32) * scales.astype(np.float64)[:, None]
    return {3: scaled.reshape(-1, n) @ x.astype(np.float64)}


def decode(rung: str, given: Sequence[Any]) -> Wanted:
    q, keys, values, _, n = given
    query = q.astype(np.float64).reshape(-1, 64)
    keys, values = (part.astype(np.float64).reshape(-1, n, 64) for part in (keys, values))
    scores = np.einsum("hc,hkc->hk", query, keys) / 8
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    return {3: np.einsum("hk,hkc->hc", weights / weights.sum(axis=1, keepdims=True), values)}


def order(rung: str, given: Sequence[Any]) -> Wanted:
    return {1: np.sort(given[0].reshape(-1, 256), axis=1)}


def star(rung: str, given: Sequence[Any]) -> Wanted:
    a, b, w = given
    cube, found = a.astype(np.float64).reshape(w, w, w), b.astype(np.float64).reshape(w, w, w)
    inner = (slice(4, -4),) * 3
    sums = 3 * STAR[0] * cube
    for axis in range(3):
        for far in range(1, 5):
            sums += STAR[far] * (np.roll(cube, far, axis) + np.roll(cube, -far, axis))
    found[inner] = sums[inner]
    return {1: found}


def fourier(rung: str, given: Sequence[Any]) -> Wanted:
    rows = given[0].view(np.complex64).reshape(-1, 512)
    return {1: np.fft.fft(rows.astype(np.complex128), axis=1).view(np.float64)}


def revenue(rung: str, given: Sequence[Any]) -> Wanted:
    day, discount, quantity, price = given[:4]
    chosen = (day >= 730) & (day < 1095) & (discount >= 5) & (discount <= 7) & (quantity < 24)
    return {4: (price[chosen].astype(np.uint64) * discount[chosen]).sum(dtype=np.uint64, keepdims=True)}


def bits_apart(rung: str, given: Sequence[Any]) -> Wanted:
    asked, known = (part.reshape(-1, 8) for part in given[:2])
    apart = np.zeros((len(asked), len(known)), np.int32)
    for word in range(8):
        apart += np.bitwise_count(asked[:, word, None] ^ known[:, word])
    nearest: Array = apart.argmin(axis=1)
    return {2: np.stack([nearest.astype(np.int32), apart[np.arange(len(asked)), nearest]], axis=1)}


TRUTHS: Mapping[str, Callable[[str, Sequence[Any]], Wanted]] = {
    truth.__name__.replace("_", " "): truth
    for truth in (norm_backwards, four_bits, decode, order, star, fourier, revenue, bits_apart)
}
