"""Surfaces: reads, writes and reductions by kernels, in both tiers."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.kernel_launches import same, written
from helpers.texture_objects import launched
from warplens.errors import KernelFault

SOURCE = """
#define KERNEL(name, body) extern "C" __global__ void name(cudaSurfaceObject_t s, unsigned* out, const int4* at) { \\
    int4 p = at[threadIdx.x]; body; }
KERNEL(clamped, out[threadIdx.x] = surf2Dread<unsigned>(s, p.x * 4, p.y, cudaBoundaryModeClamp))
KERNEL(zeros, out[threadIdx.x] = surf2Dread<unsigned>(s, p.x * 4, p.y, cudaBoundaryModeZero))
KERNEL(trapped, out[threadIdx.x] = surf2Dread<unsigned>(s, p.x * 4, p.y))
KERNEL(bytes, out[threadIdx.x] = surf2Dread<unsigned char>(s, p.x, p.y))
KERNEL(layers, out[threadIdx.x] = surf2DLayeredread<unsigned>(s, p.x * 4, p.y, p.z, cudaBoundaryModeZero))
KERNEL(solid, out[threadIdx.x] = surf3Dread<unsigned>(s, p.x * 4, p.y, p.z, cudaBoundaryModeZero))
KERNEL(line, out[threadIdx.x] = surf1DLayeredread<unsigned>(s, p.x * 4, p.z, cudaBoundaryModeClamp))
KERNEL(store, surf2Dwrite<unsigned>(p.w, s, p.x * 4, p.y, cudaBoundaryModeZero))
KERNEL(wide, surf2Dwrite(make_uint4(p.w, p.x, p.y, p.z), s, p.x * 16, p.y, cudaBoundaryModeZero))
KERNEL(sum, asm("sured.b.add.2d.u32.zero [%0, {%1,%2}], %3;" :: "l"(s), "r"(p.x * 4), "r"(p.y), "r"(p.w) : "memory"))
KERNEL(least, asm("sured.b.min.2d.s32.clamp [%0, {%1,%2}], %3;" :: "l"(s), "r"(p.x * 4), "r"(p.y), "r"(p.w) : "memory"))
"""
RANDOM = np.random.default_rng(5)
COUNT, LAYERS, HEIGHT, WIDTH = 96, 3, 5, 9


def places() -> np.ndarray:
    high = np.array([WIDTH + 3, HEIGHT + 3, LAYERS + 2, 1 << 30])
    return RANDOM.integers([-3, -3, -2, 0], high, (COUNT, 4)).astype(np.int32)


def texels(channels: int = 1) -> np.ndarray:
    return RANDOM.integers(0, 1 << 32, (LAYERS, HEIGHT, WIDTH, channels), np.uint32)


def inside(at: np.ndarray) -> np.ndarray:
    return ((at[:, :3] >= 0) & (at[:, :3] < [WIDTH, HEIGHT, LAYERS])).all(1)


def read(name: str, content: np.ndarray, at: np.ndarray, layered: bool = False) -> np.ndarray:
    out = np.zeros(COUNT, np.uint32)
    launched(written(SOURCE, name), content, out, {"at": at}, threads=COUNT, layered=layered)
    return out


@pytest.mark.parametrize(("name", "layered"), [("layers", True), ("solid", False)])
def test_zeros_beyond_the_edges(name: str, layered: bool) -> None:
    content, at = texels(), places()
    x, y, z = np.clip(at[:, :3], 0, [WIDTH - 1, HEIGHT - 1, LAYERS - 1]).T
    same(read(name, content, at, layered), np.where(inside(at), content[z, y, x, 0], 0).astype(np.uint32))


def test_the_nearest_element_beyond_the_edges() -> None:
    """A layer has no sign: those below the first are the last, as on an H200."""
    content, at = texels(), places()
    x, y, z = np.clip(at[:, :3], 0, [WIDTH - 1, HEIGHT - 1, LAYERS - 1]).T
    same(read("clamped", content[0], at), content[0, y, x, 0])
    rows = content[:, :1].copy()
    same(read("line", rows, at, layered=True), rows[np.where(at[:, 2] < 0, LAYERS - 1, z), 0, x, 0])


def test_bytes_of_wider_elements() -> None:
    content, at = texels()[0], np.abs(places()) % [4 * WIDTH, HEIGHT, 1, 1]
    same(
        read("bytes", content, at.astype(np.int32)),
        content.view(np.uint8)[at[:, 1], at[:, 0] // 4, at[:, 0] % 4].astype(np.uint32),
    )


@pytest.mark.parametrize(("name", "channels"), [("store", 1), ("wide", 4)])
def test_stores(name: str, channels: int) -> None:
    content, at = texels(channels)[0], places()
    _, first = np.unique(at[:, :2], axis=0, return_index=True)  # one lane a place
    at[:, 2] = 0
    at[np.setdiff1d(np.arange(COUNT), first), 0] = -1
    want = content.copy()
    for x, y, z, w in at[inside(at)]:
        want[y, x] = [w, x, y, z][:channels]
    launched(written(SOURCE, name), content, np.zeros(1, np.uint32), {"at": at}, threads=COUNT)
    same(content, want)


@pytest.mark.parametrize("name", ["sum", "least"])
def test_reductions(name: str) -> None:
    content, at = texels()[0].view(np.int32), places()
    want = content.copy()
    for x, y, _, w in at:
        if name == "sum" and 0 <= x < WIDTH and 0 <= y < HEIGHT:
            want[y, x] = np.add(want[y, x], w, dtype=np.int64).astype(np.int32)
        elif name == "least":
            place = np.clip(y, 0, HEIGHT - 1), np.clip(x, 0, WIDTH - 1)
            want[place] = np.minimum(want[place], w)
    launched(written(SOURCE, name), content, np.zeros(1, np.uint32), {"at": at}, threads=COUNT)
    same(content, want)


def test_beyond_the_edges_in_trap_mode_is_a_fault() -> None:
    with pytest.raises(
        KernelFault, match=r"beyond the edges of the surface \(cudaBoundaryModeTrap\)\n  at .*trapped"
    ) as told:
        read("trapped", texels()[0], np.full((COUNT, 4), [WIDTH, 0, 0, 0], np.int32))
    assert told.value.kind == "OFF_SURFACE"
