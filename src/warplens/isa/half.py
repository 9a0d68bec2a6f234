"""Half-precision arithmetic on pairs, binary16 and bfloat16, and its conversions (sass.md 2.2)."""

from __future__ import annotations

from collections.abc import Callable

from warplens.isa._lanes import F32, F64, H2, S32, TRUE, U32, Pred
from warplens.isa._op import op
from warplens.isa.floating import Test, holds
from warplens.isa.integer import Combine, combine
from warplens.isa.special import ex2, tanh

# One half, in the low 16 bits of a word


def half_to_float(half: U32, brain: bool) -> F32:
    """Exact.  binary16: shifted into place the exponent is 112 too small, also for denormals."""
    if brain:
        return (half << 16).float_bits()
    magnitude = (half & 0x7FFF) << 13
    scaled = (magnitude.float_bits() * 2.0**112).u32()
    special = (half & 0x7C00).eq(0x7C00)
    return (special.choose(magnitude | 0x7F80_0000, scaled) | ((half & 0x8000) << 16)).float_bits()


def float_to_half(x: F32, brain: bool) -> U32:
    """Rounded to nearest, ties to even; NaN gives 0x7fff."""
    bits = x.u32()
    sign = (bits >> 16) & 0x8000
    if brain:
        rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
        return x.isnan().choose(rounded.like(0x7FFF), rounded)
    magnitude = x.abs()
    word = magnitude.u32()
    normal = (word - (112 << 23) + 0xFFF + ((word >> 13) & 1)) >> 13
    # Adding 0.5 leaves a denormal's digits at the end of the word: the unit of 0.5 is 2^-24.
    small = (magnitude + 0.5).u32() - 0x3F00_0000
    value = magnitude.compare("lt", 2.0**-14).choose(small, normal)
    value = magnitude.compare("ge", 65520.0).choose(value.like(0x7C00), value)
    return x.isnan().choose(value.like(0x7FFF), value | sign)


def sticky(toward_zero: F32, down: F32, up: F32) -> F32:
    """A sum rounded to odd, so that rounding it once more to a shorter format is right."""
    inexact = down.compare("ne", up)
    return (toward_zero.u32() | inexact.u32()).float_bits()


def fused(a: F32, b: F32, c: F32) -> F32:
    return sticky(a.times_plus(b, c, "RZ"), a.times_plus(b, c, "RM"), a.times_plus(b, c, "RP"))


# Pairs


def by_half(function: Callable[[F32, F32, F32], F32], brain: bool, a: H2, b: H2, c: H2) -> H2:
    """The pair of function(a, b, c), each rounded once."""

    def one(shift: int) -> U32:
        x, y, z = (half_to_float((v.u32() >> shift) & 0xFFFF, brain) for v in (a, b, c))
        return float_to_half(function(x, y, z), brain)

    return (one(0) | (one(16) << 16)).bitcast(H2)


def shaped(value: F32, saturate: bool, relu: bool) -> F32:
    if saturate:
        return value.saturate()
    return value.isnan().choose(value, value.max(0.0)) if relu else value


@op(
    "HFMA2",
    pipe="fp16",
    probe="__hfma2(a, b, c)",
    ignores="MMA",
    says="{to} = {a} * {b} + {c}, {BF16_V2:bfloat|half} pair",
)
def hfma2(a: H2, b: H2, c: H2, *, BF16_V2: bool, SAT: bool, RELU: bool) -> H2:
    """.MMA is the same operation on another pipe."""
    return by_half(lambda x, y, z: shaped(fused(x, y, z), SAT, RELU), BF16_V2, a, b, c)


@op("HADD2", pipe="fp16", probe="__hadd2(a, b)", says="{to} = {a} + {b}, {BF16_V2:bfloat|half} pair")
def hadd2(a: H2, b: H2, *, BF16_V2: bool, SAT: bool, RELU: bool) -> H2:
    return by_half(lambda x, y, _: shaped(fused(x, x.like(1.0), y), SAT, RELU), BF16_V2, a, b, a)


@op("HMUL2", pipe="fp16", probe="__hmul2(a, b)", says="{to} = {a} * {b}, {BF16_V2:bfloat|half} pair")
def hmul2(a: H2, b: H2, *, BF16_V2: bool, SAT: bool, RELU: bool) -> H2:
    return by_half(lambda x, y, _: shaped(fused(x, y, x.like(-0.0)), SAT, RELU), BF16_V2, a, b, a)


@op("HADD2.F32", pipe="fp16", probe="__half2float(h)", says="{to} = {a} + {b}, halves to single precision")
def hadd2_f32(a: H2, b: H2) -> F32:
    """Of the low halves; with -0 as the first operand a conversion."""
    x, y = (half_to_float(v.u32() & 0xFFFF, False) for v in (a, b))
    return x + y


