"""Product routine: the function that computes a warp's part of a warpgroup's product, strip by strip of 8 columns.

Both matrices are taken apart into values and exponents as 32 lanes; then each result of a strip is one sum
(product_sums.py).  It takes B from shared memory 8 columns at a time, so that they stay in the host's first cache.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Literal, cast

from warplens import llvm
from warplens.emulator.access.site import AddressWindows
from warplens.emulator.access.trap import record_fault
from warplens.emulator.codegen.emitter import LlvmEmitter
from warplens.emulator.codegen.structured_builder import StructuredBuilder, function, i32, i64
from warplens.emulator.codegen.vector_types import I8, I32, I64, LANES, PTR, undefined, vector
from warplens.emulator.state.structs import BlockState, FaultKind, WarpState, WorkerEnv
from warplens.emulator.warpgroup.matrix_descriptor import ROW_BYTES, MatrixDescriptor, fragment
from warplens.emulator.warpgroup.product_sums import A_FAR, ABSENT, B_FAR, LANE_BYTES, FactorArrays, ProductSums
from warplens.emulator.warpgroup.sparse_rows import Gap, with_gaps
from warplens.isa.dsl.lanes import S32, U32
from warplens.isa.dsl.operation_records import GroupProduct
from warplens.isa.numerics.float_products import FloatParts, Input, Tiny, numbers
from warplens.isa.tensor import Integer, integers

V32 = vector(I32)
FAMILY = "group_product_"
HALVES, SIDES, STRIP = 2, 2, 8  # of a warp's rows, of a pair of columns; columns of a strip
SHARED = 1  # number of the space in a fault record
SPECIAL = 255  # exponent of infinities and NaNs
ROWS, QUAD = 8, 4  # lane 4 g + s of a fragment has factors of row g
A_ORDER = [4 * g + s for s in range(QUAD) for g in range(ROWS)]
B_ORDER = [4 * (2 * t + side) + s for s in range(4) for side in range(SIDES) for t in range(4)]
ARGUMENTS = [PTR, PTR, PTR, I32, I32, PTR, PTR, I32, I32, I32, I32, I32]
Element = S32 | FloatParts


def product_routine(module: llvm.IRModule, form: GroupProduct) -> llvm.Function:
    """(env, block, warp, instruction, strips, accumulators, A's four words and the metadata as 32 lanes each,
    descriptors of A and B in two words each, whether addends count) -> whether a matrix lies out of bounds.

    Declared only: the library has its code, one object file a form (access/runtime_library.py).
    """
    name = _name_of(form)
    return module.globals.get(name) or llvm.Function(module, llvm.FunctionType(I32, ARGUMENTS), name)


def routine_module(name: str, windows: AddressWindows) -> llvm.IRModule:
    """The module of a routine, whose name has all that its code depends on."""
    module = llvm.IRModule(name=name)
    made, code = function(module, name, I32, ARGUMENTS)
    made.linkage = "external"
    ProductRoutine(code, _form_of(name), windows.shared_base, made.args).emit()
    return module


def _name_of(form: GroupProduct) -> str:
    flags = (form.registers, *form.negated, *form.transposed, form.saturates)
    selector = "dense" if form.selector is None else form.selector
    parts = (form.family, *form.kinds, form.result, form.places, form.digits, selector, *map(int, flags))
    return FAMILY + "_".join(map(str, parts))


def _form_of(name: str) -> GroupProduct:
    family, a, b, result, places, digits, selector, *flags = name.removeprefix(FAMILY).split("_")
    registers, *changed, saturates = (flag == "1" for flag in flags)
    return GroupProduct(
        cast(Literal["float", "integer", "bits"], family), (a, b), cast(Literal["F16", "F32", "S32"], result),
        columns=0, places=int(places), digits=int(digits), selector=None if selector == "dense" else int(selector),
        registers=registers, negated=(changed[0], changed[1]), transposed=(changed[2], changed[3]), saturates=saturates,
    )  # fmt: skip


class ProductRoutine:
    """Product routine: emits the body of one form."""

    def __init__(
        self, code: StructuredBuilder, form: GroupProduct, shared_base: int, arguments: Sequence[llvm.Value]
    ) -> None:
        self.code, self.b, self.e, self.form, self.base = code, code.b, LlvmEmitter(code.b), form, shared_base
        self.env, self.block, self.warp, self.index, self.strips, self.accumulators, self.given = arguments[:7]
        self.left, self.right = (arguments[7], arguments[8]), (arguments[9], arguments[10])
        self.counted = self.b.icmp_signed("!=", arguments[11], i32(0))
        self.shared = code.load(BlockState, self.block, "shared")
        end = self.b.trunc(code.load(WorkerEnv, self.env, "shared_bytes"), I32)
        self.last = self.b.sub(end, i32(ROW_BYTES))
        self.of_word = {"F16": 2, "BF16": 2, "TF32": 1, "B1": 1}.get(form.kinds[0], 4)
        self.lines = form.chunks * self.of_word  # of four factors of each row
        a, b = HALVES * QUAD * self.lines, self.lines
        rooms = self._room(a), self._room(b), self._room(a), self._room(b), self._room(a // 4), self._room(-(-b // 4))
        self.arrays = FactorArrays(*rooms, self._room(HALVES), self._room(1), QUAD * self.lines)

    def _room(self, vectors: int) -> llvm.Value:
        return self.code.variable(llvm.ArrayType(I32, LANES * vectors))

    def _vector(self, place: llvm.Value, number: llvm.Value | int) -> llvm.Value:
        at = i64(number) if isinstance(number, int) else self.b.zext(number, I64)
        return self.code.at(place, self.b.mul(at, i64(LANE_BYTES)))

    def _load(self, place: llvm.Value, number: llvm.Value | int) -> U32:
        return U32(self.e, self.b.load(self._vector(place, number), typ=V32, align=4))

    def emit(self) -> None:
        special = self._store_a()
        right = MatrixDescriptor(self.code, *self.right, self.form.transposed[1])

        def strip(number: llvm.Value) -> None:
            of_strip = self._store_b(right, number)
            ordinary = self.b.icmp_signed("==", self.b.or_(of_strip, special), i32(0))
            self._sum_strip(number, ordinary)

        self.code.each(self.strips, strip)
        self.b.ret(i32(0))

    # Factors

    def _elements(self, word: U32, matrix: int) -> list[Element]:
        kind, negated = self.form.kinds[matrix], self.form.negated[matrix]
        if self.form.family == "float":
            parts = numbers(word, cast(Input | Tiny, kind))
            return [FloatParts(-part.value, part.exponent) if negated else part for part in parts]
        return [word.s32()] if self.form.family == "bits" else list(integers(word, cast(Integer, kind)))

    def _fragment(self, matrix: MatrixDescriptor, group: llvm.Value, chunk: int) -> U32:
        """Of 8 rows or columns, their 16 bytes from shared memory; a fault if they are not all there."""
        pointers = []
        for address in matrix.rows(group, chunk):
            offset = self.b.sub(address, i32(self.base))
            outside = self.b.or_(
                self.b.icmp_unsigned(">", offset, self.last), self.b.icmp_signed("<", self.last, i32(0))
            )
            with self.code.when(outside, likely=False):
                self._fault(address)
            pointers.append(self.code.at(self.shared, self.b.zext(offset, I64)))
        return U32(self.e, fragment(self.b, pointers, matrix.transposed))

    def _fault(self, address: llvm.Value) -> None:
        fields = {"instruction": self.index, "lanes": i32(1), "bytes": i32(ROW_BYTES), "space": i32(SHARED)}
        wide = {"address": self.b.zext(address, I64)}
        record_fault(self.code, self.env, self.block, FaultKind.STRAY, self.warp, **fields, **wide)
        self.b.ret(i32(1))

    def _store_a(self) -> llvm.Value:
        """Each factor of a row in all lanes that need it; returns not 0 if one is infinite or a NaN."""
        special = self.code.variable(I32, i32(0))
        held = self._room(self.lines), self._room(self.lines)
        left = MatrixDescriptor(self.code, *self.left, self.form.transposed[0])
        rank = self.b.and_(self.code.load(WarpState, self.warp, "index"), i32(3))

        def one(half: llvm.Value) -> None:
            for chunk in range(2):
                if self.form.registers:
                    word = self._load(self.given, self.b.add(half, i32(HALVES * chunk)))
                else:
                    word = self._fragment(left, self.b.add(self.b.shl(rank, i32(1)), half), chunk)
                elements = self._elements(word.of_lanes(A_ORDER), 0)
                self.b.store(self.b.or_(self.b.load(special, typ=I32), self._special(elements)), special)
                if self.form.selector is None:
                    for number, x in enumerate(elements):
                        self._put(*held, chunk * self.of_word + number, x)
                    continue
                metadata = self._load(self.given, QUAD)
                for gap in with_gaps(self.form, elements, chunk, U32(self.e, half), metadata, self._absent()):
                    self._put_parts(held, gap)
            for place, to in zip(held, (self.arrays.a, self.arrays.a_exponents), strict=True):
                self._spread(place, to, half)
            if self.form.family == "float":
                self._spread_distances(held[1], half)

        self.code.each(i32(HALVES), one)
        return self.b.load(special, typ=I32)

    def _put_parts(self, held: tuple[llvm.Value, llvm.Value], gap: Gap) -> None:
        """Factors of four places of each row, each to its place."""
        numbers_of = [gap.element.value, gap.element.exponent] if isinstance(gap.element, FloatParts) else [gap.element]
        for to, x in zip(held, numbers_of, strict=False):
            for s, place in enumerate(gap.places):
                line, within = divmod(place, QUAD * self.of_word)
                quad, element = divmod(within, self.of_word)
                at = ((line * self.of_word + element) * QUAD + quad) * 4 * ROWS
                order = llvm.IRConstant(llvm.VectorType(I32, ROWS), [s * ROWS + g for g in range(ROWS)])
                node = self.e.splat(x.node)
                self.b.store(self.b.shuffle_vector(node, undefined(node.type), order), self.code.at(to, at), align=4)

    def _spread(self, held: llvm.Value, to: llvm.Value, half: llvm.Value) -> None:
        """The number of row g to lanes 4 g to 4 g + 3."""
        count = self.arrays.factors
        order = llvm.IRConstant(V32, [lane // QUAD for lane in range(LANES)])

        def one(at: llvm.Value) -> None:
            rows = self.b.load(
                self.code.at(held, self.b.mul(at, i32(4 * ROWS))), typ=llvm.VectorType(I32, ROWS), align=4
            )
            where = self._vector(to, self.b.add(self.b.mul(half, i32(count)), at))
            self.b.store(self.b.shuffle_vector(rows, undefined(rows.type), order), where, align=4)

        self.code.each(i32(count), one)

    def _spread_distances(self, held: llvm.Value, half: llvm.Value) -> None:
        """Of each row the largest exponent, and how far the others are below it."""
        count, kind = self.arrays.factors, llvm.VectorType(I32, ROWS)
        order = llvm.IRConstant(V32, [lane // QUAD for lane in range(LANES)])
        largest = self.code.variable(kind, llvm.IRConstant(kind, [ABSENT] * ROWS))

        def rows(at: llvm.Value) -> llvm.Value:
            return self.b.load(self.code.at(held, self.b.mul(at, i32(4 * ROWS))), typ=kind, align=4)

        def higher(at: llvm.Value) -> None:
            self.b.store(self.code.intrinsic("smax", self.b.load(largest, typ=kind), rows(at)), largest)

        self.code.each(i32(count), higher)
        top = self.b.load(largest, typ=kind)
        self.b.store(
            self.b.shuffle_vector(top, undefined(kind), order), self._vector(self.arrays.a_largest, half), align=4
        )

        def below(at: llvm.Value) -> None:
            far = llvm.IRConstant(kind, [A_FAR] * ROWS)
            distance = self.code.intrinsic("smax", self.b.sub(rows(at), top), far)
            short = self.b.trunc(distance, llvm.VectorType(I8, ROWS))
            where = self.b.mul(self.b.add(self.b.mul(half, i32(count)), at), i32(LANES))
            spread = self.b.shuffle_vector(short, undefined(short.type), order)
            self.b.store(spread, self.code.at(self.arrays.a_distances, where), align=4)

        self.code.each(i32(count), below)

    def _absent(self) -> Element:
        zero = S32(self.e, llvm.IRConstant(V32, None))
        return FloatParts(zero.float_bits(), zero.like(ABSENT)) if self.form.family == "float" else zero

    def _store_b(self, matrix: MatrixDescriptor, strip: llvm.Value) -> llvm.Value:
        """Columns of a strip: of each four factors, those of the even columns first."""
        special: llvm.Value = i32(0)
        exponents: list[S32] = []
        for chunk in range(self.form.chunks):
            elements = self._elements(self._fragment(matrix, strip, chunk).of_lanes(B_ORDER), 1)
            special = self.b.or_(special, self._special(elements))
            for place, x in enumerate(elements):
                self._put(self.arrays.b, self.arrays.b_exponents, chunk * self.of_word + place, x)
                exponents += [x.exponent] if isinstance(x, FloatParts) else []
        if exponents:
            self._store_distances(exponents)
        return special

    def _store_distances(self, exponents: Sequence[S32]) -> None:
        """Of each column the largest exponent, and how far the others are below it."""
        top = reduce(S32.max, exponents)
        for lanes in (8, 16):
            top = top.max(top.of_lanes([(lane + lanes) % LANES for lane in range(LANES)]))
        self.b.store(self.e.splat(top.node), self.arrays.b_largest, align=4)
        for line, exponent in enumerate(exponents):
            short = self.b.trunc(self.e.splat((exponent - top).max(B_FAR).node), vector(I8))
            self.b.store(short, self.code.at(self.arrays.b_distances, LANES * line), align=4)

    def _put(self, values: llvm.Value, exponents: llvm.Value, place: int, x: Element) -> None:
        if isinstance(x, FloatParts):
            self.b.store(self.e.splat(x.exponent.node), self._vector(exponents, place), align=4)
        value = x.value if isinstance(x, FloatParts) else x
        self.b.store(self.e.splat(value.node), self._vector(values, place), align=4)

    def _special(self, elements: Sequence[Element]) -> llvm.Value:
        """Not 0 if a lane has an infinity or a NaN."""
        found: llvm.Value = i32(0)
        for x in elements:
            if isinstance(x, FloatParts):
                found = self.b.or_(found, self.b.bitcast(x.exponent.eq(SPECIAL).node, I32))
        return found

    # Results

    def _sum_strip(self, strip: llvm.Value, ordinary: llvm.Value) -> None:
        """All results of the strip; halves lie in pairs in the accumulators."""
        halves = self.form.result == "F16"
        first = self.b.mul(strip, i32(HALVES if halves else HALVES * SIDES))
        room = self._room(HALVES * SIDES)

        def one(number: llvm.Value) -> None:
            half, side = self.b.lshr(number, i32(1)), self.b.and_(number, i32(1))
            word = self._load(self.accumulators, self.b.add(first, half if halves else number))
            if halves:
                word = U32(self.e, self.b.lshr(word.node, self.e.splat(self.b.shl(side, i32(4)))))
            kept = self.b.select(self.counted, word.node, llvm.IRConstant(V32, None))
            sums = ProductSums(self.code, self.form, self.arrays, half, side, ordinary)
            self.b.store(self.e.splat(sums.result(U32(self.e, kept)).node), self._vector(room, number), align=4)

        self.code.each(i32(HALVES * SIDES), one)
        for place in range(HALVES if halves else HALVES * SIDES):
            word = self._load(room, SIDES * place if halves else place)
            if halves:
                word = word | (self._load(room, SIDES * place + 1) << 16)
            to = self._vector(self.accumulators, self.b.add(first, i32(place)))
            self.b.store(word.node, to, align=4)
