"""Kernels of ours in the second blind list, for Triton."""

import triton
import triton.language as tl


@triton.jit
def rms_norm(x, w, y, n, eps, BLOCK: tl.constexpr):
    r = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    v = tl.load(x + r * n + i, mask=i < n, other=0.0).to(tl.float32)
    scale = tl.rsqrt(tl.sum(v * v, 0) / n + eps)
    tl.store(y + r * n + i, (v * scale * tl.load(w + i, mask=i < n)).to(y.dtype.element_ty), mask=i < n)


@triton.jit
def rotary(x, cosine, sine, y, heads, half: tl.constexpr):
    t, h = tl.program_id(0), tl.program_id(1)
    i = tl.arange(0, half)
    at = (t * heads + h) * 2 * half
    a, b = tl.load(x + at + i).to(tl.float32), tl.load(x + at + half + i).to(tl.float32)
    c, s = tl.load(cosine + t * half + i), tl.load(sine + t * half + i)
    tl.store(y + at + i, (a * c - b * s).to(y.dtype.element_ty))
    tl.store(y + at + half + i, (a * s + b * c).to(y.dtype.element_ty))


@triton.jit
def swiglu(x, y, n: tl.constexpr, BLOCK: tl.constexpr):
    r, i = tl.program_id(0), tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    gate = tl.load(x + r * 2 * n + i).to(tl.float32)
    tl.store(y + r * n + i, (gate * tl.sigmoid(gate) * tl.load(x + r * 2 * n + n + i)).to(y.dtype.element_ty))


@triton.jit
def cross_entropy(logits, labels, losses, n, BLOCK: tl.constexpr):
    r = tl.program_id(0)
    high, total = -float("inf"), 0.0
    for k in range(0, n, BLOCK):
        i = k + tl.arange(0, BLOCK)
        v = tl.load(logits + r * n + i, mask=i < n, other=-float("inf")).to(tl.float32)
        more = tl.maximum(high, tl.max(v, 0))
        total = total * tl.exp(high - more) + tl.sum(tl.exp(v - more), 0)
        high = more
    tl.store(losses + r, high + tl.log(total) - tl.load(logits + r * n + tl.load(labels + r)).to(tl.float32))


@triton.jit
def gathered(table, rows, y, n: tl.constexpr):
    r, i = tl.program_id(0), tl.arange(0, n)
    tl.store(y + r * n + i, tl.load(table + tl.load(rows + r) * n + i))


@triton.jit
def scattered(x, rows, table, n: tl.constexpr):
    r, i = tl.program_id(0), tl.arange(0, n)
    tl.atomic_add(table + tl.load(rows + r) * n + i, tl.load(x + r * n + i))


@triton.jit
def convolved(x, w, y, length, channels, TAPS: tl.constexpr, BLOCK: tl.constexpr, C: tl.constexpr):
    t = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    c = tl.program_id(1) * C + tl.arange(0, C)
    acc = tl.zeros((BLOCK, C), tl.float32)
    for k in tl.static_range(TAPS):
        from_ = t - k
        part = tl.load(x + from_[:, None] * channels + c[None, :], mask=from_[:, None] >= 0, other=0.0)
        acc += part.to(tl.float32) * tl.load(w + k * channels + c)[None, :]
    tl.store(y + t[:, None] * channels + c[None, :], acc.to(y.dtype.element_ty))


