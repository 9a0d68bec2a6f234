"""Conversions of floats of 16 and 8 bits, and their special functions (sass.md 2.2); formats: narrow_formats.py."""

from __future__ import annotations

from typing import Literal

from warplens.isa.conversion import WAY, Direction, integral, narrowed, small, to_int
from warplens.isa.dsl.half_pair import H2
from warplens.isa.dsl.lanes import F32, F64, S32, S64, U32, U64, Rounding
from warplens.isa.dsl.op import op
from warplens.isa.half import shaped
from warplens.isa.numerics.narrow_formats import (
    e4m3_to_half,
    e5m2_to_half,
    float_to_e4m3,
    float_to_e5m2,
    float_to_half,
    half_to_float,
    odd_float,
    sticky,
)
from warplens.isa.special_functions import ex2, tanh

Half = Literal["F16", "BF16"]
Word = Literal["S32", "U32", "S16", "U16", "S8", "U8"]
Long = Literal["S64", "U64"]
HALF = "{half:F16=half|BF16=bfloat}"
NARROWED = "{to} = {a} as " + HALF + "{rounding:RZ=, rounded toward zero|RM=, rounded down|RP=, rounded up}"


def low(a: H2, half: Half) -> F32:
    """The half in the low 16 bits."""
    return half_to_float(a.u32() & 0xFFFF, half == "BF16")


# Float to half


@op("F2F.{half}.F32", pipe="xu", probe="__float2half_ru(f); __float2bfloat16_rz(f)", text=NARROWED)
def f2f_half(a: F32, *, half: Half, rounding: Rounding = "RN", FTZ: bool) -> U32:
    return float_to_half(a.ftz() if FTZ else a, half == "BF16", rounding)


@op("F2F.{half}.F64", pipe="xu", probe="__double2half(d); __double2bfloat16(d)", text=NARROWED)
def f2f_half_f64(a: F64, *, half: Half, rounding: Rounding = "RN") -> U32:
    """A NaN keeps its sign and the upper digits (seen on an H200; from a float it does not)."""
    word = a.u64().high()
    sign = (word >> 16) & 0x8000
    nan = sign | 0x7FC0 | ((word >> 13) & 0x3F) if half == "BF16" else sign | 0x7E00 | ((word >> 10) & 0x1FF)
    return a.isnan().choose(nan, float_to_half(odd_float(a), half == "BF16", rounding))


@op("F2F.{half}.{source}", pipe="xu", probe="cvt.rn.f16.bf16; cvt.rn.bf16.f16", text=NARROWED)
def f2f_half_half(a: H2, *, half: Half, source: Half, rounding: Rounding = "RN") -> U32:
    return float_to_half(low(a, source), half == "BF16", rounding)


WIDENED = "{to} = {a}, a " + HALF + ", as "


@op("F2F.F32.{half}", pipe="xu", probe="cvt.ftz.f32.bf16", text=WIDENED + "float", ignores="RM RP RZ")
def f2f_f32_half(a: H2, *, half: Half, FTZ: bool) -> F32:
    value = low(a, half).ftz() if FTZ else low(a, half)
    return value.isnan().choose(value.nan(), value)


@op("F2F.F64.{half}", pipe="xu", probe="cvt.f64.f16; cvt.f64.bf16", text=WIDENED + "double",
    ignores="RM RP RZ")  # fmt: skip
def f2f_f64_half(a: H2, *, half: Half) -> F64:
    return low(a, half).f64()


Pack = Literal["RN", "RZ"]  # the roundings of F2FP


def packed(x: F32, brain: bool, relu: bool, rounding: Pack, finite: bool) -> U32:
    half = float_to_half(shaped(x, False, relu), brain, rounding)
    if not finite:
        return half
    most = 0x7F7F if brain else 0x7BFF
    return x.isnan().choose(half, (half & 0x7FFF).min(most) | (half & 0x8000))


@op("F2FP.PACK_AB", pipe="alu", ignores="F32", text="{to} = pair of {low} and {high} as {BF16:bfloat|half}",
    probe="__floats2half2_rn(f, g); __floats2bfloat162_rn(f, g); half2_rz(f, g); half2_relu(f, g)")  # fmt: skip
def f2fp(high: F32, low: F32, *, F16: bool, BF16: bool, RELU: bool, SATFINITE: bool, rounding: Pack = "RN") -> U32:
    """The first operand goes into the high half."""
    top, bottom = (packed(x, BF16, RELU, rounding, SATFINITE) for x in (high, low))
    return (top << 16) | bottom


@op("F2FP.MERGE_C", pipe="alu", ignores="F32", text="{to} = {a} as {BF16:bfloat|half}, not below 0, below {rest}",
    probe="cvt.rn.relu.f16.f32; cvt.rn.relu.bf16.f32")  # fmt: skip
def f2fp_one(a: F32, rest: U32, *, F16: bool, BF16: bool, RELU: bool, rounding: Pack = "RN") -> U32:
    """Compilers give zero for the rest."""
    return packed(a, BF16, RELU, rounding, False) | (rest << 16)


@op("F2FP.TF32.F32.PACK_B", pipe="alu", probe="tf32_rn(f); cvt.rz.tf32.f32", text="{to} = {a} as TF32")
def f2fp_tf32(a: F32, *, RELU: bool, rounding: Pack = "RN") -> U32:
    """13 digits fewer, rounded to nearest, ties to even, or cut off."""
    bits = shaped(a, False, RELU).u32()
    rounded = (bits + 0xFFF + ((bits >> 13) & 1) if rounding == "RN" else bits) & ~0x1FFF
    return a.isnan().choose(bits.like(0x7FFF_E000), rounded)


