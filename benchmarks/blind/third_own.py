"""Kernels of ours in the third blind list, for Triton: grouped products, stream-K, scaled products, attention."""

import triton
import triton.language as tl


@triton.jit
def grouped_product(a, b, c, ends, experts, N, K: tl.constexpr, M: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Of each tile of M rows the product with the matrix of its expert (rows sorted by expert, padded to M)."""
    tile, column = tl.program_id(0), tl.program_id(1)
    expert = tl.load(experts + tile)
    rows, columns, k = tile * M + tl.arange(0, M), column * BN + tl.arange(0, BN), tl.arange(0, BK)
    left, right = a + rows[:, None] * K + k[None, :], b + expert * N * K + columns[None, :] * K + k[:, None]
    total = tl.zeros((M, BN), tl.float32)
    for _ in range(0, K, BK):
        total = tl.dot(tl.load(left), tl.load(right), total)
        left += BK
        right += BK
    kept = rows[:, None] < tl.load(ends + expert)
    tl.store(c + rows[:, None] * N + columns[None, :], total.to(c.dtype.element_ty), mask=kept)


@triton.jit
def stream_k(a, b, c, N, K, tiles_n, rounds, each, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Each block takes `each` consecutive rounds of BK of all tiles' rounds, and adds its parts to the tiles."""
    first = tl.program_id(0) * each
    last = first + each
    while first < last:
        tile = first // rounds
        until = tl.minimum(last, (tile + 1) * rounds)
        rows, columns = (tile // tiles_n) * BM + tl.arange(0, BM), (tile % tiles_n) * BN + tl.arange(0, BN)
        k = (first % rounds) * BK + tl.arange(0, BK)
        left, right = a + rows[:, None] * K + k[None, :], b + columns[None, :] * K + k[:, None]
        total = tl.zeros((BM, BN), tl.float32)
        for _ in range(first, until):
            total = tl.dot(tl.load(left), tl.load(right), total)
            left += BK
            right += BK
        tl.atomic_add(c + rows[:, None] * N + columns[None, :], total, sem="relaxed")
        first = until


@triton.jit
def scaled_product(a, b, row_scales, column_scales, c, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """int8 with a scale a row and a column."""
    rows, columns = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    left, right = a + rows[:, None] * K + k[None, :], b + columns[None, :] * K + k[:, None]
    total = tl.zeros((BM, BN), tl.int32)
    for _ in range(0, K, BK):
        total = tl.dot(tl.load(left), tl.load(right), total, out_dtype=tl.int32)
        left += BK
        right += BK
    scaled = total.to(tl.float32) * tl.load(row_scales + rows)[:, None] * tl.load(column_scales + columns)[None, :]
    tl.store(c + rows[:, None] * N + columns[None, :], scaled.to(c.dtype.element_ty))


@triton.jit
def block_scaled_product(a, b, a_scales, b_scales, c, N, K, BM: tl.constexpr, BN: tl.constexpr):
    """8-bit floats; A has a scale for each row and 128 along K, B for each 128 x 128."""
    rows, columns = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, 128)
    left, right = a + rows[:, None] * K + k[None, :], b + columns[None, :] * K + k[:, None]
    blocks = K // 128
    total = tl.zeros((BM, BN), tl.float32)
    for block in range(0, blocks):
        scale = tl.load(a_scales + rows * blocks + block) * tl.load(
            b_scales + tl.program_id(1) * BN // 128 * blocks + block
        )
        total += tl.dot(tl.load(left), tl.load(right)) * scale[:, None]
        left += 128
        right += 128
    tl.store(c + rows[:, None] * N + columns[None, :], total.to(c.dtype.element_ty))


@triton.jit
def windowed_attention(
    q, k, v, out, length, scale, WINDOW: tl.constexpr, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr
):
    """Each query sees the WINDOW keys up to its own; two query heads share keys and values."""
    tile, head = tl.program_id(0), tl.program_id(1)
    rows, d, n = tile * BM + tl.arange(0, BM), tl.arange(0, D), tl.arange(0, BN)
    queries = tl.load(q + (head * length + rows[:, None]) * D + d[None, :])
    keys, values = k + (head // 2) * length * D, v + (head // 2) * length * D
    high, total = tl.full((BM,), -float("inf"), tl.float32), tl.zeros((BM,), tl.float32)
    mixed = tl.zeros((BM, D), tl.float32)
    for start in range(tl.maximum(tile * BM - WINDOW, 0) // BN * BN, (tile + 1) * BM, BN):
        at = start + n
        score = tl.dot(queries, tl.load(keys + at[None, :] * D + d[:, None])) * scale
        seen = (at[None, :] <= rows[:, None]) & (at[None, :] > rows[:, None] - WINDOW)
        score = tl.where(seen, score, -1.0e30)
        more = tl.maximum(high, tl.max(score, 1))
        share = tl.exp2(score - more[:, None])
        fade = tl.exp2(high - more)
        total = total * fade + tl.sum(share, 1)
        mixed = tl.dot(share.to(tl.float16), tl.load(values + at[:, None] * D + d[None, :]), mixed * fade[:, None])
        high = more
    tl.store(out + (head * length + rows[:, None]) * D + d[None, :], (mixed / total[:, None]).to(tl.float16))


@triton.jit
def linear_attention(q, k, v, out, length, D: tl.constexpr, C: tl.constexpr):
    """A head's chunks of C positions one after the other, with the state of those before in registers."""
    head = tl.program_id(0)
    c, d = tl.arange(0, C), tl.arange(0, D)
    state = tl.zeros((D, D), tl.float32)
    for start in range(0, length, C):
        at = (head * length + start + c[:, None]) * D + d[None, :]
        queries, keys, values = tl.load(q + at), tl.load(k + at), tl.load(v + at)
        inside = tl.dot(queries, tl.trans(keys))
        inside = tl.where(c[:, None] >= c[None, :], inside, 0.0).to(tl.float16)
        mixed = tl.dot(inside, values) + tl.dot(queries, state.to(tl.float16))
        state = tl.dot(tl.trans(keys), values, state)
        tl.store(out + at, mixed.to(tl.float16))
