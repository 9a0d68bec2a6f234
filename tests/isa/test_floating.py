"""Floating-point sentences against exact fractions."""

from __future__ import annotations

import itertools
import math
import struct
from fractions import Fraction

import pytest
from engine import Minus

from helpers.exact_floats import BFLOAT, DOUBLE, HALF, SINGLE, add, convert, fma, mul

NAN = 0x7FFFFFFF
SINGLES = [
    0, 0x80000000, 1, 0x80000001, 0x007FFFFF, 0x00800000, 0x3F800000, 0xBF800001, 0x3EAAAAAB, 0x40490FDB,
    0x4B7FFFFF, 0x7F7FFFFF, 0xFF7FFFFF, 0x7F800000, 0xFF800000, 0x7FC12345, 0x34000000, 0x0C123456,
]  # fmt: skip
PAIRS = list(itertools.product(SINGLES, SINGLES))
A, B = [a for a, _ in PAIRS], [b for _, b in PAIRS]
C = [SINGLES[(3 * k + k // 18) % 18] for k in range(len(A))]
ROUNDINGS = ["RN", "RZ", "RM", "RP"]


def each(function, *lists):
    return [function(*lane) for lane in zip(*lists, strict=True)]


def f32(bits: int) -> float:
    return struct.unpack("<f", struct.pack("<I", bits))[0]


def b32(value: float) -> int:
    return struct.unpack("<I", struct.pack("<f", value))[0]


def b64(value: float) -> int:
    return struct.unpack("<Q", struct.pack("<d", value))[0]


@pytest.mark.parametrize("rounding", ROUNDINGS)
def test_arithmetic_rounds_as_asked(engine, rounding):
    suffix = "" if rounding == "RN" else f".{rounding}"
    assert engine.value(f"FFMA{suffix}", A, B, C) == each(lambda a, b, c: fma(SINGLE, a, b, c, rounding), A, B, C)
    assert engine.value(f"FADD{suffix}", A, B) == each(lambda a, b: add(SINGLE, a, b, rounding), A, B)
    assert engine.value(f"FMUL{suffix}", A, B) == each(lambda a, b: mul(SINGLE, a, b, rounding), A, B)


def test_the_exact_reference_against_the_host():
    doubles = [0.1, -2.5e-308, 1e308, 3.0, -7.25, 5e-324, 1 / 3]
    for a, b in itertools.product(doubles, doubles):
        assert mul(DOUBLE, b64(a), b64(b)) == b64(a * b)
        assert add(DOUBLE, b64(a), b64(b)) == b64(a + b)


def test_double_arithmetic(engine):
    a, b, c = [0.1, 1e300, 5e-324, -1.5], [3.0, 1e300, 0.5, 1 / 3], [1e-20, -math.inf, 1.0, 0.5]
    assert engine.value("DADD", a, b) == each(lambda x, y: b64(x + y), a, b)
    assert engine.value("DMUL", a, b) == each(lambda x, y: b64(x * y), a, b)
    for rounding in ("RM", "RP"):
        assert engine.value(f"DFMA.{rounding}", a, b, c) == each(
            lambda x, y, z, way=rounding: fma(DOUBLE, b64(x), b64(y), b64(z), way), a, b, c
        )


def test_ftz_flushes_operands_and_results(engine):
    denormal, least = 0x00400000, 0x00800000
    # the denormal operand counts as zero; half of the least normal number becomes zero, of its sign
    assert engine.value("FADD.FTZ", [denormal], [0]) == [0]
    assert engine.value("FADD", [denormal], [0]) == [denormal]
    assert engine.value("FMUL.FTZ", [least | 1 << 31], [0.5]) == [1 << 31]
    assert engine.value("FADD.FTZ", Minus([denormal]), [1 << 31]) == [1 << 31]


def test_saturation(engine):
    a = [b32(x) for x in (-1.0, -0.0, 0.25, 1.5, math.inf)] + [NAN]
    assert engine.value("FADD.SAT", a, [0] * 6) == [0, 0, b32(0.25), b32(1.0), b32(1.0), 0]


def test_minima_and_maxima(engine):
    a, b = [NAN, b32(1.0), 0x80000000, 0, NAN], [b32(2.0), NAN, 0, 0x80000000, NAN]
    assert engine.value("FMNMX", a, b, True) == [b32(2.0), b32(1.0), 0x80000000, 0x80000000, NAN]
    assert engine.value("FMNMX", a, b, False) == [b32(2.0), b32(1.0), 0, 0, NAN]
    assert engine.value("FMNMX3", [b32(1.0)], [b32(3.0)], [NAN], False) == [b32(3.0)]


@pytest.mark.parametrize(
    "test", ["LT", "LE", "GT", "GE", "EQ", "NE", "LTU", "LEU", "GTU", "GEU", "EQU", "NEU", "NUM", "NAN"]
)
def test_fsetp(engine, test):
    def holds(a, b):
        x, y = f32(a), f32(b)
        unordered = x != x or y != y
        if test in ("NUM", "NAN"):
            return unordered == (test == "NAN")
        if unordered:
            return test.endswith("U")
        return {"LT": x < y, "LE": x <= y, "GT": x > y, "GE": x >= y, "EQ": x == y, "NE": x != y}[test[:2]]

    first, second = engine.evaluate(f"FSETP.{test}.AND", A, B, True)
    assert first.tolist() == each(holds, A, B)
    assert second.tolist() == [not p for p in first.tolist()]


def test_fset_and_fsel(engine):
    a = [b32(x) for x in (1.0, 2.0, 3.0)]
    assert engine.value("FSET.BF.GT.AND", a, [2.0] * 3, True) == [0, 0, b32(1.0)]
    assert engine.value("FSET.GT.AND", a, [2.0] * 3, True) == [0, 0, 0xFFFFFFFF]
    assert engine.value("FSEL", a, Minus(a), [True, False, True]) == [b32(1.0), b32(-2.0), b32(3.0)]


def test_division_is_right_whenever_fchk_lets_it_pass(engine):
    """The fast path that the compiler writes: reciprocal, one step, quotient, remainder, correction."""
    spread = [
        0x00800000, 0x01000001, 0x0D800001, 0x0DFFFFFF, 0x1F123457, 0x3F800000, 0x3FFFFFFF, 0x4B7FFFFF,
        0x5F654321, 0x7D800000, 0x7DFFFFFF, 0x7E000001, 0x7E7FFFFF, 0x7F7FFFFF, 0xBF800001, 0xC2123457,
    ]  # fmt: skip
    a, b = ([pair[k] for pair in itertools.product(spread, spread)] for k in (0, 1))
    zeros, ones = [0] * len(a), [b32(1.0)] * len(a)
    reciprocal = engine.value("MUFU.RCP", b)
    error = engine.value("FFMA", Minus(b), reciprocal, ones)
    better = engine.value("FFMA", reciprocal, error, reciprocal)
    quotient = engine.value("FFMA", a, better, zeros)
    rest = engine.value("FFMA", Minus(b), quotient, a)
    result = engine.value("FFMA", better, rest, quotient)
    slow = engine.value("FCHK", a, b)
    passed = [k for k in range(len(a)) if not slow[k]]
    assert len(passed) > 100
    assert [result[k] for k in passed] == [SINGLE.rounded(SINGLE.value(a[k]) / SINGLE.value(b[k])) for k in passed]
    assert engine.value("FCHK", SINGLES[:3] + SINGLES[13:16], [b32(3.0)] * 6) == [1] * 6


def test_f2i_saturates(engine):
    values = [0.5, -0.5, 1.5, 2.5, -1.5, 2147483520.0, 3e9, -3e9, 1e20, math.inf, -math.inf]

    def expected(way, least, most):
        return [max(least, min(most, way(v) if math.isfinite(v) else (most if v > 0 else least))) for v in values]

    def signed(opcode, bits):
        return [r - (1 << bits) if r >> (bits - 1) else r for r in engine.value(opcode, values)]

    assert signed("F2I.TRUNC.NTZ", 32) == expected(math.trunc, -(2**31), 2**31 - 1)
    assert signed("F2I.FLOOR.NTZ", 32) == expected(math.floor, -(2**31), 2**31 - 1)
    assert signed("F2I.CEIL.NTZ", 32) == expected(math.ceil, -(2**31), 2**31 - 1)
    assert signed("F2I.NTZ", 32) == expected(round, -(2**31), 2**31 - 1)
    assert engine.value("F2I.FTZ.U32.TRUNC.NTZ", values) == expected(math.trunc, 0, 2**32 - 1)
    assert signed("F2I.S64.F64.TRUNC", 64) == expected(math.trunc, -(2**63), 2**63 - 1)
    assert engine.value("F2I.U64.TRUNC", values) == expected(math.trunc, 0, 2**64 - 1)


def test_f2i_of_nan(engine):
    assert engine.value("F2I.TRUNC.NTZ", [NAN]) == [0]
    assert engine.value("F2I.F64.TRUNC", [math.nan]) == [1 << 31]
    assert engine.value("F2I.S64.F64.TRUNC", [math.nan]) == [1 << 63]


def test_int_to_float(engine):
    words = [0, 1, 16777217, 16777219, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0xFFFFFF7F]
    signed = [w - (1 << 32) if w >> 31 else w for w in words]
    for rounding in ROUNDINGS:
        suffix = "" if rounding == "RN" else f".{rounding}"
        assert engine.value(f"I2F{suffix}", words) == [SINGLE.rounded(Fraction(s), rounding) for s in signed]
        assert engine.value(f"I2F.U32{suffix}", words) == [SINGLE.rounded(Fraction(w), rounding) for w in words]
        assert engine.value(f"I2FP.F32.S32{suffix}", words) == [SINGLE.rounded(Fraction(s), rounding) for s in signed]
    assert engine.value("I2F.F64", words) == [b64(float(s)) for s in signed]
    assert engine.value("I2F.F64.U16", words) == [b64(float(w & 0xFFFF)) for w in words]
    assert engine.value("I2F.S16", [0x8000, 0x1FFFF]) == [b32(-32768.0), b32(-1.0)]
    assert engine.value("I2F.U16.RZ", [0x8000, 0x1FFFF]) == [b32(32768.0), b32(65535.0)]  # a division of shorts
    wide = [2**63 + 1, 2**64 - 1, 2**53 + 1, 3]
    assert engine.value("I2F.U64.RP", wide) == [SINGLE.rounded(Fraction(w), "RP") for w in wide]
    assert engine.value("I2F.F64.U64", wide) == [b64(float(w)) for w in wide]


@pytest.mark.parametrize("rounding", ROUNDINGS)
def test_double_to_float(engine, rounding):
    finite = [0.1, -0.1, 1e-46, -1e-46, 1.5e-45, 1e39, -1e39, 3.4028235677973366e38, 0.0, -0.0, 2.0, 1 / 3]
    doubles = [b64(x) for x in (*finite, 1.1754943e-38, math.inf, -math.inf)]
    suffix = "" if rounding == "RN" else f".{rounding}"
    assert engine.value(f"F2F.F32.F64{suffix}", doubles) == [convert(DOUBLE, SINGLE, x, rounding) for x in doubles]
    nans = [0x7FF8_0000_0000_0000, 0xFFF8_0000_0000_0123, 0x7FF0_0000_0000_0001]
    assert engine.value(f"F2F.F32.F64{suffix}", nans) == [0x7FC0_0000, 0xFFC0_0000, 0x7FC0_0000]  # as on an H200
    numbers = [x for x in SINGLES if not SINGLE.is_nan(x)]
    assert engine.value("F2F.F64.F32", numbers) == [convert(SINGLE, DOUBLE, x) for x in numbers]
    assert DOUBLE.is_nan(engine.value("F2F.F64.F32", [NAN])[0])  # which NaN is not laid down


def test_round_to_integral(engine):
    a = [0.5, 1.5, -0.5, -2.5, 8388609.0, 1e30]
    assert engine.value("FRND", a) == [b32(x) for x in (0.0, 2.0, -0.0, -2.0, 8388609.0, 1e30)]
    assert engine.value("FRND.FLOOR", a) == [b32(x) for x in (0.0, 1.0, -1.0, -3.0, 8388609.0, 1e30)]
    assert engine.value("FRND.F64", a) == [b64(x) for x in (0.0, 2.0, -0.0, -2.0, 8388609.0, 1e30)]


# Halves


HALVES = [
    0,
    0x8000,
    1,
    0x03FF,
    0x0400,
    0x3C00,
    0xBC01,
    0x3555,
    0x7BFF,
    0xFBFF,
    0x7C00,
    0xFC00,
    0x7E00,
    0x1400,
]


def test_half_to_float_and_back(engine):
    assert engine.value("HADD2.F32", Minus([0] * 14), HALVES) == [convert(HALF, SINGLE, h) for h in HALVES]
    singles = SINGLES + [b32(x) for x in (65504.0, 65519.9, 65520.0, 2.0**-24, 2.0**-25, 3 * 2.0**-26, 0.1, 1 / 3)]
    assert engine.value("F2F.F16.F32", singles) == [convert(SINGLE, HALF, x) for x in singles]
    packed = engine.value("F2FP.BF16.F32.PACK_AB", singles, singles[::-1])
    assert packed == each(
        lambda a, b: convert(SINGLE, BFLOAT, a) << 16 | convert(SINGLE, BFLOAT, b), singles, singles[::-1]
    )


@pytest.mark.parametrize(("suffix", "form"), [("", HALF), (".BF16_V2", BFLOAT)])
def test_half_pairs_round_once(engine, suffix, form):
    triples = [(a, b, HALVES[(5 * i + 3 * j) % 14]) for i, a in enumerate(HALVES) for j, b in enumerate(HALVES)]
    triples += [(0x3C01, 0x3C01, 0x0001), (0x3FFF, 0x3FFF, 0x8001), (0x3C01, 0x3BFF, 0x9000)]
    a, b, c = (list(column) for column in zip(*triples, strict=True))
    a2, b2, c2 = ([x << 16 | y for x, y in zip(v, v[::-1], strict=True)] for v in (a, b, c))

    def pair(function, *words):
        return [
            function(*(w >> 16 for w in lane)) << 16 | function(*(w & 0xFFFF for w in lane))
            for lane in zip(*words, strict=True)
        ]

    assert engine.value(f"HFMA2{suffix}", a2, b2, c2) == pair(lambda x, y, z: fma(form, x, y, z), a2, b2, c2)
    assert engine.value(f"HADD2{suffix}", a2, b2) == pair(lambda x, y: add(form, x, y), a2, b2)
    assert engine.value(f"HMUL2{suffix}", a2, b2) == pair(lambda x, y: mul(form, x, y), a2, b2)


def test_hfma2_moves_a_constant(engine):
    assert engine.value("HFMA2.MMA", Minus([0]), [0], 0x3F800000) == [0x3F800000]
    assert engine.value("HFMA2", Minus([0]), [0], 0x00000004) == [4]


def test_half_comparisons(engine):
    low, high = engine.evaluate("HSETP2.GT.AND", [0x3C00_4000], [0x3C00_3C00], True)
    assert (low.tolist(), high.tolist()) == ([1], [0])
    assert engine.value("HSET2.BF.LT.AND", [0x3C00_4000], [0x4000_4000], True) == [0x3C00_0000]
    assert engine.value("HMNMX2", [0x3C00_FE00], [0x4000_BC00], True) == [0x3C00_BC00]
