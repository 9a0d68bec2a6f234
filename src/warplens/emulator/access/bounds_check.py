"""Bounds check: checks alignment and bounds of an access and counts it, lane by lane where needed."""

from __future__ import annotations

from collections.abc import Callable
from ctypes import sizeof

from warplens import llvm
from warplens.emulator.access.coalescing import Access, CoalescingClassifier
from warplens.emulator.access.site import SPACES, V32, V64, AccessSite, is_short
from warplens.emulator.access.trap import record_fault
from warplens.emulator.codegen.emitter import LlvmEmitter
from warplens.emulator.codegen.structured_builder import StructuredBuilder, function, i32, i64
from warplens.emulator.codegen.vector_types import I1, I32, I64, LANES, PTR
from warplens.emulator.memory.copy_on_write import CHUNK_BYTES, CHUNK_SHIFT, save_chunk
from warplens.emulator.state.counter_layout import BYTES, IDEAL, REQUESTS, SECTORS, TAGS, WAVEFRONTS
from warplens.emulator.state.structs import Bounds, BufferRange, Fault, FaultKind, Touch, WorkerEnv
from warplens.isa.dsl.warp_interface import Space


def checked_pointers(
    count: CoalescingClassifier,
    site: AccessSite,
    space: Space,
    address: llvm.Value,
    size: int,
    touch: int,
    idle: llvm.Value | None,
    how: Access = "load",
) -> llvm.Value:
    """Host pointers of the lanes, of inactive ones that of an active lane, after check and count; the routine returns
    `idle` on a fault."""
    places, deltas = check_bounds(count, site, space, address, size, touch, idle)
    if site.counted:
        _count(count, site, space, places, size, how)
    return site.pointers(space, places, deltas)


def check_bounds(
    count: CoalescingClassifier,
    site: AccessSite,
    space: Space,
    address: llvm.Value,
    size: int,
    touch: int,
    idle: llvm.Value | None,
) -> tuple[llvm.Value, llvm.Value | None]:
    """Returns `idle` from the routine if a lane's access is out of bounds or misaligned.

    The result: the addresses, in inactive lanes that of an active one; and of global ones the offset from each to its
    host address.
    """
    b, code, emitter = site.b, site.code, LlvmEmitter(site.b)
    first = b.and_(code.lowest(site.mask), i32(31))
    places = code.variable(address.type, address)
    with code.when(b.icmp_signed("!=", site.mask, i32(-1))):
        some = emitter.splat(b.extract_element(address, first))
        b.store(b.select(code.lanes(site.mask), address, some), places)
    deltas = code.variable(V64) if space == "global" else None
    if deltas is not None:
        b.store(emitter.splat(code.load(Bounds, site.bounds_entry(), "delta")), deltas)
    wrong = _misplaced(site, space, b.load(places, typ=address.type), size)
    found = code.intrinsic("vector.reduce.or", wrong, result=wrong.type.element)
    with code.when(code.nonzero(found), likely=False):
        wide = address if space == "global" else b.zext(address, V64)
        lanes = b.and_(b.bitcast(b.icmp_signed("!=", wrong, emitter.number(wrong, 0)), I32), site.mask)
        settings = [site.index, wide, site.mask, lanes, i32(size), i32(touch), i32(SPACES.index(space))]
        slow = look_up(count.module) if space == "global" else record_stray_access(count.module)
        where = [] if deltas is None else [deltas]
        fine = b.call(slow, [site.env, site.block, site.warp, *settings, *where])
        with code.when(b.not_(fine)):
            if idle is None:
                b.ret_void()
            else:
                b.ret(idle)
        if deltas is not None:
            known = b.load(deltas, typ=V64)
            some = emitter.splat(b.extract_element(known, first))
            b.store(b.select(code.lanes(site.mask), known, some), deltas)
    return b.load(places, typ=address.type), None if deltas is None else b.load(deltas, typ=V64)


