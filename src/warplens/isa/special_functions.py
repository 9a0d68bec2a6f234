"""MUFU: the special functions (sass.md 2.2), from tables (mufu.py): bit for bit as an H200.

Denormal operands and results count as zeros of their sign, as PTX defines for the .approx.ftz forms.
"""

from __future__ import annotations

from collections.abc import Sequence

from warplens.isa.dsl.lanes import F32, S32, S64, U32
from warplens.isa.dsl.op import op
from warplens.isa.numerics.mufu import EX2, LG2, LOW, RCP, RSQ, SIN, SQRT, TANH, Parabola

INFINITY, NAN, ONE, SIGN = 0x7F80_0000, 0x7FFF_FFFF, 0x3F80_0000, 0x8000_0000
HIGH = 20  # digits in the high word of a double
MORE_BIAS = 1023 - 127  # of a double's exponent


class Parts:
    """A float's word, or the high one of a double, for functions that are looked up; denormals count as zeros."""

    def __init__(self, bits: U32, fraction: int = 23) -> None:
        self.bits = bits
        self.fraction = fraction
        self.infinity = NAN >> fraction << fraction
        self.bias = self.infinity >> (fraction + 1)
        self.magnitude = bits & 0x7FFF_FFFF
        self.sign = bits & SIGN
        self.exponent = self.magnitude >> fraction
        self.digits = (bits & ((1 << fraction) - 1)) << (23 - fraction)

    def power(self) -> U32:
        """The power of two as an integer, which may be negative."""
        return self.exponent - self.bias

    def word(self, digits: U32, power: U32) -> U32:
        """Of the number 2^power, and so many units of 23 after the point."""
        return (digits >> (23 - self.fraction)) + ((power + self.bias) << self.fraction)

    def result(self, word: U32, of_zero: U32 | int, of_infinity: U32 | int, below: U32 | int | None = None) -> U32:
        """The word of what is neither zero, infinite nor NaN; `below`: of negative numbers that are no zeros."""
        word = self.magnitude.eq(self.infinity).choose(word.like(of_infinity), word)
        word = word if below is None else self.sign.ne(0).choose(word.like(below), word)
        word = self.exponent.eq(0).choose(word.like(of_zero), word)
        return (self.magnitude > self.infinity).choose(word.like(NAN), word)


def reciprocal(x: Parts) -> U32:
    """A segment for the first 7 digits."""
    word = x.word(RCP.word(x.digits >> 16, x.digits), -x.power() - 1).s32()
    word = (word < 1 << x.fraction).choose(word.like(0), word)
    return x.result(word.u32() | x.sign, x.sign | x.infinity, x.sign)


def odd(x: Parts) -> U32:
    return x.power() & 1


def half(x: Parts) -> U32:
    """Half of the exponent that is left when the odd one has gone into the segment."""
    return ((x.power() - odd(x)).s32() >> 1).u32()


def root(function: Parabola, x: Parts) -> U32:
    """Pieces for the last bit of the exponent and the first 6 digits."""
    return function.word(x.digits >> 17 | odd(x) << 6, x.digits)


def reciprocal_root(x: Parts) -> U32:
    """-inf for -0, NaN below.  Powers of four are exact; their segment ends a unit below."""
    digits = (x.digits | odd(x)).eq(0).choose(x.digits.like(1 << 23), root(RSQ, x))
    return x.result(x.word(digits, -half(x) - 1), x.sign | x.infinity, 0, below=NAN)


@op("MUFU.RCP", pipe="xu", probe="__frcp_rn(a)", text="{to} = approximately 1 / {a}")
def rcp(a: F32) -> F32:
    return reciprocal(Parts(a.u32())).float_bits()


@op("MUFU.RSQ", pipe="xu", probe="rsqrtf(a)", text="{to} = approximately 1 / sqrt({a})")
def rsq(a: F32) -> F32:
    return reciprocal_root(Parts(a.u32())).float_bits()


@op("MUFU.RCP64H", pipe="xu", probe="1.0 / d", text="{to} = high word of approximately 1 / {a}, double")
def rcp64h(a: U32) -> U32:
    """The same tables; what has no room in the word is cut off."""
    return reciprocal(Parts(a, HIGH))


@op("MUFU.RSQ64H", pipe="xu", probe="rsqrt(d)",
    text="{to} = high word of approximately 1 / sqrt({a}), double")  # fmt: skip
def rsq64h(a: U32) -> U32:
    return reciprocal_root(Parts(a, HIGH))


@op("MUFU.SQRT", pipe="xu", probe="sqrtf(a)", text="{to} = approximately sqrt({a})")
def sqrt(a: F32) -> F32:
    x = Parts(a.u32())
    return x.result(x.word(root(SQRT, x), half(x)), x.sign, INFINITY, below=NAN).float_bits()


@op("MUFU.EX2", pipe="xu", probe="exp2f(a)", text="{to} = approximately 2 to the power {a}")
def ex2(a: F32) -> F32:
    """Of 23 bits after the point, the others cut off; of negative numbers all bits are turned, not one added."""
    x = Parts(a.u32())
    digits, shift = x.digits | 0x80_0000, (x.exponent - 127).s32()
    left, right = shift.max(0).min(8).u32(), (-shift).max(0).min(31).u32()
    fixed = (digits << left) >> right
    whole, rest = (fixed >> 23).s32(), fixed & 0x7F_FFFF
    turned = x.sign.ne(0) & rest.ne(0)
    whole = x.sign.ne(0).choose(-whole, whole) - turned.u32().s32()
    rest = turned.choose(rest ^ 0x7F_FFFF, rest)
    power = whole + 127
    word = power.u32() << 23 | EX2.word(rest >> 17, rest)
    beyond = x.sign.ne(0).choose(word.like(0), INFINITY)
    word = (power < 1).choose(word.like(0), (power > 254).choose(word.like(INFINITY), word))
    return x.result((x.exponent > 135).choose(beyond, word), ONE, beyond).float_bits()


