"""Lane values: typed values of 32 lanes, or of one for the uniform datapath, in which opcodes are defined.

Operators emit primitives through an `Emitter`, which decides what they become (LLVM vectors, English).  Python numbers
mix in freely.  Pairs of 16-bit floats: half_pair.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Literal, Protocol, TypeVar, cast

Node = Any  # what an emitter makes of a value: an LLVM value, or a phrase
Rounding = Literal["RN", "RZ", "RM", "RP"]
Order = Literal["lt", "le", "gt", "ge", "eq", "ne"]
L = TypeVar("L", bound="Lanes")
K = TypeVar("K", bound="Lanes")
TRUE: Any = True  # defaults of Pred parameters: the operand reader makes values of them
FALSE: Any = False
FAR = 64  # powers of two from the ends of the exponents


class Emitter(Protocol):
    """Turns primitives into code or text.  `kind` is the result's type, arguments are nodes or Python values."""

    def do(self, primitive: str, kind: type[Lanes], *args: Any, **how: Any) -> Node: ...

    def constant(self, kind: type[Lanes], value: float | int) -> Node: ...


class Lanes:
    """A value: `node` in the language of its emitter `e`."""

    bits: ClassVar[int]
    signed: ClassVar[bool] = False

    __slots__ = ("e", "node")

    def __init__(self, e: Emitter, node: Node) -> None:
        self.e = e
        self.node = node

    def _of(self: L, primitive: str, *args: Any, **how: Any) -> L:
        return type(self)(self.e, self.e.do(primitive, type(self), *args, **how))

    def _as(self, kind: type[L], primitive: str, *args: Any, **how: Any) -> L:
        return kind(self.e, self.e.do(primitive, kind, *args, **how))

    def like(self: L, value: Lanes | float | int) -> L:
        """A Python number, or a value of the same width, as this type."""
        if isinstance(value, Lanes):
            return value if type(value) is type(self) else value.bitcast(type(self))
        return type(self)(self.e, self.e.constant(type(self), value))

    def bitcast(self, kind: type[K]) -> K:
        """The same bits as another type of the same width."""
        assert kind.bits == self.bits, (kind, type(self))
        return kind(self.e, self.e.do("bitcast", kind, self))

    def of_lanes(self: L, lanes: Sequence[int]) -> L:
        """The value of another lane: of lane lanes[0] for lane 0, and so on."""
        return self._of("of_lanes", self, lanes=tuple(lanes))

    def _compare(self, order: Order, other: Any, **how: Any) -> Pred:
        return self._as(Pred, "compare", self, self.like(other), order=order, **how)


class Pred(Lanes):
    """One bit a lane."""

    bits = 1
    __slots__ = ()

    def __and__(self, other: Pred | bool) -> Pred:
        return self._of("and", self, self.like(other))

    def __or__(self, other: Pred | bool) -> Pred:
        return self._of("or", self, self.like(other))

    def __xor__(self, other: Pred | bool) -> Pred:
        return self._of("xor", self, self.like(other))

    def __invert__(self) -> Pred:
        return self._of("not", self)

    def choose(self, yes: L, no: L | float | int) -> L:
        """`yes` in the lanes where this is true, `no` elsewhere."""
        return yes._of("select", self, yes, yes.like(no))

    def u32(self) -> U32:
        return self._as(U32, "extend", self)

    def u64(self) -> U64:
        return self._as(U64, "extend", self)


