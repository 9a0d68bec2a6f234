"""Order of warps and time: finds which counts of a program depend on them.

What atomics return, what loads see that are ordered with stores of other warps (STRONG), clocks and waits are followed
through registers and memory.  Where they reach a guard or a branch, all counts depend on them; where they reach
addresses alone, sectors, lines, wavefronts and bytes do.  That a branch decides which value is stored need not be
followed: there all counts depend already.

A branch on the result of a wait at an mbarrier is another matter: the lanes of a warp get one answer, and go on
together whatever it is.  What depends on it is how often the code runs that lies before the branch's postdominators,
which asks again; the rest counts as if nobody had to wait (on an H200: docs/provenance.md).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from warplens.core.count_dependence import CountDependence
from warplens.core.cubin import Kernel
from warplens.core.memory_opcodes import EVERY_SPACE, opcodes
from warplens.core.program import Block, Instruction, Program, Register, Special
from warplens.emulator.analysis.cfg import between, postdominators, successors
from warplens.emulator.analysis.liveness import GUARDS, Name
from warplens.emulator.analysis.slicing import CONSTANT_LOADS, is_pure, places, register_accesses, spaces_of
from warplens.isa.dsl.decode import bind
from warplens.system import disk_cache as disk

Causes = frozenset[str]
NOTHING: Causes = frozenset()
ATOMIC, STRONG = "what atomics return", "loads that see what other warps store"
CLOCK, WAIT, SLEEP = "the clock", "how long a barrier in shared memory is waited for", "when sleeping lanes wake"
ORDER = frozenset({ATOMIC, STRONG})  # one warp alone has one order
WAITS = frozenset({WAIT})
RETURNING = opcodes(EVERY_SPACE, ("atomic",))
LOADS = opcodes(("global", "local", "shared", "generic"), ("load",))
CLOCKS = ("SR_CLOCK", "SR_GLOBALTIMER")
MOVES = frozenset({"BRA", "BRX", "BRXU", "JMP", "JMX", "JMXU", "CALL", "RET", "WARPSYNC", "BREAK", "BMOV", "BAR"})
"""Whose operands decide which instructions the lanes execute, and when."""
ENDS = frozenset({"EXIT", "RET", "KILL", "BPT", "BSYNC", "BSSY", "YIELD"})
"""Likewise, by their guard."""
# Beside waits an H200 counts 8 to 12 % more local loads than are executed in the two kernels of CUTLASS that have any
# (benchmarks/blind, fourth list); why is not known.
SPILLS = ("LDL", "STL")


class DependenceCauses(NamedTuple):
    """Causes that reach guards and branches, and causes that reach addresses; as in a CountDependence."""

    counts: Causes
    addresses: Causes
    waiting: tuple[int, ...] | None = None
    placed: tuple[int, ...] = ()


_known: dict[tuple[str, bytes], DependenceCauses] = {}


def dependence(kernel: Kernel, program: Program, warps: int) -> CountDependence:
    if not any(map(_source, program.instructions)):
        return CountDependence()
    name = kernel.arch, kernel.code
    if name not in _known:
        key = disk.key("order", kernel.arch, kernel.code, program.name)
        made = json.loads(disk.remember("order", key, lambda: json.dumps(found(program), default=sorted).encode()))
        counts, addresses, waiting, placed = made
        kept = None if waiting is None else tuple(waiting)
        _known[name] = DependenceCauses(frozenset(counts), frozenset(addresses), kept, tuple(placed))
    exempt = ORDER if warps == 1 else NOTHING
    counts, addresses = (" and ".join(sorted(some - exempt)) for some in _known[name][:2])
    return CountDependence(counts, addresses, *_known[name][2:])


def found(program: Program) -> DependenceCauses:
    flow = OrderDataflow(program)
    while flow.through_all():
        pass
    waiting = flow.waiting | {i.index for i in program.instructions if i.base in SPILLS}
    kept = tuple(sorted(waiting)) if flow.counts and flow.counts <= WAITS else None
    return DependenceCauses(flow.counts, flow.addresses, kept, tuple(sorted(flow.placed)))


def _source(at: Instruction) -> str:
    """What result of an instruction depends on the order of warps or on time, "" if nothing does."""
    if at.base in RETURNING:
        return ATOMIC
    if at.base == "NANOSLEEP" and "SYNCS" not in at.modifiers:  # that one is a part of the wait before it
        return SLEEP
    if at.base == "SYNCS" and "TRYWAIT" in at.modifiers:
        return WAIT
    if at.base in LOADS and "STRONG" in at.modifiers:
        return STRONG
    clocks = any(isinstance(operand, Special) and operand.name.startswith(CLOCKS) for operand in at.operands)
    return CLOCK if clocks else ""


class OrderDataflow:
    """Registers and spaces of memory, and what their values depend on; all of it only grows."""

    def __init__(self, program: Program) -> None:
        self.program, self.successors = program, successors(program)
        self.bindings = [bind(i) for i in program.instructions]
        self.blocks, self.events = register_accesses(program, self.bindings)
        self.before: dict[int, dict[Name, Causes]] = {first: {} for first in self.blocks}
        self.memory: dict[str, Causes] = {}
        self.guarded: dict[tuple[Name, Register], Causes] = {}  # of values written under a guard, for reads under it
        self.counts = self.addresses = NOTHING
        self.waiting: set[int] = set()  # instructions executed, or with lanes on, as often as waits decide
        self.placed: set[int] = set()  # instructions whose addresses have causes
        self.asking: dict[int, set[int]] = {}  # the blocks of them that a block's last branch decides about
        ends = {first for first, block in self.blocks.items() if any(map(self._may_end, self._within(block)))}
        self.behind = postdominators(self.successors, ends)

    def _within(self, block: Block) -> Sequence[Instruction]:
        return self.program.instructions[block.first : block.last + 1]

    def _may_end(self, at: Instruction) -> bool:
        return at.base in ("EXIT", "KILL") or (at.base == "BPT" and at.guard is not None)

    def through_all(self) -> bool:
        """Whether something has been found, in memory or at the begin of a block, that was not known before."""
        known = dict(self.memory), len(self.asking)
        grown = False
        for first, block in sorted(self.blocks.items()):
            here = dict(self.before[first])
            self.guarded.clear()
            for instruction in self._within(block):
                self._instruction(instruction, here, first)
            for target in self.successors[first]:
                there = self.before[target]
                for name, causes in (*here.items(), *((name, WAITS) for name in self._left(first, target))):
                    if not causes <= there.get(name, NOTHING):
                        there[name] = there.get(name, NOTHING) | causes
                        grown = True
        return grown or known != (self.memory, len(self.asking))

    def _decides(self, at: Instruction, causes: Causes, first: int) -> None:
        """Causes that reach a guard or a branch; of waits those are followed that nothing but the code there depends
        on: else `counts` has another cause, too."""
        self.counts |= causes
        self.waiting.add(at.index)
        if at.base in MOVES | ENDS and WAIT in causes:
            followed = at.base in ("BRA", "EXIT") and at.index == self.blocks[first].last
            blocks = between(first, self.successors, self.behind) if followed else {*self.blocks}
            self.asking[first] = blocks
            for begin in blocks:
                self.waiting.update(range(begin, self.blocks[begin].last + 1))

    def _left(self, first: int, target: int) -> set[Name]:
        """What is written where waits decide whether it is, and may be read behind."""
        ends = [blocks for blocks in self.asking.values() if first in blocks and target not in blocks]
        within = (at for blocks in ends for begin in blocks for at in self._within(self.blocks[begin]))
        return {name for at in within for name, _ in self._written(at)}

    def _instruction(self, at: Instruction, here: dict[Name, Causes], first: int) -> None:
        events = self.events.get(at.index, [])
        seen = here if at.guard is None else {**here, **self._under(at.guard)}
        read = {event.name for event in events if not event.writes and event.name in seen} - self._only_written(at)
        used = _all(seen[name] for name in read)
        spaces = spaces_of(at)
        guards = {name for name in read if name[0] in GUARDS}
        guard = {(at.guard.file, at.guard.index)} if at.guard else set()
        decides = read if at.base in MOVES else guards if spaces else guards & guard
        if causes := _all(seen[name] for name in decides):
            self._decides(at, causes, first)
        source = _source(at)
        if source == SLEEP:
            self.counts |= {SLEEP}
        if spaces:
            addresses = {n for n in read if n[0] in ("R", "UR") and places(at, n)}
            if causes := _all(seen[name] for name in addresses):
                self.addresses |= causes
                self.placed.add(at.index)
            if at.base not in LOADS and at.base != "SYNCS":  # an mbarrier is read by waits alone
                stored = used | (WAITS if at.index in self.waiting else NOTHING)
                for space in spaces:
                    self.memory[space] = self.memory.get(space, NOTHING) | stored
            used |= _all(self.memory.get(space, NOTHING) for space in spaces)
        given = used | ({source} if source else NOTHING)
        replaces = bool(spaces) or at.base in CONSTANT_LOADS or is_pure(at, self.bindings[at.index])
        for name, guarded in self._written(at):
            self.guarded = {key: old for key, old in self.guarded.items() if name not in (key[0], _name(key[1]))}
            if replaces and guarded and at.guard is not None and name[0] != "B" and name != _name(at.guard):
                self.guarded[name, at.guard] = given
            value = given if replaces and not guarded and name[0] != "B" else given | here.get(name, NOTHING)
            if value:
                here[name] = value
            else:
                here.pop(name, None)

    def _only_written(self, at: Instruction) -> set[Name]:
        """Predicates that are written whole: the lanes that are off keep theirs, which counts as a read."""
        binding = self.bindings[at.index]
        if at.guard is not None or binding is None or not is_pure(at, binding):
            return set()
        named = {_name(operand) for _, operand in binding.sources if isinstance(operand, Register)}
        return {name for name, guarded in self._written(at) if name[0] in GUARDS and not guarded} - named

    def _under(self, guard: Register) -> dict[Name, Causes]:
        """What lanes with this guard read where it was written under the same."""
        return {name: causes for (name, under), causes in self.guarded.items() if under == guard}

    def _written(self, at: Instruction) -> list[tuple[Name, bool]]:
        """Registers that are written, and whether in some lanes only; where unknown, all that may be."""
        written = [(event.name, event.guard is not None) for event in self.events.get(at.index, []) if event.writes]
        binding = self.bindings[at.index]
        if written or binding is None:
            return written
        targets = [target for target in binding.targets if target is not None and target.index >= 0]
        return [((t.file, t.index + k), True) for t in targets for k in range(2 if t.file in ("R", "UR") else 1)]


def _name(register: Register) -> Name:
    return register.file, register.index


def _all(some: Iterable[Causes]) -> Causes:
    return NOTHING.union(*some)
