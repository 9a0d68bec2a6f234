"""What wanderers of pictures, water, cloth, molecules, orbits, meshes and points have to leave, in numpy."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from helpers.references import Array, Wanted


def noise_octaves(given: Sequence[Any]) -> Wanted:
    table, _, step, octaves, w, h = given
    places = table.astype(int)

    def slope(x: Array, y: Array, dx: Array, dy: Array) -> Array:
        corner = places[(places[x & 255] + y) & 255]
        u, v = np.where(corner & 1, dx, -dx), np.where(corner & 2, dy, -dy)
        found: Array = np.where(corner & 4, u + v, np.sqrt(2) * np.where(corner & 8, u, v))
        return found

    def fade(t: Array) -> Array:
        return t**3 * (t * (t * 6 - 15) + 10)

    x, y = np.meshgrid(np.arange(w, dtype=np.float32) * step, np.arange(h, dtype=np.float32) * step)
    height: Array = np.zeros((h, w))
    for octave in range(octaves):
        ix, iy = np.floor(x).astype(int), np.floor(y).astype(int)
        dx, dy = (x - ix).astype(np.float64), (y - iy).astype(np.float64)
        corners = [[slope(ix + a, iy + b, dx - a, dy - b) for a in (0, 1)] for b in (0, 1)]
        above, below = (left + fade(dx) * (right - left) for left, right in corners)
        height += (above + fade(dy) * (below - above)) / 2 ** (octave + 1)
        x, y = (2 * x + np.float32(17.5)), (2 * y + np.float32(31.25))
    return {1: height}


def ordered_dither(given: Sequence[Any]) -> Wanted:
    pixels, _, pairs, h = given
    colours = pixels.astype(int).reshape(h, 2 * pairs, 4)
    matrix: Array = np.zeros((1, 1), int)
    for _ in range(3):
        matrix = np.block([[4 * matrix, 4 * matrix + 2], [4 * matrix + 3, 4 * matrix + 1]])
    threshold = matrix[np.arange(h)[:, None] % 8, np.arange(2 * pairs) % 8]
    red, green, blue = (
        np.minimum(255, colours[..., k] + (threshold << 8 - bits >> 6)) >> 8 - bits for k, bits in enumerate((5, 6, 5))
    )
    return {1: (red << 11 | green << 5 | blue).astype(np.uint16)}


def ink_of_row(given: Sequence[Any]) -> Wanted:
    down, _, _, w = given
    square = down.astype(int).reshape(-1, w) ** 2
    best, column = square.copy(), np.tile(np.arange(w), (len(square), 1))
    for d in range(1, w):
        for side in (-d, d):
            there = np.arange(w) + side
            inside = (there >= 0) & (there < w)
            to = np.where(inside, square[:, np.where(inside, there, 0)] + d * d, 1 << 40)
            column, best = np.where(to < best, there, column), np.minimum(best, to)
    return {1: best.astype(np.int32), 2: column.astype(np.uint16)}


def non_local_means(given: Sequence[Any]) -> Wanted:
    x, _, strength, w, h = given
    wide = np.pad(x.astype(np.float64).reshape(h, w), 4, mode="edge")

    def moved(dx: int, dy: int) -> Array:
        return wide[4 + dy : 4 + dy + h, 4 + dx : 4 + dx + w]

    near = range(-1, 2)
    total, weights = np.zeros((h, w)), np.zeros((h, w))
    for dy in range(-3, 4):
        for dx in range(-3, 4):
            apart = sum((moved(a, b) - moved(dx + a, dy + b)) ** 2 for b in near for a in near)
            weight = np.exp(-strength * apart)
            total += weight * moved(dx, dy)
            weights += weight
    return {1: total / weights}


def texture_cells(given: Sequence[Any]) -> Wanted:
    x, _, _, w, h = given
    picture = x.reshape(h, w)
    around = ((-1, -1), (0, -1), (1, -1), (1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0))
    patterns = np.zeros((h, w), np.uint8)
    inner = picture[1:-1, 1:-1]
    for k, (dx, dy) in enumerate(around):
        patterns[1:-1, 1:-1] |= (picture[1 + dy : h - 1 + dy, 1 + dx : w - 1 + dx] >= inner).astype(np.uint8) << k
    across, down = -(-w // 32), -(-h // 32)
    ys, xs = np.mgrid[1 : h - 1, 1 : w - 1]
    places = (ys // 32 * across + xs // 32) * 256 + patterns[1:-1, 1:-1]
    return {1: patterns, 2: np.bincount(places.reshape(-1), minlength=256 * across * down).astype(np.uint16)}


def water_step(given: Sequence[Any]) -> Wanted:
    depth, u, v, *_, share, w, h = given
    sea = np.stack([part.astype(np.float64).reshape(h, w) for part in (depth, u, v)])

    def along(q: Array) -> Array:
        speed = q[1] / q[0]
        return np.stack([q[1], q[1] * speed + 9.81 / 2 * q[0] ** 2, q[2] * speed])

    def change(q: Array) -> Array:
        """Of flows along the last axis: what leaves less what comes."""
        wall = np.array([1, -1, 1])[:, None, None]
        wide = np.concatenate([wall * q[:, :, :1], q, wall * q[:, :, -1:]], axis=2)
        a, b = wide[:, :, :-1], wide[:, :, 1:]
        fastest = np.maximum(*(np.abs(q[1]) / q[0] + np.sqrt(9.81 * q[0]) for q in (a, b)))
        flux = (along(a) + along(b)) / 2 - fastest / 2 * (b - a)
        return np.diff(flux, axis=2)

    swapped = [0, 2, 1]
    down = change(sea[swapped].transpose(0, 2, 1)).transpose(0, 2, 1)[swapped]
    now = sea - share * (change(sea) + down)
    return {3: now[0], 4: now[1], 5: now[2]}


def cloth_step(given: Sequence[Any]) -> Wanted:
    now, before, _, rest, stiffness, w, h = given
    me, last = (part.astype(np.float64).reshape(h, w, 4) for part in (now, before))
    wide = np.pad(me[..., :3], ((2, 2), (2, 2), (0, 0)), constant_values=np.nan)
    force = np.zeros((h, w, 3))
    force[..., 1] = -0.01
    for dx, dy in ((a, b) for a in range(-2, 3) for b in range(-2, 3) if (a, b) != (0, 0)):
        length = {1: 1.0, 2: 1.4142135, 4: 2.0}.get(dx * dx + dy * dy)
        if length is not None:
            d = wide[2 + dy : 2 + dy + h, 2 + dx : 2 + dx + w] - me[..., :3]
            far = np.sqrt((d**2).sum(axis=2, keepdims=True))
            force += np.nan_to_num(stiffness * (1 - length * rest / far) * d)
    then = np.concatenate([1.99 * me[..., :3] - 0.99 * last[..., :3] + force, me[..., 3:]], axis=2)
    then[0] = me[0]
    return {2: then}


def torsions(given: Sequence[Any]) -> Wanted:
    atoms, names, kinds, table, *_ = given
    a, b, c, d = atoms.astype(np.float64).reshape(-1, 4)[:, :3][names.reshape(-1, 4).T]
    strength, times, shift, _ = table.astype(np.float64).reshape(16, 4)[kinds].T
    one, axis, two = b - a, c - b, d - c
    p, q = np.cross(one, axis), np.cross(axis, two)
    pp, qq, length = (p**2).sum(axis=1), (q**2).sum(axis=1), np.sqrt((axis**2).sum(axis=1))
    there = (pp >= 1e-4) & (qq >= 1e-4)
    angle = np.arctan2(length * (one * q).sum(axis=1), (p * q).sum(axis=1))
    phase = times * angle - shift
    with np.errstate(divide="ignore", invalid="ignore"):
        force = -strength * times * np.sin(phase) * length / pp
        forces = np.where(there[:, None], force[:, None] * p, 0)
    return {
        4: np.where(there, strength * (1 + np.cos(phase)), 0),
        5: np.concatenate([forces, np.zeros((len(forces), 1))], axis=1),
    }


def orbits(given: Sequence[Any]) -> Wanted:
    radius, speed, _, taken, until, tolerance, n = given
    none = np.zeros(n)
    p: Array = np.stack([radius, none, none, speed])
    time, h, steps = none.copy(), np.full(n, 0.0625), np.zeros(n, taken.dtype)

    def slope(p: Array) -> Array:
        square = p[0] ** 2 + p[1] ** 2
        back = 1 / (square * np.sqrt(square))
        return np.stack([p[2], p[3], -p[0] * back, -p[1] * back])

    k1 = slope(p)
    while (on := time < until).any():
        k2 = slope(p + h / 2 * k1)
        k3 = slope(p + 0.75 * h * k2)
        after = p + h * (2 * k1 + 3 * k2 + 4 * k3) / 9
        k4 = slope(after)
        off = np.abs(-5 / 72 * k1 + k2 / 12 + k3 / 9 - k4 / 8)
        error = h * np.maximum(off[0] + off[1], off[2] + off[3])
        steps += on
        bad = error > tolerance
        good = on & ~bad
        p, k1, time = np.where(good, after, p), np.where(good, k4, k1), np.where(good, time + h, time)
        h = np.where(bad, h / 2, np.where(error < 0.1 * tolerance, 2 * h, h))
    return {2: p.T.copy(), 3: steps}


def corner_normals(given: Sequence[Any]) -> Wanted:
    corners, triangles, around, many, *_ = given
    a, b, c = corners.astype(np.float64).reshape(-1, 3)[triangles.reshape(-1, 3).T]
    normal = np.cross(b - a, c - a)
    listed = np.arange(6) < many[:, None]
    total = (normal[around.reshape(-1, 6)] * listed[..., None]).sum(axis=1)
    return {4: total / np.sqrt((total**2).sum(axis=1, keepdims=True))}


def nearest_six(given: Sequence[Any]) -> Wanted:
    points, asked, *_ = given
    there, here = (part.astype(int).reshape(-1, 4)[:, :3] for part in (points, asked))
    square = sum((there[:, k] - here[:, k, None]) ** 2 for k in range(3))
    assert isinstance(square, np.ndarray)
    names = square.argsort(axis=1, kind="stable")[:, :6]
    near = np.take_along_axis(square, names, axis=1)
    return {2: near.T.astype(np.int32), 3: names.T.astype(np.int32)}


TRUTHS: Mapping[str, Callable[[Sequence[Any]], Wanted]] = {
    truth.__name__: truth
    for truth in (
        noise_octaves, ordered_dither, ink_of_row, non_local_means, texture_cells, water_step, cloth_step, torsions,
        orbits, corner_normals, nearest_six,
    )
}  # fmt: skip
