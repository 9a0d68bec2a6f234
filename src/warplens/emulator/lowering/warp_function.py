"""Warp function: SASS to an LLVM function that runs a warp until it ends, waits, or its time slice is over.

A warp begins converged and stays so in most kernels.  Code for diverged warps is a separate function, in its own
module, so that only kernels that diverge wait for its compilation (jit/lazy_divergent_code.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from warplens import llvm
from warplens.core.program import Block, Instruction, Label, Operand, Register
from warplens.emulator.analysis.uniformity import ProgramPoint
from warplens.emulator.analysis.uniformity_lattice import Name, State
from warplens.emulator.codegen.structured_builder import i32, i64
from warplens.emulator.codegen.vector_types import I32, I64, PTR
from warplens.emulator.lowering.codegen_context import RUN_DIVERGENT, CodegenContext, TranslationUnit, number_of
from warplens.emulator.lowering.instruction_context import unsupported
from warplens.emulator.lowering.instruction_lowering import enter, lower_instruction
from warplens.emulator.lowering.register_allocation import RegisterAllocation, Slot
from warplens.emulator.lowering.split_dispatch import SplitDispatch
from warplens.emulator.lowering.syscall_stub import PLACES, READ, driver_block
from warplens.emulator.state.structs import HEADER, FaultKind, Status, WarpState, WorkerEnv
from warplens.isa.dsl.warp_interface import Space
from warplens.sass.flow_graph import waits


class WarpFunction(CodegenContext):
    """Warp function: the body of run_warp(env, block, warp) -> Status, or of run_divergent (lazy_divergent_code.py).

    places  program points that have blocks in the function; a warp that resumes at another one jumps to run_divergent
    divergent_code  the global that holds the address of run_divergent
    """

    t: TranslationUnit
    registers: RegisterAllocation

    def __init__(
        self,
        translator: TranslationUnit,
        function: llvm.Function,
        places: Iterable[ProgramPoint],
        divergent_code: llvm.Value | None = None,
    ) -> None:
        super().__init__(translator, function)
        self.splits = SplitDispatch(self, self._save, self._branch, self._stops)
        self.divergent_code = divergent_code
        self.blocks = {place: function.append_basic_block(f"at_{16 * place.first:x}") for place in sorted(places)}
        self.dispatch = function.append_basic_block("dispatch")
        self.suspend = function.append_basic_block("suspend")
        self.done = function.append_basic_block("done")
        if divergent_code is not None:
            self.leave, self.left = (function.append_basic_block(name) for name in ("leave", "left"))
        self.leaving: dict[Any, llvm.BasicBlock] = {}
        self.stops: dict[ProgramPoint, llvm.BasicBlock] = {}
        self.waits: list[tuple[llvm.BasicBlock, ProgramPoint]] = []
        self.fault = function.append_basic_block("fault")
        self.wrapped = function.append_basic_block("wrapped")
        self.entries: set[ProgramPoint] = set()
        self.exec = self.b.alloca(I32)
        self.fuel = self.b.alloca(I64)
        self.resume_at = self.b.alloca(I32)
        self.straight = self.b.alloca(I32)
        self.at = translator.program.instructions[0]
        self.registers = RegisterAllocation(self, translator)
        self.place = min(self.blocks)

    def build(self) -> None:
        """run_warp: from the first instruction, or from the warp's resume point."""
        b, code = self.b, self.code
        self._begin(code.load(WorkerEnv, self.env, "slice"))
        self.entries.add(self.t.start)
        again, fresh = (self.function.append_basic_block(n) for n in ("again", "fresh"))
        b.cbranch(code.nonzero(code.load(WarpState, self.warp, "begun")), again, fresh)
        self._translate_all()
        b.position_at_end(fresh)
        self.registers.clear(self.registers.slots(self._held_at([self.t.start]), touched=False))
        self.t.runtime.stack.clear(code, self.warp)
        b.store(code.load(WarpState, self.warp, "exec"), self.exec)
        b.branch(self.blocks[self.t.start])
        otherwise = self._leave() if self.divergent_code is not None else self._dispatched()
        b.position_at_end(again)
        self._resume(otherwise)
        self._end()

    def build_divergent(self, entries: Iterable[ProgramPoint]) -> None:
        """run_divergent: from the pc of an already popped split; `entries`: where whole warps can enter it."""
        b = self.b
        *_, fuel, pc, straight = self.function.args
        self._begin(fuel)
        self.entries.update(entries)
        b.store(self.code.load(WarpState, self.warp, "exec"), self.exec)
        b.store(pc, self.resume_at)
        start = self.function.append_basic_block("start")
        b.branch(start)
        self._translate_all()
        chosen, go = self.splits.build()
        b.position_at_end(start)
        self._restore(self.slots)
        b.cbranch(self.code.nonzero(straight), go, chosen)
        self._end()

    def _begin(self, fuel: llvm.Value) -> None:
        self.counters = self.code.load(WorkerEnv, self.env, "counters")
        self.saved = self.code.at(self.warp, HEADER)
        self.b.store(fuel, self.fuel)
        slots = self.registers.slots(self._held_at(self.t.shapes.states), touched=False)
        if self.t.kernel.externs:
            slots = sorted({*slots, *((name, "varying", 0) for name in READ)})
        self.layout = self.registers.layout(slots)
        if self.t.keeps_vectors_in_memory(any(not place.whole for place in self.blocks)):
            self.registers.keep_in(self.saved, self.layout)

    def _translate_all(self) -> None:
        for place in self.blocks:
            self._translate(place)
        self.driver = driver_block(self) if self.t.kernel.externs else None
        self.slots = self.registers.slots(self._held_at(self.entries))
        if self.driver:
            self.slots = sorted({*self.slots, *((name, "varying", 0) for name in READ)})

    def _held_at(self, places: Iterable[ProgramPoint]) -> list[tuple[State, frozenset[Name]]]:
        return [(self.t.shapes.states[p], self.t.shapes.live[p]) for p in sorted(places)]

    def _saved_at(self, places: Iterable[ProgramPoint]) -> list[Slot]:
        """The registers live at the program points that this code saves; others are only passed on (_leave)."""
        return [slot for slot in self.registers.slots(self._held_at(places)) if slot in self.layout]

    def _end(self) -> None:
        b = self.b
        b.position_at_end(self.done)
        self.splits.end_warp()
        self._wait()
        self.splits.suspend()
        b.position_at_end(self.wrapped)
        self.record_fault(FaultKind.WRAPPED, i32(0))
        b.branch(self.fault)
        b.position_at_end(self.fault)
        b.ret(i32(Status.FAULT))

    def _resume(self, otherwise: Callable[[], None]) -> None:
        """Restores registers: of a whole warp those live at its resume point, in large code those live at any entry."""
        b = self.b
        diverged = b.append_basic_block("diverged")
        entries = [place for place in sorted(self.entries) if place.whole]
        shares = [entries] if entries and self.t.large else [[place] for place in entries]
        switch = b.switch(self.splits.next_split(), diverged)
        for share in shares:
            back = b.append_basic_block("back")
            b.position_at_end(back)
            self._restore(self._saved_at(share))
            on = b.switch(b.load(self.resume_at, typ=I32), self.blocks[share[0]])
            for place in share:
                switch.add_case(i32(number_of(place)), back)
                on.add_case(i32(number_of(place)), self.blocks[place])
        b.position_at_end(diverged)
        otherwise()

    def _dispatched(self) -> Callable[[], None]:
        """All program points are in this function; returns the emitter that restores registers and dispatches."""
        chosen, _ = self.splits.build()

        def restored() -> None:
            self._restore(self.slots)
            self.b.branch(chosen)

        return restored

    def _restore(self, slots: list[Slot]) -> None:
        self.registers.restore(self.code, self.saved, slots, self.layout)

    def _leave(self) -> Callable[[], None]:
        """The split continues in run_divergent, with these registers and the rest of the time slice.  Returns the
        emitter of the call of run_divergent with the saved registers."""
        b = self.b
        b.position_at_end(self.dispatch)
        self.splits.next_split()
        b.branch(self.leave)
        b.position_at_end(self.leave)
        self._save_diverged(self.t.divergence_points)
        b.branch(self.left)
        b.position_at_end(self.left)
        self.code.store(b.load(self.exec, typ=I32), WarpState, self.warp, "exec")
        self._call_divergent()
        return self._call_divergent

    def _save_diverged(self, places: Iterable[ProgramPoint]) -> None:
        slots = self.registers.slots(self._held_at(places), touched=False)
        self.registers.save(self.code, self.saved, slots, self.layout)

    def leaves_at(self, *places: int) -> bool:
        points = [ProgramPoint(index) for index in places]
        alone = self.divergent_code is not None and self.place.whole and not self.diverged
        return alone and all(point in self.t.shapes.states for point in points)

    def leave_at(self, *places: int) -> None:
        """Saves registers here rather than in the block that all lanes pass where they leave: a value of each register
        for each branch that may diverge, a third of the code of a large kernel.  Branches with the same registers
        share a block."""
        b, shapes = self.b, self.t.shapes
        points = [ProgramPoint(index) for index in places]
        key = self.registers.conversions((shapes.states[point], shapes.live[point]) for point in points)
        made = self.leaving.get(key)
        if made is None:
            made = self.leaving[key] = b.append_basic_block("leaving")
        b.branch(made)
        if made.is_terminated:
            return
        b.position_at_end(made)
        with self.registers.temporary():
            for point in points:
                self.registers.convert(shapes.states[point], shapes.live[point], None)
            self._save_diverged(points)
        b.branch(self.left)

    def _call_divergent(self) -> None:
        b = self.b
        places = ((self.fuel, I64), (self.resume_at, I32), (self.straight, I32))
        rest = [b.load(place, typ=kind) for place, kind in places]
        assert self.divergent_code is not None
        b.ret(b.call(b.load(self.divergent_code, typ=PTR), [self.env, self.block, self.warp, *rest], RUN_DIVERGENT))

    def _branch(self, pc: llvm.Value, lost: llvm.BasicBlock) -> None:
        switch = self.b.switch(pc, lost)
        for place in sorted(self.entries):
            switch.add_case(i32(number_of(place)), self.blocks[place])
        if self.driver is not None:
            for number in PLACES:
                switch.add_case(i32(number), self.driver)

    def wait_at(self, index: int) -> None:
        """Suspends a whole warp that waits for others; it resumes at an instruction."""
        block = self.function.append_basic_block("wait")
        self.b.branch(block)
        self.waits.append((block, ProgramPoint(index, whole=True)))

    def _wait(self) -> None:
        for block, place in self.waits:
            self.b.position_at_end(block)
            self.splits.add_used()
            self._save(self._saved_at([place]))
            self.b.ret(i32(Status.WAITING))

    def stop_at(self, place: ProgramPoint) -> llvm.BasicBlock:
        """Ends the time slice of a split that resumes at this program point.  A whole warp saves only live registers:
        others would have to be computed in every iteration of a loop."""
        if not place.whole:
            return self.suspend
        if place not in self.stops:
            self.stops[place] = self.function.append_basic_block("stop")
        return self.stops[place]

    def _stops(self) -> Iterable[tuple[llvm.BasicBlock, Callable[[], None]]]:
        return [(block, partial(self._save, self._saved_at([place]))) for place, block in self.stops.items()]

    def _save(self, slots: list[Slot] | None = None) -> None:
        self.registers.save(self.code, self.saved, self.slots if slots is None else slots, self.layout)
        self.code.store(1, WarpState, self.warp, "begun")

    # Blocks

    def _translate(self, place: ProgramPoint) -> None:
        b, code, known = self.b, self.code, self.t.shapes
        block = self.t.by_start[place.first]
        b.position_at_end(self.blocks[place])
        self.place, self.diverged = place, False
        split = known.split[place]
        self.registers.begin(place, known.states[place], split)
        self.registers.free = known.free[place]
        mask = b.load(self.exec, typ=I32)
        number = self.t.number[block.first]
        counts = code.at(self.counters, 8 * self.t.plan.block(number))
        tries = waits(self.t.program.instructions[block.first])
        enter(self, counts, i32(number), mask, tries)
        lanes = code.lanes(mask)
        for index in range(block.first, block.last + 1):
            if index == block.last:  # the only one that can branch
                self.registers.settle(self._read_after(block))
            self._instruction(self.t.program.instructions[index], mask, lanes, split)
            if b.block.is_terminated:
                return
        self.go_on(block.last + 1, block.last)

    def _read_after(self, block: Block) -> frozenset[Name] | None:
        """The registers that are read after a block and by its last instruction; None: maybe any."""
        operands = self.t.program.instructions[block.last].operands
        if self.t.kernel.externs or not all(isinstance(o, Label) or is_predicate(o) for o in operands):
            return None
        after = (ProgramPoint(target, whole) for target in self.t.flow[block.first] for whole in (True, False))
        return frozenset().union(*(self.t.shapes.live[place] for place in after if place in self.t.shapes.live))

    def _instruction(self, instruction: Instruction, mask: llvm.Value, lanes: llvm.Value, split: bool) -> None:
        binding = self.t.bindings[instruction.index]
        if binding is None:
            raise unsupported(self.t.program, instruction)
        lower_instruction(self, instruction, binding, mask, lanes, split)

    def number(self, index: int) -> llvm.Value:
        return i32(index)

    def row(self, index: int, space: Space = "global") -> llvm.Value:
        return self.code.at(self.counters, 8 * self.t.plan.row(index, space))

    def hit(self, index: int) -> llvm.Value:
        return self.code.at(self.counters, 8 * self.t.plan.hit(index))

    # Branches between blocks

    def go_on(self, index: int, origin: int) -> None:
        b = self.b
        target = self._target(index)
        if target not in self.t.shapes.states:
            self.record_fault(FaultKind.BAD_JUMP, i32(origin))
            b.branch(self.fault)
            return
        self._convert(target, None)
        if target not in self.blocks:
            self._go_divergent(target, origin)
            return
        if index > origin:
            b.branch(self.blocks[target])
            return
        self.entries.add(target)
        b.store(i32(number_of(target)), self.resume_at)
        spent = self.spend_back(index, origin)
        b.cbranch(spent, self.stop_at(target), self.blocks[target]).set_weights([1, 10000])

    def _go_divergent(self, target: ProgramPoint, origin: int) -> None:
        assert target in self.t.divergence_points, target
        self.b.store(i32(number_of(target)), self.resume_at)
        self.b.store(i32(int(target.first > origin)), self.straight)
        if target.first <= origin:
            self.spend_back(target.first, origin)
        self.b.branch(self.leave)

    def go_on_converted(self, index: int) -> None:
        self.b.branch(self.blocks[self._target(index)])

    def _target(self, index: int) -> ProgramPoint:
        return ProgramPoint(index, self.place.whole and not self.diverged)

    def spend_back(self, index: int, origin: int) -> llvm.Value:
        return self.spend(i64(origin - index + 1))

    def later(self, index: int, lanes: llvm.Value) -> llvm.Value:
        target = self._target(index)
        if target in self.t.shapes.states:
            if target in self.blocks:
                self.entries.add(target)
            self._convert(target, lanes)
        return i32(number_of(target))

    def _convert(self, target: ProgramPoint, lanes: llvm.Value | None) -> None:
        """Converts registers to the representation of the target, where these lanes (None: the split) resume."""
        known = self.t.shapes
        moves = None
        if not known.leaves_whole[self.place] or self.diverged:
            mask = self.b.load(self.exec, typ=I32) if lanes is None else lanes
            moves = self.code.lanes(mask)
        self.registers.convert(known.states[target], known.live[target], moves)

    def all_later(self) -> None:
        self.entries.update(self.blocks)


def is_predicate(operand: Operand) -> bool:
    return isinstance(operand, Register) and operand.file in ("P", "UP", "B")
