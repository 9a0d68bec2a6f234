"""The warp as the sentences of isa/ see it, writing LLVM at one instruction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from llvmlite import ir

from warplens.emulator import abi
from warplens.emulator.access import V64, Site, iota
from warplens.emulator.atomics import atomic_routine, compare_and_store_routine
from warplens.emulator.classify import V32
from warplens.emulator.code import i32, i64
from warplens.emulator.emit import I1, I32, I64, LANES, is_vector, vector
from warplens.emulator.layout import (
    ALL_THREADS,
    COLLECTIVE,
    WARPSYNC,
    Block,
    Env,
    FaultKind,
    Reduce,
    Warp,
)
from warplens.emulator.reach import match_routine, reduced, shuffled
from warplens.isa._lanes import U32, U64, Pred
from warplens.isa._warp import Data, Reduction, Space
from warplens.program import Address, Constant, Instruction, Label, Register

if TYPE_CHECKING:
    from warplens.emulator.lift import WarpFunction

LANE_MASKS = {  # special registers that depend on the lane alone
    "SR_LANEID": [lane for lane in range(LANES)],
    "SR_EQMASK": [1 << lane for lane in range(LANES)],
    "SR_LTMASK": [(1 << lane) - 1 for lane in range(LANES)],
    "SR_LEMASK": [(2 << lane) - 1 for lane in range(LANES)],
    "SR_GTMASK": [0xFFFFFFFF & ~((2 << lane) - 1) for lane in range(LANES)],
    "SR_GEMASK": [0xFFFFFFFF & ~((1 << lane) - 1) for lane in range(LANES)],
}


class TranslatedWarp:
    """One instruction of a warp; `mask` is the running split, `active` those of its lanes whose guard is true."""

    def __init__(
        self, function: WarpFunction, at: Instruction, mask: ir.Value, lanes: ir.Value, active: ir.Value,
        condition: ir.Value | None, split: bool,
    ) -> None:  # fmt: skip
        self.f = function
        self.at = at
        self.mask = mask
        self.lanes = lanes
        self._active = active
        self.condition = condition
        self.split = split
        self.b = function.b
        self.code = function.code
        self.e = function.emitter
        self.runtime = function.t.runtime

    @property
    def active(self) -> Pred:
        return Pred(self.e, self._active)

    @property
    def active_mask(self) -> ir.Value:
        return self.mask if self.condition is None else self.b.bitcast(self._active, I32)

    @property
    def lane(self) -> U32:
        return self._u32(iota(1, I32))

    def _u32(self, node: ir.Value) -> U32:
        return U32(self.e, node)

    def special(self, name: str) -> U32:
        if name in LANE_MASKS:
            return self._u32(ir.Constant(V32, LANE_MASKS[name]))
        code, b = self.code, self.b
        fixed = abi.special_constants(self.f.t.kernel)
        if name in fixed:
            return self._u32(i32(fixed[name]))
        index = code.load(Warp, self.f.warp, "index")
        axis = "XYZ".find(name[-1])
        if name.startswith("SR_TID."):
            row = b.add(b.mul(b.zext(index, I64), i64(3 * 128)), i64(axis * 128))
            return self._u32(b.load(code.at(code.load(Env, self.f.env, "tid"), row), typ=V32, align=4))
        if name.startswith("SR_CTAID."):
            return self._u32(code.load(Block, self.f.block, "ctaid", axis))
        if name == "SR_VIRTID":
            return self._u32(b.shl(index, i32(8)))
        if name == "SR_SMEMSZ":
            total = b.trunc(code.load(Env, self.f.env, "shared_bytes"), I32)
            return self._u32(b.add(total, i32(self.f.t.accesses.shared_base)))
        if name in ("SR_CLOCKLO", "SR_CLOCKHI"):
            clock = self.clock()
            return clock.low() if name.endswith("LO") else clock.high()
        from warplens.emulator.lift import unsupported

        raise unsupported(self.f.t.program, self.at)

    def clock(self) -> U64:
        code, b = self.code, self.b
        spent = b.sub(code.load(Env, self.f.env, "slice"), b.load(self.f.fuel, typ=I64))
        return U64(self.e, b.add(code.load(Warp, self.f.warp, "used"), spent))

    def constant(self, at: Constant, bytes: int) -> Data:
        return Data(self.f.registers.constant(self.f, at, bytes))

    def predicate(self, register: Register) -> Pred:
        return Pred(self.e, self.f.registers.predicate(register))

    def stored(self, register: Register, words: int) -> Data:
        return Data(self.f.registers.run(register, words))

    # Memory

    def _site(self, mask: ir.Value | None = None) -> Site:
        row = self.f.t.plan.row(self.at.index)
        counters = self.code.at(self.f.counters, 8 * row)
        active = self.active_mask if mask is None else mask
        return Site(self.f.env, self.f.block, self.f.warp, self.at.index, counters, active)

    def _register(self, register: Register | None) -> ir.Value:
        return i32(0) if register is None else self.f.registers.word(register.file, register.index)

    def address(self, space: Space, at: Address) -> ir.Value:
        """One address a lane: 64 bits in global and generic space, 32 in shared and local."""
        wide = space in ("global", "generic")
        total = self._wide_address(at) if wide else self._narrow_address(at)
        return self.e.splat(total.node)

    def _wide_address(self, at: Address) -> U64:
        total = U64(self.e, i64(at.offset))
        if at.base is not None:
            low, high = self.f.registers.run(at.base, 2)
            total = total + (low.join(high) if at.wide else low.wide())
        if at.uniform is not None:
            low, high = self.f.registers.run(at.uniform, 2)
            total = total + low.join(high)
        return total

    def _narrow_address(self, at: Address) -> U32:
        total = self._u32(i32(at.offset))
        if at.base is not None:
            total = total + self._u32(self._register(at.base)) * at.scale
        if at.uniform is not None:
            total = total + self._u32(self._register(at.uniform))
        return total

    def _windows(self, address: ir.Value) -> dict[Space, ir.Value]:
        """Which lanes of a generic access reach which space."""
        b = self.b
        high = b.trunc(b.lshr(address, self.e.number(address, 32)), V32)
        shared = b.bitcast(b.icmp_signed("==", high, self.e.splat(i32(abi.SHARED_WINDOW))), I32)
        local = b.bitcast(b.icmp_signed("==", high, self.e.splat(i32(abi.LOCAL_WINDOW))), I32)
        active = self.active_mask
        return {
            "shared": b.and_(active, shared),
            "local": b.and_(active, local),
            "global": b.and_(active, b.not_(b.or_(shared, local))),
        }

    def load(self, space: Space, at: Address, bytes: int, signed: bool = False, volatile: bool = False) -> Data:
        address = self.address(space, at)
        accesses, fault = self.f.t.accesses, self.f.fault
        if space != "generic":
            words = accesses.load(self.code, self._site(), space, address, bytes, signed, fault)
            return Data([self._u32(w) for w in words])
        total = [self.code.variable(V32, ir.Constant(V32, None)) for _ in range(max(bytes // 4, 1))]
        for where, mask in self._windows(address).items():
            with self.code.when(self.code.nonzero(mask)):
                near = address if where == "global" else self.b.trunc(address, V32)
                words = accesses.load(self.code, self._site(mask), where, near, bytes, signed, fault)
                for place, word in zip(total, words, strict=True):
                    old = self.b.load(place, typ=V32)
                    self.b.store(self.b.select(self.b.bitcast(mask, vector(I1)), word, old), place)
        return Data([self._u32(self.b.load(place, typ=V32)) for place in total])

    def store(self, space: Space, at: Address, data: Data, bytes: int) -> None:
        address = self.address(space, at)
        accesses, fault = self.f.t.accesses, self.f.fault
        words = [w.node for w in data.words]
        if space != "generic":
            accesses.store(self.code, self._site(), space, address, words, bytes, fault)
            return
        for where, mask in self._windows(address).items():
            with self.code.when(self.code.nonzero(mask)):
                near = address if where == "global" else self.b.trunc(address, V32)
                accesses.store(self.code, self._site(mask), where, near, words, bytes, fault)

    def _call_access(self, routine: ir.Function, site: Site, address: ir.Value, words: Sequence[U32]) -> ir.Value:
        common = self.f.t.accesses._common(site)
        made = self.b.call(routine, [*common, address, site.mask, *(self.e.splat(w.node) for w in words)])
        after = self.b.append_basic_block("after")
        self.f.t.accesses._leave_on_fault(self.code, site, self.f.fault, after)
        self.b.position_at_end(after)
        return made

    def atomic(
        self, space: Space, op: Reduction, at: Address, value: Data, *, compare: Data | None = None,
        kind: str = "u32", returns: bool = True,
    ) -> Data:  # fmt: skip
        address = self.address(space, at)
        words = [*value.words, *(compare.words if compare else ())]
        count = 2 if kind.endswith("64") else 1
        total = [self.code.variable(V32, ir.Constant(V32, None)) for _ in range(count)]
        windows: dict[Space, ir.Value] = {space: self.active_mask} if space != "generic" else self._windows(address)
        for where, mask in windows.items():
            if where == "local":
                continue
            routine = atomic_routine(self.f.t.accesses, where, op, kind, returns, compare is not None)
            with self.code.when(self.code.nonzero(mask)):
                near = address if where == "global" or space != "generic" else self.b.trunc(address, V32)
                old = self._call_access(routine, self._site(mask), near, words)
                parts = [old] if count == 1 else [self.b.extract_value(old, k) for k in range(count)]
                for place, part in zip(total, parts, strict=True):
                    before = self.b.load(place, typ=V32)
                    self.b.store(self.b.select(self.b.bitcast(mask, vector(I1)), part, before), place)
        return Data([self._u32(self.b.load(place, typ=V32)) for place in total])

    def compare_and_store(self, at: Address, compare: Data, value: Data, bytes: int) -> Pred:
        address = self.address("shared", at)
        routine = compare_and_store_routine(self.f.t.accesses, bytes)
        stored = self._call_access(routine, self._site(), address, [*compare.words, *value.words])
        return self._u32(stored).ne(0)

    def is_shared(self, at: Address) -> Pred:
        address = self.address("generic", at)
        high = self.b.trunc(self.b.lshr(address, self.e.number(address, 32)), V32)
        return self._u32(high).eq(abi.SHARED_WINDOW)

    # Other lanes

    def ballot(self, p: Pred) -> U32:
        return self._u32(self.b.bitcast(self.b.and_(self._active, self.e.splat(p.node)), I32))

    def shuffle(self, value: U32, source: U32) -> U32:
        return self._u32(shuffled(self.code, self.e.splat(value.node), self.e.splat(source.node)))

    def _first_lane(self) -> ir.Value:
        return self.b.and_(self.code.lowest(self.active_mask), i32(31))

    def first(self, value: U32) -> U32:
        if not is_vector(value.node):
            return value
        return self._u32(self.b.extract_element(value.node, self._first_lane()))

    def match_any(self, words: Data) -> U32:
        routine = match_routine(self.f.t.module, len(words.words))
        arguments = [self.e.splat(w.node) for w in words.words]
        return self._u32(self.b.call(routine, [self.active_mask, *arguments]))

    def reduce(self, value: U32, op: Literal["add", "min", "max", "smin", "smax", "and", "or", "xor"]) -> U32:
        return self._u32(reduced(self.code, self.e.splat(value.node), self._active, op))

    # Control flow

    def _next(self) -> int:
        return self.at.index + 1

    def branch(self, target: Label, when: Pred | None = None, uniform: bool = False) -> None:
        b = self.b
        there, behind = target.offset // 16, self._next()
        condition = self.condition
        if when is not None:
            condition = when.node if condition is None else b.and_(self.e.splat(condition), self.e.splat(when.node))
        if condition is None:
            self.f.go_on(there, self.at.index)
            return
        if is_vector(condition):
            taken = b.bitcast(b.and_(self.lanes, condition), I32)
        else:
            taken = b.select(condition, self.mask, i32(0))
        self._part(taken, there, behind)

    def _part(self, taken: ir.Value, there: int, behind: int) -> None:
        """Lanes of `taken` go there, the others on; a split that parts runs on behind the branch first."""
        b = self.b
        some, all_, mixed, stay = (b.append_basic_block(n) for n in ("some", "all", "mixed", "stay"))
        b.cbranch(b.icmp_signed("==", taken, i32(0)), stay, some)
        b.position_at_end(some)
        b.cbranch(b.icmp_signed("==", taken, self.mask), all_, mixed).set_weights([10, 1])
        b.position_at_end(all_)
        self.f.go_on(there, self.at.index)
        b.position_at_end(mixed)
        self.f.count_divergent(self.at)
        b.call(self.runtime.push, [self.f.warp, self.f.later(there), taken])
        b.store(b.and_(self.mask, b.not_(taken)), self.f.exec)
        if there <= self.at.index:
            self.f.spend(self.at.index - there + 1)
        b.branch(stay)
        b.position_at_end(stay)
        self.f.go_on(behind, self.at.index)

    def branch_any(self, target: Label) -> None:
        taken = self.b.icmp_signed("!=", self.active_mask, i32(0))
        self._either(taken, target)

    def _either(self, taken: ir.Value, target: Label) -> None:
        yes, no = (self.b.append_basic_block(n) for n in ("yes", "no"))
        self.b.cbranch(taken, yes, no)
        self.b.position_at_end(yes)
        self.f.go_on(target.offset // 16, self.at.index)
        self.b.position_at_end(no)
        self.f.go_on(self._next(), self.at.index)

    def branch_unless_mask(self, mask: U32, target: Label, equal: bool) -> None:
        wanted = self.first(mask).node
        order = "==" if equal else "!="
        self._either(self.b.icmp_signed(order, self.mask, wanted), target)

    def jump(self, low: U32, high: U32, base: int = 0) -> None:
        b = self.b
        places = b.lshr(self.e.splat((low + base).node), self.e.splat(i32(4)))
        self.f.all_later()
        slot = self.code.variable(V32, places)
        rest = b.and_(self.mask, b.not_(self.active_mask))
        if self.condition is not None:
            with self.code.when(self.code.nonzero(rest)):
                b.call(self.runtime.push, [self.f.warp, self.f.later(self._next()), rest])
        self._count_parting(places)
        b.call(self.runtime.push_groups, [self.f.warp, self.active_mask, slot])
        b.branch(self.f.dispatch)

    def _count_parting(self, places: ir.Value) -> None:
        """One divergent execution for each target beyond the first (seen on an H200 for BRX)."""
        from warplens.emulator.plan import DIVERGENT

        row = self.f.t.plan.row(self.at.index)
        different = self.b.call(self.f.t.accesses.count.distinct, [places, self.active_mask])
        beyond = self.b.zext(self.b.sub(different, i32(1)), I64)
        self.code.bump(self.code.at(self.f.counters, 8 * (row + DIVERGENT)), beyond)

    def call(self, target: Label) -> None:
        self.f.all_later()
        self.branch(target)

    def exit(self) -> None:
        b = self.b
        lanes = self.active_mask
        b.call(self.runtime.exit_lanes, [self.f.block, self.f.warp, lanes])
        if self.f.t.uses_meeting:
            with self.code.when(self.code.nonzero(lanes)):
                b.call(self.runtime.recheck, [self.f.warp])
        if self.condition is None:
            b.branch(self.f.dispatch)
            return
        left = b.and_(self.mask, b.not_(lanes))
        b.store(left, self.f.exec)
        on = b.append_basic_block("on")
        b.cbranch(self.code.nonzero(left), on, self.f.dispatch)
        b.position_at_end(on)
        self.f.go_on(self._next(), self.at.index)

    def trap(self) -> None:
        self.f.record_fault(FaultKind.TRAP, i32(self.at.index))
        self.b.branch(self.f.fault)

    # Convergence.  A barrier register holds, in every lane, the mask of the lanes that will meet there.

    def _barrier(self, register: Register) -> ir.Value:
        return self.f.registers.local("B", register.index)

    def set_barrier(self, barrier: Register) -> None:
        self.set_barrier_mask(barrier, self._u32(self.mask))

    def set_barrier_mask(self, barrier: Register, mask: U32) -> None:
        place = self._barrier(barrier)
        old = self.b.load(place, typ=V32)
        self.b.store(self.b.select(self._active, self.e.splat(mask.node), old), place)

    def barrier_mask(self, barrier: Register) -> U32:
        return self._u32(self.b.load(self._barrier(barrier), typ=V32))

    def _exited(self) -> ir.Value:
        return self.code.load(Warp, self.f.warp, "exited")

    def meet(self, barrier: Register) -> None:
        need = self.first(self.barrier_mask(barrier)).node
        self._wait(barrier.index, need)

    def _wait(self, slot: int, need: ir.Value) -> None:
        """The split goes on if it is all that is needed, else its lanes wait."""
        b = self.b
        wanted = b.and_(need, b.not_(self._exited()))
        there = b.icmp_signed("==", b.and_(self.mask, wanted), wanted)
        on, wait = (b.append_basic_block(n) for n in ("on", "wait"))
        b.cbranch(there, on, wait)
        b.position_at_end(wait)
        place = self.f.later(self._next())
        b.call(self.runtime.arrive, [self.f.warp, i32(slot), need, self.mask, place])
        b.branch(self.f.dispatch)
        b.position_at_end(on)
        self.f.go_on(self._next(), self.at.index)

    def leave(self, barrier: Register) -> None:
        b = self.b
        lanes = self.active_mask
        place = self._barrier(barrier)
        old = b.load(place, typ=V32)
        b.store(b.and_(old, self.e.splat(b.not_(lanes))), place)
        b.call(self.runtime.leave, [self.f.warp, i32(barrier.index), lanes])
        self.f.go_on(self._next(), self.at.index)

    def converge(self, mask: U32 | None) -> None:
        self._part_guarded()
        self._wait(WARPSYNC, self.f.first_mask() if mask is None else self.first(mask).node)

    def collect(self, mask: U32, target: Label) -> None:
        place = self.code.field(Warp, self.f.warp, "lane_return")
        old = self.b.load(place, typ=V32, align=4)
        there = self.e.splat(self.f.later(target.offset // 16))
        self.b.store(self.b.select(self._active, there, old), place, align=4)
        self._wait(COLLECTIVE, self.first(mask).node)

    def end_collective(self) -> None:
        place = self.code.field(Warp, self.f.warp, "lane_return")
        self.b.call(self.runtime.push_groups, [self.f.warp, self.mask, place])
        self.b.branch(self.f.dispatch)

    def _part_guarded(self) -> None:
        """Lanes whose guard is false go on by themselves; the rest does what waits."""
        if self.condition is None:
            return
        b = self.b
        lanes = self.active_mask
        rest = b.and_(self.mask, b.not_(lanes))
        with self.code.when(self.code.nonzero(rest)):
            b.call(self.runtime.push, [self.f.warp, self.f.later(self._next()), rest])
        b.store(lanes, self.f.exec)
        self.mask = lanes
        some, none = (b.append_basic_block(n) for n in ("some", "none"))
        b.cbranch(self.code.nonzero(lanes), some, none)
        b.position_at_end(none)
        b.branch(self.f.dispatch)
        b.position_at_end(some)

    def yields(self) -> None:
        b = self.b
        others = b.icmp_signed(">", self.code.load(Warp, self.f.warp, "ready"), i32(0))
        with self.code.when(others):
            place = self.f.later(self._next())
            b.call(self.runtime.push_last, [self.f.warp, place, self.mask])
            b.branch(self.f.dispatch)
        self.f.go_on(self._next(), self.at.index)

    def block_barrier(
        self, index: U32 | int, threads: U32 | int | None, *, waits: bool = True,
        reduces: Literal["popc", "and", "or"] | None = None, p: Pred | None = None,
    ) -> None:  # fmt: skip
        b, code = self.b, self.code
        self._part_guarded()
        number = self._uniform(index)
        lanes = code.popcount(self.mask)
        need = i32(ALL_THREADS) if threads is None else self._uniform(threads)
        if threads is not None:
            # A barrier with a count is told of whole warps; exited lanes of a warp that comes as one count too.
            living = b.and_(self.f.first_mask(), b.not_(self._exited()))
            lanes = b.select(b.icmp_signed("==", self.mask, living), i32(LANES), lanes)
        code.bump(code.field(Block, self.f.block, "arrived", number), lanes, I32)
        code.store(need, Block, self.f.block, "need", number)
        if reduces is not None and p is not None:
            true = b.bitcast(b.and_(b.bitcast(self.mask, vector(I1)), self.e.splat(p.node)), I32)
            code.bump(code.field(Block, self.f.block, "sum", number), code.popcount(true), I32)
            code.bump(code.field(Block, self.f.block, "lanes", number), code.popcount(self.mask), I32)
            code.store(int(Reduce[reduces.upper()]), Block, self.f.block, "reduction")
        if not waits:
            self.f.go_on(self._next(), self.at.index)
            return
        b.call(self.runtime.park, [self.f.warp, number, self.mask, self.f.later(self._next())])
        b.branch(self.f.dispatch)

    def _uniform(self, value: U32 | int) -> ir.Value:
        return i32(value) if isinstance(value, int) else self.first(value).node

    def barrier_result(self) -> tuple[U32, Pred]:
        count = self.code.load(Block, self.f.block, "result", 0)
        truth = self.code.load(Block, self.f.block, "result", 1)
        return self._u32(count), Pred(self.e, self.b.trunc(truth, I1))

    def fence(self) -> None:
        """Memory is in order here: one thread runs a block, and order between blocks is not relied upon."""


__all__ = ["V64", "Any", "TranslatedWarp"]