DIGITS = 7  # from one part of a total to the next


def truncated(parts: Sequence[S32], unit: U32 | int) -> U32:
    """The word of total * 2^-unit, cut off after 24 digits; `parts`: total, and what is left of it without its last
    DIGITS bits, and so on, each of 32 bits, as many as needed for one to be below 2^31.

    Some part has 24 digits and at most 30, or the first has all.  A float rounds it; where up, the word is one less.
    """
    x, dropped, full = parts[0], parts[0].u32().like(0), 1 << 23
    for number, part in enumerate(parts[1:], start=1):
        x, dropped = (part >= full).choose(part, x), (part >= full).choose(dropped.like(DIGITS * number), dropped)
    near = x.f32()
    word = near.u32() - (near.chopped(S32) > x).u32()
    return x.ne(0).choose(word + ((dropped - unit) << 23), 0)


def truncated_whole(total: S64, unit: U32) -> U32:
    """The same of a total from 0 to 2^53: a double has all of it."""
    word = (total.u64().f64().u64() >> (52 - 23)).low()
    return total.ne(0).choose(word - ((unit + MORE_BIAS) << 23), 0)


@op("MUFU.LG2", pipe="xu", probe="__log2f(a)", text="{to} = approximately log2({a})")
def lg2(a: F32) -> F32:
    """Exponent and parabola together, of 36 bits after the point; below 1 all bits are turned, not one added."""
    x = Parts(a.u32())
    whole = (x.exponent - 127).s32() << (36 - 2 * DIGITS)
    high, low = LG2.total(x.digits >> 17, x.digits)
    parts = (high << (LOW - 2)) + (low >> 2).s32(), (whole << DIGITS) + (high >> 1), whole + (high >> (1 + DIGITS))
    negative = parts[-1] < 0
    turned = negative.choose(parts[0].like(-1), 0)
    word = truncated([part ^ turned for part in parts], 36) | negative.u32() << 31
    word = x.magnitude.eq(ONE).choose(word.like(0), word)
    return x.result(word, SIGN | INFINITY, INFINITY, below=NAN).float_bits()


def circle(x: Parts, quarters: int) -> U32:
    """The sine of so many quarter turns more than the operand's magnitude, of which 25 bits after the point count."""
    digits, shift = x.digits | 0x80_0000, (x.exponent - 125).s32()
    left, right = shift.max(0).min(31).u32(), (-shift).max(0).min(31).u32()
    fixed = (digits << left) >> right
    quarter, rest = (fixed >> 23) + quarters, fixed & 0x7F_FFFF
    rest = quarter.bit(0).choose(rest ^ 0x7F_FFFF, rest)  # the way back, a unit before the way there
    high, low = SIN.total(rest >> 17, rest)
    low = (high << LOW).u32() | low
    return truncated([low.s32(), (high << (LOW - DIGITS)) + (low >> DIGITS & 1).s32()], 37) | (quarter & 2) << 30


@op("MUFU.SIN", pipe="xu", probe="__sinf(a)", text="{to} = approximately sin(2 pi {a})")
def sin(a: F32) -> F32:
    """The operand counts revolutions."""
    x = Parts(a.u32())
    return x.result(circle(x, 0) ^ x.sign, x.sign, NAN).float_bits()


@op("MUFU.COS", pipe="xu", probe="__cosf(a)", text="{to} = approximately cos(2 pi {a})")
def cos(a: F32) -> F32:
    x = Parts(a.u32())
    return x.result(circle(x, 1), ONE, NAN).float_bits()


LEAST = 119  # exponent of numbers whose tanh is not themselves
WIDTHS = (23, 23, 23, 22, 22, 21, 21, 21, 20, 19, 20)
"""How many of the digits are in a segment, for each exponent from there on: 1, 1, 1, 2, 2, 4 ... segments."""
UNITS = (44, 43, 42, 42, 41, 41, 40, 39, 39, 39, 39)
FIRST = tuple(sum(1 << (23 - width) for width in WIDTHS[:k]) for k in range(len(WIDTHS)))
SPANS = tuple(width | first << 8 | unit << 16 for width, first, unit in zip(WIDTHS, FIRST, UNITS, strict=True))


@op("MUFU.TANH", pipe="xu", probe="__tanhf(a)", text="{to} = approximately tanh({a})")
def tanh(a: F32) -> F32:
    """Of each exponent 17 digits after the segment count.  Denormals count; 1 from 8 on."""
    x = Parts(a.u32())
    span = (x.exponent - LEAST).s32().max(0).min(len(SPANS) - 1).u32().look_up(SPANS).u64().low()
    width = span & 0xFF
    segment = (span >> 8 & 0xFF) + (x.digits >> width)
    word = truncated_whole(TANH.whole(segment, x.digits >> (width - 17)), span >> 16)
    word = (x.exponent > LEAST + len(SPANS) - 1).choose(word.like(ONE), word)
    word = (x.exponent < LEAST).choose(x.magnitude, word) | x.sign
    return (x.magnitude > INFINITY).choose(word.like(NAN), word).float_bits()
