"""Tensor access: copies of a box between a tensor in global memory and shared memory (cp.async.bulk.tensor, TMA).

The map is read like any global memory; where the units of the box lie, emulator/bulk works out, 32 at a time.
"""

from __future__ import annotations

from dataclasses import replace

from warplens import llvm
from warplens.emulator.access.site import V32, V64, AccessSite, iota
from warplens.emulator.access.trap import record_fault
from warplens.emulator.bulk import box_walk
from warplens.emulator.bulk.bulk_access import BulkRoutines, number_bytes
from warplens.emulator.codegen.structured_builder import i32, i64
from warplens.emulator.codegen.vector_types import I1, I32, I64, LANES, vector
from warplens.emulator.state.counter_layout import BYTES, SECTORS
from warplens.emulator.state.structs import Fault, FaultKind, WorkerEnv
from warplens.isa.dsl.lanes import U32
from warplens.isa.dsl.operation_records import BulkNumber, BulkReduction, TensorCopy
from warplens.isa.numerics.tensor_elements import REDUCED, filling, loaded

RESULT_WORDS = 16  # simc.function.RESULTS
UNITS = (1, 2, 4, 8, 16)
NAN_FILL = 15  # of FLAGS
FAULTS = {
    box_walk.NO_MAP: FaultKind.NO_TENSOR_MAP, box_walk.MISPLACED: FaultKind.MISPLACED_BOX,
    box_walk.UNALIGNED: FaultKind.UNALIGNED_BOX, box_walk.AHEAD: FaultKind.BOX_AHEAD,
}  # fmt: skip


class BoxWalk:
    """Box walk in generated code: calls the machine code of box_walk.py."""

    def __init__(self, site: AccessSite, copy: TensorCopy) -> None:
        self.site, self.code, self.b = site, site.code, site.b
        self.form = [i64(copy.axes), i64(int(copy.im2col))]
        self.walk = self.code.variable(llvm.ArrayType(I64, box_walk.ROWS * LANES))
        self.results = self.code.variable(llvm.ArrayType(I64, RESULT_WORDS))

    def place(self, row: int, column: int = 0) -> llvm.Value:
        return self.code.at(self.walk, 8 * (LANES * row + column))

    def row(self, row: int) -> llvm.Value:
        return self.b.load(self.place(row), typ=V64, align=8)

    def call(self, name: str, count: int) -> list[llvm.Value]:
        """The first results of a function of WorkerEnv."""
        arguments = [*self.form, self.walk, i64(box_walk.ROWS), i64(LANES), self.results]
        kind = llvm.FunctionType(llvm.VoidType(), [argument.type for argument in arguments])
        self.b.call(self.code.load(WorkerEnv, self.site.env, name), arguments, kind)
        return [self.b.load(self.code.at(self.results, 8 * k), typ=I64) for k in range(count)]