@triton.jit
def counted(x, counts, BLOCK: tl.constexpr, BINS: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(counts + tl.arange(0, BINS), tl.histogram(tl.load(x + i), BINS))


@triton.jit
def adam(p, g, m, v, n, rate, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    step, first, second = tl.load(g + i), tl.load(m + i), tl.load(v + i)
    first, second = 0.9 * first + 0.1 * step, 0.999 * second + 0.001 * step * step
    tl.store(m + i, first)
    tl.store(v + i, second)
    tl.store(p + i, tl.load(p + i) - rate * first / (tl.sqrt(second) + 1e-8))


@triton.jit
def split_product(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, PARTS: tl.constexpr):
    m, n = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN)
    kk = tl.program_id(2) * BK + tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for _ in range(0, K, BK * PARTS):
        acc = tl.dot(tl.load(a + m[:, None] * K + kk[None, :]), tl.load(b + kk[:, None] * N + n[None, :]), acc)
        kk += BK * PARTS
    tl.atomic_add(c + m[:, None] * N + n[None, :], acc)


@triton.jit
def transposed_product(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, KIND: tl.constexpr):
    """Rows of b are columns of the product: K-major both, of any type."""
    m, n = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), KIND)
    for k in range(0, K, BK):
        kk = k + tl.arange(0, BK)
        x, y = tl.load(a + m[:, None] * K + kk[None, :]), tl.load(b + n[None, :] * K + kk[:, None])
        acc = tl.dot(x, y, acc, out_dtype=KIND)
    tl.store(c + m[:, None] * N + n[None, :], acc.to(c.dtype.element_ty))


@triton.jit
def weight_only_product(a, q, scales, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Weights of 8 bits, converted on the way."""
    m, n = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        kk = k + tl.arange(0, BK)
        w = tl.load(q + kk[:, None] * N + n[None, :]).to(tl.float16)
        acc = tl.dot(tl.load(a + m[:, None] * K + kk[None, :]), w, acc)
    tl.store(c + m[:, None] * N + n[None, :], (acc * tl.load(scales + n)[None, :]).to(tl.float16))


@triton.jit
def two_products(a, b, d, c, M, N, K, BM: tl.constexpr, BK: tl.constexpr, D: tl.constexpr):
    """(a b) d with a ReLU between: a of 64 columns, b of 64 rows."""
    m, i = tl.program_id(0) * BM + tl.arange(0, BM), tl.arange(0, D)
    x = tl.load(a + m[:, None] * D + i[None, :])
    acc = tl.zeros((BM, D), tl.float32)
    for k in range(0, K, BK):
        kk = k + tl.arange(0, BK)
        h = tl.maximum(tl.dot(x, tl.load(b + i[:, None] * K + kk[None, :])), 0.0).to(tl.float16)
        acc = tl.dot(h, tl.load(d + kk[:, None] * D + i[None, :]), acc)
    tl.store(c + m[:, None] * D + i[None, :], acc.to(tl.float16))


@triton.jit
def decode(q, keys, values, parts, length, D: tl.constexpr, BLOCK: tl.constexpr, STEPS: tl.constexpr):
    """One query a head against a part of the keys; the parts' sums are put together by another kernel."""
    h, part = tl.program_id(0), tl.program_id(1)
    i = tl.arange(0, D)
    x = tl.load(q + h * D + i).to(tl.float32)
    high, total, acc = -float("inf"), 0.0, tl.zeros((D,), tl.float32)
    for step in range(STEPS):
        t = (part * STEPS + step) * BLOCK + tl.arange(0, BLOCK)
        at = (h * length + t[:, None]) * D + i[None, :]
        score = tl.sum(tl.load(keys + at).to(tl.float32) * x[None, :], 1)
        more = tl.maximum(high, tl.max(score, 0))
        p = tl.exp(score - more)
        factor = tl.exp(high - more)
        acc = acc * factor + tl.sum(p[:, None] * tl.load(values + at).to(tl.float32), 0)
        total, high = total * factor + tl.sum(p, 0), more
    tl.store(parts + (h * tl.num_programs(1) + part) * D + i, acc / total)


@triton.jit
def row_products(a, x, y, n, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    r = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    acc = tl.zeros((ROWS,), tl.float32)
    for k in range(0, n, BLOCK):
        i = k + tl.arange(0, BLOCK)
        acc += tl.sum(tl.load(a + r[:, None] * n + i[None, :]).to(tl.float32) * tl.load(x + i)[None, :], 1)
    tl.store(y + r, acc)


@triton.jit
def column_sums(x, y, rows, columns, R: tl.constexpr, C: tl.constexpr):
    c = tl.program_id(0) * C + tl.arange(0, C)
    acc = tl.zeros((R, C), tl.float32)
    for k in range(0, rows, R):
        acc += tl.load(x + (k + tl.arange(0, R))[:, None] * columns + c[None, :])
    tl.store(y + c, tl.sum(acc, 0))
