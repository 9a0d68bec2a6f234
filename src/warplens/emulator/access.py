"""Memory accesses in generated code: check, count, move.

Each access first tries the pattern that most have, all 32 lanes on consecutive places: one range check, closed-form
counts, one vector move.  Everything else goes to a routine for its width, which checks lane by lane where it must.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from llvmlite import ir

from warplens.emulator import halves
from warplens.emulator.classify import V32, Classifier
from warplens.emulator.code import Code, function, i32, i64
from warplens.emulator.emit import I1, I8, I16, I32, I64, LANES, PTR, LlvmEmitter, intrinsic, vector
from warplens.emulator.layout import Block, Bounds, Buffer, Env, Fault, FaultKind, Touch, Warp
from warplens.emulator.plan import BYTES, IDEAL, REQUESTS, SECTORS, TAGS, WAVEFRONTS
from warplens.isa._warp import Space

V64 = vector(I64)
SPACES: tuple[Space, ...] = ("global", "shared", "local", "generic")
EVERY = i32(-1)


@dataclass(frozen=True)
class Site:
    """One memory instruction: pointers to the records, its number, its counters, its active lanes as an i32."""

    env: ir.Value
    block: ir.Value
    warp: ir.Value
    index: int
    counters: ir.Value
    mask: ir.Value


def iota(step: int, kind: ir.Type) -> ir.Constant:
    return ir.Constant(vector(kind), [step * lane for lane in range(LANES)])


class Accesses:
    """The access routines of one module.  `shared_base` is where the shared window starts in shared addresses."""

    def __init__(self, module: ir.Module, shared_base: int, stack_top: int) -> None:
        self.module = module
        self.count = Classifier(module)
        self.shared_base = shared_base
        self.stack_top = stack_top

    # The three spaces, as the translator calls them: vectors in, vectors of words out.

    def load(
        self, code: Code, site: Site, space: Space, address: ir.Value, size: int, signed: bool, fault: ir.Block
    ) -> list[ir.Value]:
        words = max(size // 4, 1)
        results = [code.variable(V32) for _ in range(words)]
        b = code.b

        def keep(values: Sequence[ir.Value]) -> None:
            for place, value in zip(results, values, strict=True):
                b.store(value, place)

        consecutive, done = self._try_consecutive(code, site, space, address, size)
        b.position_at_end(consecutive)
        if space == "local":
            keep(self._rows(code, self._local_row(code, site, address), size, signed))
        else:
            keep(self._row(code, self._host_row(code, site, space, address), size, signed))
        b.branch(done.after)
        b.position_at_end(done.general)
        made = b.call(self._gather(space, size, signed), [*self._common(site), address, site.mask])
        keep([b.extract_value(made, i) for i in range(words)] if words > 1 else [made])
        self._leave_on_fault(code, site, fault, done.after)
        b.position_at_end(done.after)
        return [b.load(place, typ=V32) for place in results]

    def store(
        self, code: Code, site: Site, space: Space, address: ir.Value, data: Sequence[ir.Value], size: int,
        fault: ir.Block,
    ) -> None:  # fmt: skip
        b = code.b
        emitter = LlvmEmitter(b)
        words = [emitter.splat(w) for w in data]
        consecutive, done = self._try_consecutive(code, site, space, address, size)
        b.position_at_end(consecutive)
        if space == "local":
            row = self._local_row(code, site, address)
            for k, word in enumerate(words):
                b.store(self._narrow(b, word, size), code.at(row, 128 * k), align=4)
        else:
            row = self._host_row(code, site, space, address)
            b.store(self._interleaved(b, [self._narrow(b, w, size) for w in words]), row, align=min(size, 16))
        b.branch(done.after)
        b.position_at_end(done.general)
        b.call(self._scatter(space, size), [*self._common(site), address, site.mask, *words])
        self._leave_on_fault(code, site, fault, done.after)
        b.position_at_end(done.after)

    def _common(self, site: Site) -> list[ir.Value]:
        return [site.env, site.block, site.warp, i32(site.index), site.counters]

    def _leave_on_fault(self, code: Code, site: Site, fault: ir.Block, after: ir.Block) -> None:
        b = code.b
        kind = code.load(Fault, code.field(Env, site.env, "fault"), "kind")
        b.cbranch(code.nonzero(kind), fault, after).set_weights([1, 10000])

    # Fast path

    @dataclass(frozen=True)
    class Fork:
        general: ir.Block
        after: ir.Block

    def _try_consecutive(
        self, code: Code, site: Site, space: Space, address: ir.Value, size: int
    ) -> tuple[ir.Block, Fork]:
        """Branches to a block for 32 lanes on consecutive places (for local memory: the same place), counted there."""
        b = code.b
        emitter = LlvmEmitter(b)
        fast, general, after = (b.append_basic_block(n) for n in ("row", "general", "after"))
        if space == "local" and size < 4:
            b.branch(general)
            b.position_at_end(fast)
            return fast, self.Fork(general, after)
        kind = address.type.element
        first = b.extract_element(address, i32(0))
        steps = iota(0 if space == "local" else size, kind)
        expected = b.add(emitter.splat(first), steps)
        same = b.bitcast(b.icmp_signed("==", address, expected), I32)
        row = b.icmp_signed("==", b.and_(same, site.mask), EVERY)
        row = b.and_(row, self._row_in_bounds(code, site, space, first, size))
        b.cbranch(row, fast, general).set_weights([100, 1])
        b.position_at_end(fast)
        self._add(code, site, REQUESTS, i64(1))
        self._add(code, site, BYTES, i64(LANES * size))
        if space == "shared":
            self._add(code, site, WAVEFRONTS, i64(max(size // 4, 1)))
            self._add(code, site, IDEAL, i64(max(size // 4, 1)))
            return fast, self.Fork(general, after)
        if space == "local":
            self._add(code, site, SECTORS, i64(size))
            self._add(code, site, TAGS, i64(size // 4))
        else:
            last = b.add(first, i64(LANES * size - 1))
            for column, shift in ((SECTORS, 5), (TAGS, 7)):
                count = b.sub(b.lshr(last, i64(shift)), b.lshr(first, i64(shift)))
                self._add(code, site, column, b.add(count, i64(1)))
        self._add(code, site, IDEAL, i64(size))
        return fast, self.Fork(general, after)

    def _row_in_bounds(
        self, code: Code, site: Site, space: Space, first: ir.Value, size: int
    ) -> ir.Value:
        b = code.b
        kind = first.type
        aligned = b.icmp_signed("==", b.and_(first, ir.Constant(kind, size - 1)), ir.Constant(kind, 0))
        if space == "global":
            bounds = code.at(code.load(Env, site.env, "bounds"), 16 * site.index)
            low, span = code.load(Bounds, bounds, "low"), code.load(Bounds, bounds, "span")
            offset, reach = b.sub(first, low), i64((LANES - 1) * size)
            inside = b.icmp_unsigned("<=", offset, span)
            inside = b.and_(inside, b.icmp_unsigned("<=", b.add(offset, reach), span))
            return b.and_(aligned, inside)
        offset = b.zext(self._offset(b, space, first, code, site), I64)
        room = code.load(Env, site.env, "shared_bytes" if space == "shared" else "local_bytes")
        reach = LANES * size if space == "shared" else size
        return b.and_(aligned, b.icmp_signed("<=", b.add(offset, i64(reach)), room))

    def _offset(self, b: ir.IRBuilder, space: Space, address: ir.Value, code: Code, site: Site) -> ir.Value:
        """Byte offset in the block's shared, or the thread's local, memory."""
        emitter = LlvmEmitter(b)
        if space == "shared":
            return b.sub(address, emitter.number(address, self.shared_base))
        bottom = b.sub(i32(self.stack_top), b.trunc(code.load(Env, site.env, "local_bytes"), I32))
        return b.sub(address, emitter.splat(bottom) if isinstance(address.type, ir.VectorType) else bottom)

    def _host_row(self, code: Code, site: Site, space: Space, address: ir.Value) -> ir.Value:
        b = code.b
        first = b.extract_element(address, i32(0))
        if space == "global":
            return b.inttoptr(b.add(first, code.load(Env, site.env, "host_delta")), PTR)
        return code.at(code.load(Block, site.block, "shared"), b.zext(b.sub(first, i32(self.shared_base)), I64))

    def _local_row(self, code: Code, site: Site, address: ir.Value) -> ir.Value:
        b = code.b
        first = b.extract_element(address, i32(0))
        offset = b.zext(self._offset(b, "local", first, code, site), I64)
        return code.at(self._local(code, site), b.shl(offset, i64(5)))

    def _local(self, code: Code, site: Site) -> ir.Value:
        """The warp's local memory: word w of lane l at (32 w + l) * 4, as the hardware interleaves it."""
        b = code.b
        size = b.shl(code.load(Env, site.env, "local_bytes"), i64(5))
        index = b.zext(code.load(Warp, site.warp, "index"), I64)
        return code.at(code.load(Block, site.block, "local"), b.mul(size, index))

    def _rows(self, code: Code, row: ir.Value, size: int, signed: bool) -> list[ir.Value]:
        return [code.b.load(code.at(row, 128 * k), typ=V32, align=4) for k in range(max(size // 4, 1))]

    def _row(self, code: Code, row: ir.Value, size: int, signed: bool) -> list[ir.Value]:
        b = code.b
        if size < 4:
            narrow = b.load(row, typ=vector(I8 if size == 1 else I16), align=size)
            return [b.sext(narrow, V32) if signed else b.zext(narrow, V32)]
        words = size // 4
        whole = b.load(row, typ=ir.VectorType(I32, LANES * words), align=min(size, 16))
        if words == 1:
            return [whole]
        nothing = ir.Constant(whole.type, ir.Undefined)
        return [
            b.shuffle_vector(whole, nothing, ir.Constant(V32, [lane * words + k for lane in range(LANES)]))
            for k in range(words)
        ]

    def _narrow(self, b: ir.IRBuilder, word: ir.Value, size: int) -> ir.Value:
        return word if size >= 4 else b.trunc(word, vector(I8 if size == 1 else I16))

    def _interleaved(self, b: ir.IRBuilder, words: list[ir.Value]) -> ir.Value:
        """Words of 32 lanes as they stand in memory: lane after lane."""
        n = len(words)
        if n == 1:
            return words[0]
        while len(words) > 1:
            words = [self._concatenated(b, x, y) for x, y in zip(words[::2], words[1::2], strict=True)]
        whole = words[0]
        order = [k * LANES + lane for lane in range(LANES) for k in range(n)]
        return b.shuffle_vector(
            whole, ir.Constant(whole.type, ir.Undefined), ir.Constant(ir.VectorType(I32, n * LANES), order)
        )

    def _concatenated(self, b: ir.IRBuilder, x: ir.Value, y: ir.Value) -> ir.Value:
        n = x.type.count * 2
        return b.shuffle_vector(x, y, ir.Constant(ir.VectorType(I32, n), list(range(n))))

    def _add(self, code: Code, site: Site, column: int, by: ir.Value) -> None:
        code.bump(code.at(site.counters, 8 * column), by)

    # General path: one routine for each space, width and direction

    def _signature(self, name: str, result: ir.Type, address: ir.Type, extra: Sequence[ir.Type] = ()):  # type: ignore[no-untyped-def]
        made, code = function(
            self.module, name, result, [PTR, PTR, PTR, I32, PTR, vector(address), I32, *extra]
        )
        env, block, warp, index, counters, addresses, mask, *data = made.args
        return made, code, Site(env, block, warp, 0, counters, mask), index, addresses, data

    def _gather(self, space: Space, size: int, signed: bool) -> ir.Function:
        name = f"gather_{space}_{size}{'s' if signed else ''}"
        if found := self.module.globals.get(name):
            return found
        words = max(size // 4, 1)
        result = V32 if words == 1 else ir.LiteralStructType([V32] * words)
        made, code, site, index, address, _ = self._signature(name, result, I64 if space == "global" else I32)
        b = code.b
        zero = ir.Constant(V32, None)
        nothing = zero if words == 1 else ir.Constant(result, [zero] * words)
        self._return_if_idle(code, site.mask, nothing)
        if space != "local" and size >= 4:
            self._try_halves(code, site, index, space, address, size, result)
        pointers = self._checked(code, site, index, space, address, size, Touch.READ, nothing)
        self._return_words(b, self._gather_words(code, site, space, pointers, size, signed), result)
        return made

    def _gather_words(
        self, code: Code, site: Site, space: Space, pointers: ir.Value, size: int, signed: bool
    ) -> list[ir.Value]:
        b = code.b
        lanes = b.bitcast(site.mask, vector(I1))
        kind = {1: I8, 2: I16}.get(size, I32)
        values = []
        for k in range(max(size // 4, 1)):
            where = pointers if k == 0 else self._further(code, pointers, space, k)
            got = self.gather(b, where, lanes, kind, site.env)
            values.append(got if kind is I32 else b.sext(got, V32) if signed else b.zext(got, V32))
        return values

    def _return_words(self, b: ir.IRBuilder, words: Sequence[ir.Value], result: ir.Type) -> None:
        if len(words) == 1:
            b.ret(words[0])
            return
        whole: ir.Value = ir.Constant(result, ir.Undefined)
        for k, word in enumerate(words):
            whole = b.insert_value(whole, word, k)
        b.ret(whole)

    def _try_halves(
        self, code: Code, site: Site, index: ir.Value, space: Space, address: ir.Value, size: int, result: ir.Type
    ) -> None:
        """Returns from the routine if each half of a full warp walks with a constant step."""
        b = code.b
        pattern = halves.halves(code, address, size)
        tight, single = halves.dense(code, pattern), halves.one_walk(code, pattern)
        shape = tight if space == "shared" else b.or_(tight, single)
        fits = [pattern.regular, shape, b.icmp_signed("==", site.mask, EVERY)]
        fits += [self._inside(code, site, index, space, a, size) for w in pattern.walks for a in (w.first, w.last)]
        if space == "shared":
            # Within one row of banks there is no conflict.
            rows = halves.span(code, pattern, size.bit_length() - 1)
            fits.append(b.icmp_unsigned("<", rows, i32(128 // size)))
        with code.when(halves.all_of(b, fits)):
            self._add(code, site, REQUESTS, i64(1))
            different = halves.places(code, pattern, size.bit_length() - 1)
            if space == "global":
                different = b.select(single, i64(LANES), different)
                sectors = halves.places(code, pattern, 5)
                self._add(code, site, SECTORS, sectors)
                self._add(code, site, TAGS, halves.places(code, pattern, 7))
                ideal = b.select(b.icmp_unsigned("<", sectors, i64(size)), sectors, i64(size))
                self._add(code, site, IDEAL, ideal)
            else:
                passes = i64(self.count.least_wavefronts(size))
                self._add(code, site, WAVEFRONTS, passes)
                self._add(code, site, IDEAL, passes)
            self._add(code, site, BYTES, b.mul(different, i64(size)))
            if size == 4:
                with code.when(tight):
                    b.ret(self._two_rows(code, site, space, pattern))
            pointers = self._pointers(code, site, space, address)
            self._return_words(b, self._gather_words(code, site, space, pointers, size, False), result)

    def _inside(
        self, code: Code, site: Site, index: ir.Value, space: Space, address: ir.Value, size: int
    ) -> ir.Value:
        """Whether one aligned address is in bounds."""
        b = code.b
        if space == "global":
            bounds = code.at(code.load(Env, site.env, "bounds"), b.shl(b.sext(index, I64), i64(4)))
            low, span = code.load(Bounds, bounds, "low"), code.load(Bounds, bounds, "span")
            return b.icmp_unsigned("<=", b.sub(address, low), span)
        offset = b.zext(self._offset(b, space, address, code, site), I64)
        return b.icmp_signed("<=", b.add(offset, i64(size)), code.load(Env, site.env, "shared_bytes"))

    def _pointers(self, code: Code, site: Site, space: Space, address: ir.Value) -> ir.Value:
        """Host pointers of global or shared addresses."""
        b = code.b
        emitter = LlvmEmitter(b)
        if space == "global":
            return b.inttoptr(b.add(address, emitter.splat(code.load(Env, site.env, "host_delta"))), vector(PTR))
        base = b.ptrtoint(code.load(Block, site.block, "shared"), I64)
        offset = self._offset(b, space, address, code, site)
        return b.inttoptr(b.add(emitter.splat(base), b.zext(offset, V64)), vector(PTR))

    def _two_rows(self, code: Code, site: Site, space: Space, pattern: halves.Halves) -> ir.Value:
        """Two halves that are each one word for all or 16 consecutive words."""
        b = code.b
        half = ir.VectorType(I32, halves.HALF)
        nothing = ir.Constant(half, ir.Undefined)
        parts = []
        for walk in pattern.walks:
            if space == "global":
                place = b.inttoptr(b.add(walk.first, code.load(Env, site.env, "host_delta")), PTR)
            else:
                offset = b.zext(b.sub(walk.first, i32(self.shared_base)), I64)
                place = code.at(code.load(Block, site.block, "shared"), offset)
            out = code.variable(half)
            still = b.icmp_unsigned("==", walk.step, ir.Constant(walk.step.type, 0))
            with b.if_else(still) as (same, row):
                with same:
                    word = b.load(place, typ=I32, align=4)
                    first = b.insert_element(nothing, word, i32(0))
                    b.store(b.shuffle_vector(first, nothing, ir.Constant(half, [0] * halves.HALF)), out)
                with row:
                    b.store(b.load(place, typ=half, align=4), out)
            parts.append(b.load(out, typ=half))
        return b.shuffle_vector(*parts, ir.Constant(V32, list(range(LANES))))

    def _scatter(self, space: Space, size: int) -> ir.Function:
        name = f"scatter_{space}_{size}"
        if found := self.module.globals.get(name):
            return found
        words = max(size // 4, 1)
        made, code, site, index, address, data = self._signature(
            name, ir.VoidType(), I64 if space == "global" else I32, [V32] * words
        )
        b = code.b
        self._return_if_idle(code, site.mask, None)
        pointers = self._checked(code, site, index, space, address, size, Touch.WRITE, None)
        lanes = b.bitcast(site.mask, vector(I1))
        for k, word in enumerate(data):
            where = pointers if k == 0 else self._further(code, pointers, space, k)
            self.scatter(b, self._narrow(b, word, size), where, lanes)
        b.ret_void()
        return made

    def _further(self, code: Code, pointers: ir.Value, space: Space, word: int) -> ir.Value:
        return code.b.gep(pointers, [i64(word * (128 if space == "local" else 4))], source_etype=I8)

    def gather(self, b: ir.IRBuilder, pointers: ir.Value, lanes: ir.Value, kind: ir.Type, safe: ir.Value) -> ir.Value:
        """One load a lane, from `safe` where the lane is off: several times faster than the host's gather
        instruction where that is slowed down against data sampling."""
        nowhere = LlvmEmitter(b).splat(safe)
        pointers = b.select(lanes, pointers, nowhere)
        values: ir.Value = ir.Constant(vector(kind), ir.Undefined)
        for lane in range(LANES):
            value = b.load(b.extract_element(pointers, i32(lane)), typ=kind, align=kind.width // 8)
            values = b.insert_element(values, value, i32(lane))
        return values

    def scatter(self, b: ir.IRBuilder, value: ir.Value, pointers: ir.Value, lanes: ir.Value) -> None:
        width = value.type.element.width
        name = f"llvm.masked.scatter.v{LANES}i{width}.v{LANES}p0"
        types = [value.type, pointers.type, I32, lanes.type]
        b.call(intrinsic(self.module, name, ir.VoidType(), types), [value, pointers, i32(width // 8), lanes])

    def _return_if_idle(self, code: Code, mask: ir.Value, nothing: ir.Value | None) -> None:
        """No lane performs it: no request, nothing to check."""
        with code.when(code.b.icmp_signed("==", mask, i32(0))):
            code.b.ret(nothing) if nothing is not None else code.b.ret_void()

    def _checked(
        self, code: Code, site: Site, index: ir.Value, space: Space, address: ir.Value, size: int, touch: int,
        nothing: ir.Value | None,
    ) -> ir.Value:  # fmt: skip
        """Host pointers of the lanes, after check and count; the routine returns early on a fault."""
        b = code.b
        emitter = LlvmEmitter(b)
        active = b.bitcast(site.mask, vector(I1))
        low_bits = b.and_(address, emitter.number(address, size - 1))
        bad = b.icmp_signed("!=", low_bits, emitter.number(address, 0))
        if space == "global":
            bounds = code.at(code.load(Env, site.env, "bounds"), b.shl(b.sext(index, I64), i64(4)))
            low, span = code.load(Bounds, bounds, "low"), code.load(Bounds, bounds, "span")
            offset = b.sub(address, emitter.splat(low))
            bad = b.or_(bad, b.icmp_unsigned(">", offset, emitter.splat(span)))
        else:
            offset = self._offset(b, space, address, code, site)
            room = code.load(Env, site.env, "shared_bytes" if space == "shared" else "local_bytes")
            limit = b.trunc(b.sub(room, i64(size)), I32)
            bad = b.or_(bad, b.icmp_unsigned(">", offset, emitter.splat(limit)))
            # Space smaller than the access: the limit is negative, every offset is bad.
            none = b.icmp_signed("<", limit, i32(0))
            bad = b.or_(bad, emitter.splat(none))
        wrong = b.bitcast(b.and_(bad, active), I32)
        with code.when(code.nonzero(wrong), likely=False):
            wide = address if space == "global" else b.zext(address, V64)
            slow = self._look_up if space == "global" else self._refuse
            settings = [index, wide, site.mask, wrong, i32(size), i32(touch), i32(SPACES.index(space))]
            fine = b.call(slow, [site.env, site.block, site.warp, *settings])
            with code.when(b.not_(fine)):
                b.ret(nothing) if nothing is not None else b.ret_void()
        self._add(code, site, REQUESTS, i64(1))
        if space == "shared":
            self._count_wavefronts(code, site, address, size, touch == Touch.READ)
            return self._pointers(code, site, space, address)
        if space == "local":
            return self._local_pointers(code, site, offset, size)
        units = b.trunc(b.lshr(address, emitter.number(address, size.bit_length() - 1)), V32)
        sectors = b.trunc(b.lshr(address, emitter.number(address, 5)), V32)
        self._count_bytes(code, site, units, size)
        self._count_ideal(code, site, self._count_sectors(code, site, sectors), size, 5)
        return self._pointers(code, site, space, address)

    def _count_wavefronts(self, code: Code, site: Site, address: ir.Value, size: int, is_load: bool) -> None:
        b = code.b
        passes = b.zext(b.call(self.count.shared(size, is_load), [address, site.mask]), I64)
        self._add(code, site, WAVEFRONTS, passes)
        self._count_ideal(code, site, passes, size, 7)
        units = b.lshr(address, LlvmEmitter(b).number(address, size.bit_length() - 1))
        self._count_bytes(code, site, units, size)

    def _count_sectors(self, code: Code, site: Site, sectors: ir.Value) -> ir.Value:
        """Counts sectors and the lines they are in; gives the sectors."""
        b = code.b
        lines = b.lshr(sectors, LlvmEmitter(b).number(sectors, 2))
        counts = [b.zext(b.call(self.count.distinct, [v, site.mask]), I64) for v in (sectors, lines)]
        self._add(code, site, SECTORS, counts[0])
        self._add(code, site, TAGS, counts[1])
        return counts[0]

    def _count_bytes(self, code: Code, site: Site, units: ir.Value, size: int) -> None:
        """Bytes that lanes share count once: seen on an H200, where a broadcast float counts 4."""
        b = code.b
        different = b.zext(b.call(self.count.distinct, [units, site.mask]), I64)
        self._add(code, site, BYTES, b.mul(different, i64(size)))

    def _count_ideal(self, code: Code, site: Site, actual: ir.Value, size: int, shift: int) -> None:
        """min(actual, ceil(active lanes * size / 2^shift)): what perfectly packed accesses would take."""
        b = code.b
        wanted = b.mul(b.zext(code.popcount(site.mask), I64), i64(size))
        packed = b.lshr(b.add(wanted, i64((1 << shift) - 1)), i64(shift))
        fewer = b.icmp_unsigned("<", actual, packed)
        self._add(code, site, IDEAL, b.select(fewer, actual, packed))

    def _local_pointers(self, code: Code, site: Site, offset: ir.Value, size: int) -> ir.Value:
        b = code.b
        emitter = LlvmEmitter(b)
        word = b.lshr(offset, emitter.number(offset, 2))
        slot = b.add(b.shl(word, emitter.number(word, 5)), iota(1, I32))
        total: ir.Value = i64(0)
        for k in range(max(size // 4, 1)):
            place = b.add(slot, emitter.number(slot, 32 * k))
            total = b.add(total, self._count_sectors(code, site, b.lshr(place, emitter.number(place, 3))))
        self._add(code, site, BYTES, b.mul(b.zext(code.popcount(site.mask), I64), i64(size)))
        self._count_ideal(code, site, total, size, 5)
        within = b.and_(offset, emitter.number(offset, 3))
        base = emitter.splat(b.ptrtoint(self._local(code, site), I64))
        bytes_ = b.add(b.shl(b.zext(slot, V64), emitter.number(base, 2)), b.zext(within, V64))
        return b.inttoptr(b.add(base, bytes_), vector(PTR))

    # Checks lane by lane

    @property
    def _look_up(self) -> ir.Function:
        """Finds each lane's buffer; true if all are good.  Remembers the last, and how the buffers were used."""
        name = "look_up"
        if found := self.module.globals.get(name):
            return found
        made, code = function(self.module, name, I1, [PTR, PTR, PTR, I32, V64, I32, I32, I32, I32, I32])
        env, _, _, index, address, mask, _, size, touch, _ = made.args
        b = code.b
        table, count = code.load(Env, env, "buffers"), code.load(Env, env, "buffer_count")
        bounds = code.at(code.load(Env, env, "bounds"), b.shl(b.sext(index, I64), i64(4)))
        lost = code.variable(I32, i32(0))
        wide_size = b.sext(size, I64)

        def lane_of(lane: ir.Value) -> None:
            a = b.extract_element(address, lane)
            found = code.variable(I32, i32(0))

            def buffer(i: ir.Value) -> None:
                entry = code.at(table, b.mul(i, i64(24)))
                low, high = code.load(Buffer, entry, "low"), code.load(Buffer, entry, "high")
                inside = b.icmp_unsigned(">=", a, low)
                inside = b.and_(inside, b.icmp_unsigned("<=", b.add(a, wide_size), high))
                with code.when(inside):
                    b.store(i32(1), found)
                    touched = b.or_(code.load(Buffer, entry, "touched"), b.zext(touch, I64))
                    code.store(touched, Buffer, entry, "touched")
                    code.store(low, Bounds, bounds, "low")
                    code.store(b.sub(b.sub(high, low), wide_size), Bounds, bounds, "span")

            code.each(count, buffer)
            aligned = b.icmp_signed("==", b.and_(a, b.sub(wide_size, i64(1))), i64(0))
            good = b.and_(aligned, code.nonzero(b.load(found, typ=I32)))
            b.store(b.or_(b.load(lost, typ=I32), b.select(good, i32(0), code.bit(lane))), lost)

        code.each_bit(mask, lane_of)
        lanes = b.load(lost, typ=I32)
        with code.when(b.icmp_signed("==", lanes, i32(0))):
            b.ret(ir.Constant(I1, 1))
        args = list(made.args)
        args[6] = lanes
        b.ret(b.call(self._refuse, args))
        return made

    @property
    def _refuse(self) -> ir.Function:
        """Records the fault; false.  Python tells a stray from a misaligned access by the addresses."""
        name = "refuse"
        if found := self.module.globals.get(name):
            return found
        made, code = function(self.module, name, I1, [PTR, PTR, PTR, I32, V64, I32, I32, I32, I32, I32])
        env, block, warp, index, address, _, wrong, size, _, space = made.args
        b = code.b
        fault = code.field(Env, env, "fault")
        code.store(FaultKind.STRAY, Fault, fault, "kind")
        for value, field in ((index, "instruction"), (wrong, "lanes"), (size, "bytes"), (space, "space")):
            code.store(value, Fault, fault, field)
        code.store(code.load(Warp, warp, "index"), Fault, fault, "warp")
        for axis in range(3):
            code.store(code.load(Block, block, "ctaid", axis), Fault, fault, "ctaid", axis)
        b.store(address, code.field(Fault, fault, "address"), align=8)
        b.ret(ir.Constant(I1, 0))
        return made
