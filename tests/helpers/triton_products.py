"""Products in Triton, which its compiler forms in tensor memory for sm_100; imported where Triton is installed."""

import triton
import triton.language as tl


@triton.jit
def chained(a, b, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """(a b / 2) b: the second product takes A from tensor memory."""
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    right = tl.load(b + k[:, None] * N + n[None, :])
    first = tl.dot(tl.load(a + m[:, None] * K + k[None, :]), right)
    second = tl.dot((first * 0.5).to(tl.float16), right)
    tl.store(c + m[:, None] * N + n[None, :], second)


@triton.jit
def scaled(a, sa, b, sb, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """Floats of 4 bits, two a byte, with a scale each 32 along K."""
    m, n, k, s = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K // 2), tl.arange(0, K // 32)
    left = tl.load(a + m[:, None] * (K // 2) + k[None, :])
    right = tl.load(b + n[None, :] * (K // 2) + k[:, None])
    of_left = tl.load(sa + m[:, None] * (K // 32) + s[None, :])
    of_right = tl.load(sb + n[:, None] * (K // 32) + s[None, :])
    tl.store(c + m[:, None] * N + n[None, :], tl.dot_scaled(left, of_left, "e2m1", right, of_right, "e2m1"))
