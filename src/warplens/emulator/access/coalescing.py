"""Coalescing: counts sectors, lines and wavefronts of one warp-wide access.

Closed forms for common patterns; other addresses are sorted, or each distinct place is visited once.  The rules are
NVIDIA's (Kernel Profiling Guide, "Memory Tables"): a sector is 32 aligned bytes, a line 128; a shared-memory wavefront
serves one 4-byte word of each of 32 banks, lanes on the same word share it, 8- and 16-byte lanes are served by half and
quarter warps.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Literal

from warplens import llvm
from warplens.emulator.access.site import V32
from warplens.emulator.codegen.emitter import LlvmEmitter
from warplens.emulator.codegen.structured_builder import StructuredBuilder, function, i32
from warplens.emulator.codegen.vector_types import I1, I32, LANES, undefined, vector

PREVIOUS = [0, *range(LANES - 1)]  # shuffle mask: each lane sees its left neighbour, lane 0 itself


Access = Literal["load", "store", "atomic", "count", "compare", "spin", "matrix load", "matrix store"]


class CoalescingClassifier:
    """Counting routines of one module, for sectors, lines and wavefronts."""

    def __init__(self, module: llvm.IRModule) -> None:
        self.module = module

    @cached_property
    def distinct(self) -> llvm.Function:
        """(values, lanes) -> how many different values the lanes hold."""
        if found := self.module.globals.get("distinct"):
            return found
        made, code = function(self.module, "distinct", I32, [V32, I32])
        values, mask = made.args
        b = code.b
        left = b.shuffle_vector(values, undefined(V32), llvm.IRConstant(V32, PREVIOUS))
        falls = b.bitcast(b.icmp_unsigned("<", values, left), I32)
        rising = b.and_(b.icmp_signed("==", falls, i32(0)), b.icmp_signed("==", mask, i32(-1)))
        with code.when(rising):
            b.ret(b.add(self._changes(code, values), i32(1)))
        with code.when(b.icmp_signed("==", mask, i32(0)), likely=False):
            b.ret(i32(0))
        low, high = self._range(code, values, mask)
        with code.when(b.icmp_unsigned("<", b.sub(high, low), i32(32))):
            b.ret(self._in_window(code, values, mask, low))
        rising = _sorted(code, b.select(code.lanes(mask), values, LlvmEmitter(b).splat(low)))
        b.ret(b.add(self._changes(code, rising), i32(1)))
        return made

    def nested(self, shift: int) -> llvm.Function:
        """(units of 2^shift bytes) -> how many of them, of sectors and of lines are different, a byte each: they are
        sorted once."""
        name = f"nested_{shift}"
        if found := self.module.globals.get(name):
            return found
        made, code = function(self.module, name, I32, [V32])
        (units,) = made.args
        b = code.b
        left = b.shuffle_vector(units, undefined(V32), llvm.IRConstant(V32, PREVIOUS))
        falls = b.bitcast(b.icmp_unsigned("<", units, left), I32)
        rising = code.variable(V32, units)
        with code.when(code.nonzero(falls)):
            b.store(_sorted(code, units), rising)
        ordered = b.load(rising, typ=V32)
        whole: llvm.Value = i32(0)
        for k, further in enumerate((0, 5 - shift, 7 - shift)):
            coarse = b.lshr(ordered, LlvmEmitter(b).number(ordered, further))
            whole = b.or_(whole, b.shl(b.add(self._changes(code, coarse), i32(1)), i32(8 * k)))
        b.ret(whole)
        return made

    def _changes(self, code: StructuredBuilder, values: llvm.Value) -> llvm.Value:
        """How many lanes hold another value than the lane before."""
        left = code.b.shuffle_vector(values, undefined(V32), llvm.IRConstant(V32, PREVIOUS))
        return code.popcount(code.b.bitcast(code.b.icmp_signed("!=", values, left), I32))

    def _range(self, code: StructuredBuilder, values: llvm.Value, mask: llvm.Value) -> tuple[llvm.Value, llvm.Value]:
        """The smallest and the largest value of the lanes."""
        b = code.b
        emitter = LlvmEmitter(b)
        lanes = code.lanes(mask)
        low = self._reduce(code, "umin", b.select(lanes, values, emitter.number(values, -1)))
        return low, self._reduce(code, "umax", b.select(lanes, values, emitter.number(values, 0)))

    def _in_window(self, code: StructuredBuilder, values: llvm.Value, mask: llvm.Value, low: llvm.Value) -> llvm.Value:
        """Different values among lanes whose values lie less than 32 above low: one bit for each."""
        b = code.b
        emitter = LlvmEmitter(b)
        steps = b.and_(b.sub(values, emitter.splat(low)), emitter.number(values, 31))
        bits = b.shl(emitter.number(values, 1), steps)
        bits = b.select(code.lanes(mask), bits, emitter.number(values, 0))
        return code.popcount(self._reduce(code, "or", bits))

    def each_distinct(
        self,
        code: StructuredBuilder,
        places: llvm.Value,
        mask: llvm.Value,
        visit: Callable[[llvm.Value, llvm.Value], None],
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

    def wavefronts(self, banks: int) -> llvm.Function:
        """(units, lanes) -> passes for lanes that each access one unit of 128 / banks bytes, served together; above
        byte 0, how many units are different."""
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
            b.ret(b.or_(i32(1), b.shl(self._in_window(code, units, mask, low), i32(8))))
        if banks == LANES:
            self._return_constant_step(code, units, mask)
        # Units in the order of their banks: each run of a bank is as long as it has different units.
        number = LlvmEmitter(b).number
        digits = banks.bit_length() - 1
        bank = b.shl(units, number(units, 32 - digits))
        keys = b.or_(bank, b.lshr(units, number(units, digits)))
        first = b.extract_element(keys, b.and_(code.lowest(mask), i32(31)))
        keys = _sorted(code, b.select(code.lanes(mask), keys, LlvmEmitter(b).splat(first)))
        banks_begin = self._begins(code, b.lshr(keys, number(keys, 32 - digits)))
        units_begin = self._begins(code, keys)
        b.ret(b.or_(_longest_run(code, banks_begin, units_begin), b.shl(code.popcount(units_begin), i32(8))))
        return made

    def _return_constant_step(self, code: StructuredBuilder, units: llvm.Value, mask: llvm.Value) -> None:
        """Of all 32 lanes, each the same number of words further on: that number's largest power of two, at most 32,
        is how many meet in a bank.  A fifth of the time of visiting as many different words one by one."""
        b = code.b
        steps = b.sub(units, b.shuffle_vector(units, undefined(V32), llvm.IRConstant(V32, PREVIOUS)))
        step = b.extract_element(steps, i32(1))
        alike = b.bitcast(b.icmp_signed("==", steps, LlvmEmitter(b).splat(step)), I32)
        with code.when(b.icmp_signed("==", b.and_(b.or_(alike, i32(1)), mask), i32(-1))):
            power = code.lowest(step)
            capped = b.select(b.icmp_unsigned("<", power, i32(5)), power, i32(5))
            b.ret(b.or_(code.bit(capped), i32(LANES << 8)))

    def _begins(self, code: StructuredBuilder, values: llvm.Value) -> llvm.Value:
        """The lanes that hold another value than the lane before, and lane 0."""
        left = code.b.shuffle_vector(values, undefined(V32), llvm.IRConstant(V32, PREVIOUS))
        return code.b.or_(code.b.bitcast(code.b.icmp_signed("!=", values, left), I32), i32(1))

    def _reduce(self, code: StructuredBuilder, name: str, values: llvm.Value) -> llvm.Value:
        return code.intrinsic(f"vector.reduce.{name}", values, result=I32)

    def shared(self, size: int, how: Access) -> llvm.Function:
        """(byte addresses, lanes) -> wavefronts of a shared access of `size` bytes a lane.

        Lanes of 8 bytes are served in half warps, lanes of 16 in quarters; loads may serve two such groups at once
        (_served_together).  An atomic serves one lane a bank at a time, but lanes on the same word at once where it
        only counts them (ATOMS.POPC.INC); a try of the compare-and-store loop (ATOMS.CAST.SPIN) one a bank and no
        others, with words of 8 bytes in each half warp.  That one and ATOMS.CAS make each of their passes twice
        (bounds_check.py).
        The rows of each matrix of LDSM and STSM are one such quarter, never merged with another.
        Read on an H200 (measurements/h200/access_patterns.csv, shared_merges.csv).
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
            passes: llvm.Value = i32(0)
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
            together = self._served_together(code, units, mask, groups // 2)
            pairs = [b.add(one, other) for one, other in zip(parts[::2], parts[1::2], strict=True)]
            parts = [
                b.select(b.and_(may, b.icmp_signed("==", whole, i32(1))), i32(1), separate)
                for whole, may, separate in zip(merged, together, pairs, strict=True)
            ]
        total: llvm.Value = i32(0)
        for part in parts:
            total = b.add(total, part)
        if how == "load" and groups == 4:
            # One place for all: 16 lanes at a time.
            by_halves = b.lshr(b.add(code.popcount(mask), i32(LANES // 2 - 1)), i32(4))
            one = b.icmp_signed("==", b.call(self.distinct, [units, mask]), i32(1))
            total = b.select(one, by_halves, total)
        b.ret(total)
        return made

    def _groups(
        self, code: StructuredBuilder, units: llvm.Value, mask: llvm.Value, groups: int, banks: int
    ) -> list[llvm.Value]:
        """Wavefronts of each group of neighbouring lanes."""
        b = code.b
        lanes = LANES // groups
        passes = []
        for group in range(groups):
            part = b.and_(mask, i32(((1 << lanes) - 1) << (lanes * group)))
            passes.append(b.and_(b.call(self.wavefronts(banks), [units, part]), i32(0xFF)))
        return passes

    def _served_together(
        self, code: StructuredBuilder, units: llvm.Value, mask: llvm.Value, groups: int
    ) -> list[llvm.Value]:
        """For each group of lanes whether its two parts are served at once if no two of their words share a bank.

        So it is where all active lanes agree with lane ^ 1, or all with lane ^ 2, unless that one is off.  In the lower
        half of a warp with 16 bytes a lane that one must be on; but with lane 31 off, the lower half always qualifies.
        """
        b = code.b
        nothing = undefined(V32)
        lanes = LANES // groups
        same, there = [], []
        for step in (1, 2):
            order = llvm.IRConstant(V32, [lane ^ step for lane in range(LANES)])
            same.append(b.bitcast(b.icmp_signed("==", units, b.shuffle_vector(units, nothing, order)), I32))
            on = b.shuffle_vector(code.lanes(mask), undefined(vector(I1)), order)
            there.append(b.bitcast(on, I32))
        off = b.not_(mask)
        last_off = b.icmp_signed(">=", mask, i32(0))
        results = []
        for group in range(groups):
            part = i32(((1 << lanes) - 1) << (lanes * group))
            strict = groups == 2 and group == 0
            fine = [
                b.and_(equal, on) if strict else b.or_(equal, b.not_(on)) for equal, on in zip(same, there, strict=True)
            ]
            one, two = (b.icmp_signed("==", b.and_(b.or_(agree, off), part), part) for agree in fine)
            either = b.or_(one, two)
            results.append(b.or_(either, last_off) if strict else either)
        return results

    def most_lanes(self, code: StructuredBuilder, units: llvm.Value, mask: llvm.Value, banks: int) -> llvm.Value:
        """The largest number of lanes in one bank, those on the same word included."""
        b = code.b
        emitter = LlvmEmitter(b)
        bank = b.and_(units, emitter.number(units, banks - 1))
        last = emitter.number(units, LANES)  # behind all banks
        keys = _sorted(code, b.select(code.lanes(mask), bank, last))
        active = b.bitcast(b.icmp_signed("!=", keys, last), I32)
        return _longest_run(code, self._begins(code, keys), active)


def _longest_run(code: StructuredBuilder, begins: llvm.Value, counted: llvm.Value) -> llvm.Value:
    """The most lanes of `counted` in one run; `begins`: bit 0, and those of the other runs' first lanes."""
    b = code.b
    left, most = code.variable(I32, begins), code.variable(I32, i32(0))

    def run() -> None:
        lanes = b.load(left, typ=I32)
        rest = b.and_(lanes, b.sub(lanes, i32(1)))
        lowest, following = (b.and_(v, b.neg(v)) for v in (lanes, rest))
        n, old = code.popcount(b.and_(counted, b.sub(following, lowest))), b.load(most, typ=I32)
        b.store(b.select(b.icmp_signed(">", n, old), n, old), most)
        b.store(rest, left)

    code.loop(lambda: code.nonzero(b.load(left, typ=I32)), run)
    return b.load(most, typ=I32)


def _sorted(code: StructuredBuilder, values: llvm.Value) -> llvm.Value:
    """The 32 values in rising order, by a bitonic network: a third of the time of visiting as many different ones."""
    b = code.b
    size = 2
    while size <= LANES:
        step = size // 2
        while step:
            order = [lane ^ step for lane in range(LANES)]
            other = b.shuffle_vector(values, undefined(V32), llvm.IRConstant(V32, order))
            least, most = (code.intrinsic(name, values, other, result=V32) for name in ("umin", "umax"))
            low = [(lane & step == 0) == (lane & size == 0) for lane in range(LANES)]
            values = b.select(llvm.IRConstant(vector(I1), low), least, most)
            step //= 2
        size *= 2
    return values
