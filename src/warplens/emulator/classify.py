"""How many sectors, lines and wavefronts one warp-wide access takes, from its 32 addresses.

Closed forms for common patterns; the rest visits each distinct place once.  The rules are NVIDIA's (Kernel Profiling
Guide, "Memory Tables"): a sector is 32 aligned bytes, a line 128; a shared-memory wavefront serves one 4-byte word of
each of 32 banks, lanes on the same word share it, 8- and 16-byte lanes are served by half and quarter warps.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Literal

from warplens.emulator import ir
from warplens.emulator.code import Code, function, i32
from warplens.emulator.emit import LlvmEmitter
from warplens.emulator.site import V32
from warplens.emulator.vectors import I1, I8, I32, I64, LANES, undefined, vector

PREVIOUS = [0, *range(LANES - 1)]  # shuffle mask: each lane sees its left neighbour, lane 0 itself


Access = Literal["load", "store", "atomic", "count", "compare", "spin", "matrix load", "matrix store"]


class Classifier:
    """Counting routines of one module."""

    def __init__(self, module: ir.Module) -> None:
        self.module = module

    @cached_property
    def distinct(self) -> ir.Function:
        """(values, lanes) -> how many different values the lanes hold."""
        if found := self.module.globals.get("distinct"):
            return found
        made, code = function(self.module, "distinct", I32, [V32, I32])
        values, mask = made.args
        b = code.b
        left = b.shuffle_vector(values, undefined(V32), ir.Constant(V32, PREVIOUS))
        falls = b.bitcast(b.icmp_unsigned("<", values, left), I32)
        rising = b.and_(b.icmp_signed("==", falls, i32(0)), b.icmp_signed("==", mask, i32(-1)))
        with code.when(rising):
            changes = code.popcount(b.bitcast(b.icmp_signed("!=", values, left), I32))
            b.ret(b.add(changes, i32(1)))
        with code.when(b.icmp_signed("==", mask, i32(0)), likely=False):
            b.ret(i32(0))
        low, high = self._range(code, values, mask)
        with code.when(b.icmp_unsigned("<", b.sub(high, low), i32(32))):
            b.ret(self._in_window(code, values, mask, low))
        count = code.variable(I32, i32(0))
        self.each_distinct(code, values, mask, lambda place, lanes: code.bump(count, 1, I32))
        b.ret(b.load(count, typ=I32))
        return made

    def _range(self, code: Code, values: ir.Value, mask: ir.Value) -> tuple[ir.Value, ir.Value]:
        """The smallest and the largest value of the lanes."""
        b = code.b
        emitter = LlvmEmitter(b)
        lanes = b.bitcast(mask, vector(I1))
        low = self._reduce(code, "umin", b.select(lanes, values, emitter.number(values, -1)))
        return low, self._reduce(code, "umax", b.select(lanes, values, emitter.number(values, 0)))

    def _in_window(self, code: Code, values: ir.Value, mask: ir.Value, low: ir.Value) -> ir.Value:
        """Different values among lanes whose values lie less than 32 above low: one bit for each."""
        b = code.b
        emitter = LlvmEmitter(b)
        steps = b.and_(b.sub(values, emitter.splat(low)), emitter.number(values, 31))
        bits = b.shl(emitter.number(values, 1), steps)
        bits = b.select(b.bitcast(mask, vector(I1)), bits, emitter.number(values, 0))
        return code.popcount(self._reduce(code, "or", bits))

    def each_distinct(
        self, code: Code, places: ir.Value, mask: ir.Value, visit: Callable[[ir.Value, ir.Value], None]
    ) -> None:
        """visit(value, lanes that hold it), from the lowest lane on."""
        b = code.b
        emitter = LlvmEmitter(b)
        left = code.variable(I32, mask)

        def step() -> None:
            rest = b.load(left, typ=I32)
            place = b.extract_element(places, code.lowest(rest))
            same = b.bitcast(b.icmp_signed("==", places, emitter.splat(place)), I32)
            visit(place, b.and_(same, rest))
            b.store(b.and_(rest, b.not_(same)), left)

        code.loop(lambda: code.nonzero(b.load(left, typ=I32)), step)

    def wavefronts(self, banks: int) -> ir.Function:
        """(units, lanes) -> passes for lanes that each access one unit of 128 / banks bytes, served together."""
        name = f"wavefronts_{banks}"
        found = self.module.globals.get(name)
        if found:
            return found
        made, code = function(self.module, name, I32, [V32, I32])
        units, mask = made.args
        b = code.b
        with code.when(b.icmp_signed("==", mask, i32(0)), likely=False):
            b.ret(i32(0))
        low, high = self._range(code, units, mask)
        # Units less than one row of banks apart are all in different banks, or the same.
        with code.when(b.icmp_unsigned("<", b.sub(high, low), i32(banks))):
            b.ret(i32(1))
        tally = code.variable(ir.VectorType(I8, banks), None)
        b.store(ir.Constant(ir.VectorType(I8, banks), [0] * banks), tally)
        most = code.variable(I32, i32(0))

        def count(unit: ir.Value, same: ir.Value) -> None:
            bank = b.and_(unit, i32(banks - 1))
            place = b.gep(tally, [b.zext(bank, I64)], source_etype=I8)
            n = b.add(b.load(place, typ=I8), ir.Constant(I8, 1))
            b.store(n, place)
            wide, old = b.zext(n, I32), b.load(most, typ=I32)
            b.store(b.select(b.icmp_signed(">", wide, old), wide, old), most)

        self.each_distinct(code, units, mask, count)
        b.ret(b.load(most, typ=I32))
        return made

    def _reduce(self, code: Code, name: str, values: ir.Value) -> ir.Value:
        return code.intrinsic(f"vector.reduce.{name}", values, result=I32)

    def shared(self, size: int, how: Access) -> ir.Function:
        """(byte addresses, lanes) -> wavefronts of a shared access of `size` bytes a lane.

        Lanes of 8 bytes are served in half warps, lanes of 16 in quarters.  A load serves two such groups at once
        (two half warps, the quarters of one half) where each active lane has the same address as its neighbour
        lane ^ 1, or each as lane ^ 2, unless that neighbour is off.  An atomic serves one lane a bank at a time, but
        lanes on the same word at once where it only counts them (ATOMS.POPC.INC); a try of the compare-and-store
        loop (ATOMS.CAST.SPIN) one a bank and no others, with words of 8 bytes in each half warp.  That one and
        ATOMS.CAS make each of their passes twice (check.py).  The rows of
        each matrix of LDSM and STSM are one such quarter, never merged with another.
        Read on an H200 (measurements/h200/access_patterns.csv): 3,000 launches agree but two partial warps whose
        16-byte lanes repeat every 8 lanes, which took one wavefront fewer.
        """
        name = f"shared_wavefronts_{size}_{how}".replace(" ", "_")
        found = self.module.globals.get(name)
        if found:
            return found
        made, code = function(self.module, name, I32, [V32, I32])
        addresses, mask = made.args
        b = code.b
        width = max(size, 4)
        units = b.lshr(addresses, LlvmEmitter(b).number(addresses, width.bit_length() - 1))
        if how == "spin":
            half = LANES * 4 // width  # lanes; with words of 4 bytes the whole warp
            passes: ir.Value = i32(0)
            for start in range(0, LANES, half):
                part = b.and_(mask, i32(((1 << half) - 1) << start))
                passes = b.add(passes, b.zext(code.nonzero(part), I32))
            b.ret(passes)
            return made
        if how in ("atomic", "compare"):
            b.ret(self.most_lanes(code, units, mask, 128 // width))
            return made
        groups, banks = width // 4, 128 // width
        parts = self._groups(code, units, mask, groups, banks)
        if how == "load" and groups > 1:
            merged = self._groups(code, units, mask, groups // 2, banks)
            paired = self._paired(code, units, mask, groups // 2)
            total: ir.Value = i32(0)
            for index, (whole, pair) in enumerate(zip(merged, paired, strict=True)):
                apart = b.add(parts[2 * index], parts[2 * index + 1])
                total = b.add(total, b.select(pair, whole, apart))
        else:
            total = i32(0)
            for part in parts:
                total = b.add(total, part)
        b.ret(total)
        return made

    def _groups(
        self, code: Code, units: ir.Value, mask: ir.Value, groups: int, banks: int
    ) -> list[ir.Value]:
        """Wavefronts of each of so many groups of neighbouring lanes."""
        b = code.b
        lanes = LANES // groups
        passes = []
        for group in range(groups):
            part = b.and_(mask, i32(((1 << lanes) - 1) << (lanes * group)))
            passes.append(b.call(self.wavefronts(banks), [units, part]))
        return passes

    def _paired(self, code: Code, units: ir.Value, mask: ir.Value, groups: int) -> list[ir.Value]:
        """For each group of lanes whether all active ones agree with lane ^ 1, or all with lane ^ 2."""
        b = code.b
        nothing = undefined(V32)
        lanes = LANES // groups
        agreeing = []
        for step in (1, 2):
            order = ir.Constant(V32, [lane ^ step for lane in range(LANES)])
            same = b.bitcast(b.icmp_signed("==", units, b.shuffle_vector(units, nothing, order)), I32)
            there = b.shuffle_vector(b.bitcast(mask, vector(I1)), undefined(vector(I1)), order)
            fine = b.or_(same, b.not_(b.bitcast(there, I32)))
            agreeing.append(b.or_(fine, b.not_(mask)))
        results = []
        for group in range(groups):
            part = i32(((1 << lanes) - 1) << (lanes * group))
            one, two = (b.icmp_signed("==", b.and_(agree, part), part) for agree in agreeing)
            results.append(b.or_(one, two))
        return results

    def most_lanes(self, code: Code, units: ir.Value, mask: ir.Value, banks: int) -> ir.Value:
        """The largest number of lanes in one bank, those on the same word included."""
        b = code.b
        emitter = LlvmEmitter(b)
        bank = b.and_(units, emitter.number(units, banks - 1))
        most = code.variable(I32, i32(0))

        def visit(place: ir.Value, lanes: ir.Value) -> None:
            n, old = code.popcount(lanes), b.load(most, typ=I32)
            b.store(b.select(b.icmp_signed(">", n, old), n, old), most)

        self.each_distinct(code, bank, mask, visit)
        return b.load(most, typ=I32)
