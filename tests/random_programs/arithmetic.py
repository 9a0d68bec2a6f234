"""Meanings that numpy has no function for.  Where a float result is NaN, its bits are never looked at (bits_of)."""

from __future__ import annotations

import ctypes
import ctypes.util
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
WIDE = {np.dtype("i4"): np.int64, np.dtype("u4"): np.uint64}


def _unsigned(a: Array) -> Array:
    return a.view(f"u{a.itemsize}")


def shift_left(a: Array, n: Array) -> Array:
    return a << (n & np.uint32(8 * a.itemsize - 1)).astype(a.dtype)


def shift_right(a: Array, n: Array) -> Array:
    return a >> (n & np.uint32(8 * a.itemsize - 1)).astype(a.dtype)


def quotient(a: Array, b: Array) -> Array:
    """a where b is 0, or -1 of a signed type."""
    one = a.dtype.type(1)
    if a.dtype.kind == "u":
        return a // np.where(b == 0, one, b)
    safe = np.where((b == 0) | (b == -1), one, b)
    size = _unsigned(np.abs(a)) // _unsigned(np.abs(safe))
    return np.where((a < 0) != (safe < 0), -size.view(a.dtype), size.view(a.dtype))


def remainder(a: Array, b: Array) -> Array:
    """a where b is 0, or -1 of a signed type."""
    unsafe = (b == 0) | ((b == -1) & (a.dtype.kind == "i"))
    return np.where(unsafe, a, a - quotient(a, b) * b)


def high_product(a: Array, b: Array) -> Array:
    bits = 8 * a.itemsize
    exact = a.astype(object) * b.astype(object) >> bits
    return np.array([int(v) & (1 << bits) - 1 for v in exact], f"u{a.itemsize}").view(a.dtype)


def leading_zeros(a: Array) -> Array:
    zeros, width = np.zeros(a.shape, np.uint32), 8 * a.itemsize
    rest = a.copy()
    step = width // 2
    while step:
        small = rest < a.dtype.type(1 << (width - step))
        zeros += np.where(small, np.uint32(step), np.uint32(0))
        rest = np.where(small, rest << a.dtype.type(step), rest)
        step //= 2
    return zeros + (a == 0)


def first_set(a: Array) -> Array:
    lowest = a & (~a + a.dtype.type(1))
    return np.where(a == 0, np.uint32(0), np.uint32(8 * a.itemsize) - leading_zeros(lowest)).astype(np.uint32)


def reverse(a: Array) -> Array:
    result = np.zeros_like(a)
    for bit in range(8 * a.itemsize):
        result |= (a >> a.dtype.type(bit) & a.dtype.type(1)) << a.dtype.type(8 * a.itemsize - 1 - bit)
    return result


def byte_perm(a: Array, b: Array, s: Array) -> Array:
    both = a.astype(np.uint64) | b.astype(np.uint64) << np.uint64(32)
    result = np.zeros_like(a)
    for place in range(4):
        chosen = (s >> np.uint32(4 * place) & np.uint32(7)).astype(np.uint64) * np.uint64(8)
        result |= (both >> chosen & np.uint64(255)).astype(np.uint32) << np.uint32(8 * place)
    return result


def _pair(low: Array, high: Array) -> Array:
    return low.astype(np.uint64) | high.astype(np.uint64) << np.uint64(32)


def funnel_left(low: Array, high: Array, n: Array) -> Array:
    return ((_pair(low, high) << (n & np.uint32(31)).astype(np.uint64)) >> np.uint64(32)).astype(np.uint32)


def funnel_right(low: Array, high: Array, n: Array) -> Array:
    return (_pair(low, high) >> (n & np.uint32(31)).astype(np.uint64)).astype(np.uint32)


def funnel_left_clamped(low: Array, high: Array, n: Array) -> Array:
    return np.where(n >= 32, low, funnel_left(low, high, n))


def funnel_right_clamped(low: Array, high: Array, n: Array) -> Array:
    return np.where(n >= 32, high, funnel_right(low, high, n))


def dot4(a: Array, b: Array, c: Array) -> Array:
    kind = "i1" if a.dtype.kind == "i" else "u1"
    total = c.copy()
    for shift in (0, 8, 16, 24):
        x, y = ((v >> v.dtype.type(shift)).astype(kind).astype(a.dtype) for v in (a, b))
        total += x * y
    return total


