"""Atomic operations in generated code: lane after lane in order of lane number."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from llvmlite import ir

from warplens.emulator.check import checked
from warplens.emulator.code import Code, i32, i64
from warplens.emulator.emit import LlvmEmitter
from warplens.emulator.layout import Touch
from warplens.emulator.site import V32
from warplens.emulator.vectors import FLOAT, I32, I64, PTR, vector
from warplens.isa._lanes import F32
from warplens.isa._warp import Reduction, Space

if TYPE_CHECKING:
    from warplens.emulator.routines import Routines

COMMUTES = {
    "add": Touch.ADD, "min": Touch.MIN, "max": Touch.MAX, "and": Touch.AND, "or": Touch.OR, "xor": Touch.XOR,
}  # fmt: skip
NATIVE = {
    "add": "add", "and": "and", "or": "or", "xor": "xor", "exch": "xchg", "inc": "uinc_wrap", "dec": "udec_wrap",
}  # fmt: skip


def atomic_routine(
    routines: Routines, space: Space, op: Reduction, kind: str, returns: bool, compares: bool
) -> ir.Function:
    """(common, addresses, mask, value words, compare words) -> old words."""
    name = f"atomic_{space}_{op}_{kind}{'_old' if returns else ''}"
    if found := routines.module.globals.get(name):
        return found
    size = 8 if kind.endswith("64") else 4
    words = size // 4
    result = V32 if words == 1 else ir.LiteralStructType([V32] * words)
    made, site, address, data = routines.begin(name, result, space, [V32] * (words * (2 if compares else 1)))
    code = site.code
    ordered = returns or op not in COMMUTES or kind.startswith("f")
    touch = Touch.ORDERED if ordered else COMMUTES[op]
    idle = ir.Constant(V32, None) if words == 1 else ir.Constant(result, [ir.Constant(V32, None)] * words)
    pointers = checked(routines, site, space, address, size, touch, idle, "atomic")
    values, wanted = _lanes(code, data[:words]), _lanes(code, data[words:]) if compares else None
    olds = code.variable(ir.ArrayType(I32, 32 * words))
    places = code.variable(vector(PTR))
    code.b.store(pointers, places)
    number = I32 if words == 1 else I64

    def lane_of(lane: ir.Value) -> None:
        b = code.b
        wide = b.zext(lane, I64)
        place = b.load(b.gep(places, [wide], source_etype=PTR), typ=PTR)
        at = code.at(values, b.mul(wide, i64(size)))
        value = b.load(at, typ=number, align=size)
        compare = (
            None
            if wanted is None
            else b.load(code.at(wanted, b.mul(wide, i64(size))), typ=number, align=size)
        )
        old = _one(code, place, op, kind, value, compare)
        b.store(old, code.at(olds, b.mul(wide, i64(size))), align=size)

    code.each_bit(site.mask, lane_of)
    code.b.ret(_gathered(code, olds, words, result))
    return made


def compare_and_store_routine(routines: Routines, size: int) -> ir.Function:
    """(common, addresses, mask, compare words, value words) -> 1 in the lanes whose value was stored."""
    name = f"compare_and_store_{size}"
    if found := routines.module.globals.get(name):
        return found
    words = size // 4
    made, site, address, data = routines.begin(name, V32, "shared", [V32] * (2 * words))
    code, zero = site.code, ir.Constant(V32, None)
    pointers = checked(routines, site, "shared", address, size, Touch.ORDERED, zero, "spin")
    wanted, values = _lanes(code, data[:words]), _lanes(code, data[words:])
    stored = code.variable(V32, zero)
    places = code.variable(vector(PTR), pointers)
    number = I32 if words == 1 else I64

    def lane_of(lane: ir.Value) -> None:
        b = code.b
        wide = b.zext(lane, I64)
        place = b.load(b.gep(places, [wide], source_etype=PTR), typ=PTR)
        offset = b.mul(wide, i64(size))
        expected = b.load(code.at(wanted, offset), typ=number, align=size)
        with code.when(b.icmp_signed("==", b.load(place, typ=number), expected)):
            b.store(b.load(code.at(values, offset), typ=number, align=size), place)
            b.store(i32(1), b.gep(stored, [wide], source_etype=I32))

    # One lane of each bank tries at a time: the lowest (seen on an H200, where 32 lanes of one bank take 32 turns,
    # whether their words are the same or not).
    b = code.b
    unit = b.lshr(address, LlvmEmitter(b).number(address, size.bit_length() - 1))
    bank = b.and_(unit, LlvmEmitter(b).number(unit, 128 // size - 1))
    routines.count.each_distinct(code, bank, site.mask, lambda _, lanes: lane_of(code.lowest(lanes)))
    code.b.ret(code.b.load(stored, typ=V32))
    return made


def _lanes(code: Code, words: Sequence[ir.Value]) -> ir.Value:
    """An array with each lane's words side by side."""
    b = code.b
    n = len(words)
    place = code.variable(ir.ArrayType(I64, 16 * n))
    if n == 1:
        b.store(words[0], place, align=8)
        return place
    kind = vector(I64)
    whole = b.or_(b.zext(words[0], kind), b.shl(b.zext(words[1], kind), LlvmEmitter(b).splat(i64(32))))
    b.store(whole, place, align=8)
    return place


def _gathered(code: Code, olds: ir.Value, words: int, result: ir.Type) -> ir.Value:
    b = code.b
    if words == 1:
        return b.load(olds, typ=V32, align=4)
    whole = b.load(olds, typ=vector(I64), align=4)
    both: ir.Value = ir.Constant(result, ir.Undefined)
    both = b.insert_value(both, b.trunc(whole, V32), 0)
    high = b.lshr(whole, LlvmEmitter(b).splat(i64(32)))
    return b.insert_value(both, b.trunc(high, V32), 1)


def _one(
    code: Code, place: ir.Value, op: Reduction, kind: str, value: ir.Value, compare: ir.Value | None
) -> ir.Value:
    """One lane's operation; the old value.

    What depends on its order is never run by two threads at once, so only integer operations that commute need the
    host's atomics.
    """
    b = code.b
    if kind.startswith("f"):
        return _float(code, place, op, kind, value)
    if op == "cas":
        old = b.load(place, typ=value.type)
        b.store(b.select(b.icmp_signed("==", old, compare), value, old), place)
        return old
    name = NATIVE.get(op) or ("" if kind.startswith("s") else "u") + op
    return b.atomic_rmw(name, place, value, "monotonic")


def _float(code: Code, place: ir.Value, op: Reduction, kind: str, value: ir.Value) -> ir.Value:
    b = code.b
    old = b.load(place, typ=value.type)
    if op == "exch":
        b.store(value, place)
        return old
    combine: dict[str, Callable[[ir.Value, ir.Value], ir.Value]] = {"add": b.fadd}
    if kind == "f32":
        emitter = LlvmEmitter(b)
        flushed = [emitter.do_ftz(F32, (), b.bitcast(v, FLOAT)) for v in (old, value)]
        total = emitter.do_ftz(F32, (), emitter.canonical(combine[op](*flushed)))
        b.store(b.bitcast(total, I32), place)
        return old
    number = ir.DoubleType() if kind == "f64" else ir.VectorType(ir.HalfType(), 2)
    total = combine[op](b.bitcast(old, number), b.bitcast(value, number))
    b.store(b.bitcast(total, value.type), place)
    return old
