"""What newcomers about fields, particles, options, light and bits on the air have to leave, in numpy.

wanted = TRUTHS["relax_colour"](arguments)     # {0: array}, by place; arguments as they were before
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from helpers.references import Array, Wanted


def black_scholes(given: Sequence[Any]) -> Wanted:
    spot, strike, years, *_, rate, sigma, _ = given
    wide = sigma * np.sqrt(years)
    d = (np.log(spot / strike) + (rate + 0.5 * sigma**2) * years) / wide
    a, b = (np.array([math.erfc(-v / math.sqrt(2)) / 2 for v in part]) for part in (d, d - wide))
    later = strike * np.exp(-rate * years)
    return {3: spot * a - later * b, 4: later * (1 - b) - spot * (1 - a)}


def ground_step(given: Sequence[Any]) -> Wanted:
    w, h, border = given[3:6]
    speed, now, before = (part.astype(np.float64).reshape(h, w) for part in given[:3])

    def at(a: int, b: int) -> Array:
        return now[2 + b : h - 2 + b, 2 + a : w - 2 + a]

    near, far = (at(-k, 0) + at(k, 0) + at(0, -k) + at(0, k) for k in (1, 2))
    x, y = np.arange(w), np.arange(h)[:, None]
    deep = np.maximum(border - np.minimum(np.minimum(x, w - 1 - x), np.minimum(y, h - 1 - y)), 0)
    inner = slice(2, -2), slice(2, -2)
    by = np.exp(-0.0002 * deep**2)[inner]
    curve = (16 * near - far - 60 * at(0, 0)) / 12
    found = before.copy()
    found[inner] = by * (2 * at(0, 0) - by * before[inner] + speed[inner] * curve)
    return {2: found}


def relax_colour(given: Sequence[Any]) -> Wanted:
    u, f, omega, colour, w = given
    cube, force = (part.astype(np.float64).reshape(w, w, w) for part in (u, f))
    around = sum(np.roll(cube, step, axis) for axis in range(3) for step in (-1, 1))
    place = np.arange(w)
    inner = (place > 0) & (place < w - 1)
    z, y, x = place[:, None, None], place[:, None], place
    meant = inner[:, None, None] & inner[:, None] & inner & ((x + y + z) % 2 == (1 + colour) % 2)
    return {0: np.where(meant, cube + omega * ((around - force) / 6 - cube), cube)}


def fluid_density(given: Sequence[Any]) -> Wanted:
    x, y, z, count, *_, side = given
    here = np.stack([part.astype(np.float64).reshape(side, side, side, 8) for part in (x, y, z)], axis=-1)
    there = (np.arange(8) < count[:, None]).reshape(side, side, side, 8)
    sums = np.zeros(there.shape)
    for step in product((-1, 0, 1), repeat=3):
        back = tuple(-s for s in step)
        other = np.roll(here, back, (0, 1, 2)) + np.array(step[::-1])
        off = other[..., None, :, :] - here[..., :, None, :]
        near = np.maximum(1 - (off**2).sum(axis=-1), 0) ** 3
        sums += (near * np.roll(there, back, (0, 1, 2))[..., None, :]).sum(axis=-1)
    rho = np.where(there, 315 / 64 / np.pi * sums, 0)
    return {4: rho, 5: np.where(there, ((rho / 4) ** 7 - 1) / 7, 0)}


def upwind_fifth(given: Sequence[Any]) -> Wanted:
    u, _, by, n = given
    rows = u.reshape(-1, n)
    a, b, c, d, e = (np.roll(rows, 3 - k, axis=1) for k in range(5))
    ways = (2 * a - 7 * b + 11 * c) / 6, (-b + 5 * c + 2 * d) / 6, (2 * c + 5 * d - e) / 6
    rough = (
        13 / 12 * (a - 2 * b + c) ** 2 + (a - 4 * b + 3 * c) ** 2 / 4,
        13 / 12 * (b - 2 * c + d) ** 2 + (b - d) ** 2 / 4,
        13 / 12 * (c - 2 * d + e) ** 2 + (3 * c - 4 * d + e) ** 2 / 4,
    )
    weights = [part / (1e-6 + one) ** 2 for part, one in zip((0.1, 0.6, 0.3), rough, strict=True)]
    flow = sum(weight * way for weight, way in zip(weights, ways, strict=True)) / sum(weights)
    return {1: by * (flow - np.roll(flow, -1, axis=1))}


def balls_seen(given: Sequence[Any]) -> Wanted:
    *numbers, _, count, bounces, w, h = given
    centre, radius, colour = (part.astype(np.float64).reshape(count, -1) for part in numbers)
    y, x = np.mgrid[:h, :w].reshape(2, -1) + 0.5
    light = np.array([-1, -2, -1.5]) / math.sqrt(7.25)
    origin = np.tile([0.0, 0, -4], (w * h, 1))
    ray = np.stack([(x - 0.5 * w) / h, (y - 0.5 * h) / h, np.ones(w * h)], axis=1)
    ray /= np.linalg.norm(ray, axis=1, keepdims=True)

    def meets(origin: Array, ray: Array) -> Array:
        off = centre - origin[:, None]
        along = (off * ray[:, None]).sum(axis=2)
        inner = radius[:, 0] ** 2 - (off**2).sum(axis=2) + along**2
        far = along - np.sqrt(np.maximum(inner, 0))
        return np.where((inner >= 0) & (far > 1e-3), far, np.inf)

    seen, part, going = np.zeros((w * h, 3)), 1.0, np.ones(w * h, bool)
    for _ in range(bounces + 1):
        far = meets(origin, ray)
        ball, least = far.argmin(axis=1), far.min(axis=1)
        leaves = going & np.isinf(least)
        seen[leaves] += part * np.outer(1 - 0.5 * ray[leaves, 1], [0.3, 0.4, 0.6])
        going &= ~leaves
        origin = np.where(going[:, None], origin + np.where(going, least, 0)[:, None] * ray, 1e3)
        up = (origin - centre[ball]) / np.linalg.norm(origin - centre[ball], axis=1, keepdims=True)
        facing = up @ light
        lit = (facing > 0) & np.isinf(meets(origin, np.broadcast_to(light, ray.shape))).all(axis=1)
        seen += part * (going * (0.15 + 0.7 * facing * lit))[:, None] * colour[ball]
        part *= 0.4
        ray = ray - 2 * (ray * up).sum(axis=1, keepdims=True) * up
    return {3: seen}


def points_inside(given: Sequence[Any]) -> Wanted:
    corner, point = (part.astype(np.int64).reshape(-1, 2) for part in given[:2])
    (px, py), inside = point.T, np.zeros(len(point), bool)
    for (ax, ay), (bx, by) in zip(corner, np.roll(corner, -1, axis=0), strict=True):
        turn = (bx - ax) * (py - ay) - (px - ax) * (by - ay)
        inside ^= ((ay > py) != (by > py)) & ((turn > 0) == (by > ay))
    return {2: inside.astype(np.uint8)}


def viterbi_frames(given: Sequence[Any]) -> Wanted:
    soft, _, steps = given
    heard = soft.astype(np.int64).reshape(-1, steps, 2)
    state = np.arange(64)
    before = 2 * state % 64
    register = (state >> 5 << 6) | before
    signs = [1 - 2 * (np.bitwise_count(register & code) % 2 == 0) for code in (0o171, 0o133)]
    metric = np.tile(np.where(state, -100000, 0), (len(heard), 1))
    chosen = np.zeros((steps, *metric.shape), int)
    for step in range(steps):
        gain = heard[:, step, :1] * signs[0] + heard[:, step, 1:] * signs[1]
        a, b = metric[:, before] + gain, metric[:, before + 1] - gain
        chosen[step], metric = b > a, np.maximum(a, b)
    at: Array = np.zeros(len(heard), int)
    bits = np.zeros((len(heard), steps), np.uint8)
    for step in reversed(range(steps)):
        bits[:, step] = at >> 5
        at = 2 * at % 64 + chosen[step, np.arange(len(heard)), at]
    return {1: np.packbits(bits, axis=1, bitorder="little").view(np.uint32)}


TRUTHS: Mapping[str, Callable[[Sequence[Any]], Wanted]] = {
    truth.__name__: truth
    for truth in (
        black_scholes, ground_step, relax_colour, fluid_density, upwind_fifth, balls_seen, points_inside, viterbi_frames
    )
}  # fmt: skip
