"""Matrix products, matrix loads and stores, asynchronous copies: against an H200 and against plain arithmetic."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from helpers.kernel_launches import kernel, same, written
from helpers.tensor_launches import FORMS

MEASURED = Path(__file__).parents[3] / "measurements" / "h200" / "tensor.npz"
QUICK = ("m16n8k16_f32", "m16n8k16_f16", "tf32k8", "i16832_s8u8")


@cache
def measured() -> dict[str, NDArray[Any]]:
    with np.load(MEASURED) as file:
        return dict(file)


@pytest.mark.every(2)
@pytest.mark.parametrize("name", [*QUICK, *(pytest.param(n, marks=pytest.mark.long) for n in FORMS if n not in QUICK)])
def test_products_are_those_of_an_h200(name: str) -> None:
    """Bit for bit, but for which of the NaNs a double is."""
    form = FORMS[name]
    a, b, c, d = (measured()[f"{name}.{part}"] for part in "abcd")
    a, b = (operand.view(np.float64) if operand.dtype == np.uint64 else operand for operand in (a, b))
    metadata = measured().get(f"{name}.m", np.zeros((len(a), 32), np.uint32))
    got = np.zeros_like(d)
    written(form.source, "product").launch(len(a), 32, a, b, c.view("V4"), got.view("V4"), metadata)
    if form.results == "d":
        numbers = ~np.isnan(d.view(np.float64))
        assert np.isnan(got.view(np.float64)[~numbers]).all()
        got, d = got[numbers], d[numbers]
    same(got, d)


@pytest.mark.since("sm_80")
def test_cpasync(arch: str) -> None:
    rng = np.random.default_rng(24)
    tiles = rng.integers(-99, 99, (8, 128, 4)).astype(np.float32)
    singles, pairs = rng.integers(-99, 99, 128).astype(np.float32), rng.integers(-9, 9, (128, 2)).astype(np.float32)
    i = np.arange(128)
    for n in (1, 2, 5, 8):
        out = np.zeros((128, 4), np.float32)
        kernel("k24_cpasync.cu", "cpa", arch).launch(1, 128, tiles, singles, pairs, out, n)
        want = tiles[: n - 1, i ^ 1].sum(0, dtype=np.float32) if n > 1 else np.zeros_like(out)
        want[:, 0] += singles[i ^ 3] + pairs[i ^ 5, 0]
        same(out, want)


def test_wmma_gemm(arch: str) -> None:
    rows, columns, depth = 32, 64, 48
    rng = np.random.default_rng(26)
    whole = [rng.integers(-8, 9, s).astype(np.float16) for s in ((rows, depth), (depth, columns))]
    out = np.zeros((rows, columns), np.float32)
    gemm = kernel("k26_wmma_gemm.cu", "wgemm", arch)
    gemm.launch(4, 64, *whole, out, rows, columns, depth)
    same(out, whole[0].astype(np.float32) @ whole[1].astype(np.float32))
    real = [rng.standard_normal(x.shape).astype(np.float16) for x in whole]
    gemm.launch(4, 64, *real, out, rows, columns, depth)
    exact, size = (f(real[0]) @ f(real[1]) for f in (np.float64, lambda x: np.abs(x).astype(np.float64)))
    # A step cuts each of 17 terms off below 2^-25 of the largest, and its sum below 2^-23.
    assert (np.abs(out - exact) <= (depth // 8) * (17 * 2.0**-24 + 2.0**-23) * size).all()


@pytest.mark.long
def test_mma(arch: str) -> None:
    """ldmatrix, mma of many types, movmatrix and stmatrix in a row: as on an H200."""
    a, b, want = (measured()[f"mma16.{part}"] for part in "abd")
    if arch == "sm_75":
        a, b = ((4 * x).astype(np.int32).astype(np.float16) for x in (a, b))  # whole numbers
    out = np.zeros((32, 4), np.float32)
    kernel("k25_mma.cu", "mma16", arch).launch(1, 32, a, b, out)
    if arch == "sm_75":
        same(out[:, 2:], halves_and_bytes(a, b))
    else:
        first = 0 if int(arch[3:]) >= 90 else 1  # column 0 has what stmatrix stored
        same(out[:, first:], want.reshape(32, 4)[:, first:])


def halves_and_bytes(a: NDArray[np.float16], b: NDArray[np.float16]) -> NDArray[np.float32]:
    """What the kernel makes of whole numbers where there is only m16n8k8 and m8n8k16."""
    lane = np.arange(32)
    words = a.view(np.uint32)[:128].reshape(4, 8, 4)  # matrix, row, word
    left = np.ascontiguousarray(words[:2, lane // 4, lane % 4])
    rows = b.view(np.uint16)[:64].reshape(8, 8).astype(np.uint32)  # loaded transposed
    right = rows[lane % 4 * 2, lane // 4] | rows[lane % 4 * 2 + 1, lane // 4] << 16
    bytes_ = [x.view(np.int8).reshape(8, 16).astype(np.int32) for x in (left[0].copy(), right)]
    pairs = (bytes_[0] @ bytes_[1].T).reshape(32, 2).sum(1).astype(np.float32)
    factors = left.view(np.float16).reshape(16, 8), right.view(np.float16).reshape(8, 8)
    products = (factors[0].astype(np.float32) @ factors[1].astype(np.float32).T).astype(np.float16)
    low, high = np.ascontiguousarray(products).view(np.uint32).reshape(2, 32).astype(np.float32)
    turned = a.view(np.uint16)[:64].reshape(8, 8).T.copy().view(np.uint32).reshape(32)
    return np.stack([pairs + low + high, turned.astype(np.float32)], 1)


MISSING_BARRIER = """
extern "C" __global__ void copied(const int* in, int* out) {
  __shared__ int s[64];
  int i = threadIdx.x;
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;"
               :: "r"((unsigned)__cvta_generic_to_shared(s + i)), "l"(in + i));
  asm volatile("cp.async.wait_all;" ::: "memory");
  out[i] = s[i ^ 32];
}
"""


@pytest.mark.long
def test_checks_see_copies_and_matrices() -> None:
    """What they write counts as written, and another warp must not read it before a barrier."""
    a, out = np.ones(4096, np.float32), np.zeros(512, np.float32)
    copies = kernel("k24_cpasync.cu", "cpa", "sm_90")
    assert copies.launch(1, 128, a, a[:128], a[:256], out, 5, check=("races", "init")).hazards == ()
    half, out = np.ones(512, np.float16), np.zeros(128, np.float32)
    matrices = kernel("k25_mma.cu", "mma16", "sm_90")
    assert matrices.launch(1, 32, half, half, out, check=("races", "init")).hazards == ()
    words = np.arange(64, dtype=np.int32)
    run = written(MISSING_BARRIER, "copied").launch(1, 64, words, words.copy(), check=("races", "init"))
    assert run.hazards
