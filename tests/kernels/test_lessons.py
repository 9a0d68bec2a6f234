"""The rungs of the lessons at sizes that are no multiple of anything."""

from __future__ import annotations

import numpy as np
import pytest
from test_applications import product

from helpers.kernel_launches import fractions, kernel, same

FILE = "lessons.cu"


@pytest.mark.every(2)
@pytest.mark.parametrize("n", [1003, 31, 1])
def test_copies(arch: str, n: int) -> None:
    x = fractions(np.random.default_rng(n), n)
    for name, want in (("ccopy", x), ("nccopy", x[np.arange(n) * 2 % n])):
        y = np.zeros(n, np.float32)
        kernel(FILE, name, arch).launch(26, 40, x, y, n)
        same(y, want)


@pytest.mark.every(2)
@pytest.mark.parametrize("n", [1003, 4096, 7, 0])
def test_adds(arch: str, n: int) -> None:
    rng = np.random.default_rng(n)
    x, y = fractions(rng, max(n, 1)), fractions(rng, max(n, 1))
    for name, width in (("add1", 1), ("add2", 2), ("add4", 4), ("add_unroll4", 1), ("add_nounroll", 1)):
        whole = n // width * width
        z = np.zeros(max(n, 1), np.float32)
        kernel(FILE, name, arch).launch(3, 48, x, y, z, n)
        same(z[:whole], x[:whole] + y[:whole])
        assert not z[whole:].any()


@pytest.mark.every(2)
@pytest.mark.parametrize(
    ("name", "n", "grid", "block"),
    [
        ("matmul_naive", 37, (6, 5), (7, 8)),
        ("matmul_tiled", 48, (3, 3), (16, 16)),
        ("matmul_coarse2", 64, (2, 4), (16, 16)),
    ],
)
def test_matmuls(arch: str, name: str, n: int, grid: tuple[int, int], block: tuple[int, int]) -> None:
    rng = np.random.default_rng(n)
    a, b, c = fractions(rng, n, n), fractions(rng, n, n), np.zeros((n, n), np.float32)
    kernel(FILE, name, arch).launch(grid, block, a, b, c, n)
    same(c, product(a, b))


@pytest.mark.every(2)
@pytest.mark.parametrize("block", [256, 64, 16, 1])
def test_reductions(arch: str, block: int) -> None:
    x = np.random.default_rng(block).integers(-1000, 1000, 5 * block, dtype=np.int32)
    for name in ("reduce_strided", "reduce_modulo", "reduce_sequential"):
        y = np.zeros(6, np.int32)
        kernel(FILE, name, arch).launch(5, block, x, y, x.size)
        same(y[:5], x.reshape(5, block).sum(1, dtype=np.int32))
        assert y[5] == 0


@pytest.mark.every(2)
@pytest.mark.parametrize("block", [256, 128, 64])
def test_reduce_unroll8_warp(arch: str, block: int) -> None:
    x = np.random.default_rng(block).integers(-1000, 1000, 24 * block, dtype=np.int32)
    want = x.reshape(3, -1).sum(1, dtype=np.int32)
    y = np.zeros(3, np.int32)
    kernel(FILE, "reduce_unroll8_warp", arch).launch(3, block, x, y, x.size)
    same(y, want)
