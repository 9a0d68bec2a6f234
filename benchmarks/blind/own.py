"""Kernels of ours in the blind list, for Triton."""

import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def row_scan(x, y, n: tl.constexpr):
    i = tl.program_id(0) * n + tl.arange(0, n)
    tl.store(y + i, tl.cumsum(tl.load(x + i), 0))


@triton.jit
def sort_rows(x, y, n: tl.constexpr):
    i = tl.program_id(0) * n + tl.arange(0, n)
    tl.store(y + i, tl.sort(tl.load(x + i)))


@triton.jit
def best(x, at, value, n: tl.constexpr):
    r = tl.program_id(0)
    v = tl.load(x + r * n + tl.arange(0, n))
    m, k = tl.max(v, 0, return_indices=True)
    tl.store(at + r, k)
    tl.store(value + r, m)


@triton.jit
def product(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, PRECISION: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        kk = k + tl.arange(0, BK)
        x = tl.load(a + m[:, None] * K + kk[None, :])
        y = tl.load(b + kk[:, None] * N + n[None, :])
        acc = tl.dot(x, y, acc, input_precision=PRECISION)
    tl.store(c + m[:, None] * N + n[None, :], acc)


@triton.jit
def turn(a, b, M, N, B: tl.constexpr):
    m = tl.program_id(0) * B + tl.arange(0, B)
    n = tl.program_id(1) * B + tl.arange(0, B)
    t = tl.load(a + m[:, None] * N + n[None, :])
    tl.store(b + n[:, None] * M + m[None, :], tl.trans(t))


@triton.jit
def elementwise(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n).to(tl.float32)
    r = tl.sigmoid(v) + tl.exp(v) + tl.sin(v) + libdevice.tanh(v) + tl.rsqrt(tl.abs(v) + 1) + tl.erf(v)
    r += libdevice.log1p(tl.abs(v))
    tl.store(y + i, r.to(y.dtype.element_ty), mask=i < n)

