"""What guests (launches.toml) have to leave, in numpy; rungs in reference_ladders.py.

wanted = TRUTHS["bilateral"](arguments)     # {1: array}, by place; arguments as they were before
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any

import numpy as np

from helpers.references import Array, Wanted, floats

PRIME = 998244353
NINTH, PART = 1 / 9, 1 / 36


def bf16(values: Array) -> Array:
    """The bits of the nearest, ties to even."""
    bits = values.astype(np.float32).view(np.uint32)
    return (bits + 0x7FFF + (bits >> 16 & 1) >> 16).astype(np.uint16)


def residual_norm(given: Sequence[Any]) -> Wanted:
    x, rest, weight, _, n = given
    together = bf16(floats(x) + floats(rest))
    rows = (floats(x) + floats(rest)).astype(np.float64).reshape(-1, n)
    factor = 1 / np.sqrt((rows**2).mean(axis=1, keepdims=True) + 1e-5)
    return {1: together, 3: floats(together).reshape(-1, n) * factor * floats(weight)}


def masked_softmax(given: Sequence[Any]) -> Wanted:
    scores, _, scale, queries = given
    seen = np.arange(512) <= np.arange(queries)[:, None] % 512
    power = np.where(seen, scores.astype(np.float64).reshape(-1, 512) * scale, -np.inf)
    weights = np.exp(power - power.max(axis=1, keepdims=True))
    return {1: weights / weights.sum(axis=1, keepdims=True)}


def lstm_cell(given: Sequence[Any]) -> Wanted:
    gates, bias, cells, _, width, _ = given
    parts = gates.astype(np.float64).reshape(-1, 4, width) + bias.reshape(4, width)
    enter, forget, shown = (1 / (1 + np.exp(-parts[:, k])) for k in (0, 1, 3))
    cell = forget * cells.reshape(-1, width) + enter * np.tanh(parts[:, 2])
    return {2: cell, 3: shown * np.tanh(cell)}


def causal_scores(given: Sequence[Any]) -> Wanted:
    q, k, _, scale, n = given
    blocks = np.arange(n) // 64
    scores = scale * q.reshape(n, 64).astype(np.float64) @ k.reshape(n, 64).astype(np.float64).T
    return {2: np.where(blocks <= blocks[:, None], scores, 0)}


def bilateral(given: Sequence[Any]) -> Wanted:
    x, _, near, like, w, h = given
    here = x.reshape(h, w).astype(np.float64)
    wide = np.pad(here, 2, mode="edge")
    total = weights = np.zeros((h, w))
    for b in range(5):
        for a in range(5):
            v = wide[b : b + h, a : a + w]
            weight = np.exp(-((a - 2) ** 2 + (b - 2) ** 2) * near - (v - here) ** 2 * like)
            total, weights = total + weight * v, weights + weight
    return {1: total / weights}


def blend_halves(given: Sequence[Any]) -> Wanted:
    over, under = (x.astype(np.float64).reshape(-1, 4) for x in given[:2])
    cover = over[:, 3:]
    return {1: (cover * over).astype(np.float16) + (1 - cover).astype(np.float16).astype(np.float64) * under}


def integral_columns(given: Sequence[Any]) -> Wanted:
    x, _, w, h = given
    return {1: x.reshape(h, w).cumsum(axis=0, dtype=np.int32)}


def cube_triangles(given: Sequence[Any]) -> Wanted:
    x, table, _, level, w = given
    inside = (x > np.float32(level)).reshape(w, w, w)
    places = [slice(None, -1), slice(1, None)]
    corners = sum(
        inside[places[c >> 2], places[c >> 1 & 1], places[c & 1]].astype(np.int64) << c for c in range(8)
    )  # fmt: skip
    found = np.zeros((w, w, w), np.int32)
    found[:-1, :-1, :-1] = table[corners]
    return {2: found.reshape(w // 2, 2, w // 4, 4, w // 32, 32).sum(axis=(1, 3, 5), dtype=np.int32)}


def wave_tiles(given: Sequence[Any]) -> Wanted:
    u, v, speed, w, h = given[0], given[1], *given[4:]
    u, v = (field.reshape(h, w).astype(np.float64) for field in (u, v))
    for _ in range(4):
        wide = np.pad(v, 1)
        around = wide[:-2, 1:-1] + wide[2:, 1:-1] + wide[1:-1, :-2] + wide[1:-1, 2:]
        u, v = v, 2 * v - u + speed * (around - 4 * v)
    return {2: u, 3: v}


def maxwell_h(given: Sequence[Any]) -> Wanted:
    c, w = given[6:]
    *magnetic, ex, ey, ez = (field.reshape(w, w, w).astype(np.float64) for field in given[:6])
    inner = (slice(-1),) * 3

    def step(field: Array, axis: int) -> Array:
        return np.diff(field, axis=axis)[tuple(slice(w - 1) for _ in range(3))]

    curls = (step(ey, 0) - step(ez, 1), step(ez, 2) - step(ex, 0), step(ex, 1) - step(ey, 2))
    for field, curl in zip(magnetic, curls, strict=True):
        field[inner] += c * curl
    return dict(enumerate(magnetic))


def lattice_flow(given: Sequence[Any]) -> Wanted:
    f, _, rate, w, h = given
    across, down = np.array([[0, 1, 0, -1, 0, 1, -1, -1, 1], [0, 0, 1, 0, -1, 1, 1, -1, -1]])
    share = np.array([4 / 9, *[NINTH] * 4, *[PART] * 4])[:, None, None]
    here = f.reshape(9, h, w).astype(np.float64)
    here = np.stack([np.roll(here[k], (down[k], across[k]), (0, 1)) for k in range(9)])
    mass = here.sum(axis=0)
    x, y = (np.tensordot(way, here, 1) / mass for way in (across, down))
    along = across[:, None, None] * x + down[:, None, None] * y
    rest = share * mass * (1 - 1.5 * (x**2 + y**2) + 3 * along + 4.5 * along**2)
    return {1: here + rate * (rest - here)}


def cheapest_ways(given: Sequence[Any]) -> Wanted:
    cost, best, _, w = given
    for row in cost.reshape(16, w):
        wide = np.pad(best, 1, constant_values=1 << 30)
        best = row + np.minimum(best, np.minimum(wide[:-2], wide[2:]))
    return {2: best}


def eigenvalues_3(given: Sequence[Any]) -> Wanted:
    xx, yy, zz, xy, xz, yz = given[0].reshape(6, -1)
    matrices = np.stack([xx, xy, xz, xy, yy, yz, xz, yz, zz], axis=1).reshape(-1, 3, 3)
    return {1: np.linalg.eigvalsh(matrices).T}


def modular_transform(given: Sequence[Any]) -> Wanted:
    """With any numbers in place of the roots: eight steps of halves that meet."""
    x, _, roots, rows = given
    mirrored = np.array([int(f"{k:08b}"[::-1], 2) for k in range(256)])
    v = x.reshape(rows, 256)[:, mirrored].astype(np.uint64)
    for half in (1 << k for k in range(8)):
        pairs = v.reshape(rows, -1, 2, half)
        turned = pairs[:, :, 1] * roots.astype(np.uint64)[:: 128 // half] % np.uint64(PRIME)
        first = pairs[:, :, 0]
        v = np.stack([first + turned, first + np.uint64(PRIME) - turned], axis=2) % np.uint64(PRIME)
        v = v.reshape(rows, 256)
    return {1: v.astype(np.uint32)}


def powers_64(given: Sequence[Any]) -> Wanted:
    base, exponent, _, modulus = given[:4]
    powers = [pow(int(b), int(e), int(modulus)) for b, e in zip(base, exponent, strict=True)]
    return {2: np.array(powers, np.uint64)}


def price_paths(given: Sequence[Any]) -> Wanted:
    seeds, _, step, steps, n = given
    state = seeds | np.uint32(1)
    price, variance = np.ones(n), np.full(n, 0.04)

    def drawn() -> Array:
        nonlocal state
        state = state ^ state << np.uint32(13)
        state = state ^ state >> np.uint32(17)
        state = state ^ state << np.uint32(5)
        return (state >> np.uint32(8)).astype(np.float64)

    for _ in range(steps):
        radius, angle = np.sqrt(-2 * np.log((drawn() + 0.5) / (1 << 24))), 2 * np.pi * drawn() / (1 << 24)
        a = radius * np.sin(angle)
        b = -0.7 * a + 0.71414284 * radius * np.cos(angle)
        up = np.maximum(variance, 0)
        spread = np.sqrt(up * step)
        price = price + price * (0.03 * step + spread * a)
        variance = variance + 1.5 * (0.04 - up) * step + 0.3 * spread * b
    return {1: np.maximum(price - 1, 0)}


def sobol_points(given: Sequence[Any]) -> Wanted:
    directions, _, n = given
    places = np.arange(n, dtype=np.uint32)
    codes = places ^ places >> np.uint32(1)
    points = np.zeros((directions.size // 32, n), np.uint32)
    for k in range(32):
        points ^= np.where(codes >> np.uint32(k) & np.uint32(1), directions.reshape(-1, 32)[:, k, None], 0)
    return {1: (points >> np.uint32(8)).astype(np.float32) / np.float32(1 << 24)}


def near_forces(given: Sequence[Any]) -> Wanted:
    place, neighbours, _, cut, n = given
    here = place.reshape(n, 4)[:, :3].astype(np.float64)
    force = np.zeros((n, 3))
    for row in neighbours.reshape(64, n):
        apart = here - here[np.arange(n) + row & n - 1]
        square = (apart**2).sum(axis=1) + 0.05
        six = 1e-4 / square**3
        force += np.where(square < cut, six / square * (six - 0.5), 0)[:, None] * apart
    return {2: force.T}


def table_rounds(given: Sequence[Any]) -> Wanted:
    x, _, tables, keys, n = given
    words = x.reshape(n, 4).T ^ keys[:4, None]
    for key in keys[4:].reshape(10, 4):
        letters = [words >> np.uint32(24 - 8 * part) & np.uint32(255) for part in range(4)]
        found = [np.roll(tables[256 * part + letters[part]], -part, axis=0) for part in range(4)]
        words = reduce(np.bitwise_xor, found) ^ key[:, None]
    return {1: words.T}


def chacha_stream(given: Sequence[Any]) -> Wanted:
    key, _, nonce, n = given
    letters = np.frombuffer(b"expand 32-byte k", np.uint32)
    fixed = [*letters, *key, 0, 0, np.uint32(nonce), np.uint32(nonce) ^ np.uint32(0x5BD1E995)]
    start = np.repeat(np.array(fixed, np.uint32)[:, None], n, axis=1)
    start[12] = np.arange(n)
    v = start.copy()

    def quarter(a: int, b: int, c: int, d: int) -> None:
        for to, of, by, shift in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
            v[to] += v[of]
            mixed = v[by] ^ v[to]
            v[by] = mixed << np.uint32(shift) | mixed >> np.uint32(32 - shift)

    for _ in range(10):
        for turn in (0, 1):
            for k in range(4):
                quarter(k, 4 + (k + turn) % 4, 8 + (k + 2 * turn) % 4, 12 + (k + 3 * turn) % 4)
    return {1: (v + start).T}


def read_dates(given: Sequence[Any]) -> Wanted:
    digits = given[0].reshape(-1, 10).astype(np.int64) - ord("0")
    year = digits[:, :4] @ [1000, 100, 10, 1]
    month, day = (np.clip(digits[:, k : k + 2] @ [10, 1], 1, most) for k, most in ((5, 12), (8, 31)))
    months = (year - 1970).astype("datetime64[Y]").astype("datetime64[M]") + (month - 1)
    return {1: (months.astype("datetime64[D]").astype(np.int64) + day - 1).astype(np.int32)}


def count_letters(given: Sequence[Any]) -> Wanted:
    text = given[0]
    counts = (text == ord("\n"), (text >= ord("A")) & (text <= ord("Z")), text & 0xC0 != 0x80)
    return {1: np.array([count.sum() for count in counts], np.uint64)}


def decode_deltas(given: Sequence[Any]) -> Wanted:
    deltas = given[0].astype(np.int64)
    steps = np.where(deltas & 1, -(deltas >> 1) - 1, deltas >> 1)
    return {2: steps.reshape(-1, 128).cumsum(axis=1) + given[1][:, None]}


def mixed(v: Array) -> Array:
    v = (v ^ v >> np.uint32(16)) * np.uint32(0x85EBCA6B)
    v = (v ^ v >> np.uint32(13)) * np.uint32(0xC2B2AE35)
    return v ^ v >> np.uint32(16)


def spread(hashes: Array, places: int) -> Array:
    """Over as many places: the upper half of a product."""
    return (hashes.astype(np.uint64) * np.uint64(places) >> np.uint64(32)).astype(np.int64)


def bloom_test(given: Sequence[Any]) -> Wanted:
    keys, bits, _, words, _ = given
    first = mixed(keys)
    step = mixed(first) | np.uint32(1)
    found = np.ones(keys.size, np.uint8)
    for k in range(4):
        h = first + np.uint32(k) * step
        found &= (bits[spread(h, words)] >> h % np.uint32(31) & np.uint32(1)).astype(np.uint8)
    return {2: found}


def tag_probe(given: Sequence[Any]) -> Wanted:
    keys, tags, stored, _, groups, n = given
    h = mixed(keys)
    group, tag, places = spread(h, groups), (h & np.uint32(127)).astype(np.uint8), np.full(n, -1, np.int32)
    open_, table, checks = np.ones(n, bool), tags.reshape(-1, 16), stored.reshape(-1, 16)
    for _ in range(8):
        same = (table[group] == tag[:, None]) & (checks[group] == (keys & np.uint32(3))[:, None]) & open_[:, None]
        hit = same.any(axis=1)
        places[hit] = (16 * group + same.argmax(axis=1))[hit]
        gone = open_ & ~hit & (table[group] >= 128).any(axis=1)
        places[gone] = -2
        open_ &= ~hit & ~gone
        group = (group + 1) % groups
    return {3: places}


def spread_labels(given: Sequence[Any]) -> Wanted:
    a, b, labels, least, _ = given
    least = least.copy()
    np.minimum.at(least, b, labels[a])
    np.minimum.at(least, a, labels[b])
    return {3: least}


def common_neighbours(given: Sequence[Any]) -> Wanted:
    node, apart, lists, _, _ = given
    ends = lists.reshape(-1, 16).astype(np.int64).cumsum(axis=1)
    first, second = (ends[at] + at[:, None] for at in (node.astype(np.int64), node + apart.astype(np.int64)))
    return {3: (first[:, :, None] == second[:, None, :]).sum(axis=(1, 2)).astype(np.uint8)}


def best_alignment(given: Sequence[Any]) -> Wanted:
    x, y = (letters.reshape(-1, 32) for letters in given[:2])
    scores = np.zeros((33, 33, len(x)), np.int32)
    for i in range(1, 33):
        for j in range(1, 33):
            match = np.where(x[:, j - 1] == y[:, i - 1], 2, -1)
            aside = np.maximum(scores[i - 1, j], scores[i, j - 1]) - 1
            scores[i, j] = np.maximum(np.maximum(scores[i - 1, j - 1] + match, aside), 0)
    return {2: scores.max(axis=(0, 1))}


TRUTHS: Mapping[str, Callable[[Sequence[Any]], Wanted]] = {
    truth.__name__: truth
    for truth in (
        residual_norm, masked_softmax, lstm_cell, causal_scores, bilateral, blend_halves, integral_columns,
        cube_triangles, wave_tiles, maxwell_h, lattice_flow, cheapest_ways, eigenvalues_3, modular_transform, powers_64,
        price_paths, sobol_points, near_forces, table_rounds, chacha_stream, read_dates, count_letters, decode_deltas,
        bloom_test, tag_probe, spread_labels, common_neighbours, best_alignment,
    )
}  # fmt: skip
