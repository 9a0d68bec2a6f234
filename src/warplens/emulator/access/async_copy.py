"""Asynchronous copy (LDGSTS) emission: check, count, move.

What one costs was read on an H200 (measurements/h200/matrix_patterns.csv, copy_bypass.csv).

- Through the L1 cache, the highest of the lanes on one place wins.  Lanes of 8 bytes are served in half warps, lanes
  of 16 bytes in quarters.  A group takes as many wavefronts as the busiest bank has lanes, on the global or the shared
  side, whichever has more; lanes on the same word included.
- Past L1 (.BYPASS), the lowest lane wins: a lane whose place in shared memory a lower lane fills too does not count.
  A sector transfer is what moves from one sector to one sector, each half to another half; it counts as a sector.
  Sector transfers share a wavefront that come from one line, go to one line, move the same halves to the same halves,
  and whose sectors' numbers are both even or both odd, or one even and one odd; but no two from one sector, or to one.
  L1 itself counts as sectors the pairs of a line that is read and a sector that is written (22 of 22 patterns).
- With .ZFILL the whole is stored once more.
"""

from __future__ import annotations

from dataclasses import replace

from warplens import llvm
from warplens.emulator.access.bounds_check import check_bounds
from warplens.emulator.access.gather_scatter import AccessRoutines
from warplens.emulator.access.site import V32, AccessSite, further
from warplens.emulator.codegen.emitter import LlvmEmitter
from warplens.emulator.codegen.structured_builder import StructuredBuilder, i32
from warplens.emulator.codegen.vector_types import I32, I64, LANES
from warplens.emulator.state.counter_layout import BYTES, COPY_IDEAL, IDEAL, REQUESTS, SECTORS, TAGS, WAVEFRONTS
from warplens.emulator.state.structs import Touch


def copy_routine(routines: AccessRoutines, size: int, fills: bool, bypasses: bool) -> llvm.Function:
    """(common, global addresses, mask, shared addresses, lanes that read) -> what L1 counts as sectors."""
    name = f"copy_{size}{'_fill' if fills else ''}{'_bypass' if bypasses else ''}"
    if found := routines.module.globals.get(name):
        return found
    made, site, source, (to, reads) = routines.begin(name, I64, "global", [V32, I32])
    b = site.b
    reading = replace(site, mask=b.and_(site.mask, reads))
    missing = None
    if fills:
        low = b.and_(source, LlvmEmitter(b).number(source, size - 1))
        source, missing = b.sub(source, low), b.trunc(low, V32)
    none = llvm.IRConstant(I64, 0)
    places, deltas = check_bounds(routines.count, reading, "global", source, size, Touch.READ, none)
    check_bounds(routines.count, site, "shared", to, size, Touch.WRITE, none)
    counted = site.counted
    sectors = _count(routines, site, reading, source, to, size, fills, bypasses) if counted else i32(0)
    _move(site, reading, reading.pointers("global", places, deltas), to, size, missing, lowest=bypasses)
    b.ret(b.zext(sectors, I64))
    return made


