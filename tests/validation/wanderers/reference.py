"""What wanderers (launches.toml) have to leave, in numpy; rungs in
reference_ladders.py, pictures and fields in reference_fields.py.

    wanted = TRUTHS["routes"](arguments)     # {5: array}, by place; arguments as they were before
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from helpers.references import Array, Wanted, floats
from validation.wanderers import reference_fields

FIELD = 2**256 - 2**32 - 977


def nucleus_rows(given: Sequence[Any]) -> Wanted:
    scores, _, counts, share, n = given
    power = np.exp(scores.astype(np.float64).reshape(-1, n))
    power /= power.sum(axis=1, keepdims=True)
    order = np.sort(power, axis=1)[:, ::-1]
    many = 1 + (order.cumsum(axis=1) < share).sum(axis=1)
    kept = np.where(power >= order[np.arange(len(order)), many - 1, None], power, 0)
    return {1: kept / kept.sum(axis=1, keepdims=True), 2: many.astype(counts.dtype)}


def selective_scan(given: Sequence[Any]) -> Wanted:
    x, delta, a, b, c, skip, _, steps, channels = given
    taken, passed = floats(x).reshape(-1, steps, channels), delta.astype(np.float64).reshape(-1, steps, channels)
    enters, shown = (part.astype(np.float64).reshape(-1, steps, 1, 16) for part in (b, c))
    h: Array = np.zeros((len(taken), channels, 16))
    found = np.zeros(taken.shape)
    for step in range(steps):
        d = passed[:, step, :, None]
        h = np.exp(d * a.reshape(channels, 16)) * h + d * taken[:, step, :, None] * enters[:, step]
        found[:, step] = (h * shown[:, step]).sum(axis=2) + skip * taken[:, step]
    return {6: found}


def two_bit_rows(given: Sequence[Any]) -> Wanted:
    words, x, scale, _, n, rows = given
    bits = np.unpackbits(words.view(np.uint8).reshape(rows, n // 16, 4), axis=2, bitorder="little")
    pairs = bits.reshape(rows, n // 16, 4, 4, 2).astype(np.int64) @ [1, 2] - 1  # of each byte four
    return {3: scale.astype(np.float64) * (pairs.reshape(rows, n) @ x.astype(np.int64))}


def winograd_tiles(given: Sequence[Any]) -> Wanted:
    x, _, w, h = given
    across, down = -(-w // 2), -(-h // 2)
    wide = np.pad(x.astype(np.float64).reshape(-1, h, w), ((0, 0), (1, 3), (1, 3)))
    change = np.array([[1, 0, -1, 0], [0, 1, 1, 0], [0, -1, 1, 0], [0, 1, 0, -1]])
    tiles = np.stack([[wide[:, r : r + 2 * down : 2, c : c + 2 * across : 2] for c in range(4)] for r in range(4)])
    return {1: np.einsum("ar,bc,rcnyx->abnyx", change, change, tiles)}


def boxes_decoded(given: Sequence[Any]) -> Wanted:
    said, least, *_, n = given
    rows = said.astype(np.float64).reshape(n, 85)
    seen = 1 / (1 + np.exp(-rows[:, 4]))
    kinds, best = rows[:, 5:].argmax(axis=1), rows[:, 5:].max(axis=1)
    half = np.exp(rows[:, 2:4]) / 2
    boxes = np.concatenate([rows[:, :2] - half, rows[:, :2] + half], axis=1)
    there = seen >= least
    return {
        2: np.where(there[:, None], boxes, 0),
        3: np.where(there, seen / (1 + np.exp(-best)), 0),
        4: np.where(there, kinds, -1).astype(np.int8),
    }


def padded_rows(given: Sequence[Any]) -> Wanted:
    tokens, first, _, _, n = given
    starts = 20 * np.arange(n + 1) + first
    places = np.arange(40)
    there = places < np.diff(starts)[:, None]
    from_where = np.where(there, starts[:-1, None] + places, 0)
    padded = tokens.reshape(-1, 256)[from_where] * there[..., None].astype(np.uint16)
    return {2: padded, 3: there.astype(np.uint8)}


def rans_warps(given: Sequence[Any]) -> Wanted:
    words, counts, _, steps, n = given
    upto = np.concatenate([[0], counts.astype(np.int64).cumsum()])
    start = upto * (4096 - 256) // upto[-1] + np.arange(257)
    width = np.diff(start)
    letter = np.repeat(np.arange(256), width)
    streams = words.reshape(n, -1)
    state = streams[:, :64].copy().view(np.uint32).astype(np.int64) | 1 << 16
    at = np.full((n, 1), 64)
    found = np.zeros((n, steps, 32), np.uint8)
    for step in range(steps):
        slot = state % 4096
        found[:, step] = mine = letter[slot]
        state = width[mine] * (state // 4096) + slot - start[mine]
        low = state < 1 << 16
        place = at + low.cumsum(axis=1) - 1
        more = np.take_along_axis(streams, np.where(low, place, 0), axis=1)
        state = np.where(low, state << 16 | more, state)
        at = at + low.sum(axis=1, keepdims=True)
    return {2: found}


def routes(given: Sequence[Any]) -> Wanted:
    addresses, first, second, third, tables, *_ = given
    gate = first[addresses >> 16].astype(int)
    further = gate < tables
    gate = np.where(further, second[np.where(further, 256 * gate, 0) + (addresses >> 8 & 255)], gate)
    last = further & (gate < 64)
    gate = np.where(last, third[np.where(last, 256 * gate, 0) + (addresses & 255)], gate)
    return {5: gate.astype(np.uint16)}


def great_squares(given: Sequence[Any]) -> Wanted:
    words, steps, n = given
    numbers = [int.from_bytes(row.tobytes(), "little") for row in words.reshape(8, n).T.copy()]
    squared = [pow(number, 2 ** int(steps), FIELD) for number in numbers]
    rows = np.frombuffer(b"".join(number.to_bytes(32, "little") for number in squared), np.uint32)
    return {0: rows.reshape(n, 8).T.copy()}


def drawn_anew(given: Sequence[Any]) -> Wanted:
    x, m, seed, _, _, n = given
    state = ((np.arange(n, dtype=np.uint64) + np.uint64(seed)) * 747796405 + 2891336453) % 2**32
    drawn = np.zeros((m, n))
    for k in range(m):
        state = (state * 1664525 + 1013904223) % 2**32
        drawn[k] = x[((state ^ state >> np.uint64(15)) * np.uint64(m) >> np.uint64(32)).astype(int)]
    return {3: drawn.mean(axis=0), 4: drawn.var(axis=0, ddof=1)}


TRUTHS: Mapping[str, Callable[[Sequence[Any]], Wanted]] = {
    truth.__name__: truth
    for truth in (
        nucleus_rows, selective_scan, two_bit_rows, winograd_tiles, boxes_decoded, padded_rows, rans_warps, routes,
        great_squares, drawn_anew,
    )
} | reference_fields.TRUTHS  # fmt: skip
