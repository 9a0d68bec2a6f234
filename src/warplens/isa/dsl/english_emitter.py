"""English emitter: an emitter whose nodes are phrases.

A phrase knows how tightly its outermost operator binds, whether it is a constant, and the notes ("signed",
"64-bit", "rounded up") that belong at the end of the line.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field, replace
from typing import Any

from warplens.isa.dsl.lanes import Float, Int, Lanes, Pred

ATOM, UNARY, TIMES, PLUS, SHIFT, AND, XOR, OR, COMPARE, BOTH, EITHER, CHOICE = range(12, 0, -1)

INFIX = {
    "mul": ("*", TIMES), "fmul": ("*", TIMES), "add": ("+", PLUS), "fadd": ("+", PLUS),
    "shr": (">>", SHIFT), "shl": ("<<", SHIFT), "and": ("&", AND), "xor": ("^", XOR), "or": ("|", OR),
}  # fmt: skip
ORDERS = {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!="}
CALLS = {
    "min": "min", "max": "max", "fmin": "min", "fmax": "max", "fsqrt": "sqrt",
    "ffloor": "floor", "fceil": "ceil", "ftrunc": "trunc", "fnearest": "round",
}  # fmt: skip
ROUNDED = {"RN": "", "RZ": "rounded toward zero", "RM": "rounded down", "RP": "rounded up"}
TYPES = {
    "S32": "int", "U32": "unsigned", "S64": "64-bit int", "U64": "64-bit unsigned",
    "F32": "float", "F64": "double",
}  # fmt: skip
SILENT = {"bitcast", "extend"}


@dataclass(frozen=True, slots=True)
class Phrase:
    """Words for a value.

    value   its number if it is a constant
    high    its high word, where there is a short way to say that
    """

    text: str
    binds: int = ATOM
    value: float | int | None = None
    notes: tuple[str, ...] = field(default=())
    high: str = ""

    def within(self, binds: int) -> str:
        """As an operand of an operator that binds this tightly."""
        return f"({self.text})" if self.binds < binds else self.text

    def noting(self, *notes: str) -> Phrase:
        return replace(self, notes=tuple(dict.fromkeys([*self.notes, *(n for n in notes if n)])))


def of_number(kind: type[Lanes], value: float | int) -> Phrase:
    """A constant: decimal while that is short, else hexadecimal."""
    if kind is Pred:
        return Phrase("true" if value else "false", value=int(value))
    if issubclass(kind, Float):
        return Phrase(decimal(float(value)), value=float(value))
    number = int(value)
    if issubclass(kind, Int):
        number &= (1 << kind.bits) - 1
        number -= (number >> (kind.bits - 1)) << kind.bits
    return Phrase(integer(number, kind.bits), value=number)


def integer(number: int, bits: int = 32) -> str:
    if abs(number) < 10_000:
        return str(number)
    return hex(number) if number > -(1 << 24) and number < 0 else hex(number & ((1 << bits) - 1))


def decimal(number: float) -> str:
    return f"{number:.8g}" if abs(number) < 1e16 else f"{number:.4g}"


def of_word(bits: int) -> Phrase:
    """A 32-bit pattern of unknown type: as an integer, and as the float that it may be."""
    number = of_number(Int32Bits, bits)
    real = struct.unpack("<f", struct.pack("<I", bits & 0xFFFF_FFFF))[0]
    looks_real = 1e-6 < abs(real) < 1e9
    return replace(number, text=f"{number.text} (the float {real:.7g})") if looks_real else number


class Int32Bits(Int):
    """A word that is only shown."""

    bits = 32
    __slots__ = ()


class PhraseEmitter:
    """An `Emitter` that writes English."""

    def constant(self, kind: type[Lanes], value: float | int) -> Phrase:
        return of_number(kind, value)

    def do(self, primitive: str, kind: type[Lanes], *args: Lanes, **how: Any) -> Phrase:
        phrases: list[Phrase] = [a.node for a in args]
        source = type(args[0])
        made = self._made(primitive, kind, source, phrases, how)
        if primitive == "high" and phrases[0].high:
            return made
        if made.text == CARRY:
            return made
        inherited = [note for p in phrases if p is not made for note in p.notes]
        rounding = ROUNDED[how.get("rounding", "RN")]
        return made if made.value is not None else made.noting(*inherited, rounding)

    def _made(
        self, primitive: str, kind: type[Lanes], source: type[Lanes], args: list[Phrase], how: dict[str, Any]
    ) -> Phrase:
        if primitive == "extend" and args[0].value is not None:
            return of_number(kind, args[0].value)
        if primitive in SILENT:
            wider = kind.bits == 64 and source.bits == 32 and issubclass(kind, Int)
            return args[0].noting("64-bit") if wider else args[0]
        if primitive in ("and", "or", "xor") and kind is Pred:
            return both(primitive, *args)
        if primitive == "fma":
            product = self._made("fmul", kind, source, args[:2], {})
            return self._made("fadd", kind, source, [product, args[2]], {})
        if primitive == "sub":
            return plus(args[0], negative(args[1]))
        if primitive in INFIX:
            return infix(primitive, kind, *args)
        special = getattr(self, f"_{primitive}", None)
        if special is not None:
            phrase: Phrase = special(kind, source, *args, **how)
            return phrase
        numbers = [a.value for a in args if isinstance(a.value, int)]
        if primitive in ("min", "max") and len(numbers) == 2:
            return of_number(kind, min(numbers) if primitive == "min" else max(numbers))
        if primitive in CALLS:
            sign = "unsigned" if primitive in ("min", "max") and not source.signed else ""
            return Phrase(f"{CALLS[primitive]}({', '.join(a.text for a in args)})").noting(sign)
        return Phrase(f"{primitive}({', '.join(a.text for a in args)})")

    def _compare(
        self, kind: Any, source: type[Lanes], a: Phrase, b: Phrase, order: str, unordered: bool = False
    ) -> Phrase:
        if a.text == CARRY:
            return a
        less, more = (b, a) if order == "gt" else (a, b)
        if order in ("lt", "gt") and source.bits == 64 and less.binds == PLUS and more.text in less.text:
            return Phrase(CARRY)  # a sum less than one of its terms has wrapped round
        phrase = Phrase(f"{a.within(SHIFT)} {ORDERS[order]} {b.within(SHIFT)}", COMPARE)
        if issubclass(source, Int):
            return phrase if order in ("eq", "ne") else phrase.noting("signed" if source.signed else "unsigned")
        if unordered == (order == "ne"):  # what C's operators mean
            return phrase
        return phrase.noting("true for NaN" if unordered else "false for NaN")

    def _select(self, kind: Any, source: Any, p: Phrase, yes: Phrase, no: Phrase) -> Phrase:
        if p.value is not None:
            return yes if p.value else no
        return Phrase(f"{yes.within(CHOICE + 1)} if {p.text} else {no.within(CHOICE + 1)}", CHOICE)

    def _not(self, kind: Any, source: Any, a: Phrase) -> Phrase:
        if a.value is not None:
            return of_number(kind, not a.value) if kind is Pred else of_number(kind, ~int(a.value))
        if kind is Pred:
            return Phrase(f"not {a.within(COMPARE)}", COMPARE)
        return Phrase(a.text[1:]) if a.text.startswith("~") else Phrase("~" + a.within(UNARY), UNARY)

    def _fneg(self, kind: Any, source: Any, a: Phrase) -> Phrase:
        return negative(a)

    def _fabs(self, kind: Any, source: Any, a: Phrase) -> Phrase:
        return Phrase(f"|{a.text}|")

    def _abs(self, kind: Any, source: Any, a: Phrase) -> Phrase:
        return Phrase(f"|{a.text}|")

    def _popc(self, kind: Any, source: Any, a: Phrase) -> Phrase:
        return Phrase(f"number of ones in {a.within(UNARY)}", CHOICE)

    def _brev(self, kind: Any, source: Any, a: Phrase) -> Phrase:
        return Phrase(f"{a.within(UNARY)} with its bits reversed", CHOICE)

    def _high(self, kind: Any, source: Any, a: Phrase) -> Phrase:
        return Phrase(a.high, SHIFT) if a.high else Phrase(f"high word of {a.within(UNARY)}", UNARY)

    def _high_plus(self, kind: Any, source: type[Lanes], a: Phrase, b: Phrase) -> Phrase:
        return self._high(kind, source, self._made("add", source, source, [a, b], {}))

    def _truncate(self, kind: Any, source: Any, a: Phrase) -> Phrase:
        return Phrase(f"low word of {a.within(UNARY)}", UNARY)

    def _from_int(self, kind: type[Lanes], source: Any, a: Phrase, rounding: str) -> Phrase:
        return Phrase(f"{a.within(UNARY)} as {TYPES[kind.__name__]}", UNARY).noting("" if source.signed else "unsigned")

    def _to_int(self, kind: type[Lanes], source: Any, a: Phrase) -> Phrase:
        return Phrase(f"{a.within(UNARY)} as {TYPES[kind.__name__]}", UNARY)

    def _fextend(self, kind: Any, source: Any, a: Phrase) -> Phrase:
        return Phrase(f"{a.within(UNARY)} as double", UNARY)

    def _fround(self, kind: Any, source: Any, a: Phrase) -> Phrase:
        return Phrase(f"{a.within(UNARY)} as float", UNARY)

    def _isnan(self, kind: Any, source: Any, a: Phrase) -> Phrase:
        return Phrase(f"{a.within(UNARY)} is NaN", COMPARE)

    def _ftz(self, kind: Any, source: Any, a: Phrase, away: Phrase | None = None) -> Phrase:
        return a if a.value is not None else a.noting("denormals as 0")

    def _saturate(self, kind: Any, source: Any, a: Phrase) -> Phrase:
        return a.noting("clamped to [0, 1]")

    def _join(self, kind: Any, source: Any, low: Phrase, high: Phrase) -> Phrase:
        return low.noting("64-bit") if high.value == 0 else Phrase(f"{high.text}:{low.text}")


CARRY = "its carry"


def infix(primitive: str, kind: type[Lanes], a: Phrase, b: Phrase) -> Phrase:
    """a operator b, without what changes nothing."""
    sign, binds = INFIX[primitive]
    if sign == "+":
        return plus(a, b)
    if sign == ">>" and kind.bits == 64 and b.value in (32, 33):
        return Phrase(CARRY)  # all that lies above a word of a sum formed in 64 bits
    if sign in "*&" and issubclass(kind, Int) and 0 in (a.value, b.value):
        return of_number(kind, 0)
    neutral = {"*": 1, "/": 1, "&": -1}.get(sign, 0)
    if b.value == neutral:
        return a
    if a.value == neutral and sign in "*&|^":
        return b
    if isinstance(a.value, int) and isinstance(b.value, int) and sign in "*&|^<<":
        folded = {
            "*": a.value * b.value,
            "&": a.value & b.value,
            "|": a.value | b.value,
            "^": a.value ^ b.value,
        }
        return of_number(kind, folded[sign] if sign in folded else a.value << min(b.value, 64))
    if sign in "&|^":
        a, b = hexadecimal(a), hexadecimal(b)
    high = ""
    if sign == "<<" and kind.bits == 64 and "64-bit" in a.notes and isinstance(b.value, int) and 0 < b.value < 32:
        high = f"{a.within(SHIFT)} >> {32 - b.value}"
    if sign == "<<" and isinstance(b.value, int) and 0 < b.value <= 10:
        sign, binds, b = "*", TIMES, of_number(kind, 1 << b.value)
    # Operators of one kind chain without brackets; logic mixed with anything else is clearer with them.
    left, right = (ATOM if p.binds != binds and sign in "&|^<<>>" and p.binds < UNARY else binds for p in (a, b))
    phrase = Phrase(f"{a.within(left)} {sign} {b.within(right + (sign == '/'))}", binds, high=high)
    return phrase.noting("signed" if kind.signed else "unsigned") if sign == ">>" else phrase


def hexadecimal(p: Phrase) -> Phrase:
    """A mask."""
    return replace(p, text=hex(p.value & 0xFFFF_FFFF)) if isinstance(p.value, int) and abs(p.value) > 9 else p


def negative(a: Phrase) -> Phrase:
    if a.value is not None:
        return Phrase(a.text, value=0) if a.value == 0 else replace(a, text=_signed(a), value=-a.value)
    return replace(a, text=a.text[1:], binds=UNARY) if a.text.startswith("-") else Phrase("-" + a.within(TIMES), UNARY)


def _signed(a: Phrase) -> str:
    return a.text[1:] if a.text.startswith("-") else "-" + a.text


def plus(a: Phrase, b: Phrase) -> Phrase:
    if a.value == 0:
        return b
    if b.value == 0:
        return a
    if isinstance(a.value, int) and isinstance(b.value, int):
        return Phrase(integer(a.value + b.value), value=a.value + b.value)
    if a.text.startswith("-") and not b.text.startswith("-") and a.binds >= TIMES:
        a, b = b, a
    if b.text.startswith("-") and b.binds >= TIMES:
        return Phrase(f"{a.within(PLUS)} - {b.text[1:]}", PLUS)
    return Phrase(f"{a.within(PLUS)} + {b.within(PLUS)}", PLUS)


def both(primitive: str, a: Phrase, b: Phrase) -> Phrase:
    """Predicates combined in words."""
    if a.text == b.text and primitive != "xor":
        return a
    word, binds = {"and": ("and", BOTH), "or": ("or", EITHER), "xor": ("!=", COMPARE)}[primitive]
    for constant, other in ((a, b), (b, a)):
        if constant.value is not None:
            if primitive == "xor" and constant.value:
                return Phrase(f"not {other.within(COMPARE)}", COMPARE)
            keeps = bool(constant.value) == (primitive == "and")
            return other if keeps else constant
    return Phrase(f"{a.within(binds)} {word} {b.within(binds)}", binds)