class Int(Lanes):
    """Integers, two's complement."""

    __slots__ = ()

    def __add__(self: L, other: Any) -> L:
        return self._of("add", self, self.like(other))

    def __sub__(self: L, other: Any) -> L:
        return self._of("sub", self, self.like(other))

    def __rsub__(self: L, other: Any) -> L:
        return self._of("sub", self.like(other), self)

    def __mul__(self: L, other: Any) -> L:
        return self._of("mul", self, self.like(other))

    def __neg__(self: L) -> L:
        return self._of("sub", self.like(0), self)

    def __and__(self: L, other: Any) -> L:
        return self._of("and", self, self.like(other))

    def __or__(self: L, other: Any) -> L:
        return self._of("or", self, self.like(other))

    def __xor__(self: L, other: Any) -> L:
        return self._of("xor", self, self.like(other))

    def __invert__(self: L) -> L:
        return self._of("not", self)

    def __lshift__(self: L, amount: Any) -> L:
        """Shifted left; amounts of the width and more give 0."""
        return self._of("shl", self, self.like(amount))

    def __rshift__(self: L, amount: Any) -> L:
        """Shifted right, with the sign if the type is signed; amounts of the width and more shift everything out."""
        return self._of("shr", self, self.like(amount))

    def __lt__(self, other: Any) -> Pred:
        return self._compare("lt", other)

    def __le__(self, other: Any) -> Pred:
        return self._compare("le", other)

    def __gt__(self, other: Any) -> Pred:
        return self._compare("gt", other)

    def __ge__(self, other: Any) -> Pred:
        return self._compare("ge", other)

    def eq(self, other: Any) -> Pred:
        return self._compare("eq", other)

    def ne(self, other: Any) -> Pred:
        return self._compare("ne", other)

    def min(self: L, other: Any) -> L:
        return self._of("min", self, self.like(other))

    def max(self: L, other: Any) -> L:
        return self._of("max", self, self.like(other))

    def abs(self: L) -> L:
        return self._of("abs", self)

    def popc(self: L) -> L:
        """The number of ones."""
        return self._of("popc", self)

    def clz(self: L) -> L:
        """The number of leading zeros; the width for 0."""
        return self._of("clz", self)

    def brev(self: L) -> L:
        """Bits in reverse order."""
        return self._of("brev", self)

    def bit(self, position: int) -> Pred:
        return ((self >> position) & 1).ne(0)


class U16(Int):
    """Sixteen digits: twice as many numbers in a register of the host as of 32."""

    bits = 16
    __slots__ = ()

    def u32(self) -> U32:
        return self._as(U32, "extend", self)


class Int32(Int):
    bits = 32
    __slots__ = ()

    def u32(self) -> U32:
        return self.bitcast(U32)

    def s32(self) -> S32:
        return self.bitcast(S32)

    def float_bits(self) -> F32:
        """The float with these bits."""
        return self.bitcast(F32)

    def byte(self, position: int) -> U32:
        return (self.u32() >> (8 * position)) & 0xFF

    def join(self, high: Int32) -> U64:
        """The 64-bit value with this as its low word."""
        return self._as(U64, "join", self.u32(), high.u32())

    def f32(self, rounding: Rounding = "RN") -> F32:
        """Converted to float."""
        return self._as(F32, "from_int", self, rounding=rounding)

    def f64(self) -> F64:
        return self._as(F64, "from_int", self, rounding="RN")


class U32(Int32):
    __slots__ = ()

    def wide(self) -> U64:
        return self._as(U64, "extend", self)

    def u16(self) -> U16:
        """The low half."""
        return self._as(U16, "truncate", self)

    def look_up(self, table: tuple[int, ...]) -> S64:
        """table[self], where self is below the table's length."""
        return self._as(S64, "look_up", self, table=table)


class S32(Int32):
    signed = True
    __slots__ = ()

    def wide(self) -> S64:
        return self._as(S64, "extend", self)


class Int64(Int):
    bits = 64
    __slots__ = ()

    def u64(self) -> U64:
        return self.bitcast(U64)

    def s64(self) -> S64:
        return self.bitcast(S64)

    def low(self) -> U32:
        return self._as(U32, "truncate", self)

    def high(self) -> U32:
        return self._as(U32, "high", self)

    def high_plus(self, addend: U64) -> U32:
        """The high word of the sum."""
        return self._as(U32, "high_plus", self, addend)

    def double_bits(self) -> F64:
        """The double with these bits."""
        return self.bitcast(F64)

    def f32(self, rounding: Rounding = "RN") -> F32:
        return self._as(F32, "from_int", self, rounding=rounding)

    def f64(self, rounding: Rounding = "RN") -> F64:
        return self._as(F64, "from_int", self, rounding=rounding)


