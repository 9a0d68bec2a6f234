"""What settlers of games, pictures and fields (launches.toml) have to leave, in numpy."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from helpers.references import Array, Wanted

AROUND = [step for step in product((-1, 0, 1), repeat=2) if step != (0, 0)]
NUCLIDES = (34, 5, 4, 4, 27, 21, 21, 21, 21, 21, 9, 9)
SHARES = (0.140, 0.052, 0.275, 0.134, 0.154, 0.064, 0.066, 0.055, 0.008, 0.015, 0.025, 0.012)


def turned(own: Array, other: Array, row: int, column: int) -> Array:
    """Which squares of boards (n, 8, 8) a move to a square turns, step by step."""
    found = np.zeros(own.shape, bool)
    for down, right in AROUND:
        line = np.zeros(own.shape, bool)
        on = np.ones(len(own), bool)
        r, c = row + down, column + right
        while 0 <= r < 8 and 0 <= c < 8:
            found |= line & (on & own[:, r, c])[:, None, None]
            on = on & other[:, r, c]
            line[on, r, c] = True
            r, c = r + down, c + right
    return found


def moves(own: Array, other: Array) -> Array:
    """How many moves there are."""
    free = ~(own | other)
    squares = product(range(8), repeat=2)
    return sum((free[:, r, c] & turned(own, other, r, c).any(axis=(1, 2))).astype(int) for r, c in squares)


def reversi_reply(given: Sequence[Any]) -> Wanted:
    stones, colours = (
        np.unpackbits(part.view(np.uint8), bitorder="little").reshape(-1, 8, 8).astype(bool) for part in given[:2]
    )
    own, other = stones & colours, stones & ~colours
    best, fewest = np.full(len(own), -1, np.int8), np.full(len(own), 65)
    for row, column in product(range(8), repeat=2):
        turn = turned(own, other, row, column)
        may = ~stones[:, row, column] & turn.any(axis=(1, 2))
        after = own | turn
        after[:, row, column] = True
        answers = moves((other & ~turn)[may], after[may])
        better = answers < fewest[may]
        here = np.flatnonzero(may)[better]
        best[here], fewest[here] = 8 * row + column, answers[better]
    return {2: best, 3: fewest.astype(np.uint8)}


def query_boxes(given: Sequence[Any]) -> Wanted:
    centres, units, levels, reach, *_ = given
    boxes, here = (part.astype(int).reshape(-1, 2) for part in (centres, units))
    touched = np.ones((len(here), 1), bool)
    for level in range(levels + 1):
        inside = (np.abs(boxes[2**level : 2 ** (level + 1)] - here[:, None]) <= reach >> level // 3).all(axis=2)
        touched = touched.repeat(2 if level else 1, axis=1) & inside
    mixed = np.zeros(len(here), np.uint32)
    for leaf in range(2**levels):
        mixed = np.where(touched[:, leaf], mixed * np.uint32(31) + np.uint32(2**levels + leaf), mixed)
    return {4: touched.sum(axis=1).astype(np.int32), 5: mixed}


def capsule_contacts(given: Sequence[Any]) -> Wanted:
    capsules, _, size, n = given
    rows = capsules.astype(np.float64).reshape(n, 2, 4)
    start, along, radius = rows[:, 0, :3], size * rows[:, 1, :3], 0.25 * size * rows[:, 0, 3]
    u, v, w = along[:, None], along[None], start[:, None] - start[None]
    a, b, c, d, e = ((p * q).sum(axis=2) for p, q in ((u, u), (u, v), (v, v), (u, w), (v, w)))
    s = np.clip((b * e - c * d) / np.maximum(a * c - b * b, 1e-6), 0, 1)
    s = np.where(a * c - b * b > 1e-6, s, 0)
    t = np.clip((b * s + e) / c, 0, 1)
    s = np.clip((b * t - d) / a, 0, 1)
    apart = w + s[..., None] * u - t[..., None] * v
    touch = (apart**2).sum(axis=2) <= (radius[:, None] + radius) ** 2
    np.fill_diagonal(touch, False)
    return {1: touch.sum(axis=1).astype(np.int32)}


def lucas_kanade(given: Sequence[Any]) -> Wanted:
    before, after, _, w, h = given
    first, second = (np.pad(part.astype(np.float64).reshape(h, w), 3, mode="edge") for part in (before, after))
    across = 0.5 * (first[1:-1, 2:] - first[1:-1, :-2])
    down = 0.5 * (first[2:, 1:-1] - first[:-2, 1:-1])
    later = (second - first)[1:-1, 1:-1]
    windows = [
        sum(part[r : r + h, c : c + w] for r, c in product(range(5), repeat=2))
        for part in (across**2, across * down, down**2, across * later, down * later)
    ]
    xx, xy, yy, xt, yt = windows
    det = xx * yy - xy**2
    flow = np.stack([xy * yt - yy * xt, xy * xt - xx * yt], axis=2) / det[..., None]
    return {2: np.where(det[..., None] > 1e-3, flow, 0)}


def match_stamp(given: Sequence[Any]) -> Wanted:
    picture, stamp, best, words, h = given
    pixels = picture.view(np.uint8).reshape(h, 4 * words).astype(np.uint64)
    weights = stamp.view(np.uint8).reshape(8, 8).astype(np.uint64)
    across, down = 4 * (words - 2), h - 7
    score = np.zeros((h, 4 * words), np.uint64)
    score[:down, :across] = sum(
        weights[r, c] * pixels[r : r + down, c : c + across] for r, c in product(range(8), repeat=2)
    )
    place = np.arange(score.size, dtype=np.uint32).reshape(score.shape)
    key = score << np.uint64(32) | ~place
    key[down:], key[:, across:] = 0, 0
    blocks = np.zeros((-(-h // 8), 8, -(-words // 32), 128), np.uint64)
    blocks.reshape(-1, blocks.shape[2] * 128)[:h, : 4 * words] = key
    return {2: blocks.max(axis=(1, 3)).reshape(best.shape)}


def sem_ax(given: Sequence[Any]) -> Wanted:
    u, d, factors, *_ = given
    points, slope = u.reshape(-1, 8, 8, 8), d.reshape(8, 8)
    shape = factors.reshape(-1, 3, 8, 8, 8)
    right = shape[:, 0] * np.einsum("im,ekjm->ekji", slope, points)
    down = shape[:, 1] * np.einsum("jm,ekmi->ekji", slope, points)
    deep = shape[:, 2] * np.einsum("km,emji->ekji", slope, points)
    back = np.einsum("mi,ekjm->ekji", slope, right) + np.einsum("mj,ekmi->ekji", slope, down)
    return {3: back + np.einsum("mk,emji->ekji", slope, deep)}


def xs_lookup(given: Sequence[Any]) -> Wanted:
    energies, index, grids, densities, _, gridpoints, nuclides, points, n = given
    seed = 1070 + 7919 * np.arange(n, dtype=np.uint64)

    def drawn() -> Array:
        nonlocal seed
        seed = (seed * np.uint64(2806196910506780709) + np.uint64(1)) % np.uint64(2**63)
        return seed / 2.0**63

    for _ in range(4):
        drawn()
    energy, roll = drawn() * energies[-1], drawn()
    material = np.searchsorted(np.array(SHARES, np.float32).astype(np.float64).cumsum(), roll, side="right") % 12
    at = np.clip(np.searchsorted(energies, energy, side="right") - 1, 0, gridpoints - 2)
    f = (energies[at + 1] - energy) / (energies[at + 1] - energies[at])
    rows = grids.astype(np.float64).reshape(nuclides, points, 6)[..., :5]
    found = np.zeros((n, 5))
    for j in range(max(NUCLIDES)):
        on = np.flatnonzero(j < np.array(NUCLIDES)[material])
        name = (7 * material[on] + 3 * j) % nuclides
        low = index.reshape(gridpoints, nuclides)[at[on], name]
        high, less = rows[name, low + 1], rows[name, low]
        found[on] += densities[material[on] * 34 + j, None] * (high - f[on, None] * (high - less))
    return {4: found}


def restrict_residual(given: Sequence[Any]) -> Wanted:
    u, f, _, scale, m = given
    fine, right = (part.reshape(2 * m + 1, 2 * m + 1) for part in (u, f))
    left = np.zeros(fine.shape)
    inner = fine[1:-1, 1:-1]
    around = fine[:-2, 1:-1] + fine[2:, 1:-1] + fine[1:-1, :-2] + fine[1:-1, 2:]
    left[1:-1, 1:-1] = right[1:-1, 1:-1] - scale * (4 * inner - around)
    rows = (left[1:-3:2] + 2 * left[2:-2:2] + left[3:-1:2]) / 4
    return {2: (rows[:, 1:-3:2] + 2 * rows[:, 2:-2:2] + rows[:, 3:-1:2]) / 4}


TRUTHS: Mapping[str, Callable[[Sequence[Any]], Wanted]] = {
    truth.__name__: truth
    for truth in (
        reversi_reply, query_boxes, capsule_contacts, lucas_kanade, match_stamp, sem_ax, xs_lookup, restrict_residual,
    )
}  # fmt: skip
