"""Half-precision arithmetic on pairs, binary16 and bfloat16 (sass.md 2.2); conversions: narrow.py."""

from __future__ import annotations

from collections.abc import Callable

from warplens.core.program import Operand
from warplens.isa.dsl.half_pair import H2
from warplens.isa.dsl.lanes import F32, TRUE, U32, Pred
from warplens.isa.dsl.op import op
from warplens.isa.dsl.warp_interface import Warp
from warplens.isa.floating import Test, holds
from warplens.isa.integer import Combine, combine
from warplens.isa.numerics.narrow_formats import float_to_half, flushed_half, half_to_float, sticky


def fused(a: F32, b: F32, c: F32) -> F32:
    return sticky(a.times_plus(b, c, "RZ"), a.times_plus(b, c, "RM"), a.times_plus(b, c, "RP"))


# Pairs


def by_half(function: Callable[[F32, F32, F32], F32], brain: bool, a: H2, b: H2, c: H2, flush: bool = False) -> H2:
    """The pair of function(a, b, c), each rounded once."""
    keep = flushed_half if flush else lambda half, brain: half

    def one(shift: int) -> U32:
        x, y, z = (half_to_float(keep((v.u32() >> shift) & 0xFFFF, brain), brain) for v in (a, b, c))
        return keep(float_to_half(function(x, y, z), brain), brain)

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
    text="{to} = {a} * {b} + {c}, {BF16_V2:bfloat|half} pair",
)
def hfma2(a: H2, b: H2, c: H2, *, BF16_V2: bool, SAT: bool, RELU: bool, FTZ: bool) -> H2:
    """.MMA is the same operation on another pipe."""
    return by_half(lambda x, y, z: shaped(fused(x, y, z), SAT, RELU), BF16_V2, a, b, c, FTZ)


@op("HADD2", pipe="fp16", probe="__hadd2(a, b)", text="{to} = {a} + {b}, {BF16_V2:bfloat|half} pair")
def hadd2(a: H2, b: H2, *, BF16_V2: bool, SAT: bool, RELU: bool, FTZ: bool) -> H2:
    return by_half(lambda x, y, _: shaped(fused(x, x.like(1.0), y), SAT, RELU), BF16_V2, a, b, a, FTZ)


@op("HMUL2", pipe="fp16", probe="__hmul2(a, b)", text="{to} = {a} * {b}, {BF16_V2:bfloat|half} pair")
def hmul2(a: H2, b: H2, *, BF16_V2: bool, SAT: bool, RELU: bool, FTZ: bool) -> H2:
    return by_half(lambda x, y, _: shaped(fused(x, y, x.like(-0.0)), SAT, RELU), BF16_V2, a, b, a, FTZ)


@op("HADD2.F32", pipe="fp16", probe="__half2float(h)", text="{to} = {a} + {b}, halves to single precision")
def hadd2_f32(a: H2, b: H2, *, SAT: bool) -> F32:
    """Of the low halves; with -0 as the first operand a conversion."""
    x, y = (half_to_float(v.u32() & 0xFFFF, False) for v in (a, b))
    return shaped(x + y, SAT, False)


@op("FHADD", pipe="fma", probe="add.f32.f16", text="{to} = {a}, a {BF16:bfloat|half}, + {b}")
def fhadd(a: H2, b: F32, *, BF16: bool) -> F32:
    return half_to_float(a.u32() & 0xFFFF, BF16) + b


@op("FHFMA", pipe="fma", probe="fma.rn.f32.f16",
    text="{to} = {a} * {b}, {BF16:bfloats|halves}, + {c}")  # fmt: skip
def fhfma(a: H2, b: H2, c: F32, *, BF16: bool) -> F32:
    x, y = (half_to_float(v.u32() & 0xFFFF, BF16) for v in (a, b))
    return x.times_plus(y, c)


