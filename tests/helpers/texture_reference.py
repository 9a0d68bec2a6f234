"""Texture fetching as an H200 does it (docs/mechanisms/texture_filtering.md), in NumPy, without mipmaps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warplens.core.texture_descriptor import AddressMode

Floats = NDArray[np.float64]
GRAIN = 2.0**21  # steps of a normalized coordinate


def used(mode: int, normalized: bool) -> int:
    """Without normalized coordinates only the border is not clamping."""
    return mode if normalized or mode == AddressMode.BORDER else int(AddressMode.CLAMP)


def place(x: Floats, size: int, mode: int, normalized: bool, linear: bool) -> NDArray[np.int64]:
    """In 256ths of a texel."""
    x = np.nan_to_num(x, nan=0.0, posinf=1e18, neginf=-1e18)
    x = np.where(abs(x) < 2.0**-126, 0, x)
    if normalized:
        x = np.floor(x * GRAIN) / GRAIN
        if mode in (AddressMode.WRAP, AddressMode.MIRROR):
            x = np.mod(x, 2)
    x = np.clip(x, -1e9, 1e9) * (size if normalized else 1)
    found = (np.floor(x * 256 - 127.5) if linear else np.floor(x) * 256).astype(np.int64)
    return np.clip(found, 0, (size - 1) * 256) if used(mode, normalized) == AddressMode.CLAMP else found


def inside(i: NDArray[np.int64], size: int, mode: int) -> NDArray[np.int64]:
    """-1 is the border."""
    if mode == AddressMode.BORDER:
        return np.where((i < 0) | (i >= size), -1, i)
    if mode == AddressMode.WRAP:
        return i % size
    if mode == AddressMode.MIRROR:
        return np.minimum(i % (2 * size), 2 * size - 1 - i % (2 * size))
    return i.clip(0, size - 1)


def weights(parts: Sequence[NDArray[np.int64]]) -> list[NDArray[np.int64]]:
    """256 divided by z, x and y: the second part to the nearest; halves up in x, and in y where x is the second."""
    found = np.zeros((2, 2, 2, len(parts[0])), np.int64)
    found[0, 0, 0] = 256
    for axis, number in ((0, 2), (2, 0), (1, 1)):
        if number < len(parts):
            for z, y, x in np.ndindex(2, 2, 2):
                if (z, y, x)[axis] == 0:
                    second = tuple(1 if k == axis else v for k, v in enumerate((z, y, x)))
                    up = (0, x, 1)[axis]
                    found[second] = (found[z, y, x] * parts[number] + 127 + up) >> 8
                    found[z, y, x] -= found[second]
    return list(found.reshape(8, -1))


def as_numbers(texels: NDArray[Any], as_float: bool) -> Floats:
    if texels.dtype.kind == "f" or not as_float:
        return texels.astype(np.float64)
    largest = float(np.iinfo(texels.dtype).max)
    return np.maximum((texels / largest).astype(np.float32), -1.0).astype(np.float64)


def rounded(x: Floats, bits: int) -> Floats:
    """To so many bits, halves away from zero."""
    fraction, power = np.frexp(x)
    return np.sign(x) * np.floor(abs(fraction) * 2.0**bits + 0.5) * 2.0 ** (power - bits)


def mean(texels: NDArray[Any], by: list[NDArray[np.int64]], taps: list[Floats]) -> NDArray[np.float32]:
    """The sum of the taps by their weights, in the precision of the texels' type."""
    kind = texels.dtype.kind
    if kind != "f":
        total = sum(weight * tap.astype(np.int64) for weight, tap in zip(by, taps, strict=True))
        if kind == "u":
            return ((total * (257 if texels.itemsize == 1 else 1) + 128 >> 8) / 65535).astype(np.float32)
        small = total + ((total >> 4) * 4096 + total + 16384 >> 15)
        return (np.clip(small if texels.itemsize == 1 else total + 128 >> 8, -32767, 32767) / 32767).astype(np.float32)
    normal = [np.where((weight == 0) | (abs(tap) < 2.0**-126), 0, tap) for weight, tap in zip(by, taps, strict=True)]
    largest = np.frexp(np.max(np.abs(normal), axis=0))[1]
    unit = 2.0 ** (largest - 28 if texels.itemsize == 4 else np.maximum(largest, -13) - 15)
    total = sum(weight * np.trunc(tap / unit) for weight, tap in zip(by, normal, strict=True)) * unit / 256
    return rounded(total, 24 if texels.itemsize == 4 else 11).astype(np.float32)


def fetched(
    texels: NDArray[Any], at: Sequence[NDArray[np.float32]], modes: Sequence[int], border: Sequence[float],
    normalized: bool, linear: bool, as_float: bool = False,
) -> NDArray[np.float32]:  # fmt: skip
    """Texels [[z,] y,] x, channel, at coordinates x[, y[, z]]: four numbers each."""
    sizes = texels.shape[-2::-1]
    steps = [
        place(x.astype(np.float64), size, mode, normalized, linear)
        for x, size, mode in zip(at, sizes, modes, strict=False)
    ]
    by = weights([step % 256 for step in steps]) if linear else [np.full(len(at[0]), 256)]
    numbers = texels if linear else as_numbers(texels, as_float)
    result = np.zeros((len(at[0]), 4), np.float32)
    for channel in range(texels.shape[-1]):
        taps = []
        for tap in range(len(by)):
            corner = [
                inside((step >> 8) + (tap >> axis & 1), sizes[axis], used(modes[axis], normalized))
                for axis, step in enumerate(steps)
            ]
            values = numbers[tuple(np.maximum(i, 0) for i in reversed(corner))][:, channel].astype(np.float64)
            taps.append(np.where(np.any([i < 0 for i in corner], axis=0), np.float32(border[channel]), values))
        result[:, channel] = mean(texels, by, taps) if linear else taps[0]
    return result
