"""Integer arithmetic and comparisons (sass.md 2.1); shifts and bits: logic.py.

An operation with a predicate result beyond its value gives the carry; the listing may leave it out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeVar

from warplens.core.program import Constant, Operand, Register
from warplens.isa.dsl.lanes import FALSE, S32, S64, TRUE, U32, U64, Int, Pred
from warplens.isa.dsl.op import op
from warplens.isa.dsl.warp_interface import Addend, Warp, WideAddend

Compare = Literal["LT", "LE", "GT", "GE", "EQ", "NE"]
Combine = Literal["AND", "OR", "XOR"]
I = TypeVar("I", bound=Int)  # noqa: E741


def combine(a: Pred, how: Combine, b: Pred) -> Pred:
    """a AND/OR/XOR b."""
    return {"AND": a.__and__, "OR": a.__or__, "XOR": a.__xor__}[how](b)


def ordered(a: I, order: Compare, b: I) -> Pred:
    """The comparison, signed if the types are."""
    return {"LT": a.__lt__, "LE": a.__le__, "GT": a.__gt__, "GE": a.__ge__, "EQ": a.eq, "NE": a.ne}[order](b)


# Sums


@op("IADD3", "UIADD3", pipe="alu", probe="a + b + c")
def iadd3(a: Addend, b: Addend, c: Addend) -> tuple[U32, Pred, Pred]:
    wide = a.wide + b.wide + c.wide
    return a.value + b.value + c.value, (wide >> 32).ne(0), (wide >> 33).ne(0)


@op("IADD3.X", "UIADD3.X", pipe="alu")
def iadd3_x(a: U32, b: U32, c: U32, p: Pred = FALSE, q: Pred = FALSE) -> tuple[U32, Pred, Pred]:
    wide = a.wide() + b.wide() + c.wide() + p.u64() + q.u64()
    return a + b + c + p.u32() + q.u32(), (wide >> 32).ne(0), (wide >> 33).ne(0)


@op("UIADD3.64", pipe="uniform")
def uiadd3_64(a: WideAddend, b: WideAddend, c: WideAddend) -> tuple[U64, Pred, Pred]:
    ab = a + b
    total = ab + c
    first, second = a.carry(ab) | b.carry(ab), ab.carry(total) | c.carry(total)
    return total, first | second, first & second


@op("UIADD3.64.X", pipe="uniform")
def uiadd3_64_x(a: U64, b: U64, c: U64, p: Pred = FALSE, q: Pred = FALSE) -> tuple[U64, Pred, Pred]:
    total, carries = a + b, ((a + b) < a).u32()
    for part in (c, p.u64(), q.u64()):
        total, carries = total + part, carries + ((total + part) < part).u32()
    return total, carries.ne(0), carries > 1


@op("IADD", "UIADD", pipe="alu", probe="a + b")
def iadd(a: Addend, b: Addend) -> tuple[U32, Pred]:
    return a.value + b.value, ((a.wide + b.wide) >> 32).ne(0)


@op("IADD.X", "UIADD.X", pipe="alu")
def iadd_x(a: U32, b: U32, p: Pred = FALSE) -> tuple[U32, Pred]:
    return a + b + p.u32(), ((a.wide() + b.wide() + p.u64()) >> 32).ne(0)


@op("VIADD", "UVIADD", pipe="fma_heavy", probe="a + b")
def viadd(a: U32, b: U32) -> U32:
    return a + b


@op("IADD.64", "UIADD.64", pipe="alu", probe="(long long)a + b")
def iadd_64(a: WideAddend, b: WideAddend) -> tuple[U64, Pred]:
    """a - 0 carries: the compiler takes the carry for a >= b."""
    total = a + b
    return total, a.carry(total) | b.carry(total)


@op("IADD.64.X", "UIADD.64.X", pipe="alu")
def iadd_64_x(a: U64, b: U64, carry: Pred) -> tuple[U64, Pred]:
    ab = a + b
    total = ab + carry.u64()
    return total, (ab < a) | (total < ab)


# Products


@op("IMAD", "UIMAD", pipe="fma_heavy", probe="a * b + c", ignores="MOV IADD SHL U32")
def imad(a: U32, b: U32, c: U32, carry: Pred = FALSE, *, X: bool) -> U32:
    """.MOV .IADD .SHL .U32 are spellings of the same operation."""
    return a * b + c + carry.u32()


@op("IMAD.WIDE", "UIMAD.WIDE", pipe="fma_heavy", probe="(long long)a * b + c")
def imad_wide(
    a: S32, b: S32, c: WideAddend, carry: Pred = FALSE, *, U32: bool, X: bool
) -> tuple[U64, Pred]:  # fmt: skip
    """Minus zero carries as in IADD3."""
    plain = wide_product(a, b, U32) + c
    total = plain + carry.u64()
    return total, c.carry(plain) | (total < plain)


@op("IMAD.HI", "UIMAD.HI", pipe="fma_heavy", probe="__mulhi(a, b)")
def imad_hi(a: S32, b: S32, c: U64, carry: Pred = FALSE, *, U32: bool, X: bool) -> tuple[U32, Pred]:
    """The addend is 64 bits wide: division sets its high word."""
    product = wide_product(a, b, U32)
    if not X:
        return product.high_plus(c), (product + c) < product
    plain = product + c
    total = plain + carry.u64()
    return total.high(), (plain < product) | (total < plain)


def wide_product(a: S32, b: S32, unsigned: bool) -> U64:
    return a.u32().wide() * b.u32().wide() if unsigned else (a.wide() * b.wide()).u64()


@op("IDP.4A", pipe="fma_heavy", probe="__dp4a(a, b, c)", text="{to} = {a} . {b} + {c}, dot product of 4 bytes")
def idp_4a(a: U32, b: U32, c: U32, *, of_a: Literal["S8", "U8"], of_b: Literal["S8", "U8"]) -> U32:
    for position in range(4):
        c = c + field(a, 8, position, of_a == "S8") * field(b, 8, position, of_b == "S8")
    return c


@op(
    "IDP.2A",
    pipe="fma_heavy",
    probe="__dp2a_lo(a, b, c)",
    text="{to} = {a} . {b} + {c}, dot product of 2 half words and 2 bytes",
)
def idp_2a(
    a: U32,
    b: U32,
    c: U32,
    *,
    half: Literal["LO", "HI"],
    of_a: Literal["S16", "U16"],
    of_b: Literal["S8", "U8"],
) -> U32:
    first = 2 if half == "HI" else 0
    for position in range(2):
        c = c + field(a, 16, position, of_a == "S16") * field(b, 8, first + position, of_b == "S8")
    return c


# Fields of a word


def field(word: U32, bits: int, position: int, signed: bool) -> U32:
    """Field number `position` of `bits` bits, extended to 32."""
    top = word << (32 - bits * (position + 1))
    return (top.s32() >> (32 - bits)).u32() if signed else top >> (32 - bits)


def by_field(bits: int, function: Callable[[int], U32]) -> U32:
    """The word whose field number k is the low bits of function(k)."""
    parts = [(function(k) & ((1 << bits) - 1)) << (bits * k) for k in range(32 // bits)]
    word = parts[0]
    for part in parts[1:]:
        word = word | part
    return word


# Magnitudes, minima, maxima


@op("IABS", "UIABS", pipe="alu", probe="abs(a)")
def iabs(a: S32) -> S32:
    return a.abs()


@op("VABSDIFF", pipe="alu", probe="__sad(a, b, c)", text="{to} = |{a} - {b}| + {c}{U32: (unsigned)|}")
def vabsdiff(a: S32, b: S32, c: U32, *, U32: bool) -> U32:
    return distance(a.u32(), b.u32()) + c if U32 else distance(a, b).u32() + c


@op("VABSDIFF4.U8", pipe="alu", probe="__vabsdiffu4(u, v); __vsadu4(u, v)",
    text="{to} = {ACC:sum of the distances|distance} of {a} and {b}, each byte")  # fmt: skip
def vabsdiff4(a: U32, b: U32, c: U32, *, ACC: bool) -> U32:
    """Without .ACC nothing is made of c (seen on an H200)."""
    if not ACC:
        return by_field(8, lambda k: distance(field(a, 8, k, False), field(b, 8, k, False)))
    for k in range(4):
        c = c + distance(field(a, 8, k, False), field(b, 8, k, False))
    return c


def distance(a: I, b: I) -> I:
    return a.max(b) - a.min(b)


def smaller_if(p: Pred, a: I, b: I) -> I:
    return p.choose(a.min(b), a.max(b))


@op("IMNMX", "VIMNMX", "UIMNMX", "UVIMNMX", pipe="alu", probe="min(a, b)", ignores="S32")
def imnmx(a: S32, b: S32, least: Pred, *, U32: bool, RELU: bool) -> tuple[S32, Pred, Pred]:
    """The predicate results: which operand won; inferred, the compiler leaves them unused."""
    best = smaller_if(least, a.u32(), b.u32()).s32() if U32 else smaller_if(least, a, b)
    best = best.max(0) if RELU else best
    return best, best.eq(a), best.eq(b)


@op("IMNMX.S64", "UIMNMX.S64", pipe="alu")
def imnmx_s64(a: S64, b: S64, least: Pred, unused: Pred = TRUE) -> tuple[S64, Pred, Pred]:
    best = smaller_if(least, a, b)
    return best, best.eq(a), best.eq(b)


@op("IMNMX.U64", "UIMNMX.U64", pipe="alu")
def imnmx_u64(a: U64, b: U64, least: Pred, unused: Pred = TRUE) -> tuple[U64, Pred, Pred]:
    best = smaller_if(least, a, b)
    return best, best.eq(a), best.eq(b)


@op("VIADDMNMX", pipe="alu", probe="min(a + b, c)", ignores="S32")
def viaddmnmx(a: S32, b: S32, c: S32, least: Pred, *, U32: bool, RELU: bool) -> tuple[S32, Pred, Pred]:
    return imnmx(a + b, c, least, U32=U32, RELU=RELU)


@op("VIMNMX3", pipe="alu", probe="min(min(a, b), c)", ignores="S32")
def vimnmx3(a: S32, b: S32, c: S32, least: Pred, *, U32: bool, RELU: bool) -> S32:
    ab, _, _ = imnmx(a, b, least, U32=U32, RELU=False)
    return imnmx(ab, c, least, U32=U32, RELU=RELU)[0]


Fields = Literal["S16x2", "U16x2", "S8x4", "U8x4"]


@op("VIMNMX", pipe="alu", text="{to} = min({a}, {b}) if {least}, else max, each of {type}{RELU:, at least 0|}")
def vimnmx_fields(a: U32, b: U32, least: Pred, *, type: Fields, RELU: bool) -> tuple[U32, Pred, Pred]:
    """Field by field.  The predicates: a's field is taken, in the low and in the high half (seen on an H200)."""
    best = best_fields(a, b, least, type, RELU)
    same = best_fields(a, b, least, type, False) ^ a
    return best, (same & 0xFFFF).eq(0), (same >> 16).eq(0)