@op(
    "HMNMX2",
    pipe="alu",
    probe="__hmin2(a, b)",
    says="{to} = min({a}, {b}) if {least}, else max, {BF16_V2:bfloat|half} pair",
)
def hmnmx2(a: H2, b: H2, least: Pred, *, BF16_V2: bool) -> H2:
    return by_half(lambda x, y, _: least.choose(x.min(y), x.max(y)), BF16_V2, a, b, a)


def outcomes(a: H2, b: H2, test: Test, brain: bool) -> tuple[Pred, Pred]:
    """Of the low and of the high halves."""

    def one(shift: int) -> Pred:
        x, y = (half_to_float((v.u32() >> shift) & 0xFFFF, brain) for v in (a, b))
        return holds(x, test, y)

    return one(0), one(16)


@op("HSETP2", pipe="fp16", probe="__hlt(a, b)", says="{to} = {a} {test} {b}, {BF16_V2:bfloat|half} pair")
def hsetp2(a: H2, b: H2, p: Pred = TRUE, *, test: Test, bop: Combine, BF16_V2: bool) -> tuple[Pred, Pred]:
    """The low halves and the high halves (the second inferred)."""
    low, high = outcomes(a, b, test, BF16_V2)
    return combine(low, bop, p), combine(high, bop, p)


@op("HSET2", pipe="fp16", probe="__hlt2(a, b)", says="{to} = {a} {test} {b}, {BF16_V2:bfloat|half} pair")
def hset2(a: H2, b: H2, p: Pred = TRUE, *, test: Test, bop: Combine, BF: bool, BF16_V2: bool) -> H2:
    """All ones or zero in each half; with .BF 1.0 or 0.0."""
    low, high = (combine(outcome, bop, p) for outcome in outcomes(a, b, test, BF16_V2))
    true = (0x3F80 if BF16_V2 else 0x3C00) if BF else 0xFFFF
    word = a.u32()
    return (low.choose(word.like(true), 0) | high.choose(word.like(true << 16), 0)).bitcast(H2)


# Conversions


@op("F2F.F16.F32", pipe="xu", probe="__float2half(f)", says="{to} = {a} as half")
def f2f_f16(a: F32) -> U32:
    return float_to_half(a, False)


@op(
    "F2FP.PACK_AB",
    pipe="fp16",
    probe="__floats2half2_rn(a, b)",
    ignores="F32",
    says="{to} = pair of {low} and {high} as {BF16:bfloat|half}",
)
def f2fp(high: F32, low: F32, *, F16: bool, BF16: bool, RELU: bool) -> U32:
    """The first operand goes into the high half."""
    high, low = (shaped(x, False, RELU) for x in (high, low))
    return (float_to_half(high, BF16) << 16) | float_to_half(low, BF16)


@op("I2F.F16", pipe="xu", probe="__int2half_rn(a)", says="{to} = {a} as half")
def i2f_f16(a: S32, *, U32: bool) -> U32:
    return _from_double(a.u32().f64() if U32 else a.f64(), False)


@op("I2F.BF16", pipe="xu", probe="__int2bfloat16_rn(a)", says="{to} = {a} as bfloat")
def i2f_bf16(a: S32, *, U32: bool) -> U32:
    return _from_double(a.u32().f64() if U32 else a.f64(), True)


def _from_double(x: F64, brain: bool) -> U32:
    """Through a single-precision number rounded to odd: its last bit says whether digits were lost."""
    nearest = x.f32()
    back = nearest.f64()
    outward = back.abs().compare("gt", x.abs())
    bits = outward.choose(nearest.u32() - 1, nearest.u32())
    return float_to_half((bits | back.compare("ne", x).u32()).float_bits(), brain)


@op("F2I.F16", pipe="xu", probe="__half2int_rz(h)", says="{to} = {a}, a half, as int")
def f2i_f16(a: H2, *, TRUNC: bool, NTZ: bool) -> S32:
    value = half_to_float(a.u32() & 0xFFFF, False)
    number = (value.trunc() if TRUNC else value.nearest()).to_int(S32)
    return number if NTZ else value.isnan().choose(number.like(1 << 31), number)


@op("MUFU.TANH.F16", pipe="xu", probe="htanh_approx(h)", says="{to} = approximately tanh({a}), half")
def tanh_f16(a: H2) -> U32:
    return float_to_half(tanh(half_to_float(a.u32() & 0xFFFF, False)), False)


@op("MUFU.EX2.F16", pipe="xu", probe="hexp2(h)", says="{to} = approximately 2 to the power {a}, half")
def ex2_f16(a: H2) -> U32:
    return float_to_half(ex2(half_to_float(a.u32() & 0xFFFF, False)), False)
