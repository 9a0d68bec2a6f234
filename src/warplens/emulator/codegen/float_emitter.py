"""Float emitter: floating-point primitives as LLVM; one rounding in any direction, canonical NaN."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from functools import reduce
from typing import Any

from warplens import llvm
from warplens.emulator.codegen.structured_builder import function
from warplens.emulator.codegen.vector_types import DOUBLE, FLOAT, I32, I64, LANES, NAN32, element, undefined
from warplens.isa.dsl.lanes import F32, F64, FAR, Lanes

REGISTER = 4  # doubles in a register of a host with AVX2
QUIET64 = 1 << 51
DEFAULT_NAN64 = 0xFFF8 << 48  # of inf - inf and 0 * inf


class FloatEmitter:
    """The part of LlvmEmitter that does arithmetic on floats and doubles."""

    b: llvm.IRBuilder
    number: Callable[[llvm.Value, float | int], llvm.Value]
    shaped: Callable[[llvm.Type, llvm.Value], llvm.Type]
    call: Callable[..., llvm.Value]
    raw: dict[llvm.Value, llvm.Value]
    """A result before its NaNs are made canonical: for tests for NaN, and for further sums."""

    def canonical(self, x: llvm.Value) -> llvm.Value:
        """A float result with the machine's one NaN; of doubles it is `survivor` that knows."""
        if element(x.type) is not FLOAT:
            return x
        nan = self.b.bitcast(self.number(self.b.bitcast(x, self.shaped(I32, x)), NAN32), x.type)
        made = self.b.select(self.b.fcmp_unordered("uno", x, x), nan, x)
        self.raw[made] = x
        return made

    def survivor(self, kind: type[Lanes], result: llvm.Value, *operands: llvm.Value) -> llvm.Value:
        """A double result whose NaN is the first of the operands that is one, made quiet; else the negative NaN.

        Which one comes first: all pairs and triples of ten numbers in DADD, DMUL, DFMA on an H200 (driver
        580.159.04, 2026-11-21): the second operand, then the third, then the first, whatever their signs.

        Of 32 lanes a branch tests whether any has a NaN: choosing one takes six times as long as a DFMA.
        """
        if kind is not F64:
            return result
        if not (isinstance(result.type, llvm.VectorType) and result.type.count == LANES):
            return self._chosen_nan(result, operands)
        b = self.b
        with b.goto_entry_block():
            place = b.alloca(result.type)
        b.store(result, place)
        with b.if_then(self._any_nan(result), likely=False):
            b.store(b.call(self._nan_function(result.type, len(operands)), [result, *operands]), place)
        return b.load(place, typ=result.type)

    def _any_nan(self, x: llvm.Value) -> llvm.Value:
        """Whether a lane of a vector of doubles is a NaN: one comparison tests two registers of a host with AVX2."""
        b = self.b
        order = llvm.VectorType(I32, REGISTER)
        parts = [
            b.shuffle_vector(x, undefined(x.type), llvm.IRConstant(order, range(first, first + REGISTER)))
            for first in range(0, LANES, REGISTER)
        ]
        pairs = zip(parts[::2], parts[1::2], strict=True)
        found = reduce(b.or_, (b.fcmp_unordered("uno", one, other) for one, other in pairs))
        bits = b.bitcast(found, llvm.IntType(REGISTER))
        return b.icmp_unsigned("!=", bits, self.number(bits, 0))

    def _nan_function(self, kind: llvm.Type, operands: int) -> llvm.Function:
        """The function of the module that chooses the NaN of a result and so many operands."""
        name = f"nan of {operands}"
        known = self.b.module.globals.get(name)
        if known is not None:
            return known
        made, code = function(self.b.module, name, kind, [kind] * (1 + operands))
        made.attributes.add("cold")
        inner = copy(self)
        inner.b = code.b
        code.b.ret(inner._chosen_nan(made.args[0], made.args[1:]))
        return made

    def _chosen_nan(self, result: llvm.Value, operands: Sequence[llvm.Value]) -> llvm.Value:
        b, words = self.b, self.shaped(I64, result)
        nan = self.number(b.bitcast(result, words), DEFAULT_NAN64)
        for x in reversed(operands):
            bits = b.bitcast(x, words)
            nan = b.select(b.fcmp_unordered("uno", x, x), b.or_(bits, self.number(bits, QUIET64)), nan)
        wrong = b.fcmp_unordered("uno", result, result)
        return b.select(wrong, b.bitcast(nan, result.type), result)

    def raws(self, *values: llvm.Value) -> list[llvm.Value]:
        found = [self.raw.get(x, x) for x in values]
        return [raw if raw.type == x.type else x for raw, x in zip(found, values, strict=True)]

    def do_fadd(self, kind: type[Lanes], args: Any, x: llvm.Value, y: llvm.Value, rounding: str) -> llvm.Value:
        return self.survivor(kind, self.sum_of(kind, x, y, rounding), y, x)

    def sum_of(self, kind: type[Lanes], x: llvm.Value, y: llvm.Value, rounding: str) -> llvm.Value:
        if rounding == "RN":
            return self.canonical(self.b.fadd(*self.raws(x, y)))
        if kind is F32:
            return self.rounded_sum(self.exact(x), self.exact(y), rounding)
        total, error = self.two_sum(x, y)
        return self.unsigned_zero(self.step(total, self.b.fneg(error), rounding, x, y), total, x, y, rounding)

    def do_fmul(self, kind: type[Lanes], args: Any, x: llvm.Value, y: llvm.Value, rounding: str) -> llvm.Value:
        return self.survivor(kind, self.product_of(kind, x, y, rounding), y, x)

    def product_of(self, kind: type[Lanes], x: llvm.Value, y: llvm.Value, rounding: str) -> llvm.Value:
        if rounding == "RN":
            return self.canonical(self.b.fmul(*self.raws(x, y)))
        product = self.b.fmul(x, y)
        if kind is F32:
            return self.rounded(self.b.fmul(self.exact(x), self.exact(y)), None, rounding)
        *factors, nearest = self.lifted(x, y, product)
        error = self.call("fma", *factors, self.b.fneg(nearest))
        return self.step(product, self.b.fneg(error), rounding, x, y)

    def do_fma(
        self, kind: type[Lanes], args: Any, x: llvm.Value, y: llvm.Value, z: llvm.Value, rounding: str
    ) -> llvm.Value:
        return self.survivor(kind, self.fused(kind, x, y, z, rounding), y, z, x)

    def fused(self, kind: type[Lanes], x: llvm.Value, y: llvm.Value, z: llvm.Value, rounding: str) -> llvm.Value:
        b = self.b
        if rounding == "RN":
            return self.canonical(self.call("fma", *self.raws(x, y, z)))
        near = self.call("fma", x, y, z)
        if kind is F32:
            return self.rounded_sum(b.fmul(self.exact(x), self.exact(y)), self.exact(z), rounding)
        # x * y + z = (total - near) + rest + last + near, the first difference exact, the rest far smaller.
        product = b.fmul(x, y)
        *factors, addend, nearest = self.lifted(x, y, z, near)
        lifted = b.fmul(*factors)
        total, error = self.two_sum(lifted, addend)
        rest, last = self.two_sum(error, self.call("fma", *factors, b.fneg(lifted)))
        short = b.fadd(b.fsub(total, nearest), rest)
        exactly = b.fcmp_ordered("==", short, self.number(short, 0.0))
        short = b.select(exactly, last, short)
        whole = b.fcmp_ordered("==", short, self.number(short, 0.0))
        total = b.select(whole, near, self.number(near, 1.0))  # only an exact zero loses its sign
        return self.unsigned_zero(self.step(near, b.fneg(short), rounding, x, y, z), total, product, z, rounding)

    def exact(self, x: llvm.Value) -> llvm.Value:
        """A float as double, where products of two floats are exact."""
        return self.b.fpext(x, self.shaped(DOUBLE, x))

    def two_sum(self, x: llvm.Value, y: llvm.Value) -> tuple[llvm.Value, llvm.Value]:
        """The sum and its error (Knuth)."""
        b = self.b
        total = b.fadd(x, y)
        part = b.fsub(total, x)
        return total, b.fadd(b.fsub(x, b.fsub(total, part)), b.fsub(y, part))

    def lifted(self, x: llvm.Value, y: llvm.Value, *terms: llvm.Value) -> list[llvm.Value]:
        """x, y and terms to add to their product, scaled alike where it is so small that its error is no double.

        Finite terms that are large compared with such a product are those that it hardly changes: they become 0.
        """
        b = self.b
        one, scale, zero = (self.number(x, v) for v in (1.0, 2.0**540, 0.0))

        def less(value: llvm.Value, than: float) -> llvm.Value:
            return b.fcmp_ordered("<", self.call("fabs", value), self.number(value, than))

        tiny = less(b.fmul(x, y), 2.0**-900)
        factors = [b.select(b.and_(tiny, less(v, 1.0)), scale, one) for v in (x, y)]
        large = [b.and_(less(term, float("inf")), b.not_(less(term, 2.0**-800))) for term in terms]
        addends = [b.select(b.and_(tiny, is_large), zero, term) for term, is_large in zip(terms, large, strict=True)]
        scaled = [b.fmul(b.fmul(term, factors[0]), factors[1]) for term in addends]
        return [b.fmul(x, factors[0]), b.fmul(y, factors[1]), *scaled]

    def rounded_sum(self, x: llvm.Value, y: llvm.Value, rounding: str) -> llvm.Value:
        """x + y, both exact doubles, rounded to float in a direction."""
        total, error = self.two_sum(x, y)
        return self.unsigned_zero(self.rounded(total, error, rounding), total, x, y, rounding)

    def rounded(self, total: llvm.Value, error: llvm.Value | None, rounding: str) -> llvm.Value:
        """total + error (a double and a remainder below its last place, if any) rounded to float in a direction."""
        b = self.b
        near = b.fptrunc(total, self.shaped(FLOAT, total))
        wide = b.fpext(near, total.type)
        if error is None and rounding == "RZ":  # a magnitude that is too large has the next smaller one below it
            bits = b.bitcast(near, self.shaped(I32, near))
            away = b.fcmp_ordered(">", self.call("fabs", wide), self.call("fabs", total))
            return self.canonical(b.bitcast(b.add(bits, b.sext(away, bits.type)), near.type))
        beyond = b.fsub(wide, total)
        return self.step(near, beyond if error is None else b.fsub(beyond, error), rounding)

    def step(self, near: llvm.Value, beyond: llvm.Value, rounding: str, *operands: llvm.Value) -> llvm.Value:
        """The nearest number, moved one step if it lies on the wrong side of the exact value.

        `beyond` is near - exact, right in its sign; where that is no number, an infinity that came of finite
        operands lies beyond.
        """
        b = self.b
        zero = self.number(beyond, 0.0)
        above, below = b.fcmp_ordered(">", beyond, zero), b.fcmp_ordered("<", beyond, zero)
        width = 32 if element(near.type) is FLOAT else 64
        bits = b.bitcast(near, self.shaped(llvm.IntType(width), near))
        negative = b.icmp_signed("<", bits, self.number(bits, 0))
        if operands:
            over = b.fcmp_unordered("uno", beyond, beyond)
            for x in operands:
                over = b.and_(over, b.fcmp_ordered("<", self.call("fabs", x), self.number(x, float("inf"))))
            above = b.or_(above, b.and_(over, b.not_(negative)))
            below = b.or_(below, b.and_(over, negative))
        one = self.number(bits, 1)
        is_zero = b.fcmp_ordered("==", near, self.number(near, 0.0))
        outward, inward = b.add(bits, one), b.sub(bits, one)
        least = self.number(bits, (1 << (width - 1)) | 1)
        down = b.select(is_zero, least, b.select(negative, outward, inward))
        up = b.select(is_zero, one, b.select(negative, inward, outward))
        moved = {
            "RM": b.select(above, down, bits),
            "RP": b.select(below, up, bits),
            "RZ": b.select(negative, b.select(below, up, bits), b.select(above, down, bits)),
        }[rounding]
        return self.canonical(b.bitcast(moved, near.type))

    def unsigned_zero(
        self, result: llvm.Value, total: llvm.Value, x: llvm.Value, y: llvm.Value, rounding: str
    ) -> llvm.Value:
        """The result of x + y, where a sum that is exactly zero is -0 when rounding down, unless both were +0."""
        if rounding != "RM":
            return result
        b = self.b
        kind = self.shaped(I64, x)
        either = b.or_(b.bitcast(x, kind), b.bitcast(y, kind))
        both_plus = b.icmp_unsigned("==", either, self.number(either, 0))
        zero = b.and_(
            b.fcmp_ordered("==", total, self.number(total, 0.0)),
            b.fcmp_ordered("==", result, self.number(result, 0.0)),
        )
        return b.select(b.and_(zero, b.not_(both_plus)), self.number(result, -0.0), result)

    def do_fneg(self, kind: type[Lanes], args: Any, x: llvm.Value) -> llvm.Value:
        return self.on_bits(x, lambda bits, top: self.b.xor(bits, self.number(bits, top)))

    def do_fabs(self, kind: type[Lanes], args: Any, x: llvm.Value) -> llvm.Value:
        return self.on_bits(x, lambda bits, top: self.b.and_(bits, self.number(bits, top - 1)))

    def on_bits(self, x: llvm.Value, change: Callable[[llvm.Value, int], llvm.Value]) -> llvm.Value:
        width = 32 if element(x.type) is FLOAT else 64
        bits = self.b.bitcast(x, self.shaped(llvm.IntType(width), x))
        return self.b.bitcast(change(bits, 1 << (width - 1)), x.type)

    def do_ftz(self, kind: type[Lanes], args: Any, x: llvm.Value, away: llvm.Value | None = None) -> llvm.Value:
        def flush(bits: llvm.Value, top: int) -> llvm.Value:
            infinity = 0x7F800000 if top == 1 << 31 else 0x7FF << 52
            seen, least = (bits, 1) if away is None else (self.b.bitcast(away, bits.type), 1 + FAR)
            exponent = self.b.and_(seen, self.number(bits, infinity))
            small = self.b.icmp_unsigned("<", exponent, self.number(bits, least * (infinity & -infinity)))
            return self.b.select(small, self.b.and_(bits, self.number(bits, top)), bits)

        return self.on_bits(x, flush)

    def do_saturate(self, kind: type[Lanes], args: Any, x: llvm.Value) -> llvm.Value:
        zero, one = self.number(x, 0.0), self.number(x, 1.0)
        capped = self.b.select(self.b.fcmp_ordered("<", x, one), x, one)
        return self.b.select(self.b.fcmp_ordered(">", x, zero), capped, zero)

    def do_fmin(self, kind: type[Lanes], args: Any, x: llvm.Value, y: llvm.Value) -> llvm.Value:
        return self.extreme(x, y, "<", self.b.or_)

    def do_fmax(self, kind: type[Lanes], args: Any, x: llvm.Value, y: llvm.Value) -> llvm.Value:
        return self.extreme(x, y, ">", self.b.and_)

    def extreme(self, x: llvm.Value, y: llvm.Value, sign: str, zeros: Callable[..., llvm.Value]) -> llvm.Value:
        """min or max where a NaN loses; of two zeros the sign bits' or (min) or and (max) decides."""
        b = self.b
        kind = self.shaped(llvm.IntType(32 if element(x.type) is FLOAT else 64), x)
        equal = b.bitcast(zeros(b.bitcast(x, kind), b.bitcast(y, kind)), x.type)
        chosen = b.select(b.fcmp_ordered(sign, x, y), x, y)
        chosen = b.select(b.fcmp_ordered("==", x, y), equal, chosen)
        chosen = b.select(b.fcmp_unordered("uno", y, y), x, b.select(b.fcmp_unordered("uno", x, x), y, chosen))
        return self.canonical(chosen)

    def do_fsqrt(self, kind: type[Lanes], args: Any, x: llvm.Value) -> llvm.Value:
        return self.canonical(self.call("sqrt", x))

    def do_ffloor(self, kind: type[Lanes], args: Any, x: llvm.Value) -> llvm.Value:
        return self.canonical(self.call("floor", x))

    def do_fceil(self, kind: type[Lanes], args: Any, x: llvm.Value) -> llvm.Value:
        return self.canonical(self.call("ceil", x))

    def do_ftrunc(self, kind: type[Lanes], args: Any, x: llvm.Value) -> llvm.Value:
        return self.canonical(self.call("trunc", x))

    def do_fnearest(self, kind: type[Lanes], args: Any, x: llvm.Value) -> llvm.Value:
        return self.canonical(self.call("roundeven", x))

    def do_isnan(self, kind: type[Lanes], args: Any, x: llvm.Value) -> llvm.Value:
        return self.b.fcmp_unordered("uno", x, x)
