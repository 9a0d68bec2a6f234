"""Load/store emission: check, count, move.

Where the form of the address is known (pattern.py), one range check and one count do for all lanes.  Addresses that are
32 numbers are tried for the pattern that most have, all lanes on consecutive places.  Everything else goes to a routine
for its space and width (gather_scatter.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeGuard

from warplens import llvm
from warplens.emulator.access.gather_scatter import AccessRoutines, narrow, widened
from warplens.emulator.access.pattern import Pattern, pattern_of
from warplens.emulator.access.site import V32, AccessSite, deinterleaved, interleaved, iota, is_short
from warplens.emulator.analysis.affine import AffineValue
from warplens.emulator.codegen.emitter import LlvmEmitter
from warplens.emulator.codegen.structured_builder import StructuredBuilder, i32, i64
from warplens.emulator.codegen.vector_types import I8, I16, I32, LANES, PTR, intrinsic, is_vector, undefined, vector
from warplens.emulator.state.counter_layout import BYTES, IDEAL, REQUESTS, SECTORS, TAGS, WAVEFRONTS
from warplens.emulator.state.structs import Bounds, Fault, WorkerEnv
from warplens.isa.dsl.warp_interface import Space

EVERY = i32(-1)
HALF = LANES // 2
LINE = 64  # bytes of the host's cache
# Of a grid-stride loop what the next 8 warps will need of each round is fetched at once.  128 bytes a warp leave the
# host's memory at half its speed.
BURST = 1024
AHEAD = 512  # bytes, where warp after warp continues in one buffer: 128 take a fifth longer to add 2^24 floats


def load(
    routines: AccessRoutines,
    site: AccessSite,
    space: Space,
    address: Any,
    size: int,
    signed: bool,
    fault: llvm.BasicBlock,
) -> list[llvm.Value]:
    """Emits a load: each lane's words, or one for all lanes; branches to `fault` on a fault."""
    code, b = site.code, site.b
    pattern = site.usual(pattern_of(address, site.tile, space, size, stores=False))
    one = site.together and space in ("global", "shared") and site.e.is_scalar(address)
    if pattern is not None and pattern.kind == "same" and not one:
        pattern = None
    results = [code.variable(I32 if one else V32) for _ in range(max(size // 4, 1))]

    def keep(values: Sequence[llvm.Value]) -> None:
        for place, value in zip(results, values, strict=True):
            b.store(value, place)

    general, after = (b.append_basic_block(n) for n in ("general", "after"))
    if pattern is not None:
        _begin(routines, site, space, pattern, size, general)
        keep(_loaded_words(site, space, pattern, size, signed))
        b.branch(after)
        b.position_at_end(general)
    if site.guarded:
        for place in results:
            b.store(llvm.IRConstant(I32 if one else V32, None), place)
        _unless_idle(site, after)
    numbers = site.e.splat(address)
    if pattern is None and _may_be_row(address) and _starts_row(routines, site, space, numbers, size, general):
        place = site.pointer(space, b.extract_element(numbers, i32(0)))
        keep(_local_row(code, place, size) if space == "local" else _row(code, place, size, signed))
        b.branch(after)
        b.position_at_end(general)
    elif pattern is None:
        b.branch(general)
        b.position_at_end(general)
    if _is_row_of_words(pattern, space, size):
        made = b.call(routines.gather_row(space), [*site.common(), pattern.first, site.mask])
    else:
        made = b.call(routines.gather(space, size, signed), [*site.common(), numbers, site.mask])
    values = [b.extract_value(made, k) for k in range(len(results))] if len(results) > 1 else [made]
    keep([b.extract_element(v, code.lowest(site.mask)) for v in values] if one else values)
    return_on_fault(site, fault, after)
    return [b.load(place, typ=I32 if one else V32) for place in results]


def store(
    routines: AccessRoutines,
    site: AccessSite,
    space: Space,
    address: Any,
    data: Sequence[Any],
    size: int,
    fault: llvm.BasicBlock,
) -> None:
    code, b = site.code, site.b
    words = [site.e.splat(w) for w in data]
    pattern = site.usual(pattern_of(address, site.tile, space, size, stores=True))
    general, after = (b.append_basic_block(n) for n in ("general", "after"))

    def move(place: llvm.Value) -> None:
        if space == "local":
            for k, word in enumerate(words):
                b.store(word, code.at(place, 128 * k), align=4)
        else:
            b.store(interleaved(b, [narrow(b, w, size) for w in words]), place, align=min(size, 16))
        b.branch(after)
        b.position_at_end(general)

    if pattern is not None:
        _begin(routines, site, space, pattern, size, general)
        if pattern.kind == "tile":
            whole = interleaved(b, words)
            places = _rows(site, space, pattern)
            _prefetch(site, space, pattern, places, write=True)
            for row, place in enumerate(places):
                b.store(_part(b, whole, row), place, align=min(size, 16))
            b.branch(after)
            b.position_at_end(general)
        else:
            place = site.pointer(space, pattern.first)
            _prefetch(site, space, pattern, [place], write=True)
            move(place)
    if site.guarded:
        _unless_idle(site, after)
    numbers = site.e.splat(address)
    if pattern is None and _may_be_row(address) and _starts_row(routines, site, space, numbers, size, general):
        move(site.pointer(space, b.extract_element(numbers, i32(0))))
    elif pattern is None:
        b.branch(general)
        b.position_at_end(general)
    if _is_row_of_words(pattern, space, size):
        b.call(routines.scatter_row(space), [*site.common(), pattern.first, site.mask, *words])
    else:
        b.call(routines.scatter(space, size), [*site.common(), numbers, site.mask, *words])
    return_on_fault(site, fault, after)


def return_on_fault(site: AccessSite, fault: llvm.BasicBlock, after: llvm.BasicBlock) -> None:
    """Emitted after an access routine: branches to `fault` if it recorded one, else to `after`."""
    kind = site.code.load(Fault, site.code.field(WorkerEnv, site.env, "fault"), "kind")
    site.b.cbranch(site.code.nonzero(kind), fault, after).set_weights([1, 10000])
    site.b.position_at_end(after)


def _is_row_of_words(pattern: Pattern | None, space: Space, size: int) -> TypeGuard[Pattern]:
    return pattern is not None and pattern.kind == "row" and size == 4 and space != "local"


def _unless_idle(site: AccessSite, after: llvm.BasicBlock) -> None:
    """Branches to `after` if no lane is active."""
    some = site.b.append_basic_block("some")
    site.b.cbranch(site.b.icmp_signed("==", site.mask, i32(0)), after, some)
    site.b.position_at_end(some)


# Forms that show in the address


def _begin(
    routines: AccessRoutines, site: AccessSite, space: Space, pattern: Pattern, size: int, general: llvm.BasicBlock
) -> None:
    """Continues in a block where the pattern is in bounds and counted; else branches to `general`."""
    b, first = site.b, pattern.first
    kind = first.type
    reach = pattern.step * (HALF - 1 if pattern.kind == "tile" else LANES - 1) if space != "local" else 0
    checks = []
    if pattern.kind != "same" or (space == "shared" and size > 4):
        checks.append(b.icmp_signed("==", site.mask, EVERY))
    elif site.guarded:
        checks.append(b.icmp_signed("!=", site.mask, i32(0)))
    far = pattern.distance
    runtime_rows = pattern.kind == "tile" and not isinstance(far, int)
    misaligned = b.or_(first, far) if runtime_rows else first
    counted_here = site.counted and pattern.kind == "row" and space == "global"
    aligned = size if counted_here or (space == "global" and not site.counted) else pattern.aligned
    if aligned > 1:
        low = b.and_(misaligned, llvm.IRConstant(kind, aligned - 1))
        checks.append(b.icmp_signed("==", low, llvm.IRConstant(kind, 0)))
    if runtime_rows:
        checks.append(b.icmp_signed(">=", far, llvm.IRConstant(kind, max(128, HALF * size))))
    checks.append(site.inside(space, first, size, reach))
    if pattern.kind == "tile" and not (isinstance(far, int) and far == 0):
        checks.append(site.inside(space, _second(b, pattern), size, reach))
    fine = checks[0]
    for check in checks[1:]:
        fine = b.and_(fine, check)
    fast = b.append_basic_block("fast")
    b.cbranch(fine, fast, general).set_weights([1000, 1])
    b.position_at_end(fast)
    if counted_here and pattern.aligned > size:
        low = b.and_(first, llvm.IRConstant(kind, pattern.aligned - 1))
        usual = b.icmp_signed("==", low, llvm.IRConstant(kind, 0))
        with b.if_else(usual, likely=True) as (yes, no):
            with yes:
                site.hit()
            with no:
                b.call(routines.count_row(size), [site.counters, first])
    else:
        site.hit()


def _second(b: llvm.IRBuilder, pattern: Pattern) -> llvm.Value:
    kind = pattern.first.type
    far = llvm.IRConstant(kind, pattern.distance) if isinstance(pattern.distance, int) else pattern.distance
    return b.add(pattern.first, far)


def _rows(site: AccessSite, space: Space, pattern: Pattern) -> list[llvm.Value]:
    """The addresses of the two rows of a tile."""
    return [site.pointer(space, pattern.first), site.pointer(space, _second(site.b, pattern))]


def _loaded_words(site: AccessSite, space: Space, pattern: Pattern, size: int, signed: bool) -> list[llvm.Value]:
    code, b = site.code, site.b
    if pattern.kind == "tile":
        places = _rows(site, space, pattern)
        _prefetch(site, space, pattern, places)
        rows = [_tile_row(site, place, pattern.step, size) for place in places]
        both = llvm.IRConstant(V32, list(range(LANES)))
        return [b.shuffle_vector(low, high, both) for low, high in zip(*rows, strict=True)]
    place = site.pointer(space, pattern.first)
    if space == "local":
        return _local_row(code, place, size)
    _prefetch(site, space, pattern, [place])
    return _one(code, place, size, signed) if pattern.kind == "same" else _row(code, place, size, signed)


def _prefetch(
    site: AccessSite, space: Space, pattern: Pattern, rows: Sequence[llvm.Value], write: bool = False
) -> None:
    """The instruction is likely to go on as far from here as here is from its last place: in a loop, or in the next
    warp; and the next warp will run the same loop after this one, or is in the same round as this one where
    warps are interleaved (grid.py): then a row follows the one before.  Prefetched, a grid-stride loop of
    additions runs at almost three times the speed, and a product of matrices whose rows are a multiple of 4096 bytes
    apart at twice.
    """
    if space != "global" or pattern.kind not in ("row", "tile"):
        return
    b, code = site.b, site.code
    entry = site.bounds_entry()
    step = b.sub(pattern.first, code.load(Bounds, entry, "last"))
    code.store(pattern.first, Bounds, entry, "last")
    prefetch = intrinsic(b.module, "llvm.prefetch.p0", llvm.VoidType(), [PTR, I32, I32, I32])
    reach = pattern.step * LANES // len(rows)

    def fetch(place: llvm.Value, ahead: llvm.Value | int) -> None:
        b.call(prefetch, [code.at(place, ahead), i32(int(write)), i32(3), i32(1)])

    def fetch_row(ahead: int) -> None:
        for place in rows:
            for line in range(0, max(reach, 1), LINE):
                fetch(place, ahead + line)

    def near() -> None:
        for place in rows:
            for line in range(0, max(reach, 1), LINE):
                fetch(place, b.add(step, i64(line)))
        fetch_row(reach)

    if pattern.kind == "tile":
        near()
        return
    with b.if_else(b.icmp_signed("==", step, i64(reach)), likely=True) as (row_by_row, otherwise):
        with row_by_row:
            fetch_row(max(reach, AHEAD))
        with otherwise, b.if_else(is_short(code, entry, step), likely=True) as (short, long):
            with short:
                near()
            with long:
                code.bump(code.field(WorkerEnv, site.env, "far"))
                begins = b.icmp_signed("==", b.and_(pattern.first, i64(BURST - 1)), i64(0))
                with code.when(begins, likely=False):
                    for line in range(0, BURST, LINE):
                        fetch(rows[0], BURST + line)


def _tile_row(site: AccessSite, place: llvm.Value, step: int, size: int) -> list[llvm.Value]:
    code, b, words = site.code, site.b, size // 4
    if step:
        whole = b.load(place, typ=llvm.VectorType(I32, HALF * words), align=min(size, 16))
        return deinterleaved(b, whole, HALF)
    kind = llvm.VectorType(I32, HALF)
    parts = []
    for k in range(words):
        word = b.load(code.at(place, 4 * k), typ=I32, align=4)
        first = b.insert_element(undefined(kind), word, i32(0))
        parts.append(b.shuffle_vector(first, undefined(kind), llvm.IRConstant(kind, [0] * HALF)))
    return parts


def _part(b: llvm.IRBuilder, whole: llvm.Value, row: int) -> llvm.Value:
    """The words of one row of a tile."""
    n = whole.type.count // 2
    order = llvm.IRConstant(llvm.VectorType(I32, n), list(range(row * n, row * n + n)))
    return b.shuffle_vector(whole, undefined(whole.type), order)


def _one(code: StructuredBuilder, place: llvm.Value, size: int, signed: bool) -> list[llvm.Value]:
    b = code.b
    if size < 4:
        got = b.load(place, typ=I8 if size == 1 else I16, align=size)
        return [b.sext(got, I32) if signed else b.zext(got, I32)]
    return [b.load(code.at(place, 4 * k), typ=I32, align=4) for k in range(size // 4)]


# Addresses that are 32 numbers


def _may_be_row(address: Any) -> bool:
    """Whether the row pattern has to be tested at run time."""
    if isinstance(address, AffineValue):
        return not all(isinstance(step, int) for step in address.parts[1:])
    return is_vector(address)


def _starts_row(
    routines: AccessRoutines, site: AccessSite, space: Space, address: llvm.Value, size: int, general: llvm.BasicBlock
) -> bool:
    """Branches to a block for 32 lanes on consecutive places (for local memory: on the same), and counts there.

    False, with nothing branched, where there is no such pattern to try.
    """
    if space == "local" and size < 4:
        return False
    b = site.b
    step = 0 if space == "local" else size
    kind = address.type.element
    first = b.extract_element(address, i32(0))
    expected = b.add(LlvmEmitter(b).splat(first), iota(step, kind))
    same = b.bitcast(b.icmp_signed("==", address, expected), I32)
    aligned = b.icmp_signed("==", b.and_(first, llvm.IRConstant(kind, size - 1)), llvm.IRConstant(kind, 0))
    row = b.and_(b.icmp_signed("==", b.and_(same, site.mask), EVERY), aligned)
    row = b.and_(row, site.inside(space, first, size, step * (LANES - 1)))
    fast = b.append_basic_block("row")
    b.cbranch(row, fast, general).set_weights([100, 1])
    b.position_at_end(fast)
    _count_row(routines, site, space, first, size)
    return True


def _count_row(routines: AccessRoutines, site: AccessSite, space: Space, first: llvm.Value, size: int) -> None:
    if not site.counted:
        return
    if space == "global":
        site.b.call(routines.count_row(size), [site.counters, first])
        return
    passes = max(size // 4, 1)
    shared = ((WAVEFRONTS, passes), (IDEAL, passes))
    columns = shared if space == "shared" else ((IDEAL, size), (SECTORS, size), (TAGS, size // 4))
    for column, by in ((REQUESTS, 1), (BYTES, LANES * size), *columns):
        site.add(column, i64(by))


def _local_row(code: StructuredBuilder, place: llvm.Value, size: int) -> list[llvm.Value]:
    return [code.b.load(code.at(place, 128 * k), typ=V32, align=4) for k in range(size // 4)]


def _row(code: StructuredBuilder, place: llvm.Value, size: int, signed: bool) -> list[llvm.Value]:
    b = code.b
    if size < 4:
        got = b.load(place, typ=vector(I8 if size == 1 else I16), align=size)
        return [widened(b, got, signed)]
    whole = b.load(place, typ=llvm.VectorType(I32, LANES * size // 4), align=min(size, 16))
    return deinterleaved(b, whole, LANES)
