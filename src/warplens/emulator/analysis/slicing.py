"""Backward slice of branches and addresses: all that a trace recording must execute.

A recording holds basic blocks and addresses, no results.  An instruction whose result decides neither is left out, and
so are the loads and stores of a memory space from which no such result is loaded: they are recorded, and move no data.
Of a matrix product only the address arithmetic remains: for 2,048 x 2,048 halves a fiftieth of the time.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import or_

from warplens.core.cubin import Kernel
from warplens.core.memory_opcodes import EVERY_ACTION, IN_GLOBAL_MEMORY, MBARRIERS, MEMORY, TENSOR_MEMORY, opcodes
from warplens.core.program import Address, Block, Instruction, Program
from warplens.emulator.analysis.cfg import reachable_blocks, successors
from warplens.emulator.analysis.divergence import Convergence
from warplens.emulator.analysis.liveness import GUARDS, Guard, Name, RegisterAccess
from warplens.emulator.analysis.operands import named
from warplens.emulator.analysis.uniformity import ProgramPoint, UniformityWalk
from warplens.emulator.state.check_set import NEEDED, RECORD, STILL, Checks, Still
from warplens.isa.dsl.decode import Binding, bind
from warplens.system import disk_cache as disk

SECTIONS = ("tensor", "sparse")  # whose operations take the warp, and only return a result
RESULTS_ONLY = frozenset({
    "SHFL", "VOTE", "VOTEU", "MATCH", "REDUX", "CREDUX", "S2R", "S2UR", "CS2R", "CS2UR", "R2UR", "VIADD",
})  # fmt: skip
COPIES = opcodes(("global",), ("copy",))
GENERIC = opcodes(("generic",), EVERY_ACTION)
MAP_FENCE = "UTMACCTL.IV"  # before a copy by a tensor map that the kernel has written (fence.proxy.tensormap)
CONSTANT_LOADS = opcodes(("constant",), ("load",))
ONE_SPACE: Mapping[str, Still] = {
    **{base: op.space for base, op in MEMORY.items() if op.space in STILL and base not in COPIES},
    **dict.fromkeys(MBARRIERS, "shared"),
    **{base: "global" for base, op in MEMORY.items() if op.space in IN_GLOBAL_MEMORY},
}

Want = tuple[Name, Guard]  # a register, in the lanes of a guard


@dataclass(frozen=True)
class ProgramSlice:
    """The program with NOPs for what is left out, and how it is recorded."""

    program: Program
    checks: Checks


_known: dict[tuple[str, bytes], tuple[Program, ProgramSlice]] = {}  # the latest program of each machine code


def program_slice(kernel: Kernel, program: Program) -> ProgramSlice:
    """The slice of a kernel; the whole program where system calls, which may read anything, are made."""
    if kernel.externs:
        return ProgramSlice(program, RECORD)
    name = kernel.arch, kernel.code
    if name not in _known or _known[name][0] is not program:
        key = disk.key("slice", kernel.arch, kernel.code, program.name)
        made = disk.remember("slice", key, lambda: json.dumps(_computed_slice(program)).encode())
        left_out, still = json.loads(made)
        _known[name] = program, _with_nops(program, frozenset(left_out), still)
    return _known[name][1]


def _computed_slice(program: Program) -> tuple[list[int], list[Still]]:
    """The instructions that can be left out, and the spaces of memory in which nothing need be moved."""
    needs = SliceDependences(program)
    still = frozenset(STILL)
    while True:
        needed, moved = needs.of(still)
        if not moved & still:
            return sorted(needs.pure - needed), sorted(still)
        still -= moved


def _with_nops(program: Program, left_out: frozenset[int], still: Sequence[Still]) -> ProgramSlice:
    kept = tuple(
        replace(i, opcode="NOP", guard=None, operands=()) if i.index in left_out else i for i in program.instructions
    )
    return ProgramSlice(replace(program, instructions=kept), NEEDED | {STILL[space] for space in still})


@dataclass(frozen=True)
class InstructionEffect:
    """Transfer function of one instruction on the wanted registers: a bit for each pair of register and guard.

    defines                of registers that it writes
    has_undefined_results  it has results, and no write of them is known
    turned                 pairs: of a guard that it writes, and of the same register in all lanes
    over                   registers that it overwrites (kill)
    reads, places          what it reads, and the part of that which decides the addresses
    """

    defines: int
    has_undefined_results: bool
    turned: Sequence[tuple[int, int]]
    over: int
    reads: int
    places: int
    spaces: set[Still]
    copies: bool


def _all(bits: Iterable[int]) -> int:
    return reduce(or_, bits, 0)


def register_accesses(
    program: Program, bindings: Sequence[Binding | None]
) -> tuple[dict[int, Block], dict[int, list[RegisterAccess]]]:
    """Blocks that can be executed by their first instruction, and what each instruction reads and writes."""
    entered = reachable_blocks(program)
    blocks = {block.first: block for block in program.blocks if block.first in entered}
    walk = UniformityWalk(program, bindings, 0)
    for block in blocks.values():
        walk.through(ProgramPoint(block.first), block, {}, Convergence(True))
    events: dict[int, list[RegisterAccess]] = {}
    for found in walk.registers.flow.events.values():
        for event in found:
            events.setdefault(event.index, []).append(event)
    return blocks, events


class SliceDependences:
    """Dependences of the slice: register reads and writes by instruction, and the instructions needed."""

    def __init__(self, program: Program) -> None:
        self.program, self.successors = program, successors(program)
        self.bindings = [bind(i) for i in program.instructions]
        self.blocks, self.events = register_accesses(program, self.bindings)
        defines = {index for index, some in self.events.items() if any(event.writes for event in some)}
        pairs = zip(program.instructions, self.bindings, strict=True)
        self.pure = {i.index for i, binding in pairs if i.index in defines and is_pure(i, binding)}
        bits: dict[Want, int] = {}
        by_name: dict[Name, int] = {}
        for event in (event for some in self.events.values() for event in some if not event.writes):
            for want in ((event.name, event.guard), (event.name, None)):
                by_name[event.name] = by_name.get(event.name, 0) | bits.setdefault(want, 1 << len(bits))
        self.effects = [self._effect(i, bits, by_name) for i in program.instructions]

    def of(self, still: frozenset[Still]) -> tuple[set[int], set[Still]]:
        """The instructions that are needed where nothing is moved in these spaces, and the spaces from which something
        is loaded that is needed."""
        needed: set[int] = set()
        moved: set[Still] = set()
        live, wanted = dict.fromkeys(self.blocks, 0), dict.fromkeys(self.blocks, 0)
        before: dict[int, set[int]] = {first: set() for first in self.blocks}
        for first, targets in self.successors.items():
            for target in targets:
                before[target].add(first)
        todo = set(self.blocks)
        while todo:
            first = max(todo)
            todo.remove(first)
            found = wanted[first]
            for index in range(self.blocks[first].last, first - 1, -1):
                found = self._through(index, still, found, needed, moved)
            if found != live[first]:
                live[first] = found
                for earlier in before[first]:  # what is wanted only grows
                    if found & ~wanted[earlier]:
                        wanted[earlier] |= found
                        todo.add(earlier)
        return needed, moved

    def _through(self, index: int, still: frozenset[Still], wanted: int, needed: set[int], moved: set[Still]) -> int:
        """Backward transfer over one instruction: from what is wanted after it to what is wanted before it, as bits."""
        effect = self.effects[index]
        used = bool(wanted & effect.defines)
        if index in self.pure and not used:
            return wanted
        needed.add(index)
        asked = used or effect.has_undefined_results
        if asked or (effect.copies and "shared" not in still):
            moved |= effect.spaces
        for guarded, plain in effect.turned:
            if wanted & guarded:
                wanted = wanted & ~guarded | plain
        moves = asked or not effect.spaces or not effect.spaces <= still
        return wanted & ~effect.over | (effect.reads if moves else effect.places)

    def _effect(self, at: Instruction, bits: Mapping[Want, int], by_name: Mapping[Name, int]) -> InstructionEffect:
        events = self.events.get(at.index, [])
        written = [event for event in events if event.writes]
        spaces = spaces_of(at)
        changed = {event.name for event in written if event.name[0] in GUARDS}
        over = 0
        if at.index in self.pure or at.base in CONSTANT_LOADS or spaces:
            for name, guard in {(e.name, e.guard) for e in written if e.name[0] in ("R", "P")}:
                over |= bits.get((name, guard), 0) if guard else by_name.get(name, 0)
        reads = [(bits[e.name, e.guard], e.name) for e in events if not e.writes]
        return InstructionEffect(
            defines=_all(by_name.get(event.name, 0) for event in written),
            has_undefined_results=(not written and self._has_result_registers(at.index)) or is_map_fence(at),
            turned=[
                (bit, bits[name, None]) for (name, guard), bit in bits.items()
                if guard is not None and (guard.file, guard.index) in changed
            ],
            over=over,
            reads=_all(bit for bit, _ in reads),
            places=_all(bit for bit, name in reads if places(at, name)),
            spaces=spaces,
            copies=at.base in COPIES,
        )  # fmt: skip

    def _has_result_registers(self, index: int) -> bool:
        """Whether an instruction has registers for its results."""
        binding = self.bindings[index]
        return binding is None or any(target is not None and target.index >= 0 for target in binding.targets)


def spaces_of(at: Instruction) -> set[Still]:
    """Which spaces of memory an instruction accesses; of constant memory nothing is ever stored."""
    if at.base in GENERIC:
        return set(STILL)
    if is_map_fence(at):  # the map has been made in shared memory, and copied from there
        return {"global", "shared"}
    if at.base in COPIES:
        return {"global", "shared"}
    if at.base in TENSOR_MEMORY:  # which is filled from shared memory
        return {"shared"}
    return {ONE_SPACE[at.base]} if at.base in ONE_SPACE else set()


def is_map_fence(at: Instruction) -> bool:
    """Whether what the kernel has written may be a tensor map, which decides what later copies read."""
    return at.opcode.startswith(MAP_FENCE)


def is_pure(at: Instruction, binding: Binding | None) -> bool:
    """Whether it only writes its results, all of which are known."""
    if binding is None or at.base == "NOP":
        return False
    op = binding.op
    return not op.takes_warp or op.section in SECTIONS or at.base in RESULTS_ONLY


def places(at: Instruction, name: Name) -> bool:
    """Whether a register that an access reads may decide its addresses, or in which lanes it is made."""
    if name[0] != "R" or (at.base in MEMORY and MEMORY[at.base].space in IN_GLOBAL_MEMORY):
        return True
    registers = [r for operand in at.operands if isinstance(operand, Address) for r in named(operand)]
    return any(r.file == "R" and r.index <= name[1] <= r.index + 1 for r in registers)
