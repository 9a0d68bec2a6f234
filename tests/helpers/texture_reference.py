"""Texture fetching as the CUDA Programming Guide describes it, in NumPy: for textures without mipmaps."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warplens.core.texture_descriptor import AddressMode

Floats = NDArray[np.float64]


def places(x: Floats, size: int, mode: int, normalized: bool, linear: bool) -> list[tuple[NDArray[np.int64], Floats]]:
    """(texels, weights) in one dimension: one, or two; -1 is the border."""
    x = np.nan_to_num(x, nan=0.0, posinf=1e18, neginf=-1e18)
    wraps = normalized and mode in (AddressMode.WRAP, AddressMode.MIRROR)
    if wraps and mode == AddressMode.WRAP:
        x = x - np.floor(x)
    elif wraps:
        odd = np.floor(x) % 2 == 1
        x = np.where(odd, 1 - (x - np.floor(x)), x - np.floor(x))
    x = np.clip(x * (size if normalized else 1), -1e9, 1e9)
    first = np.floor(x * 256 - 127.5) if linear else np.floor(x) * 256
    whole, part = np.floor(first / 256).astype(np.int64), first % 256 / 256
    found = [(whole, 1 - part), (whole + 1, part)] if linear else [(whole, np.ones_like(part))]
    return [(_inside(i, size, mode, wraps), weight) for i, weight in found]


def _inside(i: NDArray[np.int64], size: int, mode: int, wraps: bool) -> NDArray[np.int64]:
    if mode == AddressMode.BORDER:
        return np.where((i < 0) | (i >= size), -1, i)
    return i % size if wraps and mode == AddressMode.WRAP else np.clip(i, 0, size - 1)


def as_numbers(texels: NDArray[Any], as_float: bool) -> Floats:
    if texels.dtype.kind == "f" or not as_float:
        return texels.astype(np.float64)
    largest = float(np.iinfo(texels.dtype).max)
    return np.maximum((texels / largest).astype(np.float32), -1.0).astype(np.float64)


def fetched(
    texels: NDArray[Any], at: Sequence[NDArray[np.float32]], modes: Sequence[int], border: Sequence[float],
    normalized: bool, linear: bool, as_float: bool = False,
) -> NDArray[np.float32]:  # fmt: skip
    """Texels [[z,] y,] x, channel, at coordinates x[, y[, z]]: four numbers each."""
    numbers = as_numbers(texels, as_float)
    sizes = texels.shape[-2::-1]
    axes = [
        places(x.astype(np.float64), size, mode, normalized, linear)
        for x, size, mode in zip(at, sizes, modes, strict=False)
    ]
    total = np.zeros((len(at[0]), 4))
    for taps in product(*reversed(axes)):
        indices, weight = [np.maximum(i, 0) for i, _ in taps], np.prod([w for _, w in taps], axis=0)
        values = np.zeros((len(at[0]), 4))
        values[:, 3] = 1
        values[:, : texels.shape[-1]] = numbers[tuple(indices)]
        outside = np.any([i < 0 for i, _ in taps], axis=0)
        values[outside, : texels.shape[-1]] = np.asarray(border, np.float32)[: texels.shape[-1]]
        total += weight[:, None] * values
    return total.astype(np.float32)
