"""The operations of random programs: each its CUDA text and its meaning over numpy arrays, written independently of
the executor.  What C++ leaves undefined cannot be said with them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from random_programs import arithmetic as ar

Array = NDArray[Any]
DTYPES = {
    "bool": np.bool_, "i32": np.int32, "u32": np.uint32, "i64": np.int64, "u64": np.uint64,
    "f32": np.float32, "f64": np.float64, "i8": np.int8, "u8": np.uint8, "i16": np.int16, "u16": np.uint16,
}  # fmt: skip
INTEGERS = ("i32", "u32", "i64", "u64")
UNSIGNED = {"i32": "u32", "u32": "u32", "i64": "u64", "u64": "u64"}


@dataclass(frozen=True)
class Word:
    """cost: about how many instructions, where they are many."""

    args: tuple[str, ...]
    type: str
    text: str
    meaning: Callable[..., Array]
    cost: int = 1


WORDS: dict[str, Word] = {}


def word(name: str, args: str, type: str, text: str, meaning: Callable[..., Array], cost: int = 1) -> None:
    WORDS[name] = Word(tuple(args.split()), type, text, meaning, cost)


def cast(to: str) -> Callable[[Array], Array]:
    return lambda a: a.astype(DTYPES[to])


for t in INTEGERS:
    u, bits = UNSIGNED[t], int(t[1:])
    for name, sign, ufunc in (
        ("add", "+", np.add), ("sub", "-", np.subtract), ("mul", "*", np.multiply),
        ("and", "&", np.bitwise_and), ("or", "|", np.bitwise_or), ("xor", "^", np.bitwise_xor),
    ):  # fmt: skip
        word(f"{name}.{t}", f"{t} {t}", t, f"(({t})(({u}){{0}} {sign} ({u}){{1}}))", ufunc)
    word(f"not.{t}", t, t, "(~{0})", np.invert)
    word(f"neg.{t}", t, t, f"(({t})(0 - ({u}){{0}}))", lambda a: (a * a.dtype.type(0)) - a)
    word(f"shl.{t}", f"{t} u32", t, f"(({t})(({u}){{0}} << ({{1}} & {bits - 1}u)))", ar.shift_left)
    word(f"shr.{t}", f"{t} u32", t, f"({{0}} >> ({{1}} & {bits - 1}u))", ar.shift_right)
    word(f"min.{t}", f"{t} {t}", t, "min({0}, {1})", np.minimum)
    word(f"max.{t}", f"{t} {t}", t, "max({0}, {1})", np.maximum)
    word(f"div.{t}", f"{t} {t}", t, "quotient({0}, {1})", ar.quotient, bits)
    word(f"rem.{t}", f"{t} {t}", t, "remainder_of({0}, {1})", ar.remainder, bits)
    for name, sign, ufunc in (
        ("eq", "==", np.equal), ("ne", "!=", np.not_equal), ("lt", "<", np.less),
        ("le", "<=", np.less_equal), ("gt", ">", np.greater), ("ge", ">=", np.greater_equal),
    ):  # fmt: skip
        word(f"{name}.{t}", f"{t} {t}", "bool", f"({{0}} {sign} {{1}})", ufunc)
    for other in INTEGERS:
        if other != t:
            word(f"{t}.{other}", other, t, f"(({t}){{0}})", cast(t))
    for f in ("f32", "f64"):
        word(f"{f}.{t}", t, f, f"(({f}){{0}})", cast(f))

for f, suffix in (("f32", "f"), ("f64", "")):
    for name, sign, ufunc in (
        ("add", "+", np.add), ("sub", "-", np.subtract), ("mul", "*", np.multiply), ("div", "/", np.divide)
    ):  # fmt: skip
        word(f"{name}.{f}", f"{f} {f}", f, f"({{0}} {sign} {{1}})", ufunc, 40 if name == "div" else 1)
    word(f"sqrt.{f}", f, f, f"sqrt{suffix}({{0}})", np.sqrt, 40)
    word(f"neg.{f}", f, f, "(-{0})", np.negative)
    word(f"abs.{f}", f, f, f"fabs{suffix}({{0}})", np.abs)
    word(f"min.{f}", f"{f} {f}", f, f"fmin{suffix}({{0}}, {{1}})", ar.least)
    word(f"max.{f}", f"{f} {f}", f, f"fmax{suffix}({{0}}, {{1}})", ar.greatest)
    for name, whole in (("floor", np.floor), ("ceil", np.ceil), ("trunc", np.trunc), ("rint", np.rint)):
        word(f"{name}.{f}", f, f, f"{name}{suffix}({{0}})", whole)
    for name, sign, ufunc in (
        ("eq", "==", np.equal), ("ne", "!=", np.not_equal), ("lt", "<", np.less),
        ("le", "<=", np.less_equal), ("gt", ">", np.greater), ("ge", ">=", np.greater_equal),
    ):  # fmt: skip
        word(f"{name}.{f}", f"{f} {f}", "bool", f"({{0}} {sign} {{1}})", ufunc)

word("fma.f32", "f32 f32 f32", "f32", "__fmaf_rn({0}, {1}, {2})", ar.fma32)
word("fma.f64", "f64 f64 f64", "f64", "__fma_rn({0}, {1}, {2})", ar.fma64)
word("add.rz", "f32 f32", "f32", "__fadd_rz({0}, {1})", lambda a, b: ar.fma32_rz(a, np.float32(1), b))
word("fma.rz", "f32 f32 f32", "f32", "__fmaf_rz({0}, {1}, {2})", ar.fma32_rz)
word("saturate", "f32", "f32", "__saturatef({0})", ar.saturate)
word("f32.f64", "f64", "f32", "((f32){0})", cast("f32"))
word("f64.f32", "f32", "f64", "((f64){0})", cast("f64"))
word("bits.f32", "f32", "u32", "bits_of({0})", ar.bits_of)
word("bits.f64", "f64", "u64", "bits_of({0})", ar.bits_of)
word("f32.bits", "u32", "f32", "__uint_as_float({0})", lambda a: a.view(np.float32))
word("f64.bits", "u64", "f64", "__longlong_as_double((i64){0})", lambda a: a.view(np.float64))
for how, rounding in (("rz", np.trunc), ("rn", np.rint), ("ru", np.ceil), ("rd", np.floor)):
    for t, name in (("i32", "int"), ("u32", "uint"), ("i64", "ll"), ("u64", "ull")):
        meaning = ar.to_integer(rounding, DTYPES[t])
        word(f"{t}.f32.{how}", "f32", t, f"(number_of(__float2{name}_{how}, {{0}}))", meaning)
        word(f"{t}.f64.{how}", "f64", t, f"(number_of(__double2{name}_{how}, {{0}}))", meaning)

for narrow in ("i8", "u8", "i16", "u16"):
    word(f"i32.{narrow}", "i32", "i32", f"((i32)({narrow}){{0}})", lambda a, n=narrow: a.astype(DTYPES[n]).astype("i4"))
    word(f"u32.{narrow}", "u32", "u32", f"((u32)({narrow}){{0}})", lambda a, n=narrow: a.astype(DTYPES[n]).astype("u4"))
word("f32.i16", "i32", "f32", "((f32)(i16){0})", lambda a: a.astype(np.int16).astype(np.float32))
word("f32.u8", "u32", "f32", "((f32)(u8){0})", lambda a: a.astype(np.uint8).astype(np.float32))

word("abs.i32", "i32", "i32", "({0} < 0 ? (i32)(0u - (u32){0}) : {0})", np.abs)
word("abs.i64", "i64", "i64", "({0} < 0 ? (i64)(0ull - (u64){0}) : {0})", np.abs)
word("mulhi.i32", "i32 i32", "i32", "__mulhi({0}, {1})", ar.high_product)
word("mulhi.u32", "u32 u32", "u32", "__umulhi({0}, {1})", ar.high_product)
word("mulhi.i64", "i64 i64", "i64", "__mul64hi({0}, {1})", ar.high_product)
word("mulhi.u64", "u64 u64", "u64", "__umul64hi({0}, {1})", ar.high_product)
word("wide.i32", "i32 i32", "i64", "((i64){0} * {1})", lambda a, b: a.astype(np.int64) * b)
word("wide.u32", "u32 u32", "u64", "((u64){0} * {1})", lambda a, b: a.astype(np.uint64) * b)
word("popc.u32", "u32", "u32", "((u32)__popc({0}))", lambda a: np.bitwise_count(a).astype(np.uint32))
word("popc.u64", "u64", "u32", "((u32)__popcll({0}))", lambda a: np.bitwise_count(a).astype(np.uint32))
word("clz.u32", "u32", "u32", "((u32)__clz({0}))", ar.leading_zeros)
word("clz.u64", "u64", "u32", "((u32)__clzll({0}))", ar.leading_zeros)
word("ffs.u32", "u32", "u32", "((u32)__ffs({0}))", ar.first_set)
word("ffs.u64", "u64", "u32", "((u32)__ffsll({0}))", ar.first_set)
word("brev.u32", "u32", "u32", "__brev({0})", ar.reverse)
word("brev.u64", "u64", "u64", "__brevll({0})", ar.reverse)
word("perm", "u32 u32 u32", "u32", "__byte_perm({0}, {1}, {2} & 0x7777u)", ar.byte_perm)
word("funnel.l", "u32 u32 u32", "u32", "__funnelshift_l({0}, {1}, {2})", ar.funnel_left)
word("funnel.r", "u32 u32 u32", "u32", "__funnelshift_r({0}, {1}, {2})", ar.funnel_right)
word("funnel.lc", "u32 u32 u32", "u32", "__funnelshift_lc({0}, {1}, {2})", ar.funnel_left_clamped)
word("funnel.rc", "u32 u32 u32", "u32", "__funnelshift_rc({0}, {1}, {2})", ar.funnel_right_clamped)
word("dp4a.i32", "i32 i32 i32", "i32", "__dp4a({0}, {1}, {2})", ar.dot4)
word("dp4a.u32", "u32 u32 u32", "u32", "__dp4a({0}, {1}, {2})", ar.dot4)
word("sad", "i32 i32 u32", "u32", "__sad({0}, {1}, {2})", ar.absolute_difference)
word("usad", "u32 u32 u32", "u32", "__usad({0}, {1}, {2})", ar.absolute_difference)
word("hadd", "i32 i32", "i32", "__hadd({0}, {1})", lambda a, b: ((a.astype("i8") + b) >> 1).astype("i4"))
word(
    "urhadd",
    "u32 u32",
    "u32",
    "__urhadd({0}, {1})",
    lambda a, b: ((a.astype("u8") + b + 1) >> np.uint64(1)).astype("u4"),
)
word("mad", "u32 u32 u32", "u32", "({0} * {1} + {2})", lambda a, b, c: a * b + c)
word("field", "u32 u32 u32", "u32", "(({0} >> ({1} & 31u)) & ((1u << ({2} & 31u)) - 1u))", ar.bit_field)
word(
    "majority", "u32 u32 u32", "u32", "(({0} & {1}) | ({0} & {2}) | ({1} & {2}))", lambda a, b, c: a & b | a & c | b & c
)
word("half.add", "u32 u32", "u32", "half_add({0}, {1})", ar.halves(lambda a, b: a + b))
word("half.mul", "u32 u32", "u32", "half_mul({0}, {1})", ar.halves(lambda a, b: a * b))
word("half.fma", "u32 u32 u32", "u32", "half_fma({0}, {1}, {2})", ar.halves(ar.odd_fma))
word("f32.half", "u32", "f32", "float_of_half({0})", lambda a: ar.as_halves(a)[0].astype(np.float32))
word("half.f32", "f32", "u32", "half_of_float({0})", ar.half_bits)
word("not.bool", "bool", "bool", "(!{0})", np.logical_not)
word("xor.bool", "bool bool", "bool", "({0} != {1})", np.logical_xor)
word("u32.bool", "bool", "u32", "((u32){0})", cast("u32"))

BY_TYPE: dict[str, list[str]] = {t: [n for n, w in WORDS.items() if w.type == t] for t in DTYPES}
CHEAP = {t: [n for n in names if WORDS[n].cost == 1] for t, names in BY_TYPE.items()}
