"""What travellers (launches.toml) have to leave, in numpy; rungs in
reference_ladders.py, bytes, texts and tables in reference_codes.py.

    wanted = TRUTHS["demosaic"](arguments)     # {1: array}, by place; arguments as they were before

Integers wanted as floats are those before rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from helpers.references import Array, Wanted, floats
from validation.travellers import reference_codes


def sampled_products(given: Sequence[Any]) -> Wanted:
    pairs = given[0].reshape(-1, 2)
    left, right = (floats(part).astype(np.float64).reshape(-1, 64) for part in given[1:3])
    return {3: (left[pairs[:, 0]] * right[pairs[:, 1]]).sum(axis=1)}


def colour_step(given: Sequence[Any]) -> Wanted:
    neighbours, colour, _, n = given
    v = np.arange(n, dtype=np.uint32) * np.uint32(0x9E3779B1)
    v ^= v >> 15
    priority = v * np.uint32(0x85EBCA6B) ^ v >> 13
    found = colour.copy()
    for node, others in enumerate(neighbours.reshape(n, 12)):
        open_ones = others[(colour[others] >= 8) & (others != node)]
        if colour[node] >= 8 and (priority[open_ones] < priority[node]).all():
            found[node] = min({*range(9)} - {*colour[others][colour[others] < 8]})
    return {2: found}


def softmax_back(given: Sequence[Any]) -> Wanted:
    y, dy = (floats(part).astype(np.float64).reshape(-1, given[3]) for part in given[:2])
    return {2: y * (dy - (y * dy).sum(axis=1, keepdims=True))}


def channel_stats(given: Sequence[Any]) -> Wanted:
    x, mean, _, images, plane = given
    channels = x.astype(np.float64).reshape(images, len(mean), plane)
    return {1: channels.mean(axis=(0, 2)), 2: channels.var(axis=(0, 2))}


def gumbel_sample(given: Sequence[Any]) -> Wanted:
    scores, words, heat, n = given
    rows, columns = np.arange(len(words), dtype=np.uint32)[:, None], np.arange(n, dtype=np.uint32)
    v = rows * np.uint32(0x9E3779B9) ^ columns * np.uint32(0x85EBCA77)
    v = (v ^ v >> 16) * np.uint32(0x21F0AAAD)
    v = (v ^ v >> 15) * np.uint32(0x735A2D97)
    u = ((v ^ v >> 15) >> 9) + 0.5
    noisy = scores.reshape(-1, n) / heat - np.log(-np.log(u * 2.0**-23))
    return {1: noisy.argmax(axis=1).astype(np.int32)}


def paged_attention(given: Sequence[Any]) -> Wanted:
    q, keys, values, table, lengths, _, pages = given
    queries = floats(q).astype(np.float64).reshape(-1, 4, 4, 64)
    pool = [floats(part).astype(np.float64).reshape(-1, 4, 16, 64) for part in (keys, values)]
    found = np.zeros(queries.shape)
    for sequence, mine in enumerate(table.reshape(-1, pages)):
        k, v = (part[mine].transpose(1, 0, 2, 3).reshape(4, -1, 64)[:, : lengths[sequence]] for part in pool)
        power = np.exp(queries[sequence] @ k.transpose(0, 2, 1) / 8)
        found[sequence] = power / power.sum(axis=2, keepdims=True) @ v
    return {5: found}


def to_e4m3(given: Sequence[Any]) -> Wanted:
    groups = floats(given[0]).reshape(-1, 128)
    most = np.abs(groups).max(axis=1)
    scaled = groups * (np.float32(448) / most)[:, None]
    size = np.minimum(np.abs(scaled), 448).astype(np.float64)
    exponent = np.maximum(np.floor(np.log2(np.maximum(size, 1e-30))), -6)
    eighths = np.rint(size / 2 ** (exponent - 3))  # 16 begins the next exponent: the sum below carries
    code = (exponent + 6) * 8 + eighths
    return {1: (code + np.where(np.signbit(scaled), 128, 0)).astype(np.uint8), 2: most / 448}


def boxes_aligned(given: Sequence[Any]) -> Wanted:
    x, corner, extent, _, w, h = given
    picture = x.astype(np.float64).reshape(h, w, 64)
    place = np.arange(7)[:, None] + np.array([0.25, 0.75])
    grids = []
    for axis, most in ((0, w), (1, h)):
        start, size = (part.astype(np.float64).reshape(-1, 2)[:, axis, None, None] for part in (corner, extent))
        grids.append(np.clip(start + size / 7 * place, 0, most - 1))
    u, v = grids[0][:, None, None], grids[1][:, :, :, None, None]  # box, row, its half, column, its half
    x0, y0 = np.floor(u).astype(int), np.floor(v).astype(int)
    x1, y1 = np.minimum(x0 + 1, w - 1), np.minimum(y0 + 1, h - 1)
    fx, fy = (u - x0)[..., None], (v - y0)[..., None]
    top = picture[y0, x0] * (1 - fx) + picture[y0, x1] * fx
    bottom = picture[y1, x0] * (1 - fx) + picture[y1, x1] * fx
    return {3: (top * (1 - fy) + bottom * fy).mean(axis=(2, 4))}


def overlap_masks(given: Sequence[Any]) -> Wanted:
    corners, sizes, masks, n = given
    low, size = (part.astype(np.int32).reshape(n, 2) for part in (corners, sizes))
    high, area = low + size, size.prod(axis=1)
    inner = np.minimum(high[:, None], high) - np.maximum(low[:, None], low)
    common = np.maximum(inner, 0).prod(axis=2)
    bits = np.zeros((n, 64 * len(masks) // n), bool)
    bits[:, :n] = np.triu(3 * common > area[:, None] + area, 1)
    return {2: np.packbits(bits, axis=1, bitorder="little").view(np.uint64)}


def shift_windows(given: Sequence[Any]) -> Wanted:
    moved = np.roll(given[0].view(np.uint16).reshape(-1, 56, 56, 96), (-3, -3), (1, 2))
    windows = moved.reshape(-1, 8, 7, 8, 7, 96).transpose(0, 1, 3, 2, 4, 5)
    return {1: np.ascontiguousarray(windows).view(np.float16)}


def adagrad_rows(given: Sequence[Any]) -> Wanted:
    rows, gradient, squares, table, rate, n = given
    g, seen = gradient.astype(np.float64).reshape(n, 64), rows[:n]
    sums, values = squares.astype(np.float64), table.astype(np.float64).reshape(-1, 64)
    sums[seen] += (g**2).mean(axis=1)
    values[seen] -= rate * g / (np.sqrt(sums[seen]) + 1e-8)[:, None]
    return {2: sums, 3: values}


def expert_products(given: Sequence[Any]) -> Wanted:
    x, experts, expert, _, n, k = given
    tiles, matrices = x.astype(np.float64).reshape(-1, 64, k), experts.astype(np.float64).reshape(8, k, n)
    return {3: tiles @ matrices[expert]}


def ctc_forward(given: Sequence[Any]) -> Wanted:
    said, letters, _, steps = given
    rows, texts = said.astype(np.float64).reshape(-1, steps, 32), letters.reshape(-1, 31)
    path = np.zeros((len(texts), 63), int)
    path[:, 1::2] = texts
    heard = np.take_along_axis(rows, np.broadcast_to(path[:, None], (len(texts), steps, 63)), axis=2)
    may_skip = np.zeros(path.shape, bool)
    may_skip[:, 2:] = (path[:, 2:] != 0) & (path[:, 2:] != path[:, :-2])
    sums = np.full(path.shape, -1e30)
    sums[:, :2] = heard[:, 0, :2]
    for step in range(1, steps):
        one, two = (np.pad(sums, ((0, 0), (by, 0)), constant_values=-1e30)[:, :63] for by in (1, 2))
        sums = np.logaddexp(np.logaddexp(sums, one), np.where(may_skip, two, -1e30)) + heard[:, step]
    return {2: -np.logaddexp(sums[:, 61], sums[:, 62])}


def _pressure(gas: Array) -> Array:
    pressure: Array = 0.4 * (gas[3] - 0.5 * (gas[1] ** 2 + gas[2] ** 2) / gas[0])
    return pressure


def _flow(a: Array, b: Array) -> Array:
    both = []
    for gas in (a, b):
        p, u = _pressure(gas), gas[1] / gas[0]
        both.append((np.stack([gas[1], gas[1] * u + p, gas[2] * u, (gas[3] + p) * u]), u, np.sqrt(1.4 * p / gas[0])))
    (left, u, c), (right, v, d) = both
    slow, fast = np.minimum(u - c, v - d), np.maximum(u + c, v + d)
    middle = (left * fast - right * slow + (b - a) * slow * fast) / (fast - slow)
    return np.where(slow >= 0, left, np.where(fast <= 0, right, middle))


def euler_step(given: Sequence[Any]) -> Wanted:
    by, w, h = given[5:]
    gas = np.stack([part.astype(np.float64).reshape(h, w) for part in given[:4]])
    turned = gas[[0, 2, 1, 3]].transpose(0, 2, 1)
    change = []
    for field in (gas, turned):
        wide = np.pad(field, ((0, 0), (0, 0), (1, 1)), mode="edge")
        over = _flow(wide[:, :, :-1], wide[:, :, 1:])
        change.append(over[:, :, :-1] - over[:, :, 1:])
    return {4: gas + by * (change[0] + change[1].transpose(0, 2, 1)[[0, 2, 1, 3]])}


def diffusion_27(given: Sequence[Any]) -> Wanted:
    x, _, *weights, w = given
    cube = x.reshape(w, w, w)
    sums = np.zeros((3, w - 2, w - 2, w - 2))
    inner = cube[1:-1, 1:-1, 1:-1]
    for way in product((0, 1, 2), repeat=3):
        far = sum(step != 1 for step in way)
        if far:
            sums[far - 1] += cube[tuple(slice(step, w - 2 + step) for step in way)] - inner
    found = cube.copy()
    found[1:-1, 1:-1, 1:-1] += sum(weight * part for weight, part in zip(weights, sums, strict=True))
    return {1: found}


def charge_spread(given: Sequence[Any]) -> Wanted:
    places, charge = given[:2]
    first, f = (part.astype(np.int64).reshape(-1, 3) for part in (places >> 10, places & 1023))
    g = 1024 - f
    weight = np.stack([
        g**3, 3 * f**3 - 6 * 1024 * f**2 + 4 * 1024**3, -3 * f**3 + 3 * 1024 * f**2 + 3 * 1024**2 * f + 1024**3, f**3,
    ]) >> 22  # fmt: skip
    sums = np.zeros((64, 64, 64), np.int64)
    for a, b, c in product(range(4), repeat=3):
        x, y, z = (first + np.array([a, b, c]) & 63).T
        np.add.at(sums, (z, y, x), charge * weight[a, :, 0] * weight[b, :, 1] * weight[c, :, 2])
    return {2: sums.view(np.uint64)}


def tree_gravity(given: Sequence[Any]) -> Wanted:
    masses, points, _, depth, n = given
    point = points.astype(np.int64).reshape(n, 4)[:, None, :3]
    found, open_ones, before = np.zeros((n, 4)), np.ones((n, 1), bool), 0
    for step in range(depth + 1):
        morton = np.arange(8**step)
        size = 4096 >> step
        index = np.zeros((8**step, 3), np.int64)
        for axis, bit in product(range(3), range(step)):
            index[:, axis] |= (morton >> 3 * bit + axis & 1) << bit
        off = index * size + size // 2 - point
        square = (off**2).sum(axis=2) + 16
        near = open_ones & (square >= size**2) if step < depth else open_ones
        pull = np.where(near, masses[before : before + 8**step] / np.sqrt(square), 0)
        found[:, 3] += pull.sum(axis=1)
        found[:, :3] += ((pull / square)[..., None] * off).sum(axis=1)
        open_ones = np.repeat(open_ones & ~near, 8, axis=1)
        before += 8**step
    return {2: found}


def neutron_plate(given: Sequence[Any]) -> Wanted:
    flights, _, _, depth, seed, n = given
    state = np.arange(1, n + 1, dtype=np.uint32) * np.uint32(2654435761) ^ np.uint32(seed)
    place, way, flying = np.zeros(n, np.int64), np.full(n, 127), np.ones(n, bool)
    while flying.any():
        for by in (13, -17, 5):
            state = state ^ (state << by if by > 0 else state >> -by)
        place += np.where(flying, flights[state & 255].astype(np.int64) * way >> 7, 0)
        flying &= (place >= 0) & (place < depth) & (state >> 8 & 255 >= 30)
        way = (state >> 16).astype(np.int8).astype(np.int64)
    inside = place[(place >= 0) & (place < depth)]
    return {
        1: np.bincount(64 * inside // depth, minlength=64).astype(np.uint32),
        2: np.array([(place < 0).sum(), (place >= depth).sum()], np.uint32),
    }


def kepler_places(given: Sequence[Any]) -> Wanted:
    e, mean = given[:2]
    angle = mean + np.where(mean < 0, -e, e)
    for _ in range(50):
        angle -= (angle - e * np.sin(angle) - mean) / (1 - e * np.cos(angle))
    return {2: np.stack([np.cos(angle) - e, np.sqrt(1 - e**2) * np.sin(angle)], axis=1)}


def demosaic(given: Sequence[Any]) -> Wanted:
    x, _, w, h = given
    wide = np.pad(x.astype(np.int32).reshape(h, w), 2, mode="reflect")

    def at(a: int, b: int) -> Array:
        return wide[2 + b : 2 + b + h, 2 + a : 2 + a + w]

    left_right, up_down = at(-1, 0) + at(1, 0), at(0, -1) + at(0, 1)
    far_across, far_down = at(-2, 0) + at(2, 0), at(0, -2) + at(0, 2)
    slope = at(-1, -1) + at(1, -1) + at(-1, 1) + at(1, 1)
    green = 8 * at(0, 0) + 4 * (left_right + up_down) - 2 * (far_across + far_down)
    beside = 10 * at(0, 0) + 8 * left_right - 2 * slope - 2 * far_across + far_down
    above = 10 * at(0, 0) + 8 * up_down - 2 * slope - 2 * far_down + far_across
    across = 12 * at(0, 0) + 4 * slope - 3 * (far_across + far_down)
    own = 16 * at(0, 0)
    kinds = (((own, beside), (above, across)), ((green, own), (own, green)), ((across, above), (beside, own)))
    planes = np.zeros((3, h, w), np.int32)
    for colour, b, a in product(range(3), range(2), range(2)):
        planes[colour, b::2, a::2] = kinds[colour][b][a][b::2, a::2]
    return {1: np.clip(planes >> 4, 0, 65535).astype(np.uint16)}


def thin_edges(given: Sequence[Any]) -> Wanted:
    x, _, low, high, w, h = given
    wide = np.pad(x.astype(np.int32).reshape(h, w), 2, mode="edge")
    smooth = wide[:-2] + 2 * wide[1:-1] + wide[2:], wide[:, :-2] + 2 * wide[:, 1:-1] + wide[:, 2:]
    gx, gy = smooth[0][:, 2:] - smooth[0][:, :-2], smooth[1][2:] - smooth[1][:-2]
    steep = np.abs(gx) + np.abs(gy)

    def at(a: int, b: int) -> Array:
        return steep[1 + b : 1 + b + h, 1 + a : 1 + a + w]

    across, down = gx[1:-1, 1:-1], gy[1:-1, 1:-1]
    upright = 2 * np.abs(across) < np.abs(down)
    slanted = ~upright & (2 * np.abs(down) >= np.abs(across))
    falling = (across < 0) == (down < 0)
    keeps = np.zeros((h, w), bool)
    for ours, a, b in (
        (upright, 0, 1), (slanted & falling, 1, 1), (slanted & ~falling, 1, -1), (~upright & ~slanted, 1, 0),
    ):  # fmt: skip
        keeps |= ours & (at(0, 0) > at(-a, -b)) & (at(0, 0) >= at(a, b)) & (at(0, 0) >= low)
    return {1: np.where(keeps, np.where(at(0, 0) >= high, 255, 128), 0).astype(np.uint8)}


def to_lab(given: Sequence[Any]) -> Wanted:
    pixels, linear = given[0].reshape(-1, 4), given[1].astype(np.float64)
    turn = np.array([[0.43394, 0.37620, 0.18984], [0.21267, 0.71515, 0.07218], [0.01776, 0.10947, 0.87277]])
    t = linear[pixels[:, :3]] @ turn.T
    x, y, z = np.where(t > 0.008856452, np.cbrt(t), 7.787037 * t + 0.13793103).T
    return {2: np.stack([116 * y - 16, 500 * (x - y), 200 * (y - z), pixels[:, 3]], axis=1)}


TRUTHS: Mapping[str, Callable[[Sequence[Any]], Wanted]] = {
    truth.__name__: truth
    for truth in (
        sampled_products, colour_step, softmax_back, channel_stats, gumbel_sample, paged_attention, to_e4m3,
        boxes_aligned, overlap_masks, shift_windows, adagrad_rows, expert_products, ctc_forward, euler_step,
        diffusion_27, charge_spread, tree_gravity, neutron_plate, kepler_places, demosaic, thin_edges, to_lab,
    )
} | reference_codes.TRUTHS  # fmt: skip
