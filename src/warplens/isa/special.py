"""MUFU: the special functions, computed in double precision and rounded once (sass.md 2.2).

The hardware's tables are not public.  An H200 differs from these by at most 1 unit in the last place (RCP, SQRT) or 2
(RSQ, EX2); absolutely by 8e-6 (TANH) and 3.4e-7 (SIN, COS): all 2^32 inputs, measurements/README.md.
Denormal operands and results count as zeros of their sign, as PTX says of the .approx.ftz forms.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from warplens.isa._lanes import F32, F64, S64, U32
from warplens.isa._op import op


def polynomial(x: F64, coefficients: Sequence[float]) -> F64:
    """Horner's rule; the constant term comes first."""
    total = x.like(coefficients[-1])
    for coefficient in reversed(coefficients[:-1]):
        total = total.times_plus(x, coefficient)
    return total


@op("MUFU.RCP", pipe="xu", probe="__frcp_rn(a)", says="{to} = approximately 1 / {a}")
def rcp(a: F32) -> F32:
    x = a.ftz().f64()
    return x.like(1.0).divided_by(x).f32().ftz()


@op("MUFU.RSQ", pipe="xu", probe="rsqrtf(a)", says="{to} = approximately 1 / sqrt({a})")
def rsq(a: F32) -> F32:
    """-inf for -0, NaN below."""
    x = a.ftz().f64()
    return x.like(1.0).divided_by(x.sqrt()).f32().ftz()


@op("MUFU.SQRT", pipe="xu", probe="sqrtf(a)", says="{to} = approximately sqrt({a})")
def sqrt(a: F32) -> F32:
    return a.ftz().f64().sqrt().f32()


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


@op("MUFU.EX2", pipe="xu", probe="exp2f(a)", says="{to} = approximately 2 to the power {a}")
def ex2(a: F32) -> F32:
    x = a.ftz()
    bounded = x.min(200.0).max(-200.0).f64()  # beyond, the single-precision result is inf or 0 anyway
    whole = bounded.nearest()
    scale = ((whole.to_int(S64) + 1023) << 52).double_bits()
    power = (polynomial(bounded - whole, _EX2) * scale).f32().ftz()
    return x.isnan().choose(x.nan(), power)


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
