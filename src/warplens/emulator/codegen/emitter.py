"""LLVM emitter: lowers the primitives of isa/; 32 lanes are one vector, the uniform datapath is scalar."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from warplens import llvm
from warplens.emulator.analysis.affine import AffineEmitter, AffineValue, HighWord
from warplens.emulator.codegen.float_emitter import FloatEmitter
from warplens.emulator.codegen.vector_types import (
    DOUBLE,
    FIRST,
    FLOAT,
    I1,
    I32,
    I64,
    LANES,
    element,
    intrinsic,
    is_vector,
    mangled,
    scalar_type,
    splat,
    undefined,
    vector,
)
from warplens.isa.dsl.lanes import F64, U32, U64, Float, Int, Lanes, Pred

INTERLEAVED = llvm.IRConstant(  # the shuffle mask that takes words of two vectors in turn
    llvm.VectorType(I32, 2 * LANES), [word for lane in range(LANES) for word in (lane, LANES + lane)]
)


class LlvmEmitter(FloatEmitter, AffineEmitter):
    """Emits primitives at the builder's position; `tile` lanes of the warp are along x (affine.py)."""

    def __init__(self, builder: llvm.IRBuilder, tile: int = LANES) -> None:
        self.b = builder
        self.tile = tile
        self.raw = {}
        self.joined: dict[llvm.Value, tuple[llvm.Value, llvm.Value]] = {}  # 64 bits made of two words
        self.halves: dict[llvm.Value, tuple[llvm.Value, int]] = {}  # words of 64 bits: 0 the low one

    def constant(self, kind: type[Lanes], value: float | int) -> llvm.Value:
        if issubclass(kind, Float):
            return llvm.IRConstant(scalar_type(kind), float(value))
        return llvm.IRConstant(scalar_type(kind), int(value) & ((1 << kind.bits) - 1))

    def leaf(self, primitive: str, kind: type[Lanes], *args: Any, **how: Any) -> Any:
        nodes = self.same_shape([a.node for a in args])
        return getattr(self, f"do_{primitive}")(kind, args, *nodes, **how)

    def same_shape(self, nodes: Sequence[llvm.Value]) -> list[llvm.Value]:
        if not any(map(is_vector, nodes)):
            return list(nodes)
        return [self.splat(n) for n in nodes]

    def known(self, node: Any) -> int | None:
        if isinstance(node, llvm.IRConstant) and isinstance(node.type, llvm.IntType) and isinstance(node.constant, int):
            return int(node.constant & ((1 << node.type.width) - 1))
        return None

    def is_scalar(self, node: Any) -> bool:
        return not isinstance(node, AffineValue | HighWord) and not is_vector(node)

    def vector_of(self, node: Any) -> Any:
        if isinstance(node, HighWord):
            return self.leaf("high", U32, U64(self, self.vector_of(node.whole)))
        if not isinstance(node, AffineValue):
            return node
        if node.exact is not None:
            return node.exact()
        kind = llvm.IntType(node.bits)
        base, *steps = node.parts
        total = self.splat(base)
        places = ([lane % self.tile for lane in range(LANES)], [lane // self.tile for lane in range(LANES)])
        for step, place in zip(steps, places, strict=True):
            if isinstance(step, int):
                offsets = llvm.IRConstant(vector(kind), [step * at & ((1 << node.bits) - 1) for at in place])
                total = self.b.add(total, offsets) if step else total
            elif any(place):
                total = self.b.add(total, self.b.mul(self.splat(step), llvm.IRConstant(vector(kind), place)))
        return total

    def splat(self, value: Any) -> llvm.Value:
        """A scalar in every lane; a vector as it is; an affine value as its 32 numbers."""
        whole: llvm.Value = self.vector_of(value)
        if is_vector(whole):
            return whole
        if isinstance(whole, llvm.IRConstant):
            return splat(whole)
        kind = vector(whole.type)
        first = self.b.insert_element(undefined(kind), whole, llvm.IRConstant(I32, 0))
        return self.b.shuffle_vector(first, undefined(kind), FIRST)

    def shaped(self, kind: llvm.Type, like: llvm.Value) -> llvm.Type:
        return vector(kind) if is_vector(like) else kind

    def number(self, like: llvm.Value, value: float | int) -> llvm.Value:
        """A constant of the type of another value."""
        kind = element(like.type)
        single = llvm.IRConstant(kind, value)
        return self.splat(single) if is_vector(like) else single

    def call(self, name: str, *args: llvm.Value, result: llvm.Type | None = None, extra: str = "") -> llvm.Value:
        """An intrinsic, named after its first argument's type."""
        full = f"llvm.{name}.{mangled(args[0].type)}{extra}"
        result = result or args[0].type
        return self.b.call(intrinsic(self.b.module, full, result, [a.type for a in args]), args)

    # Integers and bits

    def do_bitcast(self, kind: type[Lanes], args: Any, x: llvm.Value) -> llvm.Value:
        made = self.b.bitcast(x, self.shaped(scalar_type(kind), x))
        raw = self.raw.get(x)
        if raw is not None and made is not x:
            self.raw[made] = raw
        return made

    def do_extend(self, kind: type[Lanes], args: Any, x: llvm.Value) -> llvm.Value:
        to = self.shaped(scalar_type(kind), x)
        return self.b.sext(x, to) if args[0].signed else self.b.zext(x, to)

    def do_truncate(self, kind: type[Lanes], args: Any, x: llvm.Value) -> llvm.Value:
        if kind.bits != 32 or element(x.type) is not I64:
            return self.b.trunc(x, self.shaped(scalar_type(kind), x))
        return self._half(x, 0)

    def do_high(self, kind: type[Lanes], args: Any, x: llvm.Value) -> llvm.Value:
        return self._half(x, 1)

    def _half(self, x: llvm.Value, number: int) -> llvm.Value:
        """The low (0) or high (1) word of 64 bits."""
        if x in self.joined:
            return self.joined[x][number]
        wanted = self.b.lshr(x, self.number(x, 32)) if number else x
        made = self.b.trunc(wanted, self.shaped(I32, x))
        self.halves[made] = x, number
        return made

    def do_high_plus(self, kind: type[Lanes], args: Any, x: llvm.Value, y: llvm.Value) -> llvm.Value:
        """Word by word: LLVM would draw a * b + (a << 32), as division has it, together into one 64-bit product, which
        hosts multiply in 15 cycles."""
        b = self.b
        to = self.shaped(I32, x)
        low, addend = b.trunc(x, to), b.trunc(y, to)
        carry = b.zext(b.icmp_unsigned("<", b.add(low, addend), addend), to)
        return b.add(b.add(self.do_high(kind, args, x), self.do_high(kind, args, y)), carry)

    def do_join(self, kind: type[Lanes], args: Any, low: llvm.Value, high: llvm.Value) -> llvm.Value:
        """Interleaved words where none is known: a third of the instructions of a host that widening them takes."""
        (first, place), (second, other) = (self.halves.get(x, (x, -1)) for x in (low, high))
        if first is second and (place, other) == (0, 1):
            return first
        to = self.shaped(I64, low)
        if is_vector(low) and not isinstance(low, llvm.IRConstant) and not isinstance(high, llvm.IRConstant):
            made = self.b.bitcast(self.b.shuffle_vector(low, high, INTERLEAVED), to)
        else:
            wide = self.b.zext(high, to)
            made = self.b.or_(self.b.zext(low, to), self.b.shl(wide, self.number(wide, 32)))
        self.joined[made] = low, high
        return made

    def do_add(self, kind: type[Lanes], args: Any, x: llvm.Value, y: llvm.Value) -> llvm.Value:
        return self.b.add(x, y)

    def do_sub(self, kind: type[Lanes], args: Any, x: llvm.Value, y: llvm.Value) -> llvm.Value:
        return self.b.sub(x, y)

    def do_mul(self, kind: type[Lanes], args: Any, x: llvm.Value, y: llvm.Value) -> llvm.Value:
        return self.b.mul(x, y)

    def do_and(self, kind: type[Lanes], args: Any, x: llvm.Value, y: llvm.Value) -> llvm.Value:
        return self.b.and_(x, y)

    def do_or(self, kind: type[Lanes], args: Any, x: llvm.Value, y: llvm.Value) -> llvm.Value:
        return self.b.or_(x, y)

    def do_xor(self, kind: type[Lanes], args: Any, x: llvm.Value, y: llvm.Value) -> llvm.Value:
        return self.b.xor(x, y)

    def do_not(self, kind: type[Lanes], args: Any, x: llvm.Value) -> llvm.Value:
        return self.b.xor(x, self.number(x, -1))

    def do_shl(self, kind: type[Lanes], args: Any, x: llvm.Value, n: llvm.Value) -> llvm.Value:
        fits = self.b.icmp_unsigned("<", n, self.number(n, kind.bits))
        return self.b.select(fits, self.b.shl(x, n), self.number(x, 0))

    def do_shr(self, kind: type[Lanes], args: Any, x: llvm.Value, n: llvm.Value) -> llvm.Value:
        fits = self.b.icmp_unsigned("<", n, self.number(n, kind.bits))
        if kind.signed:
            return self.b.ashr(x, self.b.select(fits, n, self.number(n, kind.bits - 1)))
        return self.b.select(fits, self.b.lshr(x, n), self.number(x, 0))

    def do_min(self, kind: type[Lanes], args: Any, x: llvm.Value, y: llvm.Value) -> llvm.Value:
        return self.call("smin" if kind.signed else "umin", x, y)

    def do_max(self, kind: type[Lanes], args: Any, x: llvm.Value, y: llvm.Value) -> llvm.Value:
        return self.call("smax" if kind.signed else "umax", x, y)

    def do_abs(self, kind: type[Lanes], args: Any, x: llvm.Value) -> llvm.Value:
        return self.call_with("abs", x, llvm.IRConstant(I1, 0))

    def do_popc(self, kind: type[Lanes], args: Any, x: llvm.Value) -> llvm.Value:
        return self.call("ctpop", x)

    def do_clz(self, kind: type[Lanes], args: Any, x: llvm.Value) -> llvm.Value:
        return self.call_with("ctlz", x, llvm.IRConstant(I1, 0))

    def do_brev(self, kind: type[Lanes], args: Any, x: llvm.Value) -> llvm.Value:
        return self.call("bitreverse", x)

    def call_with(self, name: str, x: llvm.Value, flag: llvm.Value) -> llvm.Value:
        return self.call(name, x, flag)

    # Other lanes

    def do_of_lanes(self, kind: type[Lanes], args: Any, x: llvm.Value, lanes: tuple[int, ...]) -> llvm.Value:
        if not is_vector(x):
            return x
        return self.b.shuffle_vector(x, undefined(x.type), llvm.IRConstant(vector(I32), list(lanes)))

    def do_look_up(self, kind: type[Lanes], args: Any, x: llvm.Value, table: tuple[int, ...]) -> llvm.Value:
        kept, words = self.table(table), llvm.ArrayType(I64, len(table))

        def entry(place: llvm.Value) -> llvm.Value:
            return self.b.gep(kept, [llvm.IRConstant(I64, 0), place], source_etype=words)

        if not is_vector(x):
            return self.b.load(entry(x), typ=I64)
        made: llvm.Value = undefined(vector(I64))
        for lane, place in enumerate(self.one_by_one(x)):
            word = self.b.load_volatile(entry(place), 8, typ=I64)
            made = self.b.insert_element(made, word, llvm.IRConstant(I32, lane))
        return made

    def one_by_one(self, x: llvm.Value) -> Iterator[llvm.Value]:
        """The lanes of a vector as scalars, by way of memory: hosts take two instructions to extract a lane, and
        extract one a cycle, but load three.  LLVM sees through a load that is not volatile.

        LLVM leaves volatile loads in their order: to load what the scalars are for is better volatile, too."""
        b, kind = self.b, element(x.type)
        with b.goto_entry_block():
            kept = b.alloca(x.type)
        b.store(x, kept)
        for lane in range(LANES):
            place = b.gep(kept, [llvm.IRConstant(I64, lane)], source_etype=kind)
            yield b.load_volatile(place, kind.width // 8, typ=kind)

    def table(self, numbers: tuple[int, ...]) -> llvm.Value:
        """A table of the module; equal tables are shared."""
        kind = llvm.ArrayType(I64, len(numbers))
        constant = llvm.IRConstant(kind, numbers)
        for known in self.b.module.variables:
            if known.global_constant and known.initializer.text == constant.text and known.kind is kind:
                return known
        made = llvm.GlobalVariable(self.b.module, kind, f"table_{len(self.b.module.variables)}")
        made.global_constant, made.initializer = True, constant
        return made

    # Choice and comparison

    def do_select(self, kind: type[Lanes], args: Any, p: llvm.Value, yes: llvm.Value, no: llvm.Value) -> llvm.Value:
        return self.b.select(p, yes, no)

    def do_compare(
        self, kind: type[Lanes], args: Any, x: llvm.Value, y: llvm.Value, order: str, unordered: bool = False
    ) -> llvm.Value:
        sign = {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!="}[order]
        if isinstance(args[0], Int | Pred):
            compare = self.b.icmp_signed if args[0].signed else self.b.icmp_unsigned
            return compare(sign, x, y)
        return (self.b.fcmp_unordered if unordered else self.b.fcmp_ordered)(sign, x, y)

    # Conversions

    def do_from_int(self, kind: type[Lanes], args: Any, x: llvm.Value, rounding: str = "RN") -> llvm.Value:
        convert = self.b.sitofp if args[0].signed else self.b.uitofp
        if args[0].bits == 32:
            if rounding == "RN" or kind is F64:
                return convert(x, self.shaped(scalar_type(kind), x))
            exact = convert(x, self.shaped(DOUBLE, x))
            return self.rounded(exact, None, rounding)
        if rounding == "RN" and not (is_vector(x) and kind is F64):
            return convert(x, self.shaped(scalar_type(kind), x))
        # 64 bits: the two halves are exact doubles, their sum is rounded once.  AVX2 converts 64 bits lane by lane.
        low = self.b.uitofp(self._half(x, 0), self.shaped(DOUBLE, x))
        top = convert(self._half(x, 1), self.shaped(DOUBLE, x))
        high = self.b.fmul(top, self.number(top, 2.0**32))
        if kind is not F64:
            return self.rounded_sum(high, low, rounding)
        if rounding == "RN":
            return self.b.fadd(high, low)
        total, error = self.two_sum(high, low)
        return self.unsigned_zero(self.step(total, self.b.fneg(error), rounding), total, high, low, rounding)

    def do_to_int(self, kind: type[Lanes], args: Any, x: llvm.Value) -> llvm.Value:
        """Saturating, NaN to 0.  LLVM's own saturating conversion goes lane by lane."""
        b = self.b
        span = float(1 << (kind.bits - kind.signed))
        least = -span if kind.signed else 0.0
        fits = b.and_(b.fcmp_ordered("<", x, self.number(x, span)), b.fcmp_ordered(">=", x, self.number(x, least)))
        value = self._chopped(kind, b.select(fits, x, self.number(x, 0.0)))
        top = self.number(value, (1 << (kind.bits - kind.signed)) - 1)
        bottom = self.number(value, (1 << (kind.bits - 1)) if kind.signed else 0)
        above, below = (b.fcmp_ordered(sign, x, self.number(x, 0.0)) for sign in (">", "<"))
        edge = b.select(above, top, b.select(below, bottom, self.number(value, 0)))
        return b.select(fits, value, edge)

    def _chopped(self, kind: type[Lanes], x: llvm.Value) -> llvm.Value:
        """Towards zero, of a number that fits."""
        b, to = self.b, self.shaped(llvm.IntType(kind.bits), x)
        if kind.bits != 64 or not is_vector(x):
            return b.fptosi(x, to) if kind.signed else b.fptoui(x, to)
        # AVX2 converts to 64 bits lane by lane.  A double of an integral number below 2^51 plus 1.5 * 2^52 has this
        # number, also a negative one, in its low bits: one sum for each of the two words.
        whole = self.call("trunc", self.exact(x) if element(x.type) is FLOAT else x)
        high = self.call("floor", b.fmul(whole, self.number(whole, 2.0**-32)))
        low = b.fsub(whole, b.fmul(high, self.number(whole, 2.0**32)))
        low, high = (b.bitcast(b.fadd(part, self.number(whole, 1.5 * 2.0**52)), to) for part in (low, high))
        return b.or_(b.and_(low, self.number(low, 0xFFFFFFFF)), b.shl(high, self.number(high, 32)))

    def do_chop(self, kind: type[Lanes], args: Any, x: llvm.Value) -> llvm.Value:
        (raw,) = self.raws(x)
        return (self.b.fptosi if kind.signed else self.b.fptoui)(raw, self.shaped(llvm.IntType(kind.bits), x))

    def do_fextend(self, kind: type[Lanes], args: Any, x: llvm.Value) -> llvm.Value:
        return self.b.fpext(x, self.shaped(DOUBLE, x))

    def do_fround(self, kind: type[Lanes], args: Any, x: llvm.Value) -> llvm.Value:
        return self.canonical(self.b.fptrunc(x, self.shaped(FLOAT, x)))