@op(
    "VIADDMNMX",
    pipe="alu",
    text="{to} = min({a} + {b}, {c}) if {least}, else max, each of {type}{RELU:, at least 0|}",
)
def viaddmnmx_fields(a: U32, b: U32, c: U32, least: Pred, *, type: Fields, RELU: bool) -> tuple[U32, Pred, Pred]:
    bits = 16 if type.endswith("x2") else 8
    total = by_field(bits, lambda k: field(a, bits, k, False) + field(b, bits, k, False))
    return vimnmx_fields(total, c, least, type=type, RELU=RELU)


def best_fields(a: U32, b: U32, least: Pred, type: Fields, at_least_zero: bool) -> U32:
    bits, signed = 16 if type.endswith("x2") else 8, type.startswith("S")

    def one(k: int) -> U32:
        best = smaller_if(least, field(a, bits, k, signed).s32(), field(b, bits, k, signed).s32())
        return (best.max(0) if at_least_zero else best).u32()

    return by_field(bits, one)


@op("VIMNMX3", pipe="alu", probe="__vimax3_s16x2(u, v, w); __vimin3_u16x2(u, v, w); __vimin3_s16x2_relu(u, v, w)",
    text="{to} = min({a}, {b}, {c}) if {least}, else max, each of {type}{RELU:, at least 0|}")  # fmt: skip