def _misplaced(site: AccessSite, space: Space, address: llvm.Value, size: int) -> llvm.Value:
    """A number other than 0 for each address that is misaligned, or outside of the memory (global: of the buffer used
    last).  AVX2 compares 64 bits with their sign only."""
    b = site.b
    emitter = LlvmEmitter(b)
    low_bits = b.and_(address, emitter.number(address, size - 1))
    if space == "global":
        low, span = (b.xor(v, i64(-(1 << 63))) for v in site.bounds())
        bad = b.icmp_signed(">=", b.sub(address, emitter.splat(low)), emitter.splat(span))
    else:
        limit = b.trunc(b.sub(site.space_bytes(space), i64(size)), I32)
        bad = b.icmp_unsigned(">", site.offset(space, address), emitter.splat(limit))
        # Memory smaller than the access: the limit is negative, every offset is bad.
        bad = b.or_(bad, emitter.splat(b.icmp_signed("<", limit, i32(0))))
    return b.or_(low_bits, b.sext(bad, address.type))


# Counts


def _count(
    count: CoalescingClassifier, site: AccessSite, space: Space, address: llvm.Value, size: int, how: Access
) -> None:
    site.add(REQUESTS, i64(1))
    if space == "shared":
        _count_shared(count, site, address, size, how)
    elif space == "local":
        _count_local(count, site, address, size)
    else:
        _count_global(count, site, address, size)


def _count_global(count: CoalescingClassifier, site: AccessSite, address: llvm.Value, size: int) -> None:
    """Inactive lanes have the address of an active one."""
    b, code, number = site.b, site.code, LlvmEmitter(site.b).number
    shift = size.bit_length() - 1

    def units(bits: int) -> llvm.Value:
        return b.trunc(b.lshr(address, number(address, bits)), V32)

    first = LlvmEmitter(b).splat(b.extract_element(address, i32(0)))
    apart = b.lshr(b.xor(address, first), number(address, 32 + shift))
    near = b.icmp_signed("==", code.intrinsic("vector.reduce.or", apart, result=I64), i64(0))
    found = [code.variable(I32) for _ in range(3)]
    with b.if_else(near, likely=True) as (yes, no):
        with yes:
            nested = b.call(count.nested(shift), [units(shift)])
            for k, place in enumerate(found):
                b.store(b.and_(b.lshr(nested, i32(8 * k)), i32(0xFF)), place)
        with no:
            for place, bits in zip(found, (shift, 5, 7), strict=True):
                b.store(b.call(count.distinct, [units(bits), site.mask]), place)
    different, sectors, lines = (b.zext(b.load(place, typ=I32), I64) for place in found)
    site.add(BYTES, b.mul(different, i64(size)))
    site.add(SECTORS, sectors)
    site.add(TAGS, lines)
    _count_ideal(site, sectors, size, 5)


def _count_shared(count: CoalescingClassifier, site: AccessSite, address: llvm.Value, size: int, how: Access) -> None:
    b = site.b
    units = b.lshr(address, LlvmEmitter(b).number(address, size.bit_length() - 1))
    if size == 4 and how in ("load", "store"):
        found = b.zext(b.call(count.wavefronts(LANES), [units, site.mask]), I64)
        passes = b.and_(found, i64(0xFF))
        site.add(WAVEFRONTS, passes)
        _count_ideal(site, passes, size, 7)
        site.add(BYTES, b.shl(b.lshr(found, i64(8)), i64(2)))
        return
    passes = b.zext(b.call(count.shared(size, how), [address, site.mask]), I64)
    # Two words a lane go to memory for ATOMS.CAS and a try of ATOMS.CAST.SPIN: read on an H200, wavefronts and their
    # ideal are twice as many.
    for _ in range(2 if how in ("compare", "spin") else 1):
        site.add(WAVEFRONTS, passes)
        _count_ideal(site, passes, size, 7)
    if how == "matrix load":  # rows that lanes share count each time
        site.add(BYTES, b.mul(b.zext(site.code.popcount(site.mask), I64), i64(size)))
        return
    _count_bytes(count, site, units, size)


