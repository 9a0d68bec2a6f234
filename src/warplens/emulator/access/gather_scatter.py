"""Gather/scatter routines: accesses in any address pattern, one for each space, width and direction."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from warplens import llvm
from warplens.emulator.access import half_warp
from warplens.emulator.access.bounds_check import checked_pointers
from warplens.emulator.access.coalescing import Access, CoalescingClassifier
from warplens.emulator.access.site import V32, AccessSite, AddressWindows, deinterleaved, further, interleaved, iota
from warplens.emulator.codegen.emitter import LlvmEmitter
from warplens.emulator.codegen.structured_builder import function, i32, i64
from warplens.emulator.codegen.vector_types import I1, I8, I16, I32, I64, LANES, PTR, intrinsic, undefined, vector
from warplens.emulator.state.counter_layout import BYTES, IDEAL, REQUESTS, SECTORS, TAGS, WAVEFRONTS
from warplens.emulator.state.structs import Touch
from warplens.isa.dsl.warp_interface import Space

EVERY = i32(-1)
PAIRS = llvm.VectorType(I32, 2 * LANES)


class AccessRoutines:
    """Access routines of one module, each emitted on first use."""

    def __init__(self, module: llvm.IRModule, windows: AddressWindows, counted: bool = True) -> None:
        self.module = module
        self.windows, self.counted = windows, counted
        self.count = CoalescingClassifier(module)

    def begin(
        self, name: str, result: llvm.Type, space: Space, extra: Sequence[llvm.Type] = ()
    ) -> tuple[llvm.Function, AccessSite, llvm.Value, list[llvm.Value]]:
        """(routine, its site, addresses, further arguments); returns at once where no lane is active."""
        address = vector(I64 if space == "global" else I32)
        made, code = function(self.module, name, result, [PTR, PTR, PTR, I32, PTR, address, I32, *extra])
        env, block, warp, index, counters, addresses, mask, *data = made.args
        site = AccessSite(code, self.windows, env, block, warp, index, counters, mask, counted=self.counted)
        with code.when(code.b.icmp_signed("==", mask, i32(0))):
            return_value(code.b, nothing(result))
        return made, site, addresses, data

    def gather(self, space: Space, size: int, signed: bool, how: Access = "load") -> llvm.Function:
        """(common, addresses, mask) -> each lane's words."""
        name = f"gather_{space}_{size}{'s' if signed else ''}{'' if how == 'load' else '_matrix'}"
        if found := self.module.globals.get(name):
            return found
        words = max(size // 4, 1)
        result = V32 if words == 1 else llvm.LiteralStructType([V32] * words)
        made, site, address, _ = self.begin(name, result, space)
        if space != "local" and how == "load":
            with self._one_lane(site, space, address, size) as (lane, place):
                return_words(site.b, _in_one_lane(site.b, place, lane, size, signed), result)
        if space != "local" and size >= 4 and how == "load":
            with site.code.when(half_warp.may_walk(site.b, address)):
                self._try_walks(site, space, address, size, result)
        pointers = checked_pointers(self.count, site, space, address, size, Touch.READ, nothing(result), how)
        return_words(site.b, gathered_words(site, space, pointers, size, signed), result)
        return made

    def gather_row(self, space: Space) -> llvm.Function:
        """(common, first, mask) -> the words of 32 consecutive places that the active lanes read: tails, and warps
        whose lanes have diverged."""
        name = f"gather_row_{space}"
        if found := self.module.globals.get(name):
            return found
        made, site, first, _ = self._begin_row(name, V32, space)
        lanes = site.code.lanes(site.mask)
        with site.code.when(self._few(site, space, first)):
            masked = intrinsic(self.module, "llvm.masked.load.v32i32.p0", V32, [PTR, I32, lanes.type, V32])
            place = self._row_at(site, space, first)
            site.b.ret(site.b.call(masked, [place, i32(4), lanes, llvm.IRConstant(V32, None)]))
        numbers = self._numbers(site, first)
        site.b.ret(site.b.call(self.gather(space, 4, False), [*site.common(), numbers, site.mask]))
        return made

    def scatter_row(self, space: Space) -> llvm.Function:
        """(common, first, mask, words): the same for a store."""
        name = f"scatter_row_{space}"
        if found := self.module.globals.get(name):
            return found
        made, site, first, (word,) = self._begin_row(name, llvm.VoidType(), space, [V32])
        lanes = site.code.lanes(site.mask)
        with site.code.when(self._few(site, space, first)):
            types = [V32, PTR, I32, lanes.type]
            masked = intrinsic(self.module, "llvm.masked.store.v32i32.p0", llvm.VoidType(), types)
            site.b.call(masked, [word, self._row_at(site, space, first), i32(4), lanes])
            site.b.ret_void()
        numbers = self._numbers(site, first)
        site.b.call(self.scatter(space, 4), [*site.common(), numbers, site.mask, word])
        site.b.ret_void()
        return made

    def _begin_row(
        self, name: str, result: llvm.Type, space: Space, extra: Sequence[llvm.Type] = ()
    ) -> tuple[llvm.Function, AccessSite, llvm.Value, list[llvm.Value]]:
        address = I64 if space == "global" else I32
        made, code = function(self.module, name, result, [PTR, PTR, PTR, I32, PTR, address, I32, *extra])
        env, block, warp, index, counters, first, mask, *data = made.args
        site = AccessSite(code, self.windows, env, block, warp, index, counters, mask, counted=self.counted)
        return made, site, first, data

    def _row_at(self, site: AccessSite, space: Space, first: llvm.Value) -> llvm.Value:
        """Where the row begins; that may be before the start of memory, where no lane reads."""
        b, code = site.b, site.code
        ahead = b.zext(b.shl(code.lowest(site.mask), i32(2)), I64)
        lowest = b.add(first, ahead if first.type == I64 else b.trunc(ahead, I32))
        return code.at(site.pointer(space, lowest), b.neg(ahead))

    def _numbers(self, site: AccessSite, first: llvm.Value) -> llvm.Value:
        return site.b.add(LlvmEmitter(site.b).splat(first), iota(4, first.type))

    def _few(self, site: AccessSite, space: Space, first: llvm.Value) -> llvm.Value:
        """Whether the active lanes of a row of words are in bounds and easily counted; then they are counted."""
        b, code, kind = site.b, site.code, first.type
        low, high = code.lowest(site.mask), b.sub(i32(31), code.intrinsic("ctlz", site.mask, llvm.IRConstant(I1, 0)))
        ends = []
        for lane in (low, high):
            step = b.shl(lane, i32(2))
            ends.append(b.add(first, b.zext(step, I64) if kind == I64 else step))
        aligned = 128 if space == "global" and site.counted else 4
        checks = [
            code.nonzero(site.mask),
            b.icmp_signed("==", b.and_(first, llvm.IRConstant(kind, aligned - 1)), llvm.IRConstant(kind, 0)),
            *(site.inside(space, end, 4) for end in ends),
        ]
        fine = half_warp.all_of(b, checks)
        if not site.counted:
            return fine
        with code.when(fine):
            count = b.zext(code.popcount(site.mask), I64)
            site.add(REQUESTS, i64(1))
            site.add(BYTES, b.shl(count, i64(2)))
            if space == "shared":
                site.add(WAVEFRONTS, i64(1))
                site.add(IDEAL, i64(1))
            else:
                quarters = b.bitcast(site.mask, llvm.VectorType(I8, 4))
                some = b.icmp_signed("!=", quarters, llvm.IRConstant(quarters.type, None))
                sectors = b.zext(code.popcount(b.bitcast(some, llvm.IntType(4))), I64)
                packed = b.lshr(b.add(count, i64(7)), i64(3))
                site.add(SECTORS, sectors)
                site.add(TAGS, i64(1))
                site.add(IDEAL, b.select(b.icmp_unsigned("<", sectors, packed), sectors, packed))
        return fine

    def scatter(self, space: Space, size: int, how: Access = "store") -> llvm.Function:
        """(common, addresses, mask, words): of lanes on the same place the lowest wins."""
        name = f"scatter_{space}_{size}{'' if how == 'store' else '_matrix'}"
        if found := self.module.globals.get(name):
            return found
        words = max(size // 4, 1)
        made, site, address, data = self.begin(name, llvm.VoidType(), space, [V32] * words)
        if space != "local" and how == "store":
            with self._one_lane(site, space, address, size) as (lane, place):
                for k, word in enumerate(data):
                    value = site.b.extract_element(narrow(site.b, word, size), lane)
                    site.b.store(value, site.code.at(place, 4 * k), align=min(size, 4))
                site.b.ret_void()
        pointers = checked_pointers(self.count, site, space, address, size, Touch.WRITE, None, how)
        # Of the matrices that STSM stores to one row the last wins (measurements/h200/matrix_patterns.csv).
        parts = [EVERY] if how == "store" else [i32(0xFF << 8 * matrix) for matrix in range(4)]
        for part in parts:
            lanes = site.mask if part is EVERY else site.b.and_(site.mask, part)
            scatter_words(site, space, [narrow(site.b, word, size) for word in data], pointers, lanes)
        site.b.ret_void()
        return made

    @contextmanager
    def _one_lane(
        self, site: AccessSite, space: Space, address: llvm.Value, size: int
    ) -> Iterator[tuple[llvm.Value, llvm.Value]]:
        """What is emitted inside runs, and must return, where a single lane is active and in bounds; its number and
        host pointer.  The access is counted."""
        b, code, mask = site.b, site.code, site.mask
        with code.when(b.icmp_signed("==", b.and_(mask, b.sub(mask, i32(1))), i32(0)), likely=False):
            lane = b.and_(code.lowest(mask), i32(31))
            where = b.extract_element(address, lane)
            low = b.and_(where, llvm.IRConstant(where.type, size - 1))
            aligned = b.icmp_signed("==", low, llvm.IRConstant(where.type, 0))
            with code.when(b.and_(aligned, site.inside(space, where, size))):
                columns = (SECTORS, TAGS) if space == "global" else (WAVEFRONTS,)
                for column in (REQUESTS, IDEAL, *columns):
                    site.add(column, i64(1))
                site.add(BYTES, i64(size))
                yield lane, site.pointer(space, where)

    def count_row(self, size: int) -> llvm.Function:
        """(counters, first): 32 lanes on consecutive places of global memory, wherever they begin."""
        name = f"count_row_{size}"
        if found := self.module.globals.get(name):
            return found
        made, code = function(self.module, name, llvm.VoidType(), [PTR, I64])
        counters, first = made.args
        b = code.b
        last = b.add(first, i64(LANES * size - 1))
        sectors, lines = (b.add(b.sub(b.lshr(last, i64(shift)), b.lshr(first, i64(shift))), i64(1)) for shift in (5, 7))
        fixed = ((REQUESTS, i64(1)), (IDEAL, i64(size)), (BYTES, i64(LANES * size)))
        for column, by in ((SECTORS, sectors), (TAGS, lines), *fixed):
            code.bump(code.at(counters, 8 * column), by)
        b.ret_void()
        return made

    def _try_walks(self, site: AccessSite, space: Space, address: llvm.Value, size: int, result: llvm.Type) -> None:
        """Returns from the routine if each half of a full warp walks with a constant step."""
        b = site.b
        pattern = half_warp.match_walks(site.code, address, size)
        tight, single = half_warp.is_dense(site.code, pattern), half_warp.is_one_walk(site.code, pattern)
        fits = [pattern.regular, b.icmp_signed("==", site.mask, EVERY)]
        fits.append(tight if space == "shared" else b.or_(tight, single))
        fits += [site.inside(space, a, size) for w in pattern.walks for a in (w.first, w.last)]
        if space == "shared":
            # Within one row of banks there is no conflict.
            rows = half_warp.span(site.code, pattern, size.bit_length() - 1)
            fits.append(b.icmp_unsigned("<", rows, i32(128 // size)))
        with site.code.when(half_warp.all_of(b, fits)):
            self._count_walks(site, space, pattern, single)
            with site.code.when(tight):
                return_words(b, two_rows(site, space, pattern), result)
            if size == 4:
                with site.code.when(half_warp.skips_every_second(site.code, pattern)):
                    b.ret(_every_second(site, space, pattern.walks[0].first))
            pointers = site.pointers(space, address)
            return_words(b, gathered_words(site, space, pointers, size, False), result)

    def _count_walks(
        self, site: AccessSite, space: Space, pattern: half_warp.HalfWarpPattern, single: llvm.Value
    ) -> None:
        b, code, size = site.b, site.code, pattern.size
        if not site.counted:
            return
        site.add(REQUESTS, i64(1))
        different = half_warp.count_units(code, pattern, size.bit_length() - 1)
        if space == "shared":
            # Halves that each access one place are served together, quarters of 16 bytes two at a time.
            still = half_warp.is_two_places(code, pattern)
            passes = {4: i64(1), 8: b.select(still, i64(1), i64(2)), 16: i64(2)}[size]
            site.add(WAVEFRONTS, passes)
            site.add(IDEAL, passes)
        else:
            different = b.select(single, i64(LANES), different)
            sectors = half_warp.count_units(code, pattern, 5)
            site.add(SECTORS, sectors)
            site.add(TAGS, half_warp.count_units(code, pattern, 7))
            site.add(IDEAL, b.select(b.icmp_unsigned("<", sectors, i64(size)), sectors, i64(size)))
        site.add(BYTES, b.mul(different, i64(size)))


# Words and lanes


def nothing(result: llvm.Type) -> llvm.Value | None:
    """Result of a routine that returns early."""
    if isinstance(result, llvm.VoidType):
        return None
    if isinstance(result, llvm.IntType):
        return llvm.IRConstant(result, 0)
    zero = llvm.IRConstant(V32, None)
    return zero if result == V32 else llvm.IRConstant(result, [zero] * len(result.elements))


def return_value(b: llvm.IRBuilder, value: llvm.Value | None) -> None:
    if value is None:
        b.ret_void()
    else:
        b.ret(value)


def return_words(b: llvm.IRBuilder, words: Sequence[llvm.Value], result: llvm.Type) -> None:
    if len(words) == 1:
        b.ret(words[0])
        return
    whole: llvm.Value = undefined(result)
    for k, word in enumerate(words):
        whole = b.insert_value(whole, word, k)
    b.ret(whole)


def narrow(b: llvm.IRBuilder, word: llvm.Value, size: int) -> llvm.Value:
    """The low bytes of each lane's word."""
    return word if size >= 4 else b.trunc(word, vector(I8 if size == 1 else I16))


def widened(b: llvm.IRBuilder, value: llvm.Value, signed: bool) -> llvm.Value:
    """Extends sub-words to words."""
    return b.sext(value, V32) if signed else b.zext(value, V32)


def _in_one_lane(b: llvm.IRBuilder, place: llvm.Value, lane: llvm.Value, size: int, signed: bool) -> list[llvm.Value]:
    """The words at a pointer in one lane, zeros in the others."""
    words = []
    for k in range(max(size // 4, 1)):
        kind = {1: I8, 2: I16}.get(size, I32)
        value = b.load(b.gep(place, [i64(4 * k)], source_etype=I8), typ=kind, align=kind.width // 8)
        whole = b.insert_element(llvm.IRConstant(vector(kind), None), value, lane)
        words.append(whole if kind is I32 else widened(b, whole, signed))
    return words


def gathered_words(site: AccessSite, space: Space, pointers: llvm.Value, size: int, signed: bool) -> list[llvm.Value]:
    """The words at each lane's pointer, which must be valid in inactive lanes, too."""
    b = site.b
    words = max(size // 4, 1)
    if words > 1 and space != "local":  # two words at a time
        pairs = (gathered(b, further(b, pointers, space, k), I64) for k in range(0, words, 2))
        return [word for pair in pairs for word in deinterleaved(b, b.bitcast(pair, PAIRS), LANES)]
    kind = {1: I8, 2: I16}.get(size, I32)
    values = []
    for k in range(words):
        got = gathered(b, further(b, pointers, space, k), kind)
        values.append(got if kind is I32 else widened(b, got, signed))
    return values


def gathered(b: llvm.IRBuilder, pointers: llvm.Value, kind: llvm.Type) -> llvm.Value:
    """One load a lane.

    The host's own gather instruction takes 60 ns for 32 lanes where it is slowed down against data sampling; this
    takes 10.
    """
    values: llvm.Value = undefined(vector(kind))
    for lane, place in enumerate(_one_by_one(b, pointers)):
        value = b.load_volatile(place, kind.width // 8, typ=kind)
        values = b.insert_element(values, value, i32(lane))
    return values


def _one_by_one(b: llvm.IRBuilder, pointers: llvm.Value) -> Iterator[llvm.Value]:
    for number in LlvmEmitter(b).one_by_one(b.ptrtoint(pointers, vector(I64))):
        yield b.inttoptr(number, PTR)


def scatter_words(
    site: AccessSite, space: Space, words: Sequence[llvm.Value], pointers: llvm.Value, mask: llvm.Value,
    lowest: bool = True,
) -> None:  # fmt: skip
    """Stores of each lane's words; of lanes on the same place the lowest wins, as on an H200
    (measurements/h200/access_patterns.csv), or the highest."""
    b, code = site.b, site.code
    if len(words) > 1 and space != "local":  # two words at a time
        pairs = zip(words[::2], words[1::2], strict=True)
        words = [b.bitcast(interleaved(b, pair), vector(I64)) for pair in pairs]
    step = 2 if words[0].type.element == I64 else 1
    places = code.variable(vector(PTR), pointers)
    moves = range(0, step * len(words), step)
    with code.when(b.icmp_signed("!=", mask, EVERY)):
        # Inactive lanes store to a place of their own: branches for each lane take three times as long where the
        # active ones are not foreseen.
        nowhere = code.variable(llvm.ArrayType(I64, 64))
        b.store(b.select(code.lanes(mask), pointers, LlvmEmitter(b).splat(nowhere)), places)
    final = b.load(places, typ=vector(PTR))
    for word, k in zip(words, moves, strict=True):
        _scatter(b, word, further(b, final, space, k), lowest)


def _scatter(b: llvm.IRBuilder, value: llvm.Value, pointers: llvm.Value, lowest: bool) -> None:
    """One store a lane."""
    kind = value.type.element
    lanes = list(range(LANES))[:: -1 if lowest else 1]
    order = llvm.IRConstant(V32, lanes)
    turned = b.shuffle_vector(pointers, undefined(pointers.type), order) if lowest else pointers
    for lane, place in zip(lanes, _one_by_one(b, turned), strict=True):
        b.store(b.extract_element(value, i32(lane)), place, align=kind.width // 8)


def _every_second(site: AccessSite, space: Space, first: llvm.Value) -> llvm.Value:
    """Words 0, 2 ... 62, and nothing after them: from words 0 to 31 and 31 to 62."""
    b = site.b
    place = site.pointer(space, first)
    low, high = (b.load(site.code.at(place, 4 * word), typ=V32, align=4) for word in (0, LANES - 1))
    return b.shuffle_vector(low, high, llvm.IRConstant(V32, [*range(0, LANES, 2), *range(LANES + 1, 2 * LANES, 2)]))


def two_rows(site: AccessSite, space: Space, pattern: half_warp.HalfWarpPattern) -> list[llvm.Value]:
    """Two halves that are each one place for all or 16 consecutive places."""
    b, words = site.b, pattern.size // 4
    half = llvm.VectorType(I32, half_warp.HALF)
    parts: list[list[llvm.Value]] = []
    for walk in pattern.walks:
        place = site.pointer(space, walk.first)
        out = [site.code.variable(half) for _ in range(words)]
        still = b.icmp_unsigned("==", walk.step, llvm.IRConstant(walk.step.type, 0))
        with b.if_else(still) as (same, row):
            with same:
                for k, variable in enumerate(out):
                    word = b.load(b.gep(place, [i64(4 * k)], source_etype=I8), typ=I32, align=4)
                    first = b.insert_element(undefined(half), word, i32(0))
                    every = llvm.IRConstant(half, [0] * half_warp.HALF)
                    b.store(b.shuffle_vector(first, undefined(half), every), variable)
            with row:
                line = b.load(place, typ=llvm.VectorType(I32, half_warp.HALF * words), align=4)
                for variable, word in zip(out, deinterleaved(b, line, half_warp.HALF), strict=True):
                    b.store(word, variable)
        parts.append([b.load(variable, typ=half) for variable in out])
    both = llvm.IRConstant(V32, list(range(LANES)))
    return [b.shuffle_vector(low, high, both) for low, high in zip(*parts, strict=True)]