def vimnmx3_fields(a: U32, b: U32, c: U32, least: Pred, *, type: Fields, RELU: bool) -> U32:
    return best_fields(best_fields(a, b, least, type, False), c, least, type, RELU)


@op("VIADD", pipe="alu", probe="__vadd2(u, v); __vsub4(u, v)", text="{to} = {a} + {b}, each of {fields}")
def viadd_fields(w: Warp, a: Operand, b: Operand, *, fields: Literal["16x2", "U8x4"]) -> U32:
    """A minus before an operand holds for each field."""
    bits = 16 if fields.endswith("x2") else 8

    def term(operand: Operand, k: int) -> U32:
        return field(w.plain(operand), bits, k, False) * (-1 if minus(operand) else 1)

    return by_field(bits, lambda k: term(a, k) + term(b, k))


@op("VIADD.S32.ISAT", pipe="alu", probe="sat_add(a, b); sat_sub(a, b)", text="{to} = {a} + {b}, clamped to int")
def viadd_sat(w: Warp, a: Operand, b: Operand) -> U32:
    """The least int taken away is 2^31."""

    def term(operand: Operand) -> S64:
        wide = w.plain(operand).s32().wide()
        return -wide if minus(operand) else wide

    return (term(a) + term(b)).max(-(1 << 31)).min((1 << 31) - 1).low()


