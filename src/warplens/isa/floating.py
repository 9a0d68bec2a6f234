"""Single-precision arithmetic and comparisons (sass.md 2.2)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeVar, cast

from warplens.core.program import Operand
from warplens.isa.conversion import f2f_f32_f64
from warplens.isa.dsl.lanes import F32, F64, FAR, TRUE, U32, Float, Order, Pred, Rounding
from warplens.isa.dsl.op import op
from warplens.isa.dsl.warp_interface import Data, Floats, Warp
from warplens.isa.integer import Combine, combine

X = TypeVar("X", bound=Float)
Test = Literal[
    "LT", "LE", "GT", "GE", "EQ", "NE", "LTU", "LEU", "GTU", "GEU", "EQU", "NEU", "NUM", "NAN"
]  # fmt: skip


def flushed(flush: bool, *values: F32) -> tuple[F32, ...]:
    """The values, their denormals flushed if FTZ is asked for."""
    return tuple(v.ftz() for v in values) if flush else values


def finished(value: F32, flush: bool, saturate: bool) -> F32:
    value = value.ftz() if flush else value
    return value.saturate() if saturate else value


AWAY = 2.0**FAR


def finished_near_zero(value: F32, away: F32, flush: bool, saturate: bool) -> F32:
    """The same of a product, which has more digits than a denormal holds: flushed is what is less than normal when
    rounded as if exponents had no end.

    Seen on an H200 (driver 580.159.04, 2026-11-22) in all roundings: measurements/h200/near_zero.csv.
    away   the value times 2^FAR, rounded alike
    """
    value = value.ftz(away) if flush else value
    return value.saturate() if saturate else value


def holds(a: X, test: Test, b: X) -> Pred:
    """The comparison: false where one is NaN (NE too), or true there for the names that end in U."""
    if test == "NAN":
        return a.isnan() | b.isnan()
    if test == "NUM":
        return ~(a.isnan() | b.isnan())
    return a.compare(cast(Order, test[:2].lower()), b, unordered=test.endswith("U"))


@op("FADD", pipe="fma", probe="a + b")
def fadd(a: F32, b: F32, *, rounding: Rounding = "RN", FTZ: bool, SAT: bool) -> F32:
    a, b = flushed(FTZ, a, b)
    return finished(a.plus(b, rounding), FTZ, SAT)


@op("FMUL", pipe="fma", probe="a * b")
def fmul(a: F32, b: F32, *, rounding: Rounding = "RN", FTZ: bool, SAT: bool) -> F32:
    a, b = flushed(FTZ, a, b)
    return finished_near_zero(a.times(b, rounding), (a * AWAY).times(b, rounding), FTZ, SAT)


Scale = Literal["D2", "D4", "D8", "M2", "M4", "M8"]


@op("FMUL", pipe="fma", probe="a * b * 0.5f; a * b * 8.0f",
    text="{to} = {a} * {b}{scale:D2= / 2|D4= / 4|D8= / 8|M2= * 2|M4= * 4|M8= * 8}")  # fmt: skip
def fmul_scaled(a: F32, b: F32, *, scale: Scale, rounding: Rounding = "RN", FTZ: bool, SAT: bool) -> F32:
    """Rounded once, after the scaling (seen on an H200: measurements/h200/near_zero.csv)."""
    a, b = flushed(FTZ, a, b)
    times = float(scale[1])
    exact = a.f64() * b.f64() * (1 / times if scale.startswith("D") else times)
    value, away = (f2f_f32_f64(x, rounding=rounding, FTZ=False) for x in (exact, exact * AWAY))
    return finished_near_zero(exact.isnan().choose(a.nan(), value), away, FTZ, SAT)


@op("FFMA", pipe="fma", probe="a * b + c")
def ffma(a: F32, b: F32, c: F32, *, rounding: Rounding = "RN", FTZ: bool, SAT: bool) -> F32:
    a, b, c = flushed(FTZ, a, b, c)
    away = (a * AWAY).times_plus(b, c * AWAY, rounding)
    return finished_near_zero(a.times_plus(b, c, rounding), away, FTZ, SAT)


@op("FMNMX", pipe="alu", probe="fminf(a, b)")
def fmnmx(a: F32, b: F32, least: Pred, *, FTZ: bool, NAN: bool) -> F32:
    """A NaN loses; with .NAN it wins."""
    a, b = flushed(FTZ, a, b)
    best = least.choose(a.min(b), a.max(b))
    return (a.isnan() | b.isnan()).choose(a.nan(), best) if NAN else best


@op("FMNMX3", pipe="alu", probe="fminf(fminf(a, b), c)")
def fmnmx3(a: F32, b: F32, c: F32, least: Pred, *, FTZ: bool, NAN: bool) -> F32:
    return fmnmx(fmnmx(a, b, least, FTZ=FTZ, NAN=NAN), c, least, FTZ=FTZ, NAN=NAN)


@op("FMNMX.XORSIGN", pipe="alu", probe="min_xorsign(f, g); min_xorsign_nan(f, g)",
    text="{to} = min({a}, {b}) if {least}, else max, with the sign of {a} * {b}")  # fmt: skip
def fmnmx_xorsign(w: Warp, a: Operand, b: Operand, least: Pred, *, FTZ: bool, NAN: bool) -> U32:
    """PTX min.xorsign.abs: of the magnitudes; a NaN result has no sign (seen on an H200 for half pairs)."""
    x, y = w.plain(a), w.plain(b)
    magnitude = fmnmx(x.float_bits().abs(), y.float_bits().abs(), least, FTZ=FTZ, NAN=NAN)
    return magnitude.isnan().choose(magnitude.u32(), magnitude.u32() | ((x ^ y) & 0x8000_0000))


@op("FSETP", pipe="alu", probe="a < b")
def fsetp(a: F32, b: F32, p: Pred = TRUE, *, test: Test, bop: Combine, FTZ: bool) -> tuple[Pred, Pred]:
    a, b = flushed(FTZ, a, b)
    outcome = holds(a, test, b)
    return combine(outcome, bop, p), combine(~outcome, bop, p)


@op("FSET", pipe="alu", probe="a < b ? 1.0f : 0.0f")
def fset(a: F32, b: F32, p: Pred = TRUE, *, test: Test, bop: Combine, FTZ: bool, BF: bool) -> U32:
    """All ones or zero; with .BF 1.0 or 0.0."""
    (outcome, _) = fsetp(a, b, p, test=test, bop=bop, FTZ=FTZ)
    if BF:
        return outcome.choose(a.like(1.0), 0.0).u32()
    return outcome.choose(a.u32().like(-1), 0)


@op("FSEL", pipe="alu", probe="p ? a : b")
def fsel(a: F32, b: F32, p: Pred, *, FTZ: bool) -> F32:
    return finished(p.choose(a, b), FTZ, False)


def exponent(value: F32) -> U32:
    """The biased exponent: 0 for zeros and denormals, 255 for infinities and NaN."""
    return (value.u32() >> 23) & 0xFF


@op("FCHK", pipe="xu", text="{to} = {a} / {b} needs the slow path")
def fchk(a: F32, b: F32) -> Pred:
    """Whether the division a / b must take the slow path: by the exponents alone.

    Zeros, denormals, infinities and NaN, and wherever reciprocal, quotient or remainder might not be normal.  Read
    off the time of a division on an H200 (driver 580.159.04, 2026-11-21) for all pairs of exponents, 16 pairs of
    fractions each.
    """
    ea, eb = exponent(a), exponent(b)
    difference = ea.s32() - eb.s32()
    return (ea < 25) | ea.eq(255) | (eb < 2) | (eb > 251) | (difference >= 127) | (difference <= -125)


# Two floats in a register pair


def by_float(function: Callable[..., F32], *pairs: Floats) -> Data:
    """The pair of function(a, b, ...)."""
    return Data([function(*(p.low for p in pairs)).u32(), function(*(p.high for p in pairs)).u32()])


@op("FADD2", pipe="fma", probe="add2(f, g, h)", text="{to} = {a} + {b}, two floats")
def fadd2(a: Floats, b: Floats, *, rounding: Rounding = "RN", FTZ: bool) -> Data:
    return by_float(lambda x, y: fadd(x, y, rounding=rounding, FTZ=FTZ, SAT=False), a, b)


@op("FMUL2", pipe="fma", probe="mul2(f, g, h)", text="{to} = {a} * {b}, two floats")
def fmul2(a: Floats, b: Floats, *, rounding: Rounding = "RN", FTZ: bool) -> Data:
    return by_float(lambda x, y: fmul(x, y, rounding=rounding, FTZ=FTZ, SAT=False), a, b)


@op("FFMA2", pipe="fma", probe="fma2(f, g, h); fma2_rz(f, g, h)", text="{to} = {a} * {b} + {c}, two floats")
def ffma2(a: Floats, b: Floats, c: Floats, *, rounding: Rounding = "RN", FTZ: bool) -> Data:
    return by_float(lambda x, y, z: ffma(x, y, z, rounding=rounding, FTZ=FTZ, SAT=False), a, b, c)


# Double precision


@op("DADD", pipe="fp64", probe="a + b")
def dadd(a: F64, b: F64, *, rounding: Rounding = "RN") -> F64:
    return a.plus(b, rounding)


@op("DMUL", pipe="fp64", probe="a * b")
def dmul(a: F64, b: F64, *, rounding: Rounding = "RN") -> F64:
    return a.times(b, rounding)


@op("DFMA", pipe="fp64", probe="a * b + c")
def dfma(a: F64, b: F64, c: F64, *, rounding: Rounding = "RN") -> F64:
    return a.times_plus(b, c, rounding)


@op("DSETP", pipe="fp64", probe="a < b")
def dsetp(a: F64, b: F64, p: Pred = TRUE, *, test: Test, bop: Combine) -> tuple[Pred, Pred]:
    outcome = holds(a, test, b)
    return combine(outcome, bop, p), combine(~outcome, bop, p)


def negative(x: F64) -> Pred:
    return x.u64().high().bit(31)


@op("DSETP.MIN", pipe="fp64", probe="fmin(a, b)", text="{to} = {a} is the smaller of {a} and {b}")
def dsetp_min(a: F64, b: F64, p: Pred = TRUE, *, bop: Combine) -> tuple[Pred, Pred]:
    """Whether a is the one to take, and whether both are NaN (inferred from the code around it); -0 < +0."""
    outcome = (a.compare("lt", b) | b.isnan() | (a.compare("eq", b) & negative(a))) & ~a.isnan()
    return combine(outcome, bop, p), combine(a.isnan() & b.isnan(), bop, p)


@op("DSETP.MAX", pipe="fp64", probe="fmax(a, b)", text="{to} = {a} is the larger of {a} and {b}")
def dsetp_max(a: F64, b: F64, p: Pred = TRUE, *, bop: Combine) -> tuple[Pred, Pred]:
    outcome = (a.compare("gt", b) | b.isnan() | (a.compare("eq", b) & ~negative(a))) & ~a.isnan()
    return combine(outcome, bop, p), combine(a.isnan() & b.isnan(), bop, p)