# 8-bit floats: a pair in the low 16 bits, above it the pair that another instruction made

Tiny = Literal["E4M3", "E5M2"]
PAIR = "{type:E4M3=8-bit (E4M3)|E5M2=8-bit (E5M2)}"


def tiny_pair(high: F32, low: F32, rest: U32, type: Tiny, relu: bool) -> U32:
    narrow = float_to_e4m3 if type == "E4M3" else float_to_e5m2
    high, low = (shaped(x, False, relu) for x in (high, low))
    return (narrow(high) << 8) | narrow(low) | (rest << 16)


@op("F2FP.SATFINITE.F32.PACK_AB_MERGE_C", pipe="alu", probe="e4m3x2(f, g); e5m2x2(f, g); e4m3x2_relu(f, g)",
    text="{to} = " + PAIR + " pair of {low} and {high} below {rest}")  # fmt: skip
def f2fp_tiny(high: F32, low: F32, rest: U32, *, type: Tiny, RELU: bool) -> U32:
    return tiny_pair(high, low, rest, type, RELU)


@op("F2FP.SATFINITE.F16.UNPACK_B_MERGE_C", pipe="alu", probe="e4m3x2(s); e5m2x2(s)",
    text="{to} = " + PAIR + " pair of {a} below {rest}")  # fmt: skip
def f2fp_tiny_of_halves(a: H2, rest: U32, *, type: Tiny, RELU: bool) -> U32:
    high, low = (half_to_float((a.u32() >> shift) & 0xFFFF, False) for shift in (16, 0))
    return tiny_pair(high, low, rest, type, RELU)


@op("F2FP.F16.UNPACK_B", pipe="alu", probe="halves_of_e4m3(u); halves_of_e5m2(u)",
    text="{to} = half pair of the " + PAIR + " pair {a}")  # fmt: skip
def f2fp_halves(a: H2, *, type: Tiny, RELU: bool) -> U32:
    wide = e4m3_to_half if type == "E4M3" else e5m2_to_half

    def one(byte: U32) -> U32:
        half = wide(byte & 0xFF)
        return (half.bit(15) & (half <= 0xFC00)).choose(half.like(0), half) if RELU else half

    return (one(a.u32() >> 8) << 16) | one(a.u32())


# Integer to half


@op("I2F", pipe="xu", probe="__int2half_rn(a); __uint2half_rd(u); __short2half_rn((short)a); __int2bfloat16_rz(a)",
    text=NARROWED)  # fmt: skip
def i2f_half(a: S32, *, half: Half, type: Word = "S32", rounding: Rounding = "RN") -> U32:
    """Through a single-precision number rounded to odd."""
    number = a.u32() if type == "U32" else a
    if type != "S32" and type != "U32":
        number = small(a.u32(), type)
    odd = sticky(number.f32("RZ"), number.f32("RM"), number.f32("RP"))
    return float_to_half(odd, half == "BF16", rounding)


@op("I2F", pipe="xu", probe="__ll2half_rn(l); __ull2half_rn(y); __ll2bfloat16_rn(l)", text=NARROWED)
def i2f_half_64(a: S64, *, half: Half, type: Long, rounding: Rounding = "RN") -> U32:
    number = a.u64() if type == "U64" else a
    odd = sticky(number.f32("RZ"), number.f32("RM"), number.f32("RP"))
    return float_to_half(odd, half == "BF16", rounding)


# Half to integer


@op("F2I", "UF2I", pipe="xu", text="{to} = {a}, a " + HALF + ", as {type}, rounded " + WAY,
    probe="__half2int_rz(hs); __half2uint_rn(hs); __half2short_rz(hs); __bfloat162int_rz(bo)")  # fmt: skip
def f2i_half(a: H2, *, half: Half, type: Word = "S32", way: Direction = "ROUND", NTZ: bool) -> S32:
    value = low(a, half)
    if type == "U32":
        return to_int(value, U32, way, NTZ).s32()
    return to_int(value, S32, way, NTZ) if type == "S32" else narrowed(value, type, way, NTZ)


@op("F2I", "UF2I", pipe="xu", text="{to} = {a}, a " + HALF + ", as {type}, rounded " + WAY,
    probe="__half2ll_rz(hs); __half2ull_rd(hs); __bfloat162ll_rz(bo)")  # fmt: skip
def f2i_half_64(a: H2, *, half: Half, type: Long, way: Direction = "ROUND", NTZ: bool) -> U64:
    value = low(a, half)
    return to_int(value, S64, way, NTZ).u64() if type == "S64" else to_int(value, U64, way, NTZ)


@op("FRND", pipe="xu", probe="h2floor(s); h2rint(s)", text="{to} = {a}, a " + HALF + ", rounded " + WAY)
def frnd_half(a: H2, *, half: Half, way: Direction = "ROUND") -> U32:
    return float_to_half(integral(low(a, half), way), half == "BF16")


# Special functions: the single-precision result cut off (seen on an H200)


@op("MUFU.TANH", pipe="xu", text="{to} = approximately tanh({a}), " + HALF)
def tanh_half(a: H2, *, half: Half) -> U32:
    return float_to_half(tanh(low(a, half)), half == "BF16", "RZ")


@op("MUFU.EX2", pipe="xu", text="{to} = approximately 2 to the power {a}, " + HALF)
def ex2_half(a: H2, *, half: Half) -> U32:
    """What is too large for binary16 is infinite, not cut off."""
    power = ex2(low(a, half))
    word = float_to_half(power, half == "BF16", "RZ")
    return power.compare("ge", 2.0**16).choose(word.like(0x7C00), word) if half == "F16" else word
