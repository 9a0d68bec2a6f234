"""Uniformity analysis: the representation of each register at the start of each block, and where lanes may diverge.

The operations of isa/ are run over abstract values, uniform or varying; affine values stay affine by the same rules as
in code (affine.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from warplens.core.program import Block, Constant, Immediate, Instruction, Program, Register
from warplens.emulator.analysis.abstract_interpreter import AbstractEmitter, AbstractRegisters, AbstractWarp
from warplens.emulator.analysis.divergence import (
    DATA_DEPENDENT,
    Convergence,
    convergence_barriers,
    diverges,
    early_passed_barriers,
    has_label,
    only_clears,
)
from warplens.emulator.analysis.liveness import Name
from warplens.emulator.analysis.register_file import RegisterFile
from warplens.emulator.analysis.uniformity_lattice import VARYING, State, join, uniformity_at
from warplens.isa.dsl.decode import Binding
from warplens.isa.dsl.lanes import Lanes


@dataclass(frozen=True, slots=True, order=True)
class ProgramPoint:
    """The start of a block, in the copy for a whole warp or in the one for warps that have diverged.

    A warp starts whole.  When lanes disagree it continues in the other copy, and stays there.
    """

    first: int
    whole: bool = False


@dataclass(frozen=True)
class UniformityFacts:
    """Facts at each program point."""

    states: Mapping[ProgramPoint, State]
    split: Mapping[ProgramPoint, bool]  # whether a part of the warp may be there without the rest
    leaves_whole: Mapping[ProgramPoint, bool]  # whether all lanes leave the block at once
    live: Mapping[ProgramPoint, frozenset[Name]]
    free: Mapping[ProgramPoint, frozenset[tuple[int, Name]]]  # guarded writes that may be made in all lanes


Facts = tuple[
    dict[ProgramPoint, State], dict[ProgramPoint, bool], dict[ProgramPoint, bool],
    dict[ProgramPoint, list[ProgramPoint]],
]  # fmt: skip


def analyze_uniformity(
    program: Program, bindings: Sequence[Binding | None], blocks: Sequence[Block], tile: int,
    successors: Mapping[int, Sequence[int]],
) -> UniformityFacts:  # fmt: skip
    """Fixpoint over the program points.  `tile`: lanes along x; 0: nothing is assumed of threadIdx."""
    walk = UniformityWalk(program, bindings, tile)
    by_start = {block.first: block for block in blocks}
    jumps = {i.base for i in program.instructions if i.base in DATA_DEPENDENT and not only_clears(i)}
    if not jumps:
        walk.find_free(blocks, successors)
        facts = _fixpoint(walk, by_start, successors)
        return walk.result(*facts)
    places = [ProgramPoint(start) for start in sorted(by_start)]
    if jumps <= {"CALL", "RET"} and all(has_label(i) for i in program.instructions if i.base == "CALL"):
        states, split, leaves_whole, flow = _fixpoint(walk, by_start, _until_calls(by_start, program, successors), True)
    else:
        states, split, leaves_whole, flow = {}, {}, {}, {}
    for place in places:
        walk.through(place, by_start[place.first], {}, Convergence(True))
    states |= {place: _all_varying(walk.registers) for place in places}
    split |= dict.fromkeys(places, True)
    leaves_whole |= dict.fromkeys(places, False)
    for place in list(flow):
        flow[place] = sorted({*flow[place], *(ProgramPoint(t) for t in successors[place.first])})
    flow |= {place: [ProgramPoint(t) for t in successors[place.first]] for place in places}
    return walk.result(states, split, leaves_whole, flow)


def _until_calls(
    by_start: Mapping[int, Block], program: Program, successors: Mapping[int, Sequence[int]]
) -> Mapping[int, Sequence[int]]:
    """Successors of blocks in the copy for whole warps, which a warp leaves when lanes of it call a function: most
    calls are those of divisions and roots, for operands that are rare."""
    found = {}
    for first, targets in successors.items():
        last = program.instructions[by_start[first].last]
        if last.base == "CALL":
            targets = [t for t in targets if t == last.index + 1] if last.guard is not None else []
        found[first] = targets
    return found


def _fixpoint(
    walk: UniformityWalk, by_start: Mapping[int, Block], successors: Mapping[int, Sequence[int]],
    whole_only: bool = False,
) -> Facts:  # fmt: skip
    """States, splits, whether all lanes leave at once, and successors of the program points, from the first on.

    whole_only   only of the copy for whole warps; nothing is known of the other one
    """
    start = ProgramPoint(0, whole=True)
    states: dict[ProgramPoint, State] = {start: {}}
    leaves_whole: dict[ProgramPoint, bool] = {}
    flow: dict[ProgramPoint, list[ProgramPoint]] = {}
    convergence = {start: Convergence(False)}
    edges: dict[ProgramPoint, dict[ProgramPoint, tuple[State, bool]]] = {}
    todo = {start}
    while todo:
        # Whole warps first: their facts do not depend on those of diverged ones.
        place = min(todo, key=lambda p: (not p.whole, p.first))
        todo.remove(place)
        after, may_disagree = walk.through(place, by_start[place.first], states[place], convergence[place])
        state = dict(walk.registers.shapes)
        leaves_whole[place] = place.whole or not (convergence[place].split or after.split)
        edges_out = [(ProgramPoint(t, place.whole), after, leaves_whole[place]) for t in successors[place.first]]
        if place.whole and may_disagree and not whole_only:
            edges_out += [(ProgramPoint(t), Convergence(True), False) for t in successors[place.first]]
        flow[place] = sorted({target for target, _, _ in edges_out})
        for target, converged, whole in edges_out:
            merged = converged.join(convergence.get(target, converged))
            here = edges.setdefault(target, {})
            here[place] = (state, whole)
            joined = join([*here.values(), (states.get(target, state), True), *([({}, True)] * (target == start))])
            if target not in states or joined != states[target] or merged != convergence[target]:
                states[target], convergence[target] = joined, merged
                todo.add(target)
    return states, {place: convergence[place].split for place in states}, leaves_whole, flow


def _all_varying(registers: RegisterFile) -> State:
    return dict.fromkeys(registers.flow.names(), VARYING)


class UniformityWalk:
    """Runs blocks, one after the other, over abstract values."""

    def __init__(self, program: Program, bindings: Sequence[Binding | None], tile: int) -> None:
        self.program = program
        self.bindings = bindings
        self.tile = tile
        self.registers = AbstractRegisters(AbstractEmitter())
        self.templates: dict[int, tuple[Any, list[Name]]] = {}
        self.results: dict[Any, tuple[tuple[Any, ...], list[int]]] = {}
        self.left, self.convergence_barriers = early_passed_barriers(program), convergence_barriers(program)
        self.free: dict[int, frozenset[tuple[int, Name]]] = {}

    def find_free(self, blocks: Sequence[Block], successors: Mapping[int, Sequence[int]]) -> None:
        for block in blocks:
            self.through(ProgramPoint(block.first), block, {}, Convergence(True))
        flow = self.registers.flow
        live = flow.live({ProgramPoint(b.first): [ProgramPoint(t) for t in successors[b.first]] for b in blocks})
        for block in blocks:
            after = set().union(*(live[ProgramPoint(t)] for t in successors[block.first] if ProgramPoint(t) in live))
            self.free[block.first] = flow.free(ProgramPoint(block.first), after)
        flow.events.clear()

    def through(self, place: ProgramPoint, block: Block, state: State, before: Convergence) -> tuple[Convergence, bool]:
        """Convergence after the block, and whether lanes may have diverged in it."""
        here = before
        diverged = False
        self.registers.begin(place, state, before.split)
        self.registers.free = self.free.get(place.first, frozenset())
        for index in range(block.first, block.last + 1):
            at = self.program.instructions[index]
            may_disagree = self._instruction(at)
            here = here.step(at, self.left, may_disagree)
            diverged = diverged or diverges(at, may_disagree)
        return Convergence(False) if place.whole else here, diverged

    def _instruction(self, at: Instruction) -> bool:
        """Whether lanes may disagree about it."""
        binding = self.bindings[at.index]
        if binding is None or at.base == "NOP":
            return True
        registers = self.registers
        registers.flow.at(at.index, None)
        condition = None if at.guard is None else registers.predicate(at.guard)
        registers.flow.at(at.index, at.guard)
        may_disagree = [condition] if condition is not None else []
        may_disagree += [registers.predicate(o) for o in at.operands if isinstance(o, Register) and o.file == "P"]
        result = self._result(at, binding, condition)
        for number, target in enumerate(binding.targets):
            if target is not None:
                registers.write(target, result[number], None, condition)
        return any(not registers.e.is_scalar(p) for p in may_disagree)

    def _result(self, at: Instruction, binding: Binding, condition: Any) -> tuple[Any, ...]:
        key = None if binding.op.takes_warp else self._template_key(at, binding)
        if key is None:
            return self._evaluated(at, binding, condition)[0]
        known = self.results.get(key)
        if known is None:
            known = self.results[key] = self._evaluated(at, binding, condition)
            return known[0]
        for (_, operand), count in zip(binding.sources, known[1], strict=True):
            if isinstance(operand, Register):
                for k in range(count):
                    self.registers.flow.reads((operand.file, operand.index + k))
        return known[0]

    def _evaluated(self, at: Instruction, binding: Binding, condition: Any) -> tuple[tuple[Any, ...], list[int]]:
        """The results of the operation, and how many registers each of its sources read."""
        registers, reads = self.registers, self.registers.flow.here
        arguments: list[Any] = []
        counts = []
        for source, operand in binding.sources:
            before = len(reads)
            arguments.append(registers.read(source, operand, at))
            counts.append(len(reads) - before)
        if binding.op.takes_warp:
            for value in arguments:
                if isinstance(value, Lanes):
                    value.node = registers.e.vector_of(value.node)
            arguments.insert(0, AbstractWarp(registers, self.tile, self.convergence_barriers, at, condition))
        result = binding.op.body(*arguments, **binding.modifiers)
        return (result if isinstance(result, tuple) else (result,)), counts

    def _template_key(self, at: Instruction, binding: Binding) -> Any:
        """Template and uniformity of the operands, if they alone decide the result; else None."""
        if at.index not in self.templates:
            self.templates[at.index] = _template(at, binding)
        template, names = self.templates[at.index]
        if template is None:
            return None
        state = self.registers.shapes
        held = tuple([uniformity_at(state, name) for name in names])
        for shape in held:
            if shape.kind not in ("uniform", "varying"):
                return None
        return template, held

    def result(
        self,
        states: Mapping[ProgramPoint, State],
        split: Mapping[ProgramPoint, bool],
        leaves_whole: Mapping[ProgramPoint, bool],
        flow: Mapping[ProgramPoint, Sequence[ProgramPoint]],
    ) -> UniformityFacts:
        live = self.registers.flow.live(flow)
        known = {place: frozenset(names) for place, names in live.items()}
        free = {place: self.free.get(place.first, frozenset()) for place in states}
        return UniformityFacts(states, split, leaves_whole, known, free)


def _template(at: Instruction, binding: Binding) -> tuple[Any, list[Name]]:
    """An instruction without its register numbers, and the registers; None where it reads others as well."""
    spelled: list[Any] = [at.base, id(binding.op), repr(binding.modifiers)]
    names: list[Name] = []
    for _, operand in binding.sources:
        if isinstance(operand, Register):
            spelled.append((operand.file, operand.negate, operand.absolute, operand.invert, operand.part))
            spelled.append(operand.index < 0)
            if operand.index >= 0:
                names += [(operand.file, operand.index), (operand.file, operand.index + 1)]
        elif isinstance(operand, Immediate | None) or (isinstance(operand, Constant) and operand.index is None):
            spelled.append(operand)
        else:
            return None, names
    return tuple(spelled), names