def absolute_difference(a: Array, b: Array, c: Array) -> Array:
    wide = np.abs(a.astype(np.int64) - b.astype(np.int64))
    return c + wide.astype(np.uint32)


def bit_field(a: Array, place: Array, count: Array) -> Array:
    one = np.uint32(1)
    return (a >> (place & np.uint32(31))) & ((one << (count & np.uint32(31))) - one)


# --- floating point ---


def bits_of(a: Array) -> Array:
    """The bits as an unsigned number; one pattern for every NaN."""
    nan = _unsigned(a.dtype.type("nan").reshape(1))[0] | _unsigned(a.dtype.type(0).reshape(1))[0]
    return np.where(np.isnan(a), nan, _unsigned(a))


def least(a: Array, b: Array) -> Array:
    """A number rather than NaN; -0 is less than +0."""
    smaller = np.where((a < b) | ((a == b) & np.signbit(a)), a, b)
    return np.where(np.isnan(a), b, np.where(np.isnan(b), a, smaller))


def greatest(a: Array, b: Array) -> Array:
    larger = np.where((a > b) | ((a == b) & ~np.signbit(a)), a, b)
    return np.where(np.isnan(a), b, np.where(np.isnan(b), a, larger))


def saturate(a: Array) -> Array:
    """NaN and everything below 0, -0 included, become +0."""
    return np.where(a > 0, np.minimum(a, np.float32(1)), np.float32(0))


def odd_fma(a: Array, b: Array, c: Array) -> Array:
    """a * b + c in double, an inexact sum rounded to odd, so that rounding it once more is as good as rounding once.
    For a product that is exact in double."""
    p, c = a.astype(np.float64) * b.astype(np.float64), c.astype(np.float64)
    s = p + c
    part = s - p
    error = (p - (s - part)) + (c - part)
    bits = s.view(np.int64)
    nudge = np.isfinite(s) & (error != 0) & (bits & 1 == 0)
    step = np.where((error > 0) == (s > 0), 1, -1)
    return np.where(nudge, bits + step, bits).view(np.float64)


def fma32(a: Array, b: Array, c: Array) -> Array:
    return odd_fma(a, b, c).astype(np.float32)


def fma32_rz(a: Array, b: Array, c: Array) -> Array:
    exact = odd_fma(a, np.broadcast_to(b, a.shape), c)
    near = exact.astype(np.float32)
    beyond = np.abs(near.astype(np.float64)) > np.abs(exact)
    return np.where(beyond, np.nextafter(near, np.float32(0)), near)


_libm = ctypes.CDLL(ctypes.util.find_library("m"))
_libm.fma.restype = ctypes.c_double
_libm.fma.argtypes = [ctypes.c_double] * 3


def fma64(a: Array, b: Array, c: Array) -> Array:
    return np.array([_libm.fma(*v) for v in zip(a.tolist(), b.tolist(), c.tolist(), strict=True)])


def to_integer(rounding: Callable[[Array], Array], dtype: Any) -> Callable[[Array], Array]:
    """Saturating; NaN gives 0."""
    info = np.iinfo(dtype)

    def convert(a: Array) -> Array:
        whole = rounding(a.astype(np.float64))
        low, high = whole <= float(info.min), whole >= float(info.max)
        inside = np.where(low | high | np.isnan(a), 0.0, whole).astype(dtype)
        return np.where(low, dtype(info.min), np.where(high, dtype(info.max), inside))

    return convert


def as_halves(a: Array) -> tuple[Array, Array]:
    return a.astype(np.uint16).view(np.float16), (a >> np.uint32(16)).astype(np.uint16).view(np.float16)


def half_bits(a: Array) -> Array:
    """0x7fff for every NaN, as the hardware writes it."""
    return np.where(np.isnan(a), np.uint16(0x7FFF), a.astype(np.float16).view(np.uint16)).astype(np.uint32)


def halves(formula: Callable[..., Array]) -> Callable[..., Array]:
    """On both halves of u32, rounded once: sums and products of two halves are exact in double, up to rounding to odd
    in a * b + c."""

    def meaning(*args: Array) -> Array:
        low, high = zip(*map(as_halves, args), strict=True)
        results = [half_bits(formula(*(v.astype(np.float64) for v in side))) for side in (low, high)]
        return results[0] | results[1] << np.uint32(16)

    return meaning
