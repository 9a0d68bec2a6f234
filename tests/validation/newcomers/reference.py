"""What newcomers (launches.toml) have to leave, in numpy; rungs in
reference_ladders.py, fields, particles and light in reference_fields.py.

    wanted = TRUTHS["corners"](arguments)     # {1: array}, by place; arguments as they were before
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from helpers.references import Array, Wanted, floats
from validation.newcomers import reference_fields


def column_parts(given: Sequence[Any]) -> Wanted:
    m, x, y, k, n = given
    terms = floats(m).astype(np.float64).reshape(k, n) * x[:, None]
    parts = len(y) // n
    each = -(-k // parts)
    return {2: np.stack([terms[part * each : (part + 1) * each].sum(axis=0) for part in range(parts)])}


def sliced_rows(given: Sequence[Any]) -> Wanted:
    value, column, width, x, *_ = given
    terms = (value * x[column]).reshape(-1, 20, 32) * (np.arange(20)[:, None] < width[:, None, None])
    return {4: terms.sum(axis=1)}


def factors_24(given: Sequence[Any]) -> Wanted:
    m = given[0].astype(np.float64).reshape(-1, 24, 24)
    every = np.arange(len(m))
    pivots = np.zeros((len(m), 24), np.uint8)
    for step in range(24):
        chosen = step + np.abs(m[:, step:, step]).argmax(axis=1)
        pivots[:, step] = chosen
        m[every, step], m[every, chosen] = m[every, chosen], m[every, step]
        m[:, step + 1 :, step] /= m[:, step, step, None]
        m[:, step + 1 :, step + 1 :] -= m[:, step + 1 :, step, None] * m[:, step, None, step + 1 :]
    return {1: pivots}


def modulated_norm(given: Sequence[Any]) -> Wanted:
    x, scale, shift, _, tokens, _ = given
    rows = floats(x).astype(np.float64).reshape(-1, tokens, 768)
    by, more = (floats(part).reshape(-1, 1, 768) for part in (scale, shift))
    normal = (rows - rows.mean(axis=2, keepdims=True)) / np.sqrt(rows.var(axis=2, keepdims=True) + 1e-6)
    return {3: normal * (1 + by) + more}


def causal_tiles(given: Sequence[Any]) -> Wanted:
    q, k, v = (part.astype(np.float64).reshape(-1, given[4], 64) for part in given[:3])
    power = np.tril(np.exp(q @ k.transpose(0, 2, 1) / 8))
    return {3: power / power.sum(axis=2, keepdims=True) @ v}


def five_bits(given: Sequence[Any]) -> Wanted:
    blocks = given[0].reshape(-1, 22)
    factor = np.ascontiguousarray(blocks[:, :2]).view(np.int16).astype(np.float64) / 4096
    high = np.unpackbits(blocks[:, 2:6], axis=1, bitorder="little").astype(int)
    low = np.concatenate([blocks[:, 6:] & 15, blocks[:, 6:] >> 4], axis=1)
    return {1: (factor * (low + 16 * high - 16)).astype(np.float16)}


def to_slots(given: Sequence[Any]) -> Wanted:
    key, value, keys, values, slot = given
    tokens = len(key) // 512
    page, place = slot[:tokens] // 16, slot[:tokens] % 16
    of_keys, of_values = keys.reshape(-1, 8, 8, 16, 8).copy(), values.reshape(-1, 8, 64, 16).copy()
    of_keys[page, :, :, place] = key.reshape(tokens, 8, 8, 8)
    of_values[page, :, :, place] = value.reshape(tokens, 8, 64)
    return {2: of_keys, 3: of_values}


def radix_pieces(given: Sequence[Any]) -> Wanted:
    return {0: np.sort(given[0].reshape(-1, 1024), axis=1)}


def unpack_pieces(given: Sequence[Any]) -> Wanted:
    found = []
    for piece in given[0].reshape(-1, 528).tolist():
        made: list[int] = []
        at = 0
        while len(made) < 512:
            plain, again = piece[at] >> 5, (piece[at] & 31) + 3
            made += piece[at + 1 : at + 1 + plain]
            at += plain + 2
            back = min(piece[at - 1] + 1, len(made), 512)
            for _ in range(again):
                made.append(made[-back] if back else 0)
        found.append(made[:512])
    return {1: np.array(found, np.uint8)}


def accepted_lines(given: Sequence[Any]) -> Wanted:
    text, length, kind, after, accepts, _, n = given
    table = after.reshape(32, 16).copy()
    table[0] = 0
    state: Array = np.ones(n, int)
    for at, letters in enumerate(text.reshape(n, 64).T):
        state = np.where(at < length, table[state, kind[letters]], state)
    words = np.zeros(-(-n // 32) * 32, bool)
    words[:n] = accepts >> state & 1
    return {5: np.packbits(words, bitorder="little").view(np.uint32)}


def corners(given: Sequence[Any]) -> Wanted:
    x, _, w, h = given
    wide = np.pad(x.astype(np.int64).reshape(h, w), 3, mode="edge")
    down_sum, across_sum = wide[:-2] + 2 * wide[1:-1] + wide[2:], wide[:, :-2] + 2 * wide[:, 1:-1] + wide[:, 2:]
    across, down = down_sum[:, 2:] - down_sum[:, :-2], across_sum[2:] - across_sum[:-2]

    def over_window(v: Array) -> Array:
        return sum(v[b : b + h, a : a + w] for b in range(5) for a in range(5)) * 1e-6  # type: ignore[return-value]

    p, q, r = over_window(across**2), over_window(across * down), over_window(down**2)
    return {1: p * r - q * q - 0.04 * (p + r) ** 2}


def row_sums(given: Sequence[Any]) -> Wanted:
    x = given[0].astype(np.uint64).reshape(-1, 4 * given[3])
    return {1: x.cumsum(axis=1).astype(np.uint32), 2: (x**2).cumsum(axis=1)}


def narrower(given: Sequence[Any]) -> Wanted:
    x, _, w, to, h = given
    centre = (np.arange(to) + 0.5) * (w / to) - 0.5
    off = (np.arange(w) - centre[:, None]) / (w / to)
    weight = np.where(np.abs(off) <= 3, np.sinc(off) * np.sinc(off / 3), 0)
    weight /= weight.sum(axis=1, keepdims=True)
    return {1: np.einsum("ck,hkp->phc", weight, x.astype(np.float64).reshape(h, w, 3))}


def census_match(given: Sequence[Any]) -> Wanted:
    left, right, *_, w = given
    here, there = (part.reshape(-1, w) for part in (left, right))
    columns = np.arange(w)
    differ = np.zeros((49, *here.shape), int)
    for d in range(49):
        for k in range(-3, 4):
            codes = here[:, np.clip(columns + k, 0, w - 1)] ^ there[:, np.clip(columns + k - d, 0, w - 1)]
            differ[d] += np.bitwise_count(codes)
    return {2: differ.argmin(axis=0).astype(np.uint8), 3: differ.min(axis=0).astype(np.uint8)}


def wavelet_rows(given: Sequence[Any]) -> Wanted:
    rows = given[0].astype(np.int32).reshape(-1, given[1])
    size = rows.shape[1]
    for _ in range(3):
        even, odd = rows[:, :size:2].copy(), rows[:, 1:size:2].copy()
        odd -= (even + np.concatenate([even[:, 1:], even[:, -1:]], axis=1)) >> 1
        even += (np.concatenate([odd[:, :1], odd[:, :-1]], axis=1) + odd + 2) >> 2
        rows[:, : size // 2], rows[:, size // 2 : size] = even, odd
        size //= 2
    return {0: rows.astype(np.int16)}


def patches(given: Sequence[Any]) -> Wanted:
    t = np.arange(9) / 8
    value = np.stack([(1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t**2 * (1 - t), t**3])
    slope = np.stack([-3 * (1 - t) ** 2, 3 * (1 - t) * (1 - 3 * t), 3 * t * (2 - 3 * t), 3 * t**2])
    corner = given[0].astype(np.float64).reshape(-1, 4, 4, 3)

    def at_places(across: Array, down: Array) -> Array:
        found: Array = np.einsum("pjic,ix,jy->pyxc", corner, across, down)
        return found

    return {1: at_places(value, value), 2: np.cross(at_places(slope, value), at_places(value, slope))}


TRUTHS: Mapping[str, Callable[[Sequence[Any]], Wanted]] = {
    truth.__name__: truth
    for truth in (
        column_parts, sliced_rows, factors_24, modulated_norm, causal_tiles, five_bits, to_slots, radix_pieces,
        unpack_pieces, accepted_lines, corners, row_sums, narrower, census_match, wavelet_rows, patches,
    )
} | reference_fields.TRUTHS  # fmt: skip