def _count_local(count: CoalescingClassifier, site: AccessSite, address: llvm.Value, size: int) -> None:
    b = site.b
    emitter = LlvmEmitter(b)
    slot = site.local_slot(site.offset("local", address))
    total: llvm.Value = i64(0)
    for k in range(max(size // 4, 1)):
        place = b.add(slot, emitter.number(slot, 32 * k))
        total = b.add(total, _count_sectors(count, site, b.lshr(place, emitter.number(place, 3))))
    site.add(BYTES, b.mul(b.zext(site.code.popcount(site.mask), I64), i64(size)))
    _count_ideal(site, total, size, 5)


def _count_sectors(count: CoalescingClassifier, site: AccessSite, sectors: llvm.Value) -> llvm.Value:
    """Counts sectors and the lines they are in; returns the sectors."""
    b = site.b
    lines = b.lshr(sectors, LlvmEmitter(b).number(sectors, 2))
    counts = [b.zext(b.call(count.distinct, [v, site.mask]), I64) for v in (sectors, lines)]
    site.add(SECTORS, counts[0])
    site.add(TAGS, counts[1])
    return counts[0]


def _count_bytes(count: CoalescingClassifier, site: AccessSite, units: llvm.Value, size: int) -> None:
    """Bytes that lanes share count once: seen on an H200, where a broadcast float counts 4."""
    b = site.b
    different = b.zext(b.call(count.distinct, [units, site.mask]), I64)
    site.add(BYTES, b.mul(different, i64(size)))


def _count_ideal(site: AccessSite, actual: llvm.Value, size: int, shift: int) -> None:
    """min(actual, ceil(active lanes * size / 2^shift)): the sectors of a fully coalesced access."""
    b = site.b
    wanted = b.mul(b.zext(site.code.popcount(site.mask), I64), i64(size))
    packed = b.lshr(b.add(wanted, i64((1 << shift) - 1)), i64(shift))
    site.add(IDEAL, b.select(b.icmp_unsigned("<", actual, packed), actual, packed))


# The slow checks.  Arguments: env, block, warp, instruction, addresses, active lanes, suspects, bytes, touch, space.

TAKE = llvm.FunctionType(llvm.VoidType(), [I32])
ARGUMENTS = [PTR, PTR, PTR, I32, V64, I32, I32, I32, I32, I32]


def look_up(module: llvm.IRModule) -> llvm.Function:
    """Finds each lane's buffer; true if all are good.  Updates the bounds cache and the use of the buffers; the
    last argument receives the offset from each lane's address to its host address."""
    if found := module.globals.get("look_up"):
        return found
    made, code = function(module, "look_up", I1, [*ARGUMENTS, PTR])
    env, _, _, index, address, mask, _, size, touch, _, deltas = made.args
    b = code.b
    bounds = code.at(code.load(WorkerEnv, env, "bounds"), b.mul(b.sext(index, I64), i64(sizeof(Bounds))))
    _note_long_step(code, env, bounds, b.extract_element(address, code.lowest(mask)))
    lost = code.variable(I32, i32(0))
    wide_size = b.sext(size, I64)

    def lane_of(lane: llvm.Value) -> None:
        a = b.extract_element(address, lane)
        found = code.variable(I32)
        offset = b.sub(a, code.load(Bounds, bounds, "low"))
        b.store(b.zext(b.icmp_unsigned("<", offset, code.load(Bounds, bounds, "span")), I32), found)

        def remember(entry: llvm.Value, number: llvm.Value) -> None:
            b.store(i32(1), found)
            _make_writable(code, env, entry, number, touch)
            _update_bounds(code, entry, bounds, a, wide_size, touch)

        with code.when(b.icmp_signed("==", b.load(found, typ=I32), i32(0))):
            each_buffer_with(code, env, a, wide_size, remember)
        b.store(code.load(Bounds, bounds, "delta"), b.gep(deltas, [lane], source_etype=I64))
        aligned = b.icmp_signed("==", b.and_(a, b.sub(wide_size, i64(1))), i64(0))
        good = b.and_(aligned, code.nonzero(b.load(found, typ=I32)))
        b.store(b.or_(b.load(lost, typ=I32), b.select(good, i32(0), code.bit(lane))), lost)

    code.each_bit(mask, lane_of)
    lanes = b.load(lost, typ=I32)
    with code.when(b.icmp_signed("==", lanes, i32(0))):
        b.ret(llvm.IRConstant(I1, 1))
    args = list(made.args[:-1])
    args[6] = lanes
    b.ret(b.call(record_stray_access(module), args))
    return made


def _note_long_step(code: StructuredBuilder, env: llvm.Value, bounds: llvm.Value, first: llvm.Value) -> None:
    """As where the access is in the buffer, or stretch, used last (access_emission.py)."""
    b = code.b
    step = b.sub(first, code.load(Bounds, bounds, "last"))
    code.store(first, Bounds, bounds, "last")
    known = code.nonzero(code.load(Bounds, bounds, "whole"))
    with code.when(b.and_(known, b.not_(is_short(code, bounds, step)))):
        code.bump(code.field(WorkerEnv, env, "far"))


def each_buffer_with(
    code: StructuredBuilder,
    env: llvm.Value,
    a: llvm.Value,
    size: llvm.Value,
    visit: Callable[[llvm.Value, llvm.Value], None],
) -> None:
    b = code.b
    table = code.load(WorkerEnv, env, "buffers")

    def buffer(i: llvm.Value) -> None:
        entry = code.at(table, b.mul(i, i64(sizeof(BufferRange))))
        low = code.load(BufferRange, entry, "low")
        extent, offset = b.sub(code.load(BufferRange, entry, "high"), low), b.sub(a, low)
        begins = b.icmp_unsigned("<", offset, extent)  # a + size could wrap around to 0
        ends = b.icmp_unsigned("<=", size, b.sub(extent, offset))
        with code.when(b.and_(begins, ends)):
            visit(entry, i)

    code.each(code.load(WorkerEnv, env, "buffer_count"), buffer)


def _make_writable(
    code: StructuredBuilder, env: llvm.Value, entry: llvm.Value, number: llvm.Value, touch: llvm.Value
) -> None:
    """Before a buffer is written for the first time, Python gives it memory of its own; a host array that is only read
    is used in place."""
    b = code.b
    writes = code.nonzero(b.and_(touch, i32(~Touch.READ)))
    foreign = b.icmp_signed("==", code.load(BufferRange, entry, "own"), i64(0))
    with code.when(b.and_(writes, foreign), likely=False):
        b.call(code.load(WorkerEnv, env, "take"), [b.trunc(number, I32)], TAKE)


def _update_bounds(
    code: StructuredBuilder,
    entry: llvm.Value,
    bounds: llvm.Value,
    address: llvm.Value,
    size: llvm.Value,
    touch: llvm.Value,
) -> None:
    """The buffer; for writes with copy-on-write backup in chunks, only the chunk around the address."""
    b = code.b
    low, high = code.load(BufferRange, entry, "low"), code.load(BufferRange, entry, "high")
    touched = b.or_(code.load(BufferRange, entry, "touched"), b.zext(touch, I64))
    code.store(touched, BufferRange, entry, "touched")
    code.store(code.load(BufferRange, entry, "delta"), Bounds, bounds, "delta")
    code.store(_span(b, low, high, size), Bounds, bounds, "whole")
    first, end = code.variable(I64, low), code.variable(I64, high)
    with code.when(_writes_chunks(code, entry, touch)):
        number = b.lshr(b.sub(address, low), i64(CHUNK_SHIFT))
        b.call(save_chunk(code.module), [entry, number])
        with code.when(_writes_chunks(code, entry, touch)):
            begin = b.add(low, b.shl(number, i64(CHUNK_SHIFT)))
            b.store(begin, first)
            chunk_end = b.add(begin, i64(CHUNK_BYTES))
            b.store(b.select(b.icmp_unsigned("<", chunk_end, high), chunk_end, high), end)
    start = b.load(first, typ=I64)
    code.store(start, Bounds, bounds, "low")
    code.store(_span(b, start, b.load(end, typ=I64), size), Bounds, bounds, "span")


def _span(b: llvm.IRBuilder, low: llvm.Value, high: llvm.Value, size: llvm.Value) -> llvm.Value:
    """At how many addresses so many bytes lie in [low, high)."""
    return b.add(b.sub(b.sub(high, low), size), i64(1))


def _writes_chunks(code: StructuredBuilder, entry: llvm.Value, touch: llvm.Value) -> llvm.Value:
    b = code.b
    writes = code.nonzero(b.and_(touch, i32(~Touch.READ)))
    return b.and_(writes, code.nonzero(code.load(BufferRange, entry, "in_chunks")))


def record_stray_access(module: llvm.IRModule) -> llvm.Function:
    """Records the fault; false.  Python distinguishes out-of-bounds from misaligned accesses by the addresses."""
    if found := module.globals.get("record_stray_access"):
        return found
    made, code = function(module, "record_stray_access", I1, ARGUMENTS)
    env, block, warp, index, address, _, wrong, size, _, space = made.args
    b = code.b
    what = {"instruction": index, "lanes": wrong, "bytes": size, "space": space}
    fault = record_fault(code, env, block, FaultKind.STRAY, warp, **what)
    b.store(address, code.field(Fault, fault, "address"), align=8)
    b.ret(llvm.IRConstant(I1, 0))
    return made
