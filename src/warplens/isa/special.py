"""MUFU: the special functions (sass.md 2.2).

RCP, RSQ, SQRT and EX2 come from tables (_mufu.py) and are an H200's in every bit.  The others are computed in double
precision and rounded once; an H200 differs by 8e-6 (TANH) and 3.4e-7 (SIN, COS): all 2^32 inputs,
measurements/README.md.
Denormal operands and results count as zeros of their sign, as PTX says of the .approx.ftz forms.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from warplens.isa._lanes import F32, F64, S64, U32
from warplens.isa._mufu import EX2, RCP, RSQ, SQRT, Parabola
from warplens.isa._op import op


def polynomial(x: F64, coefficients: Sequence[float]) -> F64:
    """Horner's rule; the constant term comes first."""
    total = x.like(coefficients[-1])
    for coefficient in reversed(coefficients[:-1]):
        total = total.times_plus(x, coefficient)
    return total


INFINITY, NAN, ONE = 0x7F80_0000, 0x7FFF_FFFF, 0x3F80_0000


class Parts:
    """A float's words, for functions that are looked up; denormals count as zeros."""

    def __init__(self, a: F32) -> None:
        self.bits = a.u32()
        self.magnitude = self.bits & 0x7FFF_FFFF
        self.sign = self.bits & 0x8000_0000
        self.exponent = self.magnitude >> 23
        self.digits = self.bits & 0x7F_FFFF

    def result(self, word: U32, of_zero: U32 | int, of_infinity: U32 | int, below: U32 | int | None = None) -> F32:
        """The word of what is neither zero, infinite nor NaN; `below`: of negative numbers that are no zeros."""
        word = self.magnitude.eq(INFINITY).choose(word.like(of_infinity), word)
        word = word if below is None else self.sign.ne(0).choose(word.like(below), word)
        word = self.exponent.eq(0).choose(word.like(of_zero), word)
        return (self.magnitude > INFINITY).choose(word.like(NAN), word).float_bits()


@op("MUFU.RCP", pipe="xu", probe="__frcp_rn(a)", says="{to} = approximately 1 / {a}")
def rcp(a: F32) -> F32:
    """A piece for the first 7 digits.  As all the functions in this section an H200's in every bit."""
    x = Parts(a)
    word = (RCP.word(x.digits >> 16, x.digits) + 0x3F00_0000 - (x.exponent << 23) + ONE).s32()
    word = (word < 0x0080_0000).choose(word.like(0), word)
    return x.result(word.u32() | x.sign, x.sign | INFINITY, x.sign)


def root(function: Parabola, x: Parts) -> U32:
    """Pieces for the last bit of the exponent and the first 6 digits."""
    return function.word(x.digits >> 17 | odd(x) << 6, x.digits)


def odd(x: Parts) -> U32:
    return (x.exponent + 1) & 1


def halved(x: Parts) -> U32:
    """Half of the exponent that is left when the odd one has gone into the piece, in its place in a word."""
    return ((x.exponent - 127 - odd(x)).s32() >> 1).u32() << 23


@op("MUFU.RSQ", pipe="xu", probe="rsqrtf(a)", says="{to} = approximately 1 / sqrt({a})")
def rsq(a: F32) -> F32:
    """-inf for -0, NaN below.  Powers of four are exact; their piece ends a unit below."""
    x = Parts(a)
    digits = root(RSQ, x) + 0x3F00_0000
    digits = (x.digits | odd(x)).eq(0).choose(digits.like(ONE), digits)
    return x.result(digits - halved(x), x.sign | INFINITY, 0, below=NAN)


@op("MUFU.SQRT", pipe="xu", probe="sqrtf(a)", says="{to} = approximately sqrt({a})")
def sqrt(a: F32) -> F32:
    x = Parts(a)
    return x.result(root(SQRT, x) + ONE + halved(x), x.sign, INFINITY, below=NAN)


@op("MUFU.EX2", pipe="xu", probe="exp2f(a)", says="{to} = approximately 2 to the power {a}")
def ex2(a: F32) -> F32:
    """Of 23 bits behind the point, the others cut off; of negative numbers all bits are turned, not one added."""
    x = Parts(a)
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
    return x.result((x.exponent > 135).choose(beyond, word), ONE, beyond)


