"""Conversions between integers and floats, and between floats (sass.md 2.2); halves: half.py."""

from __future__ import annotations

from typing import Literal, TypeVar

from warplens.isa.dsl.lanes import F32, F64, S32, S64, U32, U64, Float, Int, Rounding
from warplens.isa.dsl.op import op
from warplens.isa.integer import field

Direction = Literal["TRUNC", "FLOOR", "CEIL", "ROUND"]
SMALL = "{to} = {a}, {type:S8=signed byte|U8=byte|S16=signed half word|U16=half word}, as "
NARROWED = "{to} = {a} as float{rounding:RZ=, rounded toward zero|RM=, rounded down|RP=, rounded up}"
WAY = "{way:TRUNC=toward zero|FLOOR=down|CEIL=up|ROUND=to nearest}"
X = TypeVar("X", bound=Float)
I = TypeVar("I", bound=Int)  # noqa: E741


# Integer to float


@op("I2F", pipe="xu", probe="(float)a")
def i2f(a: S32, *, rounding: Rounding = "RN", U32: bool) -> F32:
    return a.u32().f32(rounding) if U32 else a.f32(rounding)


@op("I2FP.F32", "UI2FP.F32", pipe="alu", probe="(float)a")
def i2fp(a: S32, *, rounding: Rounding = "RN", type: Literal["S32", "U32"]) -> F32:
    return a.u32().f32(rounding) if type == "U32" else a.f32(rounding)


@op("I2F.S64", pipe="xu", probe="(float)(long long)a")
def i2f_s64(a: S64, *, rounding: Rounding = "RN") -> F32:
    return a.f32(rounding)


@op("I2F.U64", pipe="xu", probe="(float)(unsigned long long)a")
def i2f_u64(a: U64, *, rounding: Rounding = "RN") -> F32:
    return a.f32(rounding)


Small = Literal["U8", "S8", "U16", "S16"]


