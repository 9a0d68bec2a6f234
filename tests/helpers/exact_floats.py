"""IEEE 754 by exact fractions: slow, obvious, and the reference of the tests."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction


def away(rounding: str, negative: bool) -> bool:
    """Whether a directed rounding goes away from zero."""
    return rounding == ("RM" if negative else "RP")


@dataclass(frozen=True)
class Format:
    """A binary interchange format: `digits` after the point, `bias` of the exponent."""

    bits: int
    digits: int

    @property
    def bias(self) -> int:
        return (1 << (self.bits - self.digits - 2)) - 1

    @property
    def infinity(self) -> int:
        return (2 * self.bias + 1) << self.digits

    @property
    def nan(self) -> int:
        """The machine's one NaN: all ones but the sign."""
        return (1 << (self.bits - 1)) - 1

    def sign(self, bits: int) -> int:
        return bits >> (self.bits - 1)

    def magnitude(self, bits: int) -> int:
        return bits & ((1 << (self.bits - 1)) - 1)

    def is_nan(self, bits: int) -> bool:
        return self.magnitude(bits) > self.infinity

    def is_infinite(self, bits: int) -> bool:
        return self.magnitude(bits) == self.infinity

    def is_denormal(self, bits: int) -> bool:
        return 0 < self.magnitude(bits) < 1 << self.digits

    def value(self, bits: int) -> Fraction:
        """Of a finite number."""
        field = self.magnitude(bits) >> self.digits
        digits = self.magnitude(bits) & ((1 << self.digits) - 1)
        if field:
            digits |= 1 << self.digits
        size = Fraction(digits) * Fraction(2) ** (max(field, 1) - self.bias - self.digits)
        return -size if self.sign(bits) else size

    def signed(self, magnitude: int, negative: bool) -> int:
        return magnitude | (int(negative) << (self.bits - 1))

    def rounded(self, exact: Fraction, rounding: str = "RN", zero_negative: bool = False) -> int:
        """The bits of the number nearest to `exact` in the direction asked for."""
        if exact == 0:
            return self.signed(0, zero_negative)
        negative, size = exact < 0, abs(exact)
        exponent = size.numerator.bit_length() - size.denominator.bit_length()
        if Fraction(2) ** exponent > size:
            exponent -= 1
        unit = Fraction(2) ** (max(exponent, 1 - self.bias) - self.digits)
        whole, rest = divmod(size, unit)
        if rest:
            if rounding == "RN":
                whole += rest * 2 > unit or (rest * 2 == unit and whole % 2 == 1)
            else:
                whole += away(rounding, negative)
        size = whole * unit
        largest = self.value(self.infinity - 1)
        if size > largest:
            stays = rounding != "RN" and not away(rounding, negative)
            return self.signed(self.infinity - stays, negative)
        # The word counts the representable numbers: binades of 2^digits numbers each.
        number, binade = int(whole), max(exponent, 1 - self.bias)
        return self.signed(number + ((binade + self.bias - 1) << self.digits), negative)


SINGLE = Format(32, 23)
DOUBLE = Format(64, 52)
HALF = Format(16, 10)
BFLOAT = Format(16, 7)


def survivor(f: Format, *operands: int) -> int:
    """The NaN that comes of operands: the machine's one, but of doubles the first that is one, made quiet."""
    if f != DOUBLE:
        return f.nan
    return next((x | 1 << 51 for x in operands if f.is_nan(x)), 0xFFF8 << 48)


def fma(f: Format, a: int, b: int, c: int, rounding: str = "RN") -> int:
    """a * b + c, rounded once."""
    if any(f.is_nan(x) for x in (a, b, c)):
        return survivor(f, b, c, a)
    product_negative = f.sign(a) != f.sign(b)
    if f.is_infinite(a) or f.is_infinite(b):
        if 0 in (f.magnitude(a), f.magnitude(b)) or (f.is_infinite(c) and f.sign(c) != product_negative):
            return survivor(f)
        return f.signed(f.infinity, product_negative)
    if f.is_infinite(c):
        return c
    product = f.value(a) * f.value(b)
    if product == 0 and f.magnitude(c) == 0:
        same = product_negative == bool(f.sign(c))
        return f.signed(0, product_negative if same else rounding == "RM")
    return f.rounded(product + f.value(c), rounding, zero_negative=rounding == "RM")


def add(f: Format, a: int, b: int, rounding: str = "RN") -> int:
    one = f.bias << f.digits
    return fma(f, a, one, b, rounding)


def mul(f: Format, a: int, b: int, rounding: str = "RN") -> int:
    zero = f.signed(0, f.sign(a) != f.sign(b))  # of the product's sign: adding it changes nothing
    return fma(f, a, b, zero, rounding)


def convert(source: Format, target: Format, bits: int, rounding: str = "RN") -> int:
    if source.is_nan(bits):
        return target.nan
    if source.is_infinite(bits):
        return target.signed(target.infinity, bool(source.sign(bits)))
    return target.rounded(source.value(bits), rounding, zero_negative=bool(source.sign(bits)))
