"""Atomic emission: lane after lane in order of lane number."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from warplens import llvm
from warplens.emulator.access.bounds_check import checked_pointers
from warplens.emulator.access.coalescing import Access
from warplens.emulator.access.gather_scatter import AccessRoutines, nothing, return_words
from warplens.emulator.access.site import V32, deinterleaved, interleaved
from warplens.emulator.codegen.emitter import LlvmEmitter
from warplens.emulator.codegen.structured_builder import StructuredBuilder, i32, i64
from warplens.emulator.codegen.vector_types import DOUBLE, FLOAT, I32, I64, LANES, PTR, vector
from warplens.emulator.state.structs import MBARRIERS_KEPT, BlockState, MbarrierChange, Touch
from warplens.errors import UnsupportedInstruction
from warplens.isa.dsl.half_pair import H2
from warplens.isa.dsl.lanes import F32, U32, U64
from warplens.isa.dsl.warp_interface import AtomicOperation, Number, Reduction, Space, Update
from warplens.isa.floating import fadd
from warplens.isa.half import hadd2

COMMUTES = {
    "add": Touch.ADD, "min": Touch.MIN, "max": Touch.MAX, "and": Touch.AND, "or": Touch.OR, "xor": Touch.XOR,
}  # fmt: skip
NATIVE = {
    "add": "add", "and": "and", "or": "or", "xor": "xor", "exch": "xchg", "inc": "uinc_wrap", "dec": "udec_wrap",
}  # fmt: skip


SIZES: dict[Number, int] = {"u64": 8, "s64": 8, "f64": 8, "f32x2": 8, "f32x4": 16, "u128": 16}
SIZES |= {"f16x4": 8, "f16x8": 16, "bf16x4": 8, "bf16x8": 16}
"""Bytes of the numbers that are not of 4."""

One = Callable[[StructuredBuilder, llvm.Value, llvm.Value, llvm.Value | None], llvm.Value]
"""What one lane does: (code, place, value, wanted value) -> the old value."""


def atomic_routine(routines: AccessRoutines, space: Space, operation: AtomicOperation, compares: bool) -> llvm.Function:
    """(common, addresses, mask, value words, compare words) -> old words."""
    op, kind, returns, together = operation.op, operation.number, operation.returns, operation.together
    ordered = returns or op not in COMMUTES or kind.startswith(("f", "bf"))
    return _routine(
        routines, f"atomic_{space}_{op}_{kind}{'_old' * returns}{'_together' * together}", space, SIZES.get(kind, 4),
        Touch.ORDERED if ordered else COMMUTES[op], compares,
        lambda code, place, value, wanted: _one(code, place, op, kind, value, wanted),
        "count" if together else "compare" if compares else "atomic",
    )  # fmt: skip


def update_routine(routines: AccessRoutines, becomes: Update) -> llvm.Function:
    """(common, shared addresses, mask, value words) -> old words, with 8 bytes that become becomes(old, value)."""

    def one(code: StructuredBuilder, place: llvm.Value, value: llvm.Value, _: llvm.Value | None) -> llvm.Value:
        emitter = LlvmEmitter(code.b)
        old = code.b.load(place, typ=I64)
        code.b.store(becomes(U64(emitter, old), U64(emitter, value)).node, place)
        return old

    return _routine(routines, f"update_{becomes.__name__}", "shared", 8, Touch.ORDERED, False, one)


def note_mbarrier(
    code: StructuredBuilder, block: llvm.Value, address: llvm.Value, instruction: llvm.Value, change: MbarrierChange
) -> None:
    """An instruction changes the mbarrier at a shared address."""
    kept = code.b.and_(code.b.lshr(address, i32(3)), i32(MBARRIERS_KEPT - 1))
    place = code.b.or_(kept, i32(MBARRIERS_KEPT * change))
    code.store(address, BlockState, block, "mbarriers", place)
    code.store(instruction, BlockState, block, "mbarriers_changed_at", place)


def _routine(
    routines: AccessRoutines, name: str, space: Space, size: int, touch: int, compares: bool, one: One,
    how: Access = "atomic",
) -> llvm.Function:  # fmt: skip
    """An atomic routine: each lane of the mask in turn."""
    if found := routines.module.globals.get(name):
        return found
    words = size // 4
    result = V32 if words == 1 else llvm.LiteralStructType([V32] * words)
    made, site, address, data = routines.begin(name, result, space, [V32] * (words * (2 if compares else 1)))
    code = site.code
    pointers = checked_pointers(routines.count, site, space, address, size, touch, nothing(result), how)
    values, wanted = _lanes(code, data[:words]), _lanes(code, data[words:]) if compares else None
    olds = code.variable(llvm.ArrayType(I32, LANES * words))
    places = code.variable(vector(PTR), pointers)
    number = llvm.IntType(8 * size)

    def lane_of(lane: llvm.Value) -> None:
        b = code.b
        wide = b.zext(lane, I64)
        place = b.load(b.gep(places, [wide], source_etype=PTR), typ=PTR)
        offset = b.mul(wide, i64(size))
        value = b.load(code.at(values, offset), typ=number, align=4)
        compare = None if wanted is None else b.load(code.at(wanted, offset), typ=number, align=4)
        b.store(one(code, place, value, compare), code.at(olds, offset), align=4)

    code.each_bit(site.mask, lane_of)
    whole = code.b.load(olds, typ=llvm.VectorType(I32, LANES * words), align=4)
    return_words(code.b, deinterleaved(code.b, whole, LANES), result)
    return made


def compare_and_store_routine(routines: AccessRoutines, size: int) -> llvm.Function:
    """(common, addresses, mask, compare words, value words) -> 1 in the lanes whose value was stored."""
    name = f"compare_and_store_{size}"
    if found := routines.module.globals.get(name):
        return found
    words = size // 4
    made, site, address, data = routines.begin(name, V32, "shared", [V32] * (2 * words))
    code, zero = site.code, llvm.IRConstant(V32, None)
    pointers = checked_pointers(routines.count, site, "shared", address, size, Touch.ORDERED, zero, "spin")
    wanted, values = _lanes(code, data[:words]), _lanes(code, data[words:])
    stored = code.variable(V32, zero)
    places = code.variable(vector(PTR), pointers)
    number = I32 if words == 1 else I64

    def lane_of(lane: llvm.Value) -> None:
        b = code.b
        wide = b.zext(lane, I64)
        place = b.load(b.gep(places, [wide], source_etype=PTR), typ=PTR)
        offset = b.mul(wide, i64(size))
        expected = b.load(code.at(wanted, offset), typ=number, align=4)
        with code.when(b.icmp_signed("==", b.load(place, typ=number), expected)):
            b.store(b.load(code.at(values, offset), typ=number, align=4), place)
            b.store(i32(1), b.gep(stored, [wide], source_etype=I32))

    # One lane of each bank tries at a time: the lowest (seen on an H200, where 32 lanes of one bank take 32 turns,
    # whether their words are the same or not); with words of 8 bytes one of each half warp (random programs there).
    b = code.b
    unit = b.lshr(address, LlvmEmitter(b).number(address, size.bit_length() - 1))
    bank = b.and_(unit, LlvmEmitter(b).number(unit, 128 // size - 1))
    for group in range(words):
        part = b.and_(site.mask, i32(((1 << LANES // words) - 1) << (LANES // words * group)))
        routines.count.each_distinct(code, bank, part, lambda _, lanes: lane_of(code.lowest(lanes)))
    code.b.ret(code.b.load(stored, typ=V32))
    return made


def _lanes(code: StructuredBuilder, words: Sequence[llvm.Value]) -> llvm.Value:
    """An array with the words of each lane in sequence."""
    place = code.variable(llvm.ArrayType(I32, LANES * len(words)))
    code.b.store(interleaved(code.b, words), place, align=4)
    return place


def _one(
    code: StructuredBuilder,
    place: llvm.Value,
    op: Reduction,
    kind: Number,
    value: llvm.Value,
    compare: llvm.Value | None,
) -> llvm.Value:
    """One lane's operation; the old value.

    What depends on its order is never run by two threads at once, so only integer operations that commute need the
    host's atomics.
    """
    b = code.b
    if op == "cas" or (op == "exch" and kind == "u128"):
        old = b.load(place, typ=value.type)
        b.store(value if compare is None else b.select(b.icmp_signed("==", old, compare), value, old), place)
        return old
    if op != "exch" and kind.startswith(("f", "bf")):
        if op != "add":
            raise UnsupportedInstruction(f"no meaning for {op} of {kind} by atomic operations: add it to {__name__}")
        old = b.load(place, typ=value.type)
        b.store(_sum(LlvmEmitter(b), kind, old, value), place)
        return old
    name = NATIVE.get(op) or ("" if kind.startswith("s") else "u") + op
    return b.atomic_rmw(name, place, value, "monotonic")


def _sum(e: LlvmEmitter, kind: Number, x: llvm.Value, y: llvm.Value) -> llvm.Value:
    """x + y, numbers of a kind as one integer each."""
    b = e.b
    if kind == "f64":
        return b.bitcast(b.fadd(b.bitcast(x, DOUBLE), b.bitcast(y, DOUBLE)), I64)
    total: llvm.Value = llvm.IRConstant(x.type, 0)
    for shift in range(0, x.type.width, 32):
        words = [_word(b, v, shift) for v in (x, y)]
        if "16x" in kind:
            pairs = (U32(e, v).bitcast(H2) for v in words)
            word: llvm.Value = hadd2(*pairs, BF16_V2=kind.startswith("bf"), SAT=False, RELU=False, FTZ=False).node
        else:
            parts = (F32(e, b.bitcast(v, FLOAT)) for v in words)
            word = b.bitcast(fadd(*parts, FTZ=True, SAT=False).node, I32)
        total = word if x.type == I32 else b.or_(total, b.shl(b.zext(word, x.type), llvm.IRConstant(x.type, shift)))
    return total


def _word(b: llvm.IRBuilder, value: llvm.Value, shift: int) -> llvm.Value:
    return value if value.type == I32 else b.trunc(b.lshr(value, llvm.IRConstant(value.type, shift)), I32)
