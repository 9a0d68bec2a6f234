"""Loads and stores in generated code: check, count, move.

Each access first tries the pattern that most have, all 32 lanes on consecutive places: one range check, closed-form
counts, one vector move.  Everything else goes to a routine for its space and width (routines.py).
"""

from __future__ import annotations

from collections.abc import Sequence

from llvmlite import ir

from warplens.emulator.code import Code, i32, i64
from warplens.emulator.emit import LlvmEmitter
from warplens.emulator.layout import Env, Fault
from warplens.emulator.plan import BYTES, IDEAL, REQUESTS, SECTORS, TAGS, WAVEFRONTS
from warplens.emulator.routines import Routines, narrow, widened
from warplens.emulator.site import V32, Site, deinterleaved, interleaved, iota
from warplens.emulator.vectors import I8, I16, I32, LANES, vector
from warplens.isa._warp import Space

EVERY = i32(-1)


def load(
    routines: Routines, site: Site, space: Space, address: ir.Value, size: int, signed: bool, fault: ir.Block
) -> list[ir.Value]:
    """Each lane's words; on a fault control goes to `fault`."""
    code, b = site.code, site.b
    results = [code.variable(V32) for _ in range(max(size // 4, 1))]

    def keep(values: Sequence[ir.Value]) -> None:
        for place, value in zip(results, values, strict=True):
            b.store(value, place)

    general, after = (b.append_basic_block(n) for n in ("general", "after"))
    if _starts_row(site, space, address, size, general):
        place = site.pointer(space, b.extract_element(address, i32(0)))
        keep(_local_row(code, place, size) if space == "local" else _row(code, place, size, signed))
        b.branch(after)
        b.position_at_end(general)
    made = b.call(routines.gather(space, size, signed), [*site.common(), address, site.mask])
    keep([b.extract_value(made, k) for k in range(len(results))] if len(results) > 1 else [made])
    leave_on_fault(site, fault, after)
    return [b.load(place, typ=V32) for place in results]


def store(
    routines: Routines, site: Site, space: Space, address: ir.Value, data: Sequence[ir.Value], size: int,
    fault: ir.Block,
) -> None:  # fmt: skip
    code, b = site.code, site.b
    words = [LlvmEmitter(b).splat(w) for w in data]
    general, after = (b.append_basic_block(n) for n in ("general", "after"))
    if _starts_row(site, space, address, size, general):
        place = site.pointer(space, b.extract_element(address, i32(0)))
        if space == "local":
            for k, word in enumerate(words):
                b.store(word, code.at(place, 128 * k), align=4)
        else:
            b.store(interleaved(b, [narrow(b, w, size) for w in words]), place, align=min(size, 16))
        b.branch(after)
        b.position_at_end(general)
    b.call(routines.scatter(space, size), [*site.common(), address, site.mask, *words])
    leave_on_fault(site, fault, after)


def leave_on_fault(site: Site, fault: ir.Block, after: ir.Block) -> None:
    """Behind an access routine: to `fault` if it recorded one, else on at `after`."""
    kind = site.code.load(Fault, site.code.field(Env, site.env, "fault"), "kind")
    site.b.cbranch(site.code.nonzero(kind), fault, after).set_weights([1, 10000])
    site.b.position_at_end(after)


def _starts_row(site: Site, space: Space, address: ir.Value, size: int, general: ir.Block) -> bool:
    """Branches to a block for 32 lanes on consecutive places (for local memory: on the same), and counts there.

    False, with nothing branched, where there is no such pattern to try.
    """
    if space == "local" and size < 4:
        site.b.branch(general)
        site.b.position_at_end(general)
        return False
    b = site.b
    step = 0 if space == "local" else size
    kind = address.type.element
    first = b.extract_element(address, i32(0))
    expected = b.add(LlvmEmitter(b).splat(first), iota(step, kind))
    same = b.bitcast(b.icmp_signed("==", address, expected), I32)
    aligned = b.icmp_signed("==", b.and_(first, ir.Constant(kind, size - 1)), ir.Constant(kind, 0))
    row = b.and_(b.icmp_signed("==", b.and_(same, site.mask), EVERY), aligned)
    row = b.and_(row, site.inside(space, first, size, step * (LANES - 1)))
    fast = b.append_basic_block("row")
    b.cbranch(row, fast, general).set_weights([100, 1])
    b.position_at_end(fast)
    _count_row(site, space, first, size)
    return True


def _count_row(site: Site, space: Space, first: ir.Value, size: int) -> None:
    b = site.b
    site.add(REQUESTS, i64(1))
    site.add(BYTES, i64(LANES * size))
    if space == "shared":
        site.add(WAVEFRONTS, i64(max(size // 4, 1)))
        site.add(IDEAL, i64(max(size // 4, 1)))
        return
    site.add(IDEAL, i64(size))
    if space == "local":
        site.add(SECTORS, i64(size))
        site.add(TAGS, i64(size // 4))
        return
    last = b.add(first, i64(LANES * size - 1))
    for column, shift in ((SECTORS, 5), (TAGS, 7)):
        pieces = b.sub(b.lshr(last, i64(shift)), b.lshr(first, i64(shift)))
        site.add(column, b.add(pieces, i64(1)))


def _local_row(code: Code, place: ir.Value, size: int) -> list[ir.Value]:
    return [code.b.load(code.at(place, 128 * k), typ=V32, align=4) for k in range(size // 4)]


def _row(code: Code, place: ir.Value, size: int, signed: bool) -> list[ir.Value]:
    b = code.b
    if size < 4:
        got = b.load(place, typ=vector(I8 if size == 1 else I16), align=size)
        return [widened(b, got, signed)]
    whole = b.load(place, typ=ir.VectorType(I32, LANES * size // 4), align=min(size, 16))
    return deinterleaved(b, whole, LANES)
