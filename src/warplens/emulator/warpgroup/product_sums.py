"""Product sums: what a warp's lanes add up of a strip of 8 columns, for floats, whole numbers and bits.

Lane 4 g + t of result (half, side) has row g + 8 half and column 2 t + side, as in the accumulator's registers.  The
factors lie in memory in the order in which they are met: of A 32 lanes each, of B the four columns of each side.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from typing import TypeVar

from warplens import llvm
from warplens.emulator.codegen.emitter import LlvmEmitter
from warplens.emulator.codegen.structured_builder import StructuredBuilder, i32, i64
from warplens.emulator.codegen.vector_types import DOUBLE, FLOAT, I8, I32, I64, undefined, vector
from warplens.isa.dsl.lanes import F32, F64, S32, U32, Lanes
from warplens.isa.dsl.operation_records import GroupProduct
from warplens.isa.numerics.any_nan import AnyNan
from warplens.isa.numerics.float_products import (
    ALL_ZERO,
    LARGEST_TOP,
    LEAST_TOP,
    NOWHERE,
    float_power_of_two,
    number,
    power_of_two,
    short_float,
    short_half,
)
from warplens.isa.numerics.narrow_formats import half_to_float
from warplens.isa.tensor import added

LANE_BYTES = 128  # of 32 words
ROUND = 8  # products of one round of a loop
QUAD = 4
A_FAR, B_FAR = -64, -63  # sums of two stay in a byte; a sum above them both has neither
ABSENT = NOWHERE - 1  # the exponent of what a sparse A leaves out: not even an infinite factor makes a NaN of it
V32, BYTES, EIGHT = vector(I32), vector(I8), llvm.VectorType(I32, 8)
L = TypeVar("L", bound=Lanes)
COLUMNS = llvm.IRConstant(V32, [lane % QUAD for lane in range(32)])


@dataclass(frozen=True)
class FactorArrays:
    """Factor arrays: values of A and B in memory, and of floats their exponents; `factors` of a row.

    a_distances, b_distances  how far an exponent is below the largest of its row or column, in a byte, and at least
                              A_FAR or B_FAR
    a_largest, b_largest      these largest ones: in the lanes of A's results; of B's columns, four times
    """

    a: llvm.Value
    b: llvm.Value
    a_exponents: llvm.Value
    b_exponents: llvm.Value
    a_distances: llvm.Value
    b_distances: llvm.Value
    a_largest: llvm.Value
    b_largest: llvm.Value
    factors: int


class ProductSums:
    """Product sums: emits the sums of one result of a strip.

    half, side    which result, as numbers of the generated code
    ordinary      whether no factor is infinite or a NaN
    """

    def __init__(
        self, code: StructuredBuilder, form: GroupProduct, arrays: FactorArrays, half: llvm.Value, side: llvm.Value,
        ordinary: llvm.Value,
    ) -> None:  # fmt: skip
        self.code, self.b, self.e = code, code.b, LlvmEmitter(code.b)
        self.form, self.arrays, self.ordinary = form, arrays, ordinary
        self.half, self.side = half, side

    def result(self, addend: U32) -> U32:
        """The accumulator's new bits; of halves in the low 16."""
        if self.form.family == "float":
            return self._floats(addend)
        total = self.code.variable(V32, llvm.IRConstant(V32, None))

        def body(first: llvm.Value) -> None:
            products = (self._whole_product(*self._pair(S32, first, k)) for k in range(ROUND))
            self._add(total, reduce(S32.__add__, products))

        self._rounds(body)
        summed = S32(self.e, self.b.load(total, typ=V32))
        return added(summed, addend.s32(), self.form.saturates)

    def _whole_product(self, x: S32, y: S32) -> S32:
        return (x & y).popc() if self.form.family == "bits" else x * y

    def _add(self, place: llvm.Value, value: Lanes) -> None:
        kept = self.b.load(place, typ=value.node.type)
        add = self.b.fadd if isinstance(value, F64) else self.b.add
        self.b.store(add(kept, value.node), place)

    # Factors

    def _rounds(self, body: Callable[[llvm.Value], object], of_round: int = ROUND) -> None:
        """body(number of the first factor) for each round of so many."""
        steps = self.arrays.factors // of_round
        self.code.each(i32(steps), lambda at: body(self.b.mul(at, i32(of_round))))

    def _pair(self, kind: type[L], first: llvm.Value, k: int, exponents: bool = False) -> tuple[L, L]:
        """Factors of both matrices, or their exponents."""
        arrays = self.arrays
        a, b = (arrays.a_exponents, arrays.b_exponents) if exponents else (arrays.a, arrays.b)
        element = FLOAT if kind.__name__ == "F32" else I32
        at = self.b.zext(self.b.add(first, i32(k)), I64)
        row = self.b.add(self.b.mul(self.b.zext(self.half, I64), i64(arrays.factors)), at)
        x = self.b.load(self.code.at(a, self.b.mul(row, i64(LANE_BYTES))), typ=vector(element), align=4)
        side = self.b.mul(self.b.zext(self.side, I64), i64(4 * QUAD))
        begin = self.code.at(b, self.b.add(self.b.mul(at, i64(8 * QUAD)), side))
        quad = self.b.load(begin, typ=llvm.VectorType(element, QUAD), align=4)
        return kind(self.e, x), kind(self.e, self.b.shuffle_vector(quad, undefined(quad.type), COLUMNS))

    # Floats

    def _floats(self, addend: U32) -> U32:
        halves = self.form.result == "F16"
        value = half_to_float(addend & 0xFFFF, False) if halves else addend.float_bits()
        given = number(value, 113 if halves else 1)
        top = self._largest_product().max(given.exponent + 127) - 127
        usual = (top >= LEAST_TOP) & (top <= LARGEST_TOP) | (top < ALL_ZERO)
        common = self.b.icmp_signed("==", self.b.bitcast(usual.node, I32), i32(-1))
        found = self.code.variable(V32)
        usable = self.code.variable(I32, self.b.zext(self.b.and_(common, self.ordinary), I32))
        with self.code.when(self.code.nonzero(self.b.load(usable, typ=I32)), likely=True):
            self.b.store(self._quick(value, top, usable).node, found)
        with self.code.when(self.b.icmp_signed("==", self.b.load(usable, typ=I32), i32(0)), likely=False):
            self.b.store(self._exact(value, top).node, found)
        return U32(self.e, self.b.load(found, typ=V32))

    def _largest_product(self) -> S32:
        """The largest exponent of the products, by the bytes if they hold it."""
        arrays = self.arrays
        near = self.code.variable(BYTES, llvm.IRConstant(BYTES, [A_FAR + B_FAR] * 32))

        def body(first: llvm.Value) -> None:
            top = self.b.load(near, typ=BYTES)
            for k in range(ROUND):
                at = self.b.zext(self.b.add(first, i32(k)), I64)
                row = self.b.add(self.b.mul(self.b.zext(self.half, I64), i64(arrays.factors)), at)
                x = self.b.load(self.code.at(arrays.a_distances, self.b.mul(row, i64(32))), typ=BYTES, align=4)
                place = self.b.add(self.b.mul(at, i64(2 * QUAD)), self.b.mul(self.b.zext(self.side, I64), i64(QUAD)))
                four = self.b.load(self.code.at(arrays.b_distances, place), typ=I32, align=4)
                y = self.b.bitcast(self.b.insert_element(undefined(EIGHT), four, i32(0)), BYTES)
                y = self.b.shuffle_vector(y, undefined(BYTES), COLUMNS)
                top = self.code.intrinsic("smax", top, self.b.add(x, y))
            self.b.store(top, near)

        self._rounds(body)
        distance = S32(self.e, self.b.sext(self.b.load(near, typ=BYTES), V32))
        row_place = self.code.at(arrays.a_largest, self.b.mul(self.b.zext(self.half, I64), i64(LANE_BYTES)))
        column_place = self.code.at(arrays.b_largest, self.b.mul(self.b.zext(self.side, I64), i64(4 * QUAD)))
        quad = self.b.load(column_place, typ=llvm.VectorType(I32, QUAD), align=4)
        of_row = S32(self.e, self.b.load(row_place, typ=V32, align=4))
        of_column = S32(self.e, self.b.shuffle_vector(quad, undefined(quad.type), COLUMNS))
        tops = self.code.variable(V32, (distance + of_row + of_column).node)
        held = self.b.bitcast((distance > B_FAR).node, I32)
        with self.code.when(self.b.icmp_signed("!=", held, i32(-1)), likely=False):
            self.b.store(llvm.IRConstant(V32, [2 * ABSENT] * 32), tops)
            self._rounds(lambda first: self._raise(tops, first))
        return S32(self.e, self.b.load(tops, typ=V32))

    def _raise(self, tops: llvm.Value, first: llvm.Value) -> None:
        """The largest exponent of products so far."""
        top = S32(self.e, self.b.load(tops, typ=V32))
        for x, y in (self._pair(S32, first, k, exponents=True) for k in range(ROUND)):
            top = top.max(x + y)
        self.b.store(top.node, tops)

    def _quick(self, value: F32, top: S32, usable: llvm.Value) -> U32:
        """In single precision and whole numbers, as quick_float_products (isa/numerics/float_products.py); `usable`
        becomes 0 where a sum has more than 31 bits."""
        place = top.max(LEAST_TOP) - self.form.places - 127
        scale = float_power_of_two(-place)
        total = self.code.variable(V32, (value * scale).chopped(S32).node)
        beyond = self.code.variable(V32, llvm.IRConstant(V32, None))

        def body(first: llvm.Value) -> None:
            pairs = (self._pair(F32, first, k) for k in range(ROUND))
            part = reduce(S32.__add__, ((x * y * scale).chopped(S32) for x, y in pairs))
            before = S32(self.e, self.b.load(total, typ=V32))
            after = before + part
            self.b.store(after.node, total)
            over = (before ^ after) & (part ^ after)  # the sign bit
            self.b.store(self.b.or_(self.b.load(beyond, typ=V32), over.node), beyond)

        self._rounds(body)
        whole = S32(self.e, self.b.load(total, typ=V32))
        size = whole.abs()
        over = size | S32(self.e, self.b.load(beyond, typ=V32))
        wrong = self.b.bitcast((over < 0).node, I32)
        self.b.store(self.b.zext(self.b.icmp_signed("==", wrong, i32(0)), I32), usable)
        return self._rounded(whole, size.u32(), place)

    def _rounded(self, whole: S32, size: U32, place: S32) -> U32:
        """The result of a whole number of units; to a float towards zero."""
        if self.form.result == "F16":
            return short_half(whole.f64() * power_of_two(place))
        rest = size >> self.form.digits  # as many bits are cut off as this has
        for shift in (1, 2, 4):
            rest = rest | (rest >> shift)
        digits = (size & ~rest).s32().f32()
        scaled = (digits * float_power_of_two(place)).u32()
        return scaled | (whole.u32() & 0x8000_0000)

    def _exact(self, value: F32, top: S32) -> U32:
        """In double precision, for all numbers; infinities and NaNs go their way through it."""
        place = top.max(NOWHERE) - self.form.places - 127
        scale = power_of_two(-place)
        first = (value.f64().bitcast(AnyNan) * scale).trunc()
        total = self.code.variable(vector(DOUBLE), first.node)
        self._rounds(lambda at: self._add(total, self._exact_product(at, scale)), of_round=1)
        whole: F64 = AnyNan(self.e, self.b.load(total, typ=vector(DOUBLE))) * power_of_two(place)
        return short_half(whole) if self.form.result == "F16" else short_float(whole, self.form.digits)

    def _exact_product(self, at: llvm.Value, scale: F64) -> F64:
        (x, y), (exponent, _) = self._pair(F32, at, 0), self._pair(S32, at, 0, exponents=True)
        product = (x.f64().bitcast(AnyNan) * y.f64() * scale).trunc()
        return exponent.eq(ABSENT).choose(product.like(0.0), product)