def minus(operand: Operand) -> bool:
    return isinstance(operand, Register | Constant) and operand.negate


# Comparisons


@op("ISETP", "UISETP", pipe="alu", probe="a < b", ignores="S32")
def isetp(a: S32, b: S32, p: Pred = TRUE, *, cmp: Compare, bop: Combine, U32: bool) -> tuple[Pred, Pred]:
    holds = ordered(a.u32(), cmp, b.u32()) if U32 else ordered(a, cmp, b)
    return combine(holds, bop, p), combine(~holds, bop, p)


@op("ISETP.EX", "UISETP.EX", pipe="alu", probe="(long long)a < b")
def isetp_ex(a: S32, b: S32, p: Pred, low: Pred = TRUE, *, cmp: Compare, bop: Combine, U32: bool) -> tuple[Pred, Pred]:
    """The high words of a 64-bit comparison; where they are equal, `low`, the low words' outcome, decides.  It is left
    out where the low words decide nothing, as against a constant whose low word is 0."""
    holds = ordered(a.u32(), cmp, b.u32()) if U32 else ordered(a, cmp, b)
    holds = a.eq(b).choose(low, holds)
    return combine(holds, bop, p), combine(~holds, bop, p)


@op("ISETP.S64", "UISETP.S64", pipe="alu", probe="(long long)a < b")
def isetp_s64(a: S64, b: S64, p: Pred = TRUE, *, cmp: Compare, bop: Combine) -> tuple[Pred, Pred]:
    holds = ordered(a, cmp, b)
    return combine(holds, bop, p), combine(~holds, bop, p)


@op("ISETP.U64", "UISETP.U64", pipe="alu", probe="(unsigned long long)a < b")
def isetp_u64(a: U64, b: U64, p: Pred = TRUE, *, cmp: Compare, bop: Combine) -> tuple[Pred, Pred]:
    holds = ordered(a, cmp, b)
    return combine(holds, bop, p), combine(~holds, bop, p)