@op(
    "HMNMX2",
    pipe="alu",
    probe="__hmin2(a, b)",
    text="{to} = min({a}, {b}) if {least}, else max, {BF16_V2:bfloat|half} pair",
)
def hmnmx2(a: H2, b: H2, least: Pred, *, BF16_V2: bool, NAN: bool, FTZ: bool) -> H2:
    return by_half(lambda x, y, _: best(x, y, least, NAN), BF16_V2, a, b, a, FTZ)


def best(x: F32, y: F32, least: Pred, nan_wins: bool) -> F32:
    chosen = least.choose(x.min(y), x.max(y))
    return (x.isnan() | y.isnan()).choose(x.nan(), chosen) if nan_wins else chosen


@op("HMNMX2.XORSIGN", pipe="alu", probe="half2_min_xorsign(s, t)",
    text="{to} = min({a}, {b}) if {least}, else max, signed as {a} * {b}, {BF16_V2:bfloat|half} pair")  # fmt: skip
def hmnmx2_xorsign(w: Warp, a: Operand, b: Operand, least: Pred, *, BF16_V2: bool, NAN: bool, FTZ: bool) -> U32:
    """PTX min.xorsign.abs: of the magnitudes; a NaN result has no sign (seen on an H200)."""
    x, y = w.plain(a), w.plain(b)
    keep = flushed_half if FTZ else lambda half, brain: half

    def one(shift: int) -> U32:
        p, q = (half_to_float(keep((v >> shift) & 0x7FFF, BF16_V2), BF16_V2) for v in (x, y))
        magnitude = best(p, q, least, NAN)
        bits = float_to_half(magnitude, BF16_V2)
        return magnitude.isnan().choose(bits, bits | (((x ^ y) >> shift) & 0x8000))

    return one(0) | (one(16) << 16)


@op("VHMNMX", pipe="alu", probe="__hmin2(__hmin2(s, t), q); __hmax2_nan(__hmax2_nan(s, t), q)",
    text="{to} = min({a}, {b}, {c}) if {least}, else max, {BF16_V2:bfloat|half} pair")  # fmt: skip
def vhmnmx(a: H2, b: H2, c: H2, least: Pred, *, BF16_V2: bool, NAN: bool) -> H2:
    return by_half(lambda x, y, z: best(best(x, y, least, NAN), z, least, NAN), BF16_V2, a, b, c)


def outcomes(a: H2, b: H2, test: Test, brain: bool) -> tuple[Pred, Pred]:
    """Of the low and of the high halves."""

    def one(shift: int) -> Pred:
        x, y = (half_to_float((v.u32() >> shift) & 0xFFFF, brain) for v in (a, b))
        return holds(x, test, y)

    return one(0), one(16)


@op("HSETP2", pipe="alu", probe="__hlt(a, b)", text="{to} = {a} {test} {b}, {BF16_V2:bfloat|half} pair")
def hsetp2(a: H2, b: H2, p: Pred = TRUE, *, test: Test, bop: Combine, BF16_V2: bool) -> tuple[Pred, Pred]:
    """The low halves and the high halves (the second inferred)."""
    low, high = outcomes(a, b, test, BF16_V2)
    return combine(low, bop, p), combine(high, bop, p)


@op("HSET2", pipe="alu", probe="__hlt2(a, b)", text="{to} = {a} {test} {b}, {BF16_V2:bfloat|half} pair")
def hset2(a: H2, b: H2, p: Pred = TRUE, *, test: Test, bop: Combine, BF: bool, BF16_V2: bool) -> H2:
    """All ones or zero in each half; with .BF 1.0 or 0.0."""
    low, high = (combine(outcome, bop, p) for outcome in outcomes(a, b, test, BF16_V2))
    true = (0x3F80 if BF16_V2 else 0x3C00) if BF else 0xFFFF
    word = a.u32()
    return (low.choose(word.like(true), 0) | high.choose(word.like(true << 16), 0)).bitcast(H2)