def tensor_copy_routine(bulk: BulkRoutines, copy: TensorCopy, counts: bool, multicast: bool) -> llvm.Function:
    """(env, block, warp, instruction, row, map, shared, offsets, barrier, blocks, coordinates): the map's address as 64
    bits."""
    operation = f"_{copy.reduction.op}" if copy.reduction else ""
    mode = "_im2col" if copy.im2col else ""
    name = f"tensor_{copy.direction}{operation}_{copy.axes}{mode}{'_barrier' * counts}{'_multicast' * multicast}"
    if found := bulk.routines.module.globals.get(name):
        return found
    made, site, given = bulk.begin(name, [I64, *[I32] * (4 + copy.axes)])
    map, shared, offsets, barrier, blocks, *at = given
    b, code = site.b, site.code
    walk = BoxWalk(site, copy)
    code.store(map, Fault, code.field(WorkerEnv, site.env, "fault"), "tensor_map")
    everyone = replace(site, mask=i32(-1))
    words = bulk.load(everyone, "global", b.add(site.e.splat(map), iota(4, I64)), 4, recorded=False)
    b.store(b.zext(words[0], V64), walk.place(box_walk.MAP), align=8)
    stores, most = int(copy.direction == "store"), 4 if copy.reduction else box_walk.WIDEST
    given_row = {
        box_walk.PLACE: b.zext(shared, I64), box_walk.OFFSETS: b.zext(offsets, I64),
        box_walk.STORED: i64(stores), box_walk.MOST: i64(most), box_walk.MULTICAST: i64(int(multicast)),
        **{box_walk.AT + axis: b.sext(x, I64) for axis, x in enumerate(at)},
    }  # fmt: skip
    for column, value in given_row.items():
        b.store(value, walk.place(box_walk.GIVEN, column))
    if stores:
        bulk.forget(site)  # of the map, which is only read
    wrong, unit, bytes, flags = walk.call("begin_box", 4)
    for number, kind in FAULTS.items():
        with code.when(b.icmp_signed("==", wrong, i64(number)), likely=False):
            record_fault(code, site.env, site.block, kind, site.warp, instruction=site.index, lanes=i32(1))
            b.ret_void()
    if copy.reduction:
        known = sum(1 << REDUCED[kind.number] for kind in reductions(copy.reduction.op) if kind.number)
        reduces = b.and_(b.lshr(i64(known), b.and_(b.lshr(flags, i64(7)), i64(15))), i64(1))
        with code.when(b.icmp_signed("==", reduces, i64(0)), likely=False):
            record_fault(
                code, site.env, site.block, FaultKind.NO_TENSOR_MAP, site.warp, instruction=site.index, lanes=i32(1)
            )
            b.ret_void()
    bulk.add(site, made.args[4], BYTES, bytes)
    swizzle = b.and_(b.lshr(b.trunc(flags, I32), i32(13)), i32(3))
    bulk.watch.box(site, shared, swizzle)
    for size in (2, 4, 8) if copy.reduction else UNITS:
        with code.when(b.icmp_signed("==", unit, i64(size))):
            sectors = _move(bulk, copy, walk, size, flags, blocks if multicast else None)
            bulk.add(site, made.args[4], SECTORS, sectors)
    if counts:
        bulk.complete(site, barrier, b.trunc(bytes, I32), blocks if multicast else None)
    b.ret_void()
    return made


def reductions(op: str) -> list[BulkReduction]:
    """Those that there are of an operation, by PTX's table of cp.reduce.async.bulk and as an H200 does them."""
    numbers: dict[str, tuple[BulkNumber, ...]] = {
        "add": ("u32", "s32", "u64", "f16", "bf16", "f32", "f64"), "inc": ("u32",), "dec": ("u32",),
        "min": ("u32", "s32", "u64", "s64", "f16", "bf16"), "max": ("u32", "s32", "u64", "s64", "f16", "bf16"),
    }  # fmt: skip
    return [BulkReduction(op, number) for number in numbers.get(op, ("u32", "s32", "u64"))]  # type: ignore[arg-type]


def _move(
    bulk: BulkRoutines, copy: TensorCopy, walk: BoxWalk, size: int, flags: llvm.Value, blocks: llvm.Value | None
) -> llvm.Value:
    """All units of the box, of so many bytes each; the sectors of global memory, for each of the blocks."""
    b, code, e = walk.b, walk.code, walk.site.e
    going, total = code.variable(I1, llvm.IRConstant(I1, 1)), code.variable(I64)
    kind = U32(e, e.splat(b.trunc(flags, I32)))

    def chunk() -> None:
        *masks, sectors = walk.call("advance_box", 3)
        within, outside = (b.trunc(mask, I32) for mask in masks)
        b.store(sectors, total)
        every = b.or_(within, outside)
        b.store(code.nonzero(every), going)
        address, place = walk.row(box_walk.GLOBAL), b.trunc(walk.row(box_walk.SHARED), V32)
        inner = replace(walk.site, mask=within)
        if copy.direction == "load":
            read = bulk.load(inner, "global", address, size)
            lanes = b.bitcast(within, vector(I1))
            words = [b.select(lanes, loaded(U32(e, word), kind).node, e.splat(filling(kind).node)) for word in read]
            bulk.store(replace(walk.site, mask=every), "shared", place, words, size, blocks)
            return
        words = bulk.load(inner, "shared", place, size)
        if copy.reduction is None:
            bulk.store(inner, "global", address, words, size)
            return
        code_of_type = b.and_(b.lshr(flags, i64(7)), i64(15))
        for reduction in reductions(copy.reduction.op):
            assert reduction.number is not None
            if size == number_bytes(reduction) or (size == 2 and "16" in reduction.number):
                with code.when(b.icmp_signed("==", code_of_type, i64(REDUCED[reduction.number]))):
                    bulk.reduce(inner, "global", address, words, size, reduction)

    code.loop(lambda: b.load(going, typ=I1), chunk)
    sectors = b.load(total, typ=I64)
    return sectors if blocks is None else b.mul(sectors, b.zext(code.popcount(blocks), I64))
