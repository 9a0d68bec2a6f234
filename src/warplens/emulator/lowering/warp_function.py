"""Warp function: SASS to an LLVM function that runs a warp until it ends, waits, or its time slice is over.

A warp begins whole and stays so in most kernels.  The code for diverged warps is a function by itself, in a module of
its own, so that only kernels that diverge wait for its compilation (jit/lazy_divergent_code.py).
"""

from __future__ import annotations

from collections.abc import Iterable

from warplens import llvm
from warplens.core.program import Instruction
from warplens.emulator.analysis.uniformity import ProgramPoint
from warplens.emulator.codegen.structured_builder import i32, i64
from warplens.emulator.codegen.vector_types import I1, I32, vector
from warplens.emulator.lowering.codegen_context import TranslationUnit, number_of
from warplens.emulator.lowering.instruction_context import unsupported
from warplens.emulator.lowering.instruction_lowering import enter, lower_instruction
from warplens.emulator.lowering.warp_frame import WarpFrame
from warplens.emulator.state.structs import FaultKind
from warplens.isa.dsl.warp_interface import Space
from warplens.sass.flow_graph import waits


class WarpFunction(WarpFrame):
    """Warp function: the basic blocks of run_warp or run_apart, and the branches between them."""

    def __init__(
        self,
        translator: TranslationUnit,
        function: llvm.Function,
        places: Iterable[ProgramPoint],
        beyond: llvm.Value | None = None,
    ) -> None:
        super().__init__(translator, function, places, beyond)
        self.place = min(self.blocks)

    # Blocks

    def _translate(self, place: ProgramPoint) -> None:
        b, code, known = self.b, self.code, self.t.shapes
        block = self.t.by_start[place.first]
        b.position_at_end(self.blocks[place])
        self.place, self.apart = place, False
        split = known.split[place]
        self.registers.begin(place, known.states[place], split)
        self.registers.free = known.free[place]
        mask = b.load(self.exec, typ=I32)
        number = self.t.number[block.first]
        counts = code.at(self.counters, 8 * self.t.plan.block(number))
        tries = waits(self.t.program.instructions[block.first])
        enter(self, counts, i32(number), mask, tries)
        lanes = b.bitcast(mask, vector(I1))
        for index in range(block.first, block.last + 1):
            if index == block.last:  # the only one that can branch
                self.registers.settle()
            self._instruction(self.t.program.instructions[index], mask, lanes, split)
            if b.block.is_terminated:
                return
        self.go_on(block.last + 1, block.last)

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
            self._go_beyond(target, origin)
            return
        if index > origin:
            b.branch(self.blocks[target])
            return
        self.entries.add(target)
        b.store(i32(number_of(target)), self.resume_at)
        spent = self.spend_back(index, origin)
        b.cbranch(spent, self.stop_at(target), self.blocks[target]).set_weights([1, 10000])

    def _go_beyond(self, target: ProgramPoint, origin: int) -> None:
        assert target in self.t.parting, target
        self.b.store(i32(number_of(target)), self.resume_at)
        self.b.store(i32(int(target.first > origin)), self.straight)
        if target.first <= origin:
            self.spend_back(target.first, origin)
        self.b.branch(self.leave)

    def go_on_converted(self, index: int) -> None:
        self.b.branch(self.blocks[self._target(index)])

    def _target(self, index: int) -> ProgramPoint:
        return ProgramPoint(index, self.place.whole and not self.apart)

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
        """Registers take the representation of the target, where these lanes (None: the split) resume."""
        known = self.t.shapes
        moves = None
        if not known.leaves_whole[self.place] or self.apart:
            mask = self.b.load(self.exec, typ=I32) if lanes is None else lanes
            moves = self.b.bitcast(mask, vector(I1))
        self.registers.convert(known.states[target], known.live[target], moves)

    def all_later(self) -> None:
        self.entries.update(self.blocks)
