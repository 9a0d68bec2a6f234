"""Fetches by kernels, in both tiers, beside a reference in NumPy."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from helpers.kernel_launches import same, written
from helpers.texture_objects import launched
from helpers.texture_reference import as_numbers, fetched
from warplens.core.texture_descriptor import AddressMode, Resource
from warplens.errors import KernelFault

SOURCE = """
#define KERNEL(name, call) extern "C" __global__ void name(cudaTextureObject_t t, int4* out, const float4* at) { \\
    float4 p = at[threadIdx.x]; out[threadIdx.x] = call; }
KERNEL(one, tex1D<int4>(t, p.x))
KERNEL(two, tex2D<int4>(t, p.x, p.y))
KERNEL(three, tex3D<int4>(t, p.x, p.y, p.z))
KERNEL(layers, tex2DLayered<int4>(t, p.x, p.y, (int)p.w))
KERNEL(lines, tex1DLayered<int4>(t, p.x, (int)p.w))
KERNEL(cube, texCubemap<int4>(t, p.x, p.y, p.z))
KERNEL(cubes, texCubemapLayered<int4>(t, p.x, p.y, p.z, (int)p.w))
KERNEL(gathered, tex2Dgather<int4>(t, p.x, p.y, 1))
KERNEL(fetch, tex1Dfetch<int4>(t, (int)p.x))
KERNEL(level, tex2DLod<int4>(t, p.x, p.y, p.z))
KERNEL(gradient, tex2DGrad<int4>(t, p.x, p.y, make_float2(p.z, 0), make_float2(0, p.w)))
KERNEL(part, make_int4(tex2D<int4>(t, p.x, p.y).z, 0, tex2D<int4>(t, p.y, p.x).w, 0))
extern "C" __global__ void size(cudaTextureObject_t t, int4* out, const float4* at) {
    int4 v = make_int4(0, 0, 0, 0);
    asm("txq.width.b32 %0, [%1];" : "=r"(v.x) : "l"(t));
    asm("txq.height.b32 %0, [%1];" : "=r"(v.y) : "l"(t));
    out[threadIdx.x] = v;
}
extern "C" __global__ void either(cudaTextureObject_t t, int4* out, const float4* at) {
    float4 p = at[threadIdx.x];
    out[threadIdx.x] = tex2D<int4>(t + (int)p.w, p.x, p.y);
}
extern "C" __global__ void some(cudaTextureObject_t t, int4* out, const float4* at) {
    if (threadIdx.x % 3 == 0) out[threadIdx.x] = tex2D<int4>(t, at[threadIdx.x].x, at[threadIdx.x].y);
}
"""
COUNT = 96
BORDER = (0.25, 0.5, 0.75, 1.0)
RANDOM = np.random.default_rng(17)
SPECIAL = np.array([0, -0.0, 1e-40, 1e10, -1e10, np.inf, -np.inf, np.nan], np.float32)


def coordinates(size: int, normalized: bool) -> NDArray[np.float32]:
    """At random, on a grid of 1/512 of a texel, and special ones."""
    x = RANDOM.uniform(-1.5 * size, 2.5 * size, COUNT)
    x[::2] = RANDOM.integers(-512, 512 * (size + 1), COUNT // 2) / 512
    x = (x / size if normalized else x).astype(np.float32)
    x[: SPECIAL.size] = RANDOM.permutation(SPECIAL)
    return x


def texels_of(dtype: str, *shape: int) -> NDArray[Any]:
    if dtype[0] == "f":
        return RANDOM.uniform(-4, 4, shape).astype(dtype)
    limits = np.iinfo(dtype)
    return RANDOM.integers(limits.min, limits.max, shape, dtype, endpoint=True)


def run(
    name: str, texels: NDArray[Any], at: list[NDArray[np.float32]], arch: str = "sm_90", **fields: Any
) -> NDArray[np.uint32]:
    """Four words of each thread."""
    out = np.zeros((len(at[0]), 4), np.uint32)
    given = np.zeros((len(at[0]), 4), np.float32)
    given[:, : len(at)] = np.stack(at, 1)
    launched(written(SOURCE, name, arch), texels, out, {"at": given}, threads=len(at[0]), **fields)
    return out


def same_floats(got: NDArray[np.uint32], want: NDArray[np.float32]) -> None:
    same(got.view(np.float32), want)


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u2", "i4", "u4", "f2", "f4"])
@pytest.mark.parametrize("channels", [1, 2, 4])
def test_every_format(dtype: str, channels: int) -> None:
    texels = texels_of(dtype, 5, 9, channels)
    at = [coordinates(9, False), coordinates(5, False)]
    x, y = (np.clip(np.floor(np.nan_to_num(a)), 0, n - 1).astype(int) for a, n in zip(at, (9, 5), strict=True))
    want = np.zeros((COUNT, 4), np.uint32)
    wide = texels.astype(np.float32 if dtype[0] == "f" else np.int64)
    chosen = np.ascontiguousarray(wide[y, x])
    want[:, :channels] = chosen.view(np.uint32) if dtype[0] == "f" else chosen.astype(np.uint32)
    same(run("two", texels, at), want)


@pytest.mark.parametrize(("mode", "normalized", "linear"), [*product(AddressMode, (False, True), (False, True))])
def test_address_modes_and_filters(mode: AddressMode, normalized: bool, linear: bool) -> None:
    """In one, two and three dimensions; wrapping and mirroring are clamping where coordinates are not normalized."""
    used = mode if normalized or mode in (AddressMode.CLAMP, AddressMode.BORDER) else AddressMode.CLAMP
    modes = (used, AddressMode.CLAMP, used)
    fields = {"modes": modes, "border": BORDER, "normalized": int(normalized), "linear": int(linear)}
    for name, shape in (("one", (1, 11, 2)), ("two", (6, 11, 4)), ("three", (3, 6, 11, 1))):
        texels = texels_of("f4", *shape)
        at = [coordinates(size, normalized) for size in shape[-2::-1]][: 1 if name == "one" else 3]
        expected = texels[0] if name == "one" else texels
        same_floats(run(name, texels, at, **fields), fetched(expected, at, modes, BORDER, normalized, linear))


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u2"])
@pytest.mark.parametrize("linear", [False, True])
def test_integers_as_fractions(dtype: str, linear: bool) -> None:
    texels = texels_of(dtype, 5, 9, 4)
    at = [coordinates(9, True), coordinates(5, True)]
    modes = (AddressMode.WRAP, AddressMode.MIRROR)
    got = run("two", texels, at, modes=(*modes, 1), normalized=1, linear=int(linear), as_float=1)
    same_floats(got, fetched(texels, at, modes, BORDER, True, linear, as_float=True))


def test_layers_are_clamped() -> None:
    texels, layer = texels_of("f4", 3, 5, 9, 2), RANDOM.integers(0, 6, COUNT).astype(np.float32)
    at = [coordinates(9, True), coordinates(5, True)]
    got = run("layers", texels, [*at, layer, layer], layered=True, normalized=1, linear=1)
    each = [fetched(part, at, (1, 1), BORDER, True, True) for part in texels]
    same_floats(got, np.choose(np.minimum(layer, 2).astype(int)[:, None], each))
    rows = texels[:, :1].copy()
    got = run("lines", rows, [at[0], layer, layer, layer], layered=True, normalized=1)
    each = [fetched(part[0], at[:1], (1,), BORDER, True, False) for part in rows]
    same_floats(got, np.choose(np.minimum(layer, 2).astype(int)[:, None], each))


def test_faces_of_a_cubemap() -> None:
    """Each texel is the number of its face, so that neighbours of the same face do not matter."""
    texels = np.repeat(np.arange(12, dtype=np.float32), 16).reshape(12, 4, 4, 1)
    axes = np.array([[1, 0.2, 0.3], [-1, 0.2, 0.3], [0.1, 1, 0.3], [0.1, -1, 0.3], [0.1, 0.2, 1], [0.1, 0.2, -1]])
    at = [np.repeat(axis, COUNT // 6).astype(np.float32) * 3 for axis in axes.T]
    face = np.repeat(np.arange(6), COUNT // 6)
    got = run("cube", texels, at, layered=True, normalized=1, linear=1).view(np.float32)
    np.testing.assert_array_equal(got[:, 0], face)
    cube = (np.arange(COUNT) % 3).astype(np.float32)
    got = run("cubes", texels, [*at, cube], layered=True, normalized=1).view(np.float32)
    np.testing.assert_array_equal(got[:, 0], face + 6 * np.minimum(cube, 1))


def test_coordinates_on_a_face() -> None:
    """CUDA Programming Guide, "Cubemap Textures": (s / m + 1) / 2 and (t / m + 1) / 2; here of -z: s = -x, t = -y."""
    texels = np.arange(6 * 16, dtype=np.float32).reshape(6, 4, 4, 1)
    x, y = np.meshgrid([-0.75, -0.25, 0.25, 0.75], [-0.75, -0.25, 0.25, 0.75])
    at = [x.ravel(), y.ravel(), np.full(16, -1.0)]
    got = run("cube", texels, [a.astype(np.float32) for a in at], layered=True, normalized=1).view(np.float32)
    column, row = ((-a + 1) / 2 * 4 for a in (x.ravel(), y.ravel()))
    np.testing.assert_array_equal(got[:, 0], 5 * 16 + 4 * np.floor(row) + np.floor(column))


def test_gathered_texels() -> None:
    texels = texels_of("u1", 5, 9, 4)
    at = [RANDOM.uniform(-1, 10, COUNT).astype(np.float32), RANDOM.uniform(-1, 6, COUNT).astype(np.float32)]
    i, j = (np.floor(np.floor(a.astype(float) * 256 - 127.5) / 256).astype(int) for a in at)
    corners = [(0, 1), (1, 1), (1, 0), (0, 0)]
    want = [texels[np.clip(j + down, 0, 4), np.clip(i + right, 0, 8), 1] for right, down in corners]
    same(run("gathered", texels, at), np.stack(want, 1).astype(np.uint32))


def test_texels_by_number() -> None:
    """Those outside of linear memory are zeros."""
    texels = texels_of("i2", 1, 70, 2)
    x = np.arange(COUNT, dtype=np.float32) - 10
    got = run("fetch", texels, [x], kind=int(Resource.LINEAR))
    want = np.zeros((COUNT, 4), np.uint32)
    inside = (x >= 0) & (x < 70)
    want[inside, :2] = texels[0].astype(np.int64).astype(np.uint32)[x[inside].astype(int)]
    same(got, want)


def mipmapped(first: NDArray[np.float32], second: NDArray[np.float32]) -> tuple[NDArray[np.float32], dict[str, int]]:
    """Both levels one behind the other, and the fields of two levels."""
    texels = np.concatenate([first.ravel(), second.ravel()]).reshape(1, -1, 1)
    rows = {"width": first.shape[1], "height": first.shape[0], "levels": 2}
    return texels, rows


def test_levels_of_a_mipmap() -> None:
    """Level 0 is 1, level 1 is 3: the result is how far from one to the other."""
    texels, fields = mipmapped(np.ones((4, 8), np.float32), np.full((2, 4), 3, np.float32))
    wanted = np.array([-32, -1, 0, 0.25, 0.5, 0.999, 1, 7], np.float32)
    at = [np.full(8, 0.5, np.float32), np.full(8, 0.5, np.float32), wanted]
    usual = {**fields, "normalized": 1, "linear": 1, "level_linear": 1, "most": 0x41200000}
    got = two_levels("level", texels, at, usual)
    np.testing.assert_array_equal(got[:, 0], 1 + 2 * np.floor(np.clip(wanted, 0, 1) * 256) / 256)
    nearest = two_levels("level", texels, at, {**usual, "level_linear": 0})
    np.testing.assert_array_equal(nearest[:, 0], [1, 1, 1, 1, 3, 3, 3, 3])
    clamped = two_levels("level", texels, at, {**usual, "most": 0x3E800000, "bias": 0x3E000000})
    np.testing.assert_array_equal(clamped[:, 0], 1 + 2 * np.clip(wanted + 0.125, 0, 0.25))
    steps = [np.full(8, 0.5, np.float32)] * 2 + [np.full(8, 0.25, np.float32), np.full(8, 0.1, np.float32)]
    np.testing.assert_array_equal(two_levels("gradient", texels, steps, usual)[:, 0], 3)  # two texels a step


def two_levels(name: str, texels: NDArray[Any], at: list[Any], fields: dict[str, Any]) -> NDArray[np.float32]:
    from helpers import texture_objects

    out, given = np.zeros((8, 4), np.uint32), np.zeros((8, 4), np.float32)
    given[:, : len(at)] = np.stack(at, 1)
    described = texture_objects.descriptor

    def with_second(*positions: Any, **more: Any) -> list[int]:
        made = described(*positions, **more)
        made[25:30] = [4 * 8, 0, made[24] + 4 * 32, 4 * 4, 0]
        return made

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(texture_objects, "descriptor", with_second)
        launched(written(SOURCE, name), texels, out, {"at": given}, threads=8, **fields)
    return out.view(np.float32)


def test_one_component_alone() -> None:
    """The compiler asks for those that are used, in order."""
    texels = texels_of("u1", 5, 9, 4)
    at = [np.full(COUNT, 2.5, np.float32), np.full(COUNT, 3.5, np.float32)]
    same(run("part", texels, at)[0], np.array([texels[3, 2, 2], 0, texels[2, 3, 3], 0], np.uint32))


def test_size_of_a_texture() -> None:
    assert run("size", texels_of("f4", 5, 9, 1), [np.zeros(32, np.float32)])[3].tolist() == [9, 5, 0, 0]


def test_lanes_that_do_not_fetch_keep_what_they_had() -> None:
    texels = texels_of("u4", 5, 9, 4)
    got = run("some", texels, [np.full(COUNT, 1.5, np.float32), np.full(COUNT, 1.5, np.float32)])
    assert not got[np.arange(COUNT) % 3 != 0].any()
    assert (got[::3] == texels[1, 1]).all()


def test_lanes_with_different_textures() -> None:
    """The handle is in a uniform register: the compiler loops over those that the lanes have."""
    texels = texels_of("f4", 5, 9, 4)
    at = [coordinates(9, False), coordinates(5, False)]
    chosen = RANDOM.integers(0, 2, COUNT)
    got = run("either", texels, [*at, at[0], chosen.astype(np.float32)], linear=0, second={"linear": 1})
    each = [fetched(texels, at, (1, 1), BORDER, False, bool(linear)) for linear in (0, 1)]
    same_floats(got, np.choose(chosen[:, None], each))


@pytest.mark.parametrize("newer", ["sm_100", "sm_120"])
def test_newer_architectures(newer: str) -> None:
    texels = texels_of("f4", 5, 9, 2)
    at = [coordinates(9, True), coordinates(5, True)]
    got = run("two", texels, at, newer, modes=(0, 2, 1), normalized=1, linear=1)
    same_floats(got, fetched(texels, at, (0, 2), BORDER, True, True))


@pytest.mark.parametrize("fields", [{"kind": 0}, {"level": 64}])
def test_a_handle_of_no_texture_is_a_fault(fields: dict[str, int]) -> None:
    with pytest.raises(KernelFault, match=r"no texture or surface object, or its memory has been freed\n  at .*two"):
        run("two", texels_of("f4", 5, 9, 1), [np.zeros(32, np.float32)] * 2, **fields)


def test_texels_beyond_the_allocation_are_a_fault() -> None:
    with pytest.raises(KernelFault, match="memory has been freed"):
        run("two", texels_of("f4", 5, 9, 1), [np.full(32, 500, np.float32)] * 2, height=1000)


def test_fractions_of_the_reference() -> None:
    np.testing.assert_array_equal(as_numbers(np.array([-128, -127, 0, 127], np.int8), True), [-1, -1, 0, 1])
