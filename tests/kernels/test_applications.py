"""Matrix products, stencils, sparse matrices, graphs, n-body: whole kernels as people write them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from helpers.kernel_launches import fractions, kernel, on_host, same


def product(a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    """One fused multiply-add a step, in order."""
    c = np.zeros((a.shape[0], b.shape[1]), np.float32)
    on_host("matmul", a, b, c, a.shape[0], b.shape[1], a.shape[1])
    return c


def test_sgemm(arch: str) -> None:
    for m, n, k in ((64, 192, 48), (128, 64, 16), (64, 64, 0)):
        rng = np.random.default_rng(k)
        a, b, c = fractions(rng, m, k), fractions(rng, k, n), np.full((m, n), 7, np.float32)
        kernel("k27_sgemm_tiled.cu", "sgemm", arch).launch((n // 64, m // 64), (16, 16), a, b, c, m, n, k)
        same(c, product(a, b))


@pytest.mark.every(2)
@pytest.mark.parametrize(("n", "block"), [(37, (7, 5)), (33, (32, 4)), (1, (16, 16))])
def test_naive(arch: str, n: int, block: tuple[int, int]) -> None:
    rng = np.random.default_rng(n)
    a, b, c = fractions(rng, n, n), fractions(rng, n, n), np.zeros((n, n), np.float32)
    grid = (-(-n // block[0]), -(-n // block[1]))
    kernel("k27_sgemm_tiled.cu", "naive", arch).launch(grid, block, a, b, c, n)
    same(c, product(a, b))


@pytest.mark.every(3)
@pytest.mark.parametrize(("w", "h"), [(67, 35), (32, 16), (1, 1), (5, 40)])
def test_st2(arch: str, w: int, h: int) -> None:
    a, o, want = fractions(np.random.default_rng(w), h, w), np.ones((h, w), np.float32), np.ones((h, w), np.float32)
    kernel("k29_stencil_conv.cu", "st2", arch).launch((-(-w // 32), -(-h // 16)), (32, 16), a, o, w, h)
    on_host("st2", a, want, w, h)
    same(o, want)


def test_st3(arch: str) -> None:
    for nx, ny, nz, block in ((19, 11, 7, (8, 5)), (3, 3, 3, (40, 1)), (5, 6, 2, (32, 2))):
        rng = np.random.default_rng(nx)
        a = (rng.random((nz, ny, nx)) - 0.5) * 10.0 ** rng.integers(-3, 3, (nz, ny, nx))
        o, want = np.full_like(a, 2), np.full_like(a, 2)
        grid = (-(-nx // block[0]), -(-ny // block[1]))
        kernel("k29_stencil_conv.cu", "st3", arch).launch(grid, block, a, o, nx, ny, nz)
        on_host("st3", a, want, nx, ny, nz)
        same(o, want)


def sparse(rng: np.random.Generator, n: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Row starts and columns; some rows empty, one long."""
    lengths = rng.integers(0, 9, n)
    lengths[rng.integers(0, n, n // 4)] = 0
    lengths[n // 2] = 70
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    return starts, rng.integers(0, n, starts[-1], dtype=np.int32)


def test_spmv(arch: str) -> None:
    n, rng = 101, np.random.default_rng(3)
    starts, columns = sparse(rng, n)
    v, x = fractions(rng, columns.size), fractions(rng, n)
    y, want = np.full(n + 2, 9, np.float32), np.full(n + 2, 9, np.float32)
    kernel("k30_spmv_bfs.cu", "spmv", arch).launch(3, 40, starts, columns, v, x, y, n)
    on_host("spmv", starts, columns, v, x, want, n)
    same(y, want)


def test_spmvv(arch: str) -> None:
    n, rng = 45, np.random.default_rng(4)
    starts, columns = sparse(rng, n)
    v, x = fractions(rng, columns.size), fractions(rng, n)
    y, want = np.full(n + 2, 9, np.float32), np.full(n + 2, 9, np.float32)
    kernel("k30_spmv_bfs.cu", "spmvv", arch).launch(16, 96, starts, columns, v, x, y, n)
    on_host("spmvv", starts, columns, v, x, want, n)
    same(y, want)


def test_bfs(arch: str) -> None:
    n, rng = 101, np.random.default_rng(5)
    starts, columns = sparse(rng, n)
    frontier = np.unique(rng.integers(0, n, 39)).astype(np.int32)
    d, q, nq = np.full(n, -1, np.int32), np.full(n, -1, np.int32), np.zeros(1, np.int32)
    d[frontier] = 4
    found = {int(w) for u in frontier for w in columns[starts[u] : starts[u + 1]] if d[w] == -1}
    want = d.copy()
    want[list(found)] = 5
    code = kernel("k30_spmv_bfs.cu", "bfs", arch)
    code.launch(3, 13, starts, columns, d, q, nq, frontier, frontier.size, 5)
    same(d, want)
    assert nq[0] == len(found)
    assert sorted(q[: len(found)]) == sorted(found)  # each once, in any order
    assert (q[len(found) :] == -1).all()


def test_chase(arch: str) -> None:
    a = np.random.default_rng(6).permutation(1000).astype(np.int32)
    for n in (57, 1, 0):
        o, want = np.zeros(1000, np.int32), np.zeros(1000, np.int32)
        kernel("k30_spmv_bfs.cu", "chase", arch).launch(1, 1000, a, o, n)
        on_host("chase", a, want, n, 1000)
        same(o, want)


def test_nb(arch: str) -> None:
    """MUFU.RSQ is within 2 units in the last place, so each of the 512 terms is within 8 and their sum within 40."""
    n, rng = 512, np.random.default_rng(7)
    p = rng.random((n, 4)).astype(np.float32)
    a = np.zeros((n, 4), np.float32)
    kernel("k31_nbody.cu", "nb", arch).launch(2, 256, p, a, n)
    exact = p.astype(np.float64)
    apart = exact[None, :, :3] - exact[:, None, :3]
    r = 1 / np.sqrt((apart**2).sum(-1) + 1e-6)
    terms = apart * (exact[None, :, 3] * r**3)[..., None]
    size = np.abs(terms).sum(1)
    assert (np.abs(a[:, :3] - terms.sum(1)) <= 40 * 2.0**-24 * size).all()
    assert (np.abs(a[:, :3]) > 0).all()
    assert not a[:, 3].any()


@pytest.mark.every(2)
@pytest.mark.parametrize("n", [1, 40, 1000])
def test_softmax(arch: str, n: int) -> None:
    """expf is within 2 units in the last place (CUDA C++ Programming Guide), of terms, sum and quotient: 8 in all."""
    x = (np.random.default_rng(n).random((5, n)) * 30 - 15).astype(np.float32)
    y = np.full((5, n), -1, np.float32)
    kernel("k31_nbody.cu", "softmax", arch).launch(5, 32, x, y, n)
    shifted = np.exp((x - x.max(1, keepdims=True)).astype(np.float64))
    want = shifted / shifted.sum(1, keepdims=True)
    np.testing.assert_allclose(y, want, rtol=8 * 2.0**-23, atol=1e-38)


@pytest.mark.long
def test_approximations_are_the_same_everywhere() -> None:
    """What no reference says to the last bit must at least not depend on the architecture."""
    from helpers.kernel_launches import ARCHITECTURES

    rng = np.random.default_rng(8)
    p, x = rng.random((256, 4)).astype(np.float32), fractions(rng, 5, 100)
    outcomes = []
    for arch in ARCHITECTURES:
        a, y = np.zeros((256, 4), np.float32), np.zeros((5, 100), np.float32)
        kernel("k31_nbody.cu", "nb", arch).launch(1, 256, p, a, 256)
        kernel("k31_nbody.cu", "softmax", arch).launch(5, 32, x, y, 100)
        outcomes.append((a, y))
    for a, y in outcomes[1:]:
        same(a, outcomes[0][0])
        same(y, outcomes[0][1])