def range_of(type: str) -> tuple[int, int]:
    """Least and most of S8, U16 ..."""
    bits = int(type[1:])
    return (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if type.startswith("S") else (0, (1 << bits) - 1)


def clamped(number: S32, type: str) -> S32:
    least, most = range_of(type)
    return number.max(least).min(most)


def small(a: U32, type: Small) -> S32:
    """The low byte or half, extended."""
    return field(a, 16 if type in ("U16", "S16") else 8, 0, type in ("S8", "S16")).s32()


@op("I2F", pipe="xu", probe="(float)(short)a", text=SMALL + "float", ignores="RM RP RZ")
def i2f_small(a: U32, *, type: Small) -> F32:
    """Exact in every rounding."""
    return small(a, type).f32()


@op("I2F.F64", pipe="xu", probe="(double)a", ignores="RM RP RZ")
def i2f_f64(a: S32, *, U32: bool) -> F64:
    return a.u32().f64() if U32 else a.f64()


@op("I2F.F64", pipe="xu", probe="(double)(short)a", text=SMALL + "double", ignores="RM RP RZ")
def i2f_f64_small(a: U32, *, type: Small) -> F64:
    return small(a, type).f64()


@op("I2F.F64.S64", pipe="xu", probe="(double)(long long)a")
def i2f_f64_s64(a: S64, *, rounding: Rounding = "RN") -> F64:
    return a.f64(rounding)


@op("I2F.F64.U64", pipe="xu", probe="(double)(unsigned long long)a")
def i2f_f64_u64(a: U64, *, rounding: Rounding = "RN") -> F64:
    return a.f64(rounding)


# Float to integer


def integral(value: X, way: Direction) -> X:
    """To an integral value; ROUND is to the nearest, ties to even."""
    return {"TRUNC": value.trunc, "FLOOR": value.floor, "CEIL": value.ceil, "ROUND": value.nearest}[way]()


def to_int(value: F32 | F64, kind: type[I], way: Direction, nan_is_zero: bool) -> I:
    """Saturating.  NaN gives 0 with .NTZ, else the number with only the top bit set."""
    number = integral(value, way).to_int(kind)
    return number if nan_is_zero else value.isnan().choose(number.like(1 << (kind.bits - 1)), number)


def narrowed(value: F32 | F64, type: Small, way: Direction, nan_is_zero: bool) -> S32:
    """Clamped to the range of a smaller type; signed ones are extended."""
    number = clamped(integral(value, way).to_int(S32), type)
    nan = number.like(range_of(type)[0] or 1 << (int(type[1:]) - 1))
    return number if nan_is_zero else value.isnan().choose(nan, number)


NARROW = "{to} = {a} as {type:S8=signed byte|U8=byte|S16=signed half word|U16=half word}, rounded "


@op("F2I", "UF2I", pipe="xu", probe="int8_rn(f); uint8_ru(f); int16_rd(f); uint16_rz(f)", text=NARROW + WAY)
def f2i_small(a: F32, *, type: Small, way: Direction = "ROUND", NTZ: bool, FTZ: bool) -> S32:
    return narrowed(a.ftz() if FTZ else a, type, way, NTZ)


@op("F2I.F64", pipe="xu", probe="int8_rn(d); uint16_rz(d)", text=NARROW + WAY)
def f2i_f64_small(a: F64, *, type: Small, way: Direction = "ROUND", NTZ: bool) -> S32:
    return narrowed(a, type, way, NTZ)


@op("F2I", "UF2I", pipe="xu", probe="(int)f", text="{to} = {a} as int, rounded " + WAY)
def f2i(a: F32, *, way: Direction = "ROUND", NTZ: bool, FTZ: bool) -> S32:
    return to_int(a.ftz() if FTZ else a, S32, way, NTZ)


@op("F2I.U32", "UF2I.U32", pipe="xu", probe="(unsigned)f", text="{to} = {a} as unsigned, rounded " + WAY)
def f2i_u32(a: F32, *, way: Direction = "ROUND", NTZ: bool, FTZ: bool) -> U32:
    return to_int(a.ftz() if FTZ else a, U32, way, NTZ)


@op("F2I.S64", pipe="xu", probe="(long long)f", text="{to} = {a} as 64-bit int, rounded " + WAY)
def f2i_s64(a: F32, *, way: Direction = "ROUND", NTZ: bool, FTZ: bool) -> S64:
    return to_int(a.ftz() if FTZ else a, S64, way, NTZ)


@op("F2I.U64", pipe="xu", probe="(unsigned long long)f", text="{to} = {a} as 64-bit unsigned, rounded " + WAY)
def f2i_u64(a: F32, *, way: Direction = "ROUND", NTZ: bool, FTZ: bool) -> U64:
    return to_int(a.ftz() if FTZ else a, U64, way, NTZ)


@op("F2I.F64", pipe="xu", probe="(int)d", text="{to} = {a} as int, rounded " + WAY)
def f2i_f64(a: F64, *, way: Direction = "ROUND", NTZ: bool) -> S32:
    return to_int(a, S32, way, NTZ)


@op("F2I.U32.F64", pipe="xu", probe="(unsigned)d", text="{to} = {a} as unsigned, rounded " + WAY)
def f2i_u32_f64(a: F64, *, way: Direction = "ROUND", NTZ: bool) -> U32:
    return to_int(a, U32, way, NTZ)


@op("F2I.S64.F64", pipe="xu", probe="(long long)d", text="{to} = {a} as 64-bit int, rounded " + WAY)
def f2i_s64_f64(a: F64, *, way: Direction = "ROUND", NTZ: bool) -> S64:
    return to_int(a, S64, way, NTZ)


@op(
    "F2I.U64.F64",
    pipe="xu",
    probe="(unsigned long long)d",
    text="{to} = {a} as 64-bit unsigned, rounded " + WAY,
)
def f2i_u64_f64(a: F64, *, way: Direction = "ROUND", NTZ: bool) -> U64:
    return to_int(a, U64, way, NTZ)


# To the nearest number that a smaller integer can hold

PACKED = "{to} = {high} and {low} as {type}, each clamped, below {rest}"
Few = Literal["U16", "S16", "U8", "S8", "U4", "S4", "U2", "S2"]


def packed(high: S32, low: S32, rest: U32, bits: int) -> U32:
    """Two of so many bits; above them what was in the low bits of `rest`."""
    ones = (1 << bits) - 1
    pair = ((high.u32() & ones) << bits) | (low.u32() & ones)
    return pair if bits == 16 else pair | (rest << (2 * bits))


@op("I2I.S32.SAT", pipe="alu", probe="cvt.sat.u8.s32; cvt.sat.s16.s32", text="{to} = {a} clamped to {type}")
def i2i(a: S32, *, type: Small) -> S32:
    return clamped(a, type)


@op("I2IP.S32.SAT", pipe="alu", probe="cvt.pack.sat.u8.s32.b32; cvt.pack.sat.u16.s32", text=PACKED)
def i2ip(high: S32, low: S32, rest: U32, *, type: Few) -> U32:
    return packed(clamped(high, type), clamped(low, type), rest, int(type[1:]))


@op("F2IP.U8.F32", pipe="alu", probe="cvt.rni.u8.f32; cvt.rzi.u8.f32",
    text="{to} = {high} and {low} as bytes, rounded " + WAY + ", below {rest}")  # fmt: skip
def f2ip(high: F32, low: F32, rest: U32, *, way: Direction = "ROUND", NTZ: bool, FTZ: bool) -> U32:
    """As an H200 has it with every register in each place (2026-11-22); compilers leave the high byte out."""
    one, other = (narrowed(x.ftz() if FTZ else x, "U8", way, NTZ) for x in (high, low))
    return packed(one, other, rest, 8)


# Float to float


@op("F2F.F64.F32", pipe="xu", probe="(double)f")
def f2f_f64_f32(a: F32, *, FTZ: bool) -> F64:
    return (a.ftz() if FTZ else a).f64()


@op("F2F.F32.F64", pipe="xu", probe="(float)d", text=NARROWED)
def f2f_f32_f64(a: F64, *, rounding: Rounding = "RN", FTZ: bool) -> F32:
    nearest = a.f32()
    back = nearest.f64()
    # Which way a directed rounding might still have to go.
    down, up = back.compare("gt", a), back.compare("lt", a)
    if rounding == "RN":
        result = nearest
    elif rounding == "RM":
        result = down.choose(next_float(nearest, -1), nearest)
    elif rounding == "RP":
        result = up.choose(next_float(nearest, 1), nearest)
    else:
        outward = a.compare("lt", 0.0).choose(up, down)
        result = outward.choose((nearest.u32() - 1).float_bits(), nearest)
    result = a.isnan().choose(nan_of(a), result)
    return result.ftz() if FTZ else result


def nan_of(a: F64) -> F32:
    """A double NaN as float keeps its sign and upper digits (seen on an H200)."""
    high, low = a.u64().high(), a.u64().low()
    return ((high & 0x8000_0000) | 0x7FC0_0000 | ((high & 0x7_FFFF) << 3) | (low >> 29)).float_bits()


def next_float(x: F32, way: Literal[1, -1]) -> F32:
    """The neighbour of a number on the side of +inf or -inf."""
    bits = x.u32()
    away = bits.bit(31) if way < 0 else ~bits.bit(31)
    least = bits.like(0x8000_0001 if way < 0 else 1)
    step = away.choose(bits + 1, bits - 1)
    return x.compare("eq", 0.0).choose(least, step).float_bits()


@op("FRND", pipe="xu", probe="floorf(f)")
def frnd(a: F32, *, way: Direction = "ROUND", FTZ: bool) -> F32:
    return integral(a.ftz() if FTZ else a, way)


@op("FRND.F64", pipe="xu", probe="floor(d)")
def frnd_f64(a: F64, *, way: Direction = "ROUND") -> F64:
    return integral(a, way)
