"""Fetches along lines, bit for bit those of an H200: the sweeps of tests/hardware/textures_cases.cuh.

The H200's results are kept as check sums, measurements/h200/textures.csv.
"""

from __future__ import annotations

import csv
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import ArrayLike

from helpers.kernel_launches import written
from helpers.texture_objects import launched
from warplens.core.texture_descriptor import AddressMode

MEASURED = Path(__file__).parents[3] / "measurements" / "h200" / "textures.csv"
SOURCE = """
#define KERNEL(name, call) extern "C" __global__ void name(cudaTextureObject_t t, int4* out, const float4* at) { \\
    float4 p = at[threadIdx.x]; out[threadIdx.x] = call; }
KERNEL(line, tex1D<int4>(t, p.x))
KERNEL(plane, tex2D<int4>(t, p.x, p.y))
KERNEL(solid, tex3D<int4>(t, p.x, p.y, p.z))
"""
CHUNK = 1024  # lanes of a launch
PAIRS = {3: (1e30, 1), 4: (1, 1e-8), 5: (0.1, 0.7), 6: (-3.3, 3.1), 7: (1e-40, 2e-40), 8: (np.inf, 1)}
SMALL = {"u8": (1, 1, "u1"), "s16": (-128, 100, "i2")}


def rows() -> dict[str, str]:
    with MEASURED.open(encoding="utf-8") as file:
        return {row["case"]: row["digest"] for row in csv.DictReader(file)}


def digest(kernel: str, texels: ArrayLike, dtype: str, at: Sequence[Any], **fields: Any) -> str:
    """Check sum of what a kernel fetches at x, y, z: one place a lane."""
    content = np.array(texels, dtype)[..., None]
    count = len(at[0])
    places, results = np.zeros((count, 4), np.float32), []
    places[:, : len(at)] = np.stack(np.broadcast_arrays(*at), 1)
    for first in range(0, count, CHUNK):
        lanes = places[first : first + CHUNK].copy()
        out = np.zeros((len(lanes), 4), np.uint32)
        launched(written(SOURCE, kernel, "sm_90"), content, out, {"at": lanes}, threads=len(lanes), **fields)
        results.append(out.tobytes())
    return f"{zlib.crc32(b''.join(results)):08x}"


def along(first: float, steps: int, count: int) -> Any:
    """So many places, so many of them a texel."""
    step = np.float32(1 / steps)
    return np.float32(first) + step * np.arange(count).astype(np.float32)


@pytest.mark.parametrize("number", PAIRS)
def test_sums_of_floats(number: int) -> None:
    texels = [[0, *PAIRS[number], 0]]
    assert digest("line", texels, "f4", [along(1.5, 4096, 4224)], linear=1) == rows()[f"sweep 1D f32 {number}"]


@pytest.mark.parametrize("number", range(3))
@pytest.mark.parametrize("kind", SMALL)
def test_sums_of_fractions(kind: str, number: int) -> None:
    first, second, dtype = SMALL[kind]
    one, other = [(0, 255), (255, 254), (17, 201)][number]
    texels = [[0, one * first, other * second, 0]]
    at = [along(1.5, 1024, 1152)]
    assert digest("line", texels, dtype, at, linear=1, as_float=1) == rows()[f"sweep 1D {kind} {number}"]


def test_sums_of_halves() -> None:
    texels = np.array([[0, 0x3C00, 0x4123, 0]], np.uint16).view(np.float16)
    assert digest("line", texels, "f2", [along(1.5, 1024, 1152)], linear=1) == rows()["sweep 1D f16"]


def test_weights_in_two_dimensions() -> None:
    one = np.zeros((4, 4))
    one[1, 1] = 1
    for number in range(0, 8, 3):
        at = [along(1.5, 1024, 1152), np.float32(1.5 + number / 8 + 1 / 256)]
        assert digest("plane", one, "f4", at, linear=1) == rows()[f"sweep 2D weight {number}"]
    diagonal = along(1.5, 4096, 4224)
    assert digest("plane", one, "f4", [diagonal, diagonal], linear=1) == rows()["sweep 2D diagonal"]


def test_weights_in_three_dimensions() -> None:
    one = np.zeros((4, 4, 4))
    one[1, 1, 1] = 1
    for number in range(4):
        at = [along(1.5, 1024, 1152), np.float32(1.5 + number / 4 + 1 / 256), np.float32(1.7)]
        assert digest("solid", one, "f4", at, linear=1) == rows()[f"sweep 3D weight {number}"]


@pytest.mark.parametrize("mode", AddressMode)
@pytest.mark.parametrize("size", [3, 1000, 65535])
def test_edges_of_texels(mode: AddressMode, size: int) -> None:
    """Of normalized coordinates, which are cut to 2^-21."""
    modes = (mode, AddressMode.CLAMP, AddressMode.CLAMP)
    fields = {"normalized": 1, "modes": modes, "border": (0.25, 0.5, 0.75, 1.0)}
    name, texels = f"edges {size} {mode.name.lower()}", [range(size)]
    assert digest("line", texels, "f4", [along(0, 1024, 2048)], **fields) == rows()[name]
    assert digest("line", texels, "f4", [along(0.33333, 4194304, 2048)], **fields) == rows()[f"{name} near 1/3"]


@pytest.mark.parametrize(("kind", "dtype"), [("u8", "u1"), ("s8", "i1")])
def test_every_fraction(kind: str, dtype: str) -> None:
    texels = np.arange(256, dtype=np.uint8).view(dtype)[None]
    assert digest("line", texels, dtype, [np.arange(256) + 0.5], as_float=1) == rows()[f"every {kind}"]
