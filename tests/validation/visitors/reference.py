"""What visitors (launches.toml) have to leave, in numpy; rungs in reference_ladders.py.

    wanted = TRUTHS["keccak"](arguments)     # {1: array}, by place; arguments as they were before

Integers wanted as floats are those before rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from math import erfc
from typing import Any

import numpy as np

from helpers.references import Array, Wanted, floats


def entropy_backward(given: Sequence[Any]) -> Wanted:
    logits, targets, _, scale, n = given
    rows = logits.astype(np.float64).reshape(-1, n)
    power = np.exp(rows - rows.max(axis=1, keepdims=True))
    found = power / power.sum(axis=1, keepdims=True)
    found[np.arange(len(rows)), targets] -= 1
    return {2: found * scale}


def dropout_residual(given: Sequence[Any]) -> Wanted:
    x, past, _, seed, n = given
    number = np.arange(n // 4, dtype=np.uint64)
    c = [number, *(np.zeros_like(number) for _ in range(3))]
    low = np.uint64(0xFFFFFFFF)
    key = [np.uint64(seed), np.uint64(0xCAFE)]
    for _ in range(10):
        first, second = c[0] * np.uint64(0xD2511F53), c[2] * np.uint64(0xCD9E8D57)
        c = [second >> 32 ^ c[1] ^ key[0], second & low, first >> 32 ^ c[3] ^ key[1], first & low]
        key = [key[0] + np.uint64(0x9E3779B9) & low, key[1] + np.uint64(0xBB67AE85) & low]
    kept = np.stack(c, axis=1).reshape(-1) >= 858993459
    return {2: past.astype(np.float64) + np.where(kept, x.astype(np.float64) * 1.25, 0)}


def rotary_pairs(given: Sequence[Any]) -> Wanted:
    q, turns, places, heads = given
    turn = turns.view(np.complex64).reshape(-1, 64).astype(np.complex128)[places][:, None]
    rows = floats(q).reshape(-1, heads, 2, 64).astype(np.float64)
    turned = (rows[:, :, 0] + 1j * rows[:, :, 1]) * turn
    return {0: np.stack([turned.real, turned.imag], axis=2)}


def geglu_backward(given: Sequence[Any]) -> Wanted:
    x, dy, _, n = given
    a, b = (x.astype(np.float64).reshape(-1, 2, n)[:, k] for k in range(2))
    d, root = dy.astype(np.float64).reshape(-1, n), np.sqrt(2 / np.pi)
    t = np.tanh(root * (a + 0.044715 * a**3))
    slope = 0.5 * (1 + t) + 0.5 * a * (1 - t**2) * root * (1 + 3 * 0.044715 * a**2)
    return {2: np.stack([d * b * slope, d * 0.5 * a * (1 + t)], axis=1)}


def group_norm_silu(given: Sequence[Any]) -> Wanted:
    x, weight, bias, _, plane = given
    groups = x.astype(np.float64).reshape(-1, 8 * plane)
    normal = (groups - groups.mean(axis=1, keepdims=True)) / np.sqrt(groups.var(axis=1, keepdims=True) + 1e-5)
    value = normal.reshape(-1, 256, plane) * weight[:, None] + bias[:, None]
    return {3: value / (1 + np.exp(-value))}


def embedding_backward(given: Sequence[Any]) -> Wanted:
    words, d, table, _ = given
    sums = np.zeros((len(table) // 128, 128))
    np.add.at(sums, words, d.reshape(-1, 128))
    return {2: sums}


def expert_pairs(given: Sequence[Any]) -> Wanted:
    logits = given[0].reshape(-1, 64)
    chosen = np.argsort(-logits, axis=1, kind="stable")[:, :2]
    power = np.exp(np.take_along_axis(logits.astype(np.float64), chosen, axis=1))
    return {
        1: chosen.astype(np.uint8), 2: power / power.sum(axis=1, keepdims=True),
        3: np.bincount(chosen.reshape(-1), minlength=64).astype(np.int32),
    }  # fmt: skip


def row_cumsum(given: Sequence[Any]) -> Wanted:
    return {1: given[0].astype(np.float64).reshape(-1, 1024).cumsum(axis=1)}


def depthwise_7x7(given: Sequence[Any]) -> Wanted:
    x, weight, _, w, h = given
    wide = np.pad(x.astype(np.float64).reshape(h, w, 64), ((3, 3), (3, 3), (0, 0)))
    filters = weight.astype(np.float64).reshape(7, 7, 64)
    return {2: sum(filters[b, a] * wide[b : b + h, a : a + w] for b in range(7) for a in range(7))}


def conv_of_bytes(given: Sequence[Any]) -> Wanted:
    x, weight, bias, _, w, shift = given
    wide = x.astype(np.int32).reshape(w + 2, w + 2, 64)
    filters = weight.astype(np.int32).reshape(3, 3, 16, 64, 4).transpose(0, 1, 2, 4, 3).reshape(3, 3, 64, 64)
    sums = sum(wide[b : b + w, a : a + w] @ filters[b, a] for b in range(3) for a in range(3)) + bias
    return {3: np.clip(sums + (1 << shift - 1) >> shift, 0, 127).astype(np.int8)}


def low_rank_update(given: Sequence[Any]) -> Wanted:
    x, a, b, y, n = given
    narrow = (x.astype(np.float64).reshape(-1, n) @ a.astype(np.float64).reshape(n, 16)).astype(np.float16)
    return {3: y.reshape(-1, n) + narrow.astype(np.float64) @ b.astype(np.float64).reshape(16, n)}


def lattice_19(given: Sequence[Any]) -> Wanted:
    f, _, rate, w = given
    ways = [(0, 0, 0)]
    for one in ((1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 0), (1, -1, 0), (1, 0, 1), (1, 0, -1), (0, 1, 1), (0, 1, -1)):
        ways += [one, (-one[0], -one[1], -one[2])]
    here = f.astype(np.float64).reshape(19, w, w, w)
    v = np.stack([np.roll(part, way[::-1], (0, 1, 2)) for part, way in zip(here, ways, strict=True)])
    rho = v.sum(axis=0)
    u = np.tensordot(np.array(ways, np.float64).T, v, 1) / rho
    along = np.tensordot(np.array(ways, np.float64), u, 1)
    weight = np.array([1 / 3, *[1 / 18] * 6, *[1 / 36] * 12])[:, None, None, None]
    return {1: v + rate * (weight * rho * (1 - 1.5 * (u**2).sum(axis=0) + 3 * along + 4.5 * along**2) - v)}


def ising_sweep(given: Sequence[Any]) -> Wanted:
    spins, seed, beta, colour, w, h = given
    number = np.arange(w * h, dtype=np.uint32) + np.uint32(seed)
    number = (number ^ number >> 16) * np.uint32(0x7FEB352D)
    number = (number ^ number >> 15) * np.uint32(0x846CA68B)
    chance = ((number ^ number >> 16) >> 8).reshape(h, w) * np.float64(2**-24)
    signs = np.where(spins.reshape(h, w) > 0, 1, -1)
    around = sum(np.roll(signs, way, axis) for way in (1, -1) for axis in (0, 1))
    cost = 2.0 * signs * around
    turned = np.where((cost <= 0) | (chance < np.exp(-beta * cost)), -signs, signs)
    ours = (np.arange(w) + np.arange(h)[:, None] + colour) % 2 == 0
    return {0: np.where(ours, turned, spins.reshape(h, w)).astype(np.int8)}


def gradient_step(given: Sequence[Any]) -> Wanted:
    x, r, p, q, alpha, _ = given
    rest = r - alpha * q
    return {0: x + alpha * p, 1: rest, 5: (rest**2).reshape(-1, 512).sum(axis=1)}


def blocks_product(given: Sequence[Any]) -> Wanted:
    m, columns, x, _ = given
    blocks = m.astype(np.float64).reshape(-1, 16, 4, 4)
    return {3: np.einsum("rkab,rkb->ra", blocks, x.reshape(-1, 4)[columns.reshape(-1, 16)])}


def resonance(given: Sequence[Any]) -> Wanted:
    frequencies, points, _, _, n = given
    kinds = frequencies.astype(np.float64).reshape(-1, 4)
    angle = 2 * np.pi * points.astype(np.float64).reshape(3, n).T @ kinds[:, :3].T
    return {2: np.stack([np.cos(angle) @ kinds[:, 3], np.sin(angle) @ kinds[:, 3]], axis=1)}


def square_cosines(given: Sequence[Any]) -> Wanted:
    x, table, _, w = given
    at, wave = np.arange(8), np.arange(8)[:, None]
    turn = np.cos((2 * at + 1) * wave * np.pi / 16) / 2
    turn[0] /= np.sqrt(2)
    squares = x.astype(np.float64).reshape(-1, 8, w // 8, 8).transpose(0, 2, 1, 3) - 128
    return {2: (turn @ squares @ turn.T / table.reshape(8, 8)).transpose(0, 2, 1, 3)}


def to_three_bytes(given: Sequence[Any]) -> Wanted:
    light, colour, _, w = given
    c = 298 * (light.astype(np.int32).reshape(-1, w) - 16) + 128
    pairs = colour.astype(np.int32).reshape(-1, w // 2, 2).repeat(2, axis=0).repeat(2, axis=1) - 128
    b, r = pairs[..., 0], pairs[..., 1]
    found = np.stack([c + 409 * r, c - 100 * b - 208 * r, c + 516 * b], axis=2)
    return {2: np.clip(found >> 8, 0, 255).astype(np.uint8)}


def cubic(t: Array) -> list[Array]:
    return [
        t * (-0.5 + t * (1 - 0.5 * t)), 1 + t * t * (1.5 * t - 2.5), t * (0.5 + t * (2 - 1.5 * t)),
        t * t * (0.5 * t - 0.5),
    ]  # fmt: skip


def turned_cubic(given: Sequence[Any]) -> Wanted:
    x, _, cosine, sine, w, h = given
    u, v = np.arange(w) - w // 2, np.arange(h)[:, None] - h // 2
    a, b = cosine * u - sine * v + w // 2, sine * u + cosine * v + h // 2
    left, top = np.floor(a), np.floor(b)
    picture, across, down = x.astype(np.float64).reshape(h, w), cubic(a - left), cubic(b - top)
    found = np.zeros((h, w))
    for q in range(4):
        for p in range(4):
            line, column = (top + q - 1).clip(0, h - 1), (left + p - 1).clip(0, w - 1)
            found += down[q] * across[p] * picture[line.astype(int), column.astype(int)]
    return {1: found}


def joint_bins(given: Sequence[Any]) -> Wanted:
    a, b = (part.astype(np.int64) >> 2 for part in given[:2])
    return {2: np.bincount(a << 6 | b, minlength=4096).astype(np.uint32)}


def graded(given: Sequence[Any]) -> Wanted:
    colours, table = given[0].astype(np.float64).reshape(-1, 4), given[1].astype(np.float64).reshape(33, 33, 33, 4)
    place = colours[:, :3].clip(0, 1) * 32
    low = np.minimum(place.astype(int), 31)
    found = np.zeros_like(colours)
    for corner in np.ndindex(2, 2, 2):
        weight = np.where(corner, place - low, 1 - (place - low)).prod(axis=1)
        at = low + corner
        found += weight[:, None] * table[at[:, 2], at[:, 1], at[:, 0]]
    found[:, 3] = colours[:, 3]
    return {2: found}


def kalman_step(given: Sequence[Any]) -> Wanted:
    state, cov, seen, dt, noise, n = given
    step, measure = np.eye(4) + dt * np.eye(4, k=2), np.eye(2, 4)
    above = np.triu_indices(4)
    p = np.zeros((n, 4, 4))
    p[:, above[0], above[1]] = p[:, above[1], above[0]] = cov.astype(np.float64).reshape(10, n).T
    p = step @ p @ step.T + 0.01 * np.eye(4)
    x = state.astype(np.float64).reshape(4, n).T @ step.T
    gain = p @ measure.T @ np.linalg.inv(measure @ p @ measure.T + noise * np.eye(2))
    x = x + np.einsum("nab,nb->na", gain, seen.reshape(2, n).T - x[:, :2])
    p = p - gain @ measure @ p
    return {0: x.T, 1: p[:, above[0], above[1]].T}


def implied_volatility(given: Sequence[Any]) -> Wanted:
    strike, years, extra = (part.astype(np.float64) for part in given[:3])
    below = np.vectorize(erfc)
    cost, low, high = np.maximum(1 - strike, 0) + extra, np.full(len(strike), 0.01), np.full(len(strike), 4.0)
    for _ in range(30):
        middle = (low + high) / 2
        d = (-np.log(strike) + middle**2 * years / 2) / (middle * np.sqrt(years))
        price = (below(-d / np.sqrt(2)) - strike * below(-(d - middle * np.sqrt(years)) / np.sqrt(2))) / 2
        low, high = np.where(price < cost, middle, low), np.where(price < cost, high, middle)
    return {3: (low + high) / 2}


def chain_probe(given: Sequence[Any]) -> Wanted:
    keys, heads, built, following, _, buckets, _ = given
    at = heads[(keys * np.uint32(2654435761)) >> 7 & np.uint32(buckets - 1)]
    hit = np.full(len(keys), -1, np.int32)
    for _ in range(16):
        there = at >= 0
        here = there & (hit < 0) & (built[at * there] == keys)
        hit = np.where(here, at, hit)
        at = np.where(there, following[at * there], at)
    return {4: hit}


def decode_words(given: Sequence[Any]) -> Wanted:
    codes, there, dictionary = given[:3]
    bits = np.unpackbits(there.view(np.uint8), bitorder="little").astype(bool)
    return {3: np.where(bits[:, None], dictionary.reshape(-1, 4)[codes], np.uint32(0))}


def expand_runs(given: Sequence[Any]) -> Wanted:
    lengths, values = (part.reshape(-1, 256) for part in given[:2])
    found = np.zeros((len(lengths), 2048), np.int32)
    for row, (length, value) in enumerate(zip(lengths, values, strict=True)):
        run = np.repeat(value, length)
        found[row, : len(run)] = run
    return {2: found, 3: lengths.sum(axis=1, dtype=np.int32)}


def sliding_most(given: Sequence[Any]) -> Wanted:
    wide = np.pad(given[0], (0, 31), mode="edge")
    return {1: np.lib.stride_tricks.sliding_window_view(wide, 32).max(axis=1)}


def turned(v: Array, by: int) -> Array:
    return v << np.uint64(by) | v >> np.uint64(64 - by) if by else v


def keccak(given: Sequence[Any]) -> Wanted:
    salt, _, n = given
    s = [np.full(n, word, np.uint64) for word in salt]
    s[0] ^= np.arange(n, dtype=np.uint64)
    register = 1
    for _ in range(24):
        c = [reduce(np.bitwise_xor, s[k::5]) for k in range(5)]
        s = [s[k] ^ c[(k + 4) % 5] ^ turned(c[(k + 1) % 5], 1) for k in range(25)]
        u, x, z = [s[0]] * 25, 1, 0
        for k in range(24):
            x, z, word, by = z, (2 * x + 3 * z) % 5, s[x + 5 * z], (k + 1) * (k + 2) // 2 % 64
            u[x + 5 * z] = turned(word, by)
        s = [u[k] ^ (~u[k // 5 * 5 + (k + 1) % 5] & u[k // 5 * 5 + (k + 2) % 5]) for k in range(25)]
        for j in range(7):
            s[0] = s[0] ^ np.uint64((register & 1) << (1 << j) - 1)
            register = register << 1 ^ (register >> 7) * 0x171
    return {1: np.stack(s[:4], axis=1)}


def warped_time(given: Sequence[Any]) -> Wanted:
    a, b = (part.astype(np.float64).reshape(-1, 64) for part in given[:2])
    far = np.full((64, len(a)), np.inf)
    for row in range(64):
        cost, was, far = (a[:, row] - b.T[:]) ** 2, far, np.empty_like(far)
        for column in range(64):
            beside = far[column - 1] if column else np.inf
            corner = was[column - 1] if column else (np.inf if row else 0.0)
            far[column] = cost[column] + np.minimum(np.minimum(was[column], beside), corner)
    return {2: far[63]}


def reached_from_below(given: Sequence[Any]) -> Wanted:
    neighbours, level, _, _, last, _ = given
    four = neighbours.reshape(-1, 16)
    meets = (level[four] == last) & (level > last)[:, None]
    found = meets.any(axis=1)
    parent = np.where(found, four[np.arange(len(four)), meets.argmax(axis=1)], -1)
    return {2: np.where(found, last + 1, level).astype(np.uint8), 3: parent.astype(np.int32)}


TRUTHS: Mapping[str, Callable[[Sequence[Any]], Wanted]] = {
    truth.__name__: truth
    for truth in (
        entropy_backward, dropout_residual, rotary_pairs, geglu_backward, group_norm_silu, embedding_backward,
        expert_pairs, row_cumsum, depthwise_7x7, conv_of_bytes, low_rank_update, lattice_19, ising_sweep,
        gradient_step, blocks_product, resonance, square_cosines, to_three_bytes, turned_cubic, joint_bins, graded,
        kalman_step, implied_volatility, chain_probe, decode_words, expand_runs, sliding_most, keccak, warped_time,
        reached_from_below,
    )
}  # fmt: skip