# log2(m) = 2 / ln 2 * atanh(s), s = (m - 1) / (m + 1); for m in [0.707, 1.414] s * s < 0.0295 and the
# first term left out is below 1e-14 of the sum.
_LG2 = [2 / math.log(2) / (2 * k + 1) for k in range(9)]


@op("MUFU.LG2", pipe="xu", probe="__log2f(a)", says="{to} = approximately log2({a})")
def lg2(a: F32) -> F32:
    x = a.ftz()
    bits = x.u32()
    # The exponent of the power of two that is nearest by ratio: 0x3f3504f3 is sqrt(1/2).
    e = (bits - 0x3F3504F3).s32() >> 23
    m = (bits - (e << 23).u32()).float_bits().f64()
    s = (m - 1.0).divided_by(m + 1.0)
    finite = (s * polynomial(s * s, _LG2) + e.f64()).f32()
    regular = x.compare("gt", 0.0) & x.compare("lt", math.inf)
    edge = x.compare("eq", 0.0).choose(x.like(-math.inf), x.sqrt())  # NaN below 0, NaN, +inf
    return regular.choose(finite, edge)


# 2^r = exp(r ln 2); |r ln 2| < 0.347, the first term left out is below 1e-15.
_EX2 = [math.log(2) ** k / math.factorial(k) for k in range(13)]


# sin(t) for |t| <= pi / 2 as t times a polynomial in t * t; the first term left out is below 1e-18.
_SIN = [(-1) ** k / math.factorial(2 * k + 1) for k in range(11)]


def sine_of_revolutions(x: F64) -> F64:
    r = x - x.nearest()
    # Beyond a quarter turn the sine comes down again.
    r = r.compare("gt", 0.25).choose(-r + 0.5, r.compare("lt", -0.25).choose(-r + -0.5, r))
    t = r * (2 * math.pi)
    return t * polynomial(t * t, _SIN)


@op("MUFU.SIN", pipe="xu", probe="__sinf(a)", says="{to} = approximately sin(2 pi {a})")
def sin(a: F32) -> F32:
    """The operand counts revolutions."""
    x = a.ftz()
    return x.compare("eq", 0.0).choose(x, sine_of_revolutions(x.f64()).f32().ftz())


@op("MUFU.COS", pipe="xu", probe="__cosf(a)", says="{to} = approximately cos(2 pi {a})")
def cos(a: F32) -> F32:
    x = a.ftz().f64()
    return sine_of_revolutions((x - x.nearest()) + 0.25).f32().ftz()


@op("MUFU.TANH", pipe="xu", probe="__tanhf(a)", says="{to} = approximately tanh({a})")
def tanh(a: F32) -> F32:
    """(e^2x - 1) / (e^2x + 1), but x itself below 2^-13, where it is the nearest float.  Denormals count."""
    twice = a.min(20.0).max(-20.0).f64() * (2 / math.log(2))
    whole = twice.nearest()
    e = polynomial(twice - whole, _EX2) * ((whole.to_int(S64) + 1023) << 52).double_bits()
    curved = (e - 1.0).divided_by(e + 1.0).f32()
    return (a.abs().compare("lt", 2.0**-13) | a.isnan()).choose(a + -0.0, curved)


def high_word_double(high: U32) -> F64:
    return high.like(0).join(high).double_bits().ftz()


@op("MUFU.RCP64H", pipe="xu", probe="1.0 / d", says="{to} = high word of approximately 1 / {a}, double")
def rcp64h(a: U32) -> U32:
    x = high_word_double(a)
    return x.like(1.0).divided_by(x).ftz().u64().high()


@op(
    "MUFU.RSQ64H", pipe="xu", probe="rsqrt(d)", says="{to} = high word of approximately 1 / sqrt({a}), double"
)
def rsq64h(a: U32) -> U32:
    x = high_word_double(a)
    return x.like(1.0).divided_by(x.sqrt()).ftz().u64().high()