def _move(
    site: AccessSite,
    reading: AccessSite,
    pointers: llvm.Value,
    to: llvm.Value,
    size: int,
    missing: llvm.Value | None,
    lowest: bool,
) -> None:
    """Moves the data; of lanes on the same place the lowest or the highest wins."""
    from warplens.emulator.access.gather_scatter import gathered, scatter_words

    b = site.b
    lanes = site.code.lanes(reading.mask)
    pointers = b.select(lanes, pointers, LlvmEmitter(b).splat(site.env))  # there may be no lane that reads
    places = site.pointers("shared", to)
    nothing = llvm.IRConstant(V32, None)
    words = []
    for k in range(size // 4):
        word = gathered(b, further(b, pointers, "global", k), I32)
        word = b.select(lanes, word, nothing)
        if missing is not None:
            word = b.and_(word, _remaining_bits(b, missing, size - 4 * k))
        words.append(word)
    scatter_words(site, "shared", words, places, site.mask, lowest)


def _remaining_bits(b: llvm.IRBuilder, missing: llvm.Value, remaining: int) -> llvm.Value:
    """Which bits of a word stay that has `remaining` bytes of the access from its start on, the last ones missing."""
    number = LlvmEmitter(b).number
    stay = b.sub(number(missing, remaining), missing)
    stay = b.select(b.icmp_signed(">", stay, number(stay, 0)), stay, number(stay, 0))
    some = b.sub(b.shl(number(stay, 1), b.shl(stay, number(stay, 3))), number(stay, 1))
    return b.select(b.icmp_signed(">=", stay, number(stay, 4)), number(stay, -1), some)


# Counts


def _count(
    routines: AccessRoutines,
    site: AccessSite,
    reading: AccessSite,
    source: llvm.Value,
    to: llvm.Value,
    size: int,
    fills: bool,
    bypasses: bool,
) -> llvm.Value:
    """The sectors of the copy as L1 counts them."""
    b, code, count = site.b, site.code, routines.count
    shift = size.bit_length() - 1
    units = b.lshr(to, LlvmEmitter(b).number(to, shift))
    sectors, lines = (b.trunc(b.lshr(source, LlvmEmitter(b).number(source, bits)), V32) for bits in (5, 7))
    different = b.call(count.distinct, [units, site.mask])
    takes = reading.mask
    if bypasses:
        moving = _first_of_each(routines, code, units, site.mask)
        half = b.and_(_unit(b, source, 4), LlvmEmitter(b).splat(i32(1)))
        moved = _SectorTransfers(routines, code, sectors, b.lshr(to, LlvmEmitter(b).number(to, 5)), half, units)
        takes = b.and_(moving, takes)
        read_sectors, _ = moved.count(takes)
        in_l1 = moved.to_sectors(takes)
        _, passes = moved.count(moving)
        ideal = _packed(b, moving, size)
        if fills:
            passes = b.add(passes, b.call(count.shared(size, "store"), [to, site.mask]))
            ideal = b.shl(_packed(b, site.mask, size), i32(1))
    else:
        in_l1 = read_sectors = b.call(count.distinct, [sectors, reading.mask])
        passes = _passes(routines, code, units, _unit(b, source, shift), site.mask, 128 // size)
        ideal = _packed(b, site.mask, size)
    site.add(REQUESTS, b.zext(code.nonzero(reading.mask), I64))
    for column, value in (
        (SECTORS, read_sectors), (TAGS, b.call(count.distinct, [lines, reading.mask])), (WAVEFRONTS, passes),
        (COPY_IDEAL, _least(b, passes, ideal)), (BYTES, b.mul(different, i32(size))),
        (IDEAL, _least(b, read_sectors, _packed(b, takes, size, 5))),
    ):  # fmt: skip
        site.add(column, b.zext(value, I64))
    return in_l1


def _unit(b: llvm.IRBuilder, address: llvm.Value, shift: int) -> llvm.Value:
    """The unit of a global address; only its low bits matter."""
    return b.trunc(b.lshr(address, LlvmEmitter(b).number(address, shift)), V32)


def _packed(b: llvm.IRBuilder, mask: llvm.Value, size: int, shift: int = 7) -> llvm.Value:
    """Units of 2^shift bytes that the lanes would fill if packed."""
    lanes = StructuredBuilder(b).popcount(mask)
    return b.lshr(b.add(b.mul(lanes, i32(size)), i32((1 << shift) - 1)), i32(shift))


def _least(b: llvm.IRBuilder, x: llvm.Value, y: llvm.Value) -> llvm.Value:
    return b.select(b.icmp_unsigned("<", x, y), x, y)


def _most(b: llvm.IRBuilder, x: llvm.Value, y: llvm.Value) -> llvm.Value:
    return b.select(b.icmp_unsigned(">", x, y), x, y)


def _passes(
    routines: AccessRoutines, code: StructuredBuilder, to: llvm.Value, source: llvm.Value, mask: llvm.Value, banks: int
) -> llvm.Value:
    b = code.b
    total: llvm.Value = i32(0)
    for start in range(0, LANES, banks):
        part = b.and_(mask, i32(((1 << banks) - 1) << start))
        total = b.add(total, _most(b, *(routines.count.most_lanes(code, u, part, banks) for u in (to, source))))
    return total


def _first_of_each(
    routines: AccessRoutines, code: StructuredBuilder, units: llvm.Value, mask: llvm.Value
) -> llvm.Value:
    """The lowest of the lanes on each place."""
    first = code.variable(I32, i32(0))

    def visit(_: llvm.Value, lanes: llvm.Value) -> None:
        code.b.store(code.b.or_(code.b.load(first, typ=I32), code.bit(code.lowest(lanes))), first)

    routines.count.each_distinct(code, units, mask, visit)
    return code.b.load(first, typ=I32)


class _SectorTransfers:
    """Sector-to-sector transfers of a copy that bypasses L1."""

    def __init__(
        self,
        routines: AccessRoutines,
        code: StructuredBuilder,
        source: llvm.Value,
        to: llvm.Value,
        half: llvm.Value,
        units: llvm.Value,
    ) -> None:
        self.each = routines.count.each_distinct
        self.code = code
        self.source, self.to = source, to
        b, self.number = code.b, LlvmEmitter(code.b).number
        self.half = self._lanes(half, 0)
        self.same = self._lanes(b.xor(half, units), 0)  # lanes that go from a half to the same half
        self.even = self._lanes(b.xor(source, to), 0)
        self.lines = [b.lshr(sector, self.number(sector, 2)) for sector in (source, to)]

    def _lanes(self, values: llvm.Value, bit: int) -> llvm.Value:
        """Lanes whose value has 0 in this bit."""
        b = self.code.b
        return b.bitcast(
            b.icmp_signed("==", b.and_(values, self.number(values, 1 << bit)), self.number(values, 0)), I32
        )

    def count(self, mask: llvm.Value) -> tuple[llvm.Value, llvm.Value]:
        """(sector transfers, wavefronts) of these lanes."""
        code, b = self.code, self.code.b
        whole, transfers, passes = (code.variable(I32, i32(0)) for _ in range(3))

        def between(_: llvm.Value, lanes: llvm.Value) -> None:
            """Two lanes from different halves are one transfer: both halves move."""
            halves = [b.and_(lanes, self.half), b.and_(lanes, b.not_(self.half))]
            both = b.and_(*(code.nonzero(h) for h in halves))
            b.store(b.or_(b.load(whole, typ=I32), b.select(both, lanes, i32(0))), whole)
            code.bump(transfers, b.select(both, i32(1), code.popcount(lanes)), I32)

        self.each(code, self.source, mask, lambda _, lanes: self.each(code, self.to, lanes, between))
        full = b.load(whole, typ=I32)
        once = b.and_(mask, b.not_(b.and_(full, b.not_(self.half))))  # one lane for each transfer

        def together(_: llvm.Value, lanes: llvm.Value) -> None:
            for kind in self._kinds(full):
                code.bump(passes, self._fullest(b.and_(lanes, kind)), I32)

        def from_line(_: llvm.Value, lanes: llvm.Value) -> None:
            self.each(code, self.lines[1], lanes, together)

        self.each(code, self.lines[0], once, from_line)
        return b.load(transfers, typ=I32), b.load(passes, typ=I32)

    def to_sectors(self, mask: llvm.Value) -> llvm.Value:
        """Pairs of a line that these lanes read and a sector that they write."""
        code = self.code
        pairs = code.variable(I32, i32(0))

        def from_line(_: llvm.Value, lanes: llvm.Value) -> None:
            self.each(code, self.to, lanes, lambda *_: code.bump(pairs, i32(1), I32))

        self.each(code, self.lines[0], mask, from_line)
        return code.b.load(pairs, typ=I32)

    def _kinds(self, full: llvm.Value) -> list[llvm.Value]:
        """Lanes by how much they move, from which half to which, and whether the sectors' numbers differ by 2 n."""
        b = self.code.b
        single = b.not_(full)
        moves = [b.and_(full, self.same), b.and_(full, b.not_(self.same))]
        for half in (self.half, b.not_(self.half)):
            moves += [b.and_(single, b.and_(half, s)) for s in (self.same, b.not_(self.same))]
        return [b.and_(move, parity) for move in moves for parity in (self.even, b.not_(self.even))]

    def _fullest(self, lanes: llvm.Value) -> llvm.Value:
        """The most lanes of one sector of the line, on either side."""
        b = self.code.b
        most: llvm.Value = i32(0)
        for sector in (self.source, self.to):
            low, high = (self._lanes(sector, bit) for bit in (0, 1))
            for first in (low, b.not_(low)):
                for second in (high, b.not_(high)):
                    most = _most(b, most, self.code.popcount(b.and_(lanes, b.and_(first, second))))
        return most
