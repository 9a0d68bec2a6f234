"""The primitives of isa/ as LLVM: 32 lanes are one vector, the uniform datapath is scalar."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from llvmlite import ir

from warplens.isa._lanes import F32, F64, Float, Int, Lanes, Pred

LANES = 32
I1, I8, I16, I32, I64, I128 = (ir.IntType(n) for n in (1, 8, 16, 32, 64, 128))
FLOAT, DOUBLE = ir.FloatType(), ir.DoubleType()
PTR = ir.PointerType()
NAN32 = 0x7FFFFFFF  # what every float operation gives for NaN


def scalar_type(kind: type[Lanes]) -> ir.Type:
    if issubclass(kind, Float):
        return FLOAT if kind.bits == 32 else DOUBLE
    return ir.IntType(kind.bits)


def vector(element: ir.Type) -> ir.VectorType:
    return ir.VectorType(element, LANES)


def is_vector(value: ir.Value) -> bool:
    return isinstance(value.type, ir.VectorType)


def element(kind: ir.Type) -> ir.Type:
    return kind.element if isinstance(kind, ir.VectorType) else kind


class Splat(ir.Constant):  # type: ignore[misc]  # llvmlite has no types
    """A vector constant in short form: 32 spelled-out members cost more to parse than to compile."""

    def __init__(self, single: ir.Constant) -> None:
        super().__init__(vector(single.type), [single.constant] * LANES)
        self.single = single

    def get_reference(self) -> str:
        return f"splat ({self.single.type} {self.single.get_reference()})"

    def __str__(self) -> str:
        return f"{self.type} {self.get_reference()}"


FIRST = Splat(ir.Constant(I32, 0))  # the shuffle mask that takes lane 0 everywhere


def mangled(kind: ir.Type) -> str:
    """A type as intrinsic names spell it."""
    if isinstance(kind, ir.VectorType):
        return f"v{kind.count}{mangled(kind.element)}"
    names = {FLOAT: "f32", DOUBLE: "f64", PTR: "p0"}
    return names.get(kind) or f"i{kind.width}"


def intrinsic(module: ir.Module, name: str, result: ir.Type, arguments: Sequence[ir.Type]) -> ir.Function:
    """Declared by its full name: llvmlite cannot spell those of vector intrinsics."""
    found = module.globals.get(name)
    return found or ir.Function(module, ir.FunctionType(result, arguments), name)


class LlvmEmitter:
    """Writes primitives at the builder's place."""

    def __init__(self, builder: ir.IRBuilder) -> None:
        self.b = builder

    def constant(self, kind: type[Lanes], value: float | int) -> ir.Value:
        if issubclass(kind, Float):
            return ir.Constant(scalar_type(kind), float(value))
        return ir.Constant(scalar_type(kind), int(value) & ((1 << kind.bits) - 1))

    def do(self, primitive: str, kind: type[Lanes], *args: Any, **how: Any) -> ir.Value:
        nodes = self.same_shape([a.node for a in args])
        return getattr(self, f"do_{primitive}")(kind, args, *nodes, **how)

    def same_shape(self, nodes: Sequence[ir.Value]) -> list[ir.Value]:
        if not any(map(is_vector, nodes)):
            return list(nodes)
        return [self.splat(n) for n in nodes]

    def splat(self, value: ir.Value) -> ir.Value:
        """A scalar in every lane; a vector as it is."""
        if is_vector(value):
            return value
        if isinstance(value, ir.Constant):
            return Splat(value)
        kind = vector(value.type)
        first = self.b.insert_element(ir.Constant(kind, ir.Undefined), value, ir.Constant(I32, 0))
        return self.b.shuffle_vector(first, ir.Constant(kind, ir.Undefined), FIRST)

    def shaped(self, kind: ir.Type, like: ir.Value) -> ir.Type:
        return vector(kind) if is_vector(like) else kind

    def number(self, like: ir.Value, value: float | int) -> ir.Value:
        """A constant of the type of another value."""
        kind = element(like.type)
        single = ir.Constant(kind, value)
        return self.splat(single) if is_vector(like) else single

    def call(self, name: str, *args: ir.Value, result: ir.Type | None = None, extra: str = "") -> ir.Value:
        """An intrinsic, named after its first argument's type."""
        full = f"llvm.{name}.{mangled(args[0].type)}{extra}"
        result = result or args[0].type
        return self.b.call(intrinsic(self.b.module, full, result, [a.type for a in args]), args)

    # Integers and bits

    def do_bitcast(self, kind: type[Lanes], args: Any, x: ir.Value) -> ir.Value:
        return self.b.bitcast(x, self.shaped(scalar_type(kind), x))

    def do_extend(self, kind: type[Lanes], args: Any, x: ir.Value) -> ir.Value:
        to = self.shaped(scalar_type(kind), x)
        return self.b.sext(x, to) if args[0].signed else self.b.zext(x, to)

    def do_truncate(self, kind: type[Lanes], args: Any, x: ir.Value) -> ir.Value:
        return self.b.trunc(x, self.shaped(scalar_type(kind), x))

    def do_high(self, kind: type[Lanes], args: Any, x: ir.Value) -> ir.Value:
        return self.b.trunc(self.b.lshr(x, self.number(x, 32)), self.shaped(I32, x))

    def do_high_plus(self, kind: type[Lanes], args: Any, x: ir.Value, y: ir.Value) -> ir.Value:
        """Word by word: LLVM would draw a * b + (a << 32), as division has it, together into one 64-bit product, which
        hosts multiply in 15 cycles."""
        b = self.b
        to = self.shaped(I32, x)
        low, addend = b.trunc(x, to), b.trunc(y, to)
        carry = b.zext(b.icmp_unsigned("<", b.add(low, addend), addend), to)
        return b.add(b.add(self.do_high(kind, args, x), self.do_high(kind, args, y)), carry)

    def do_join(self, kind: type[Lanes], args: Any, low: ir.Value, high: ir.Value) -> ir.Value:
        to = self.shaped(I64, low)
        wide = self.b.zext(high, to)
        return self.b.or_(self.b.zext(low, to), self.b.shl(wide, self.number(wide, 32)))

    def do_add(self, kind: type[Lanes], args: Any, x: ir.Value, y: ir.Value) -> ir.Value:
        return self.b.add(x, y)

    def do_sub(self, kind: type[Lanes], args: Any, x: ir.Value, y: ir.Value) -> ir.Value:
        return self.b.sub(x, y)

    def do_mul(self, kind: type[Lanes], args: Any, x: ir.Value, y: ir.Value) -> ir.Value:
        return self.b.mul(x, y)

    def do_and(self, kind: type[Lanes], args: Any, x: ir.Value, y: ir.Value) -> ir.Value:
        return self.b.and_(x, y)

    def do_or(self, kind: type[Lanes], args: Any, x: ir.Value, y: ir.Value) -> ir.Value:
        return self.b.or_(x, y)

    def do_xor(self, kind: type[Lanes], args: Any, x: ir.Value, y: ir.Value) -> ir.Value:
        return self.b.xor(x, y)

    def do_not(self, kind: type[Lanes], args: Any, x: ir.Value) -> ir.Value:
        return self.b.xor(x, self.number(x, -1))

    def do_shl(self, kind: type[Lanes], args: Any, x: ir.Value, n: ir.Value) -> ir.Value:
        fits = self.b.icmp_unsigned("<", n, self.number(n, kind.bits))
        return self.b.select(fits, self.b.shl(x, n), self.number(x, 0))

    def do_shr(self, kind: type[Lanes], args: Any, x: ir.Value, n: ir.Value) -> ir.Value:
        fits = self.b.icmp_unsigned("<", n, self.number(n, kind.bits))
        if kind.signed:
            return self.b.ashr(x, self.b.select(fits, n, self.number(n, kind.bits - 1)))
        return self.b.select(fits, self.b.lshr(x, n), self.number(x, 0))

    def do_min(self, kind: type[Lanes], args: Any, x: ir.Value, y: ir.Value) -> ir.Value:
        return self.call("smin" if kind.signed else "umin", x, y)

    def do_max(self, kind: type[Lanes], args: Any, x: ir.Value, y: ir.Value) -> ir.Value:
        return self.call("smax" if kind.signed else "umax", x, y)

    def do_abs(self, kind: type[Lanes], args: Any, x: ir.Value) -> ir.Value:
        return self.call_with("abs", x, ir.Constant(I1, 0))

    def do_popc(self, kind: type[Lanes], args: Any, x: ir.Value) -> ir.Value:
        return self.call("ctpop", x)

    def do_clz(self, kind: type[Lanes], args: Any, x: ir.Value) -> ir.Value:
        return self.call_with("ctlz", x, ir.Constant(I1, 0))

    def do_brev(self, kind: type[Lanes], args: Any, x: ir.Value) -> ir.Value:
        return self.call("bitreverse", x)

    def call_with(self, name: str, x: ir.Value, flag: ir.Value) -> ir.Value:
        return self.call(name, x, flag)

    # Choice and comparison

    def do_select(self, kind: type[Lanes], args: Any, p: ir.Value, yes: ir.Value, no: ir.Value) -> ir.Value:
        return self.b.select(p, yes, no)

    def do_compare(
        self, kind: type[Lanes], args: Any, x: ir.Value, y: ir.Value, order: str, unordered: bool = False
    ) -> ir.Value:
        sign = {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!="}[order]
        if isinstance(args[0], Int | Pred):
            compare = self.b.icmp_signed if args[0].signed else self.b.icmp_unsigned
            return compare(sign, x, y)
        return (self.b.fcmp_unordered if unordered else self.b.fcmp_ordered)(sign, x, y)

    # Floating point

    def canonical(self, x: ir.Value) -> ir.Value:
        """A float result with the machine's one NaN; double NaNs stay as the host makes them."""
        if element(x.type) is not FLOAT:
            return x
        nan = self.b.bitcast(self.number(self.b.bitcast(x, self.shaped(I32, x)), NAN32), x.type)
        return self.b.select(self.b.fcmp_unordered("uno", x, x), nan, x)

    def do_fadd(self, kind: type[Lanes], args: Any, x: ir.Value, y: ir.Value, rounding: str) -> ir.Value:
        if rounding != "RN":
            return self.rounded_sum(self.exact(x, kind), self.exact(y, kind), rounding)
        return self.canonical(self.b.fadd(x, y))

    def do_fmul(self, kind: type[Lanes], args: Any, x: ir.Value, y: ir.Value, rounding: str) -> ir.Value:
        if rounding != "RN":
            product = self.b.fmul(self.exact(x, kind), self.exact(y, kind))
            return self.rounded(product, self.number(product, 0.0), rounding)
        return self.canonical(self.b.fmul(x, y))

    def do_fma(
        self, kind: type[Lanes], args: Any, x: ir.Value, y: ir.Value, z: ir.Value, rounding: str
    ) -> ir.Value:
        if rounding != "RN":
            product = self.b.fmul(self.exact(x, kind), self.exact(y, kind))
            return self.rounded_sum(product, self.exact(z, kind), rounding)
        return self.canonical(self.call("fma", x, y, z))

    def exact(self, x: ir.Value, kind: type[Lanes]) -> ir.Value:
        """A float as double, where products of two floats are exact."""
        if kind is not F32:
            raise NotImplementedError("directed rounding of double arithmetic")
        return self.b.fpext(x, self.shaped(DOUBLE, x))

    def rounded_sum(self, x: ir.Value, y: ir.Value, rounding: str) -> ir.Value:
        """x + y, both exact doubles, rounded to float in a direction; TwoSum (Knuth) gives sum and error."""
        b = self.b
        total = b.fadd(x, y)
        part = b.fsub(total, x)
        error = b.fadd(b.fsub(x, b.fsub(total, part)), b.fsub(y, part))
        result = self.rounded(total, error, rounding)
        if rounding != "RM":
            return result
        # A sum that is exactly zero is -0 when rounding down, unless both were +0.
        zero = b.fcmp_ordered("==", total, self.number(total, 0.0))
        cancelled = b.and_(zero, b.not_(self.both_positive_zero(x, y)))
        return b.select(cancelled, self.number(result, -0.0), result)

    def rounded(self, total: ir.Value, error: ir.Value, rounding: str) -> ir.Value:
        """total + error (a double and a remainder below its last place) rounded to float in a direction.

        The float nearest to the total is moved one step if it lies on the wrong side of the exact value.
        """
        b = self.b
        near = b.fptrunc(total, self.shaped(FLOAT, total))
        beyond = b.fsub(b.fsub(b.fpext(near, total.type), total), error)  # near - exact, right in its sign
        zero = self.number(beyond, 0.0)
        above, below = b.fcmp_ordered(">", beyond, zero), b.fcmp_ordered("<", beyond, zero)
        bits = b.bitcast(near, self.shaped(I32, near))
        negative = b.icmp_signed("<", bits, self.number(bits, 0))
        one = self.number(bits, 1)
        is_zero = b.fcmp_ordered("==", near, self.number(near, 0.0))
        outward, inward = b.add(bits, one), b.sub(bits, one)
        down = b.select(is_zero, self.number(bits, 0x80000001), b.select(negative, outward, inward))
        up = b.select(is_zero, one, b.select(negative, inward, outward))
        moved = {
            "RM": b.select(above, down, bits),
            "RP": b.select(below, up, bits),
            "RZ": b.select(negative, b.select(below, up, bits), b.select(above, down, bits)),
        }[rounding]
        return self.canonical(b.bitcast(moved, near.type))

    def both_positive_zero(self, x: ir.Value, y: ir.Value) -> ir.Value:
        """Whether neither of two doubles that sum to zero carries a sign."""
        kind = self.shaped(I64, x)
        either = self.b.or_(self.b.bitcast(x, kind), self.b.bitcast(y, kind))
        return self.b.icmp_unsigned("==", either, self.number(either, 0))

    def do_fneg(self, kind: type[Lanes], args: Any, x: ir.Value) -> ir.Value:
        return self.on_bits(x, lambda bits, top: self.b.xor(bits, self.number(bits, top)))

    def do_fabs(self, kind: type[Lanes], args: Any, x: ir.Value) -> ir.Value:
        return self.on_bits(x, lambda bits, top: self.b.and_(bits, self.number(bits, top - 1)))

    def on_bits(self, x: ir.Value, change: Callable[[ir.Value, int], ir.Value]) -> ir.Value:
        width = 32 if element(x.type) is FLOAT else 64
        bits = self.b.bitcast(x, self.shaped(ir.IntType(width), x))
        return self.b.bitcast(change(bits, 1 << (width - 1)), x.type)

    def do_ftz(self, kind: type[Lanes], args: Any, x: ir.Value) -> ir.Value:
        def flush(bits: ir.Value, top: int) -> ir.Value:
            infinity = 0x7F800000 if top == 1 << 31 else 0x7FF << 52
            exponent = self.b.and_(bits, self.number(bits, infinity))
            small = self.b.icmp_unsigned("==", exponent, self.number(bits, 0))
            return self.b.select(small, self.b.and_(bits, self.number(bits, top)), bits)

        return self.on_bits(x, flush)

    def do_saturate(self, kind: type[Lanes], args: Any, x: ir.Value) -> ir.Value:
        zero, one = self.number(x, 0.0), self.number(x, 1.0)
        capped = self.b.select(self.b.fcmp_ordered("<", x, one), x, one)
        return self.b.select(self.b.fcmp_ordered(">", x, zero), capped, zero)

    def do_fmin(self, kind: type[Lanes], args: Any, x: ir.Value, y: ir.Value) -> ir.Value:
        return self.extreme(x, y, "<", self.b.or_)

    def do_fmax(self, kind: type[Lanes], args: Any, x: ir.Value, y: ir.Value) -> ir.Value:
        return self.extreme(x, y, ">", self.b.and_)

    def extreme(self, x: ir.Value, y: ir.Value, sign: str, zeros: Callable[..., ir.Value]) -> ir.Value:
        """min or max where a NaN loses; of two zeros the sign bits' or (min) or and (max) decides."""
        b = self.b
        kind = self.shaped(ir.IntType(32 if element(x.type) is FLOAT else 64), x)
        equal = b.bitcast(zeros(b.bitcast(x, kind), b.bitcast(y, kind)), x.type)
        chosen = b.select(b.fcmp_ordered(sign, x, y), x, y)
        chosen = b.select(b.fcmp_ordered("==", x, y), equal, chosen)
        chosen = b.select(
            b.fcmp_unordered("uno", y, y), x, b.select(b.fcmp_unordered("uno", x, x), y, chosen)
        )
        return self.canonical(chosen)

    def do_fdiv(self, kind: type[Lanes], args: Any, x: ir.Value, y: ir.Value) -> ir.Value:
        return self.canonical(self.b.fdiv(x, y))

    def do_fsqrt(self, kind: type[Lanes], args: Any, x: ir.Value) -> ir.Value:
        return self.canonical(self.call("sqrt", x))

    def do_ffloor(self, kind: type[Lanes], args: Any, x: ir.Value) -> ir.Value:
        return self.canonical(self.call("floor", x))

    def do_fceil(self, kind: type[Lanes], args: Any, x: ir.Value) -> ir.Value:
        return self.canonical(self.call("ceil", x))

    def do_ftrunc(self, kind: type[Lanes], args: Any, x: ir.Value) -> ir.Value:
        return self.canonical(self.call("trunc", x))

    def do_fnearest(self, kind: type[Lanes], args: Any, x: ir.Value) -> ir.Value:
        return self.canonical(self.call("roundeven", x))

    def do_isnan(self, kind: type[Lanes], args: Any, x: ir.Value) -> ir.Value:
        return self.b.fcmp_unordered("uno", x, x)

    # Conversions

    def do_from_int(self, kind: type[Lanes], args: Any, x: ir.Value, rounding: str = "RN") -> ir.Value:
        convert = self.b.sitofp if args[0].signed else self.b.uitofp
        if rounding == "RN" or (kind is F64 and args[0].bits == 32):
            return convert(x, self.shaped(scalar_type(kind), x))
        if args[0].bits == 32:
            exact = convert(x, self.shaped(DOUBLE, x))
            return self.rounded(exact, self.number(exact, 0.0), rounding)
        # 64 bits: the two halves are exact doubles, their sum is rounded once.
        low = self.b.uitofp(self.b.and_(x, self.number(x, 0xFFFFFFFF)), self.shaped(DOUBLE, x))
        top = (self.b.ashr if args[0].signed else self.b.lshr)(x, self.number(x, 32))
        high = self.b.fmul(convert(top, self.shaped(DOUBLE, x)), self.number(low, 2.0**32))
        return self.rounded_sum(high, low, rounding)

    def do_to_int(self, kind: type[Lanes], args: Any, x: ir.Value) -> ir.Value:
        """Saturating, NaN to 0.  LLVM's own saturating conversion goes lane by lane."""
        b = self.b
        to = self.shaped(scalar_type(kind), x)
        span = float(1 << (kind.bits - kind.signed))
        least = -span if kind.signed else 0.0
        fits = b.and_(
            b.fcmp_ordered("<", x, self.number(x, span)), b.fcmp_ordered(">=", x, self.number(x, least))
        )
        safe = b.select(fits, x, self.number(x, 0.0))
        value = b.fptosi(safe, to) if kind.signed else b.fptoui(safe, to)
        top = self.number(value, (1 << (kind.bits - kind.signed)) - 1)
        bottom = self.number(value, (1 << (kind.bits - 1)) if kind.signed else 0)
        above, below = (b.fcmp_ordered(sign, x, self.number(x, 0.0)) for sign in (">", "<"))
        edge = b.select(above, top, b.select(below, bottom, self.number(value, 0)))
        return b.select(fits, value, edge)

    def do_fextend(self, kind: type[Lanes], args: Any, x: ir.Value) -> ir.Value:
        return self.b.fpext(x, self.shaped(DOUBLE, x))

    def do_fround(self, kind: type[Lanes], args: Any, x: ir.Value) -> ir.Value:
        return self.canonical(self.b.fptrunc(x, self.shaped(FLOAT, x)))
