"""Affine values: base + x * step + y * step over the lanes of a warp, kept as one or three numbers instead of 32.

A warp is a tile of the block, `width` lanes wide; lane = x + width * y.  Arithmetic wraps.
Sums, differences, multiples and the low word of a product stay affine, which is what indices and addresses are made of;
everything else is done on the 32 numbers.

The same rules serve twice: over LLVM values when code is emitted, and over abstract values in the uniformity analysis
(uniformity.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from warplens.isa.dsl.lanes import S32, U32, U64, Float, Lanes, Pred

Scalar = Any  # a known int, or a value of the emitter's own
INTEGERS: dict[int, type[Lanes]] = {32: U32, 64: U64}


@dataclass(frozen=True, eq=False)
class AffineValue:
    """`parts` are base, step along x, step along y; steps may be plain ints.

    exact   gives the 32 numbers from what they were computed from, right in any case; None: the parts do
    guards  extensions that must not have wrapped for the parts to be right
    whole   the 64-bit value whose low word this is
    origin  the register pair that holds it
    """

    bits: int
    parts: tuple[Scalar, Scalar, Scalar]
    exact: Callable[[], Any] | None = None
    guards: tuple[Guard, ...] = ()
    whole: AffineValue | None = None
    origin: Any = None

    def is_(self, other: AffineValue | None) -> bool:
        return other is self or (other is not None and self.origin is not None and other.origin == self.origin)


@dataclass(frozen=True)
class Guard:
    """No lane of `narrow` wraps around as a signed or unsigned 32-bit number."""

    narrow: AffineValue
    signed: bool


@dataclass(frozen=True, eq=False)
class HighWord:
    """The high word of a 64-bit affine value; by itself it is not affine."""

    whole: AffineValue


LINES = (AffineValue, HighWord)

# Of numbers known beforehand.
FOLDS: dict[str, Callable[..., int]] = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "and": lambda x, y: x & y,
    "or": lambda x, y: x | y,
    "xor": lambda x, y: x ^ y,
    "not": lambda x: ~x,
    "shl": lambda x, n: x << n if n < 64 else 0,
    "truncate": lambda x: x,
    "high": lambda x: x >> 32,
    "join": lambda low, high: low | high << 32,
}


class AffineEmitter:
    """The part of an emitter that keeps affine values affine.  Subclasses define the primitives on plain nodes."""

    def leaf(self, primitive: str, kind: type[Lanes], *args: Any, **how: Any) -> Any:
        """The primitive on plain nodes."""
        raise NotImplementedError

    def constant(self, kind: type[Lanes], value: float | int) -> Any:
        raise NotImplementedError

    def known(self, node: Any) -> int | None:
        """The number, if it is one already, as unsigned bits."""
        raise NotImplementedError

    def is_scalar(self, node: Any) -> bool:
        raise NotImplementedError

    def vector_of(self, node: Any) -> Any:
        """The 32 numbers of an AffineValue or HighWord; other nodes as they are."""
        raise NotImplementedError

    def do(self, primitive: str, kind: type[Lanes], *args: Any, **how: Any) -> Any:
        nodes = [a.node for a in args]
        folded = self._folded(primitive, kind, args, nodes)
        if folded is not None:
            return folded
        lines = False
        for node in nodes:  # a comprehension takes three times as long, and this runs for every operation
            lines = lines or isinstance(node, LINES)
        if lines:
            rule = getattr(self, f"line_{primitive}", None)
            made = rule(kind, args, nodes) if rule else None
            if made is not None:
                return made
            args = tuple(type(a)(a.e, self.vector_of(a.node)) for a in args)
        return self.leaf(primitive, kind, *args, **how)

    def _folded(self, primitive: str, kind: type[Lanes], args: Sequence[Lanes], nodes: Sequence[Any]) -> Any:
        """The result, where the operands are numbers already, or decide by themselves."""
        if primitive == "select":
            chosen = self.known(nodes[0])
            return None if chosen is None else nodes[1 if chosen else 2]
        if issubclass(kind, Float):
            return None
        for a in args:
            if isinstance(a, Float):
                return None
        if primitive == "bitcast":
            return nodes[0] if not issubclass(type(args[0]), Float) and kind.bits > 1 else None
        numbers = []
        for node in nodes:
            number = self.known(node)
            if number is None:
                return None
            numbers.append(number)
        if primitive == "extend":
            (number,) = numbers
            return self.constant(kind, signed(number, args[0].bits) if args[0].signed else number)
        fold = FOLDS.get(primitive)
        return None if fold is None else self.constant(kind, fold(*numbers) & ((1 << kind.bits) - 1))

    # Lines

    def line(self, node: Any) -> tuple[Scalar, Scalar, Scalar] | None:
        """Base and steps of an affine node; a uniform one has steps of zero."""
        if isinstance(node, AffineValue):
            return node.parts
        return (node, 0, 0) if not isinstance(node, HighWord) and self.is_scalar(node) else None

    def scalar(self, kind: type[Lanes], part: Scalar) -> Lanes:
        mask = (1 << kind.bits) - 1
        return kind(self, self.constant(kind, part & mask) if isinstance(part, int) else part)

    def _on_steps(self, primitive: str, kind: type[Lanes], *parts: Scalar) -> Scalar:
        if all(isinstance(p, int) for p in parts):
            return signed(FOLDS[primitive](*parts), kind.bits)
        if primitive in ("add", "sub") and parts[1] == 0 and isinstance(parts[1], int):
            return parts[0]
        if primitive == "add" and parts[0] == 0 and isinstance(parts[0], int):
            return parts[1]
        return self._stepped(self.leaf(primitive, kind, *(self.scalar(kind, p) for p in parts)), kind)

    def _stepped(self, node: Any, kind: type[Lanes]) -> Scalar:
        """As a plain int if it is known."""
        number = self.known(node)
        return node if number is None else signed(number, kind.bits)

    def _combined(
        self, primitive: str, kind: type[Lanes], args: Sequence[Lanes], nodes: Sequence[Any]
    ) -> AffineValue | None:
        lines = [self.line(n) for n in nodes]
        if any(part is None for part in lines):
            return None
        whole = INTEGERS[kind.bits]
        (a, ax, ay), (b, bx, by) = lines  # type: ignore[misc]
        base = self.do(primitive, whole, self.scalar(whole, a), self.scalar(whole, b))
        steps = (self._on_steps(primitive, whole, ax, bx), self._on_steps(primitive, whole, ay, by))
        return self._made(primitive, kind, args, nodes, (base, *steps))

    def _made(
        self, primitive: str, kind: type[Lanes], args: Sequence[Lanes], nodes: Sequence[Any],
        parts: tuple[Scalar, Scalar, Scalar],
    ) -> AffineValue:  # fmt: skip
        guards = tuple(g for n in nodes if isinstance(n, AffineValue) for g in n.guards)
        if not guards:
            return AffineValue(kind.bits, parts)

        def exact() -> Any:
            return self.leaf(primitive, kind, *(type(a)(self, self.vector_of(a.node)) for a in args))

        return AffineValue(kind.bits, parts, exact, guards)

    def line_add(self, kind: type[Lanes], args: Sequence[Lanes], nodes: Sequence[Any]) -> AffineValue | None:
        return self._combined("add", kind, args, nodes)

    def line_sub(self, kind: type[Lanes], args: Sequence[Lanes], nodes: Sequence[Any]) -> AffineValue | None:
        return self._combined("sub", kind, args, nodes)

    def line_mul(self, kind: type[Lanes], args: Sequence[Lanes], nodes: Sequence[Any]) -> AffineValue | None:
        return self._scaled("mul", kind, args, nodes if isinstance(nodes[0], AffineValue) else nodes[::-1])

    def line_shl(self, kind: type[Lanes], args: Sequence[Lanes], nodes: Sequence[Any]) -> AffineValue | None:
        return self._scaled("shl", kind, args, nodes)

    def _scaled(
        self, primitive: str, kind: type[Lanes], args: Sequence[Lanes], nodes: Sequence[Any]
    ) -> AffineValue | None:
        """Each part times, or shifted by, one number."""
        along, by = nodes
        if not isinstance(along, AffineValue) or isinstance(by, AffineValue | HighWord) or not self.is_scalar(by):
            return None
        whole = INTEGERS[kind.bits]
        number = self.known(by)
        factor = by if number is None else number
        base, *steps = along.parts
        scaled = [
            step if isinstance(step, int) and step == 0 else self._on_steps(primitive, whole, step, factor)
            for step in steps
        ]
        made = self.do(primitive, whole, self.scalar(whole, base), self.scalar(whole, factor))
        return self._made(primitive, kind, args, nodes, (made, scaled[0], scaled[1]))

    def line_bitcast(self, kind: type[Lanes], args: Sequence[Lanes], nodes: Sequence[Any]) -> Any:
        return None if issubclass(kind, Float) else nodes[0]

    def line_extend(self, kind: type[Lanes], args: Sequence[Lanes], nodes: Sequence[Any]) -> AffineValue | None:
        (narrow,) = nodes
        if not isinstance(narrow, AffineValue) or kind.bits != 64 or narrow.bits != 32:
            return None
        base, *steps = narrow.parts
        source = S32 if args[0].signed else U32

        def wide(part: Scalar, of: type[Lanes]) -> Scalar:
            return part if isinstance(part, int) else self.leaf("extend", U64, of(self, part))

        def exact() -> Any:
            return self.leaf("extend", kind, type(args[0])(self, self.vector_of(narrow)))

        parts = (wide(base, source), wide(steps[0], S32), wide(steps[1], S32))
        return AffineValue(64, parts, exact, (Guard(narrow, args[0].signed),))

    def line_truncate(self, kind: type[Lanes], args: Sequence[Lanes], nodes: Sequence[Any]) -> AffineValue | None:
        (whole,) = nodes
        if not isinstance(whole, AffineValue):
            return None

        def low(part: Scalar) -> Scalar:
            return signed(part, 32) if isinstance(part, int) else self.leaf("truncate", U32, U64(self, part))

        base, *steps = whole.parts
        return AffineValue(32, (low(base), low(steps[0]), low(steps[1])), whole=whole)

    def line_high(self, kind: type[Lanes], args: Sequence[Lanes], nodes: Sequence[Any]) -> HighWord | None:
        return HighWord(nodes[0]) if isinstance(nodes[0], AffineValue) else None

    def line_join(self, kind: type[Lanes], args: Sequence[Lanes], nodes: Sequence[Any]) -> AffineValue | None:
        low, high = nodes
        if isinstance(low, AffineValue) and isinstance(high, HighWord) and high.whole.is_(low.whole):
            return high.whole
        return None

    def line_select(self, kind: type[Lanes], args: Sequence[Lanes], nodes: Sequence[Any]) -> AffineValue | None:
        chooser, *sides = nodes
        yes, no = (self.line(n) for n in sides)
        if not self.is_scalar(chooser) or yes is None or no is None or issubclass(kind, Float):
            return None
        if any(isinstance(n, AffineValue) and n.guards for n in sides):
            return None
        return AffineValue(kind.bits, self.chosen(kind, chooser, yes, no))

    def chosen(
        self, kind: type[Lanes], chooser: Any, yes: tuple[Scalar, ...], no: tuple[Scalar, ...]
    ) -> tuple[Scalar, Scalar, Scalar]:
        """Part by part."""
        whole = INTEGERS[kind.bits]

        def one(a: Scalar, b: Scalar) -> Scalar:
            if isinstance(a, int) and isinstance(b, int) and a == b:
                return a
            return self.leaf("select", whole, Pred(self, chooser), self.scalar(whole, a), self.scalar(whole, b))

        base, x, y = (one(a, b) for a, b in zip(yes, no, strict=True))
        return base, x, y


def signed(number: int, bits: int) -> int:
    """The low bits as a two's complement number."""
    number &= (1 << bits) - 1
    return number - (1 << bits) if number >> (bits - 1) else number


__all__ = ["AffineEmitter", "AffineValue", "Guard", "HighWord", "signed"]