class U64(Int64):
    __slots__ = ()


class S64(Int64):
    signed = True
    __slots__ = ()


class Float(Lanes):
    """IEEE 754 numbers.  Arithmetic rounds once; a NaN result is the machine's one NaN (0x7fffffff for F32)."""

    __slots__ = ()

    def plus(self: L, other: Any, rounding: Rounding = "RN") -> L:
        return self._of("fadd", self, self.like(other), rounding=rounding)

    def times(self: L, other: Any, rounding: Rounding = "RN") -> L:
        return self._of("fmul", self, self.like(other), rounding=rounding)

    def times_plus(self: L, factor: Any, addend: Any, rounding: Rounding = "RN") -> L:
        """self * factor + addend, rounded once."""
        return self._of("fma", self, self.like(factor), self.like(addend), rounding=rounding)

    def __add__(self: L, other: Any) -> L:
        return cast(L, cast(Float, self).plus(other))

    def __sub__(self: L, other: Any) -> L:
        return cast(L, cast(Float, self).plus(-cast(Float, self).like(other)))

    def __mul__(self: L, other: Any) -> L:
        return cast(L, cast(Float, self).times(other))

    def __neg__(self: L) -> L:
        """The sign bit turned, also of a NaN."""
        return self._of("fneg", self)

    def abs(self: L) -> L:
        """The sign bit cleared, also of a NaN."""
        return self._of("fabs", self)

    def sqrt(self: L) -> L:
        return self._of("fsqrt", self)

    def floor(self: L) -> L:
        return self._of("ffloor", self)

    def ceil(self: L) -> L:
        return self._of("fceil", self)

    def trunc(self: L) -> L:
        return self._of("ftrunc", self)

    def nearest(self: L) -> L:
        """Rounded to the nearest integral value, ties to even."""
        return self._of("fnearest", self)

    def ftz(self: L, away: L | None = None) -> L:
        """Denormals become zero of their sign; with `away`, 2^FAR times it, what is one if exponents had no end."""
        return self._of("ftz", self) if away is None else self._of("ftz", self, away)

    def saturate(self: L) -> L:
        """Clamped to [0, 1]; NaN gives +0."""
        return self._of("saturate", self)

    def min(self: L, other: Any) -> L:
        """The smaller; a NaN loses, -0 < +0."""
        return self._of("fmin", self, self.like(other))

    def max(self: L, other: Any) -> L:
        return self._of("fmax", self, self.like(other))

    def compare(self, order: Order, other: Any, unordered: bool = False) -> Pred:
        """Ordered comparison, or true also where one is a NaN if `unordered`."""
        return self._compare(order, other, unordered=unordered)

    def isnan(self) -> Pred:
        return self._as(Pred, "isnan", self)

    def to_int(self, kind: type[L]) -> L:
        """Towards zero, saturating; NaN gives 0."""
        return kind(self.e, self.e.do("to_int", kind, self))

    def chopped(self, kind: type[L]) -> L:
        """Towards zero; anything where that does not fit the type."""
        return kind(self.e, self.e.do("chop", kind, self))


class F32(Float):
    bits = 32
    __slots__ = ()

    def u32(self) -> U32:
        return self.bitcast(U32)

    def nan(self) -> F32:
        """The machine's one NaN."""
        return self.u32().like(0x7FFF_FFFF).float_bits()

    def f64(self) -> F64:
        return self._as(F64, "fextend", self)


class F64(Float):
    bits = 64
    __slots__ = ()

    def u64(self) -> U64:
        return self.bitcast(U64)

    def f32(self) -> F32:
        return self._as(F32, "fround", self)
