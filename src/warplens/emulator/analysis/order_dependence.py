"""Order of warps and time: finds which counts of a program depend on them.

What atomics return, what loads see that are ordered with stores of other warps (STRONG), clocks and waits are followed
through registers and memory.  Where they reach a guard or a branch, all counts depend on them; where they reach
addresses alone, sectors, lines, wavefronts and bytes do.  That a branch decides which value is stored need not be
followed: there all counts depend already.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

from warplens.core.cubin import Kernel
from warplens.core.memory_opcodes import EVERY_SPACE, opcodes
from warplens.core.program import Instruction, Program, Special
from warplens.emulator.analysis.cfg import successors
from warplens.emulator.analysis.liveness import GUARDS, Name
from warplens.emulator.analysis.slicing import CONSTANT_LOADS, is_pure, places, register_accesses, spaces_of
from warplens.isa.dsl.decode import bind
from warplens.system import disk_cache as disk

Causes = frozenset[str]
NOTHING: Causes = frozenset()
ATOMIC, STRONG = "what atomics return", "loads that see what other warps store"
CLOCK, WAIT, SLEEP = "the clock", "how long a barrier in shared memory is waited for", "when sleeping lanes wake"
ORDER = frozenset({ATOMIC, STRONG})  # one warp alone has one order
RETURNING = opcodes(EVERY_SPACE, ("atomic",))
LOADS = opcodes(("global", "local", "shared", "generic"), ("load",))
CLOCKS = ("SR_CLOCK", "SR_GLOBALTIMER")
MOVES = frozenset({"BRA", "BRX", "BRXU", "JMP", "JMX", "JMXU", "CALL", "RET", "WARPSYNC", "BREAK", "BMOV", "BAR"})
"""Whose operands decide which instructions the lanes execute, and when."""

_known: dict[tuple[str, bytes], tuple[Causes, Causes]] = {}


def dependence(kernel: Kernel, program: Program, warps: int) -> tuple[str, str]:
    """What all counts, and what the counts of sectors, lines, wavefronts and bytes, depend on, as
    text for a note; "" for nothing but the launch."""
    if not any(map(_source, program.instructions)):
        return "", ""
    name = kernel.arch, kernel.code
    if name not in _known:
        key = disk.key("order", kernel.arch, kernel.code, program.name)
        made = disk.remember("order", key, lambda: json.dumps([sorted(some) for some in found(program)]).encode())
        counts, addresses = json.loads(made)
        _known[name] = frozenset(counts), frozenset(addresses)
    exempt = ORDER if warps == 1 else NOTHING
    counts, addresses = (" and ".join(sorted(some - exempt)) for some in _known[name])
    return counts, addresses


def found(program: Program) -> tuple[Causes, Causes]:
    """Causes that reach guards and branches, and causes that reach addresses."""
    flow = OrderDataflow(program)
    while flow.through_all():
        pass
    return flow.counts, flow.addresses


def _source(at: Instruction) -> str:
    """What result of an instruction depends on the order of warps or on time, "" if nothing does."""
    if at.base in RETURNING:
        return ATOMIC
    if at.base == "NANOSLEEP":
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
        self.counts = self.addresses = NOTHING

    def through_all(self) -> bool:
        """Whether something has been found, in memory or at the begin of a block, that was not known before."""
        known = dict(self.memory)
        grown = False
        for first, block in sorted(self.blocks.items()):
            here = dict(self.before[first])
            for index in range(first, block.last + 1):
                self._instruction(self.program.instructions[index], here)
            for target in self.successors[first]:
                there = self.before[target]
                for name, causes in here.items():
                    if not causes <= there.get(name, NOTHING):
                        there[name] = there.get(name, NOTHING) | causes
                        grown = True
        return grown or known != self.memory

    def _instruction(self, at: Instruction, here: dict[Name, Causes]) -> None:
        events = self.events.get(at.index, [])
        read = {event.name for event in events if not event.writes and event.name in here}
        used = _all(here[name] for name in read)
        spaces = spaces_of(at)
        guards = {name for name in read if name[0] in GUARDS}
        guard = {(at.guard.file, at.guard.index)} if at.guard else set()
        decides = read if at.base in MOVES else guards if spaces else guards & guard
        self.counts |= _all(here[name] for name in decides)
        source = _source(at)
        if source == SLEEP:
            self.counts |= {SLEEP}
        if spaces:
            addresses = {n for n in read if n[0] in ("R", "UR") and places(at, n)}
            self.addresses |= _all(here[name] for name in addresses)
            if at.base not in LOADS:
                for space in spaces:
                    self.memory[space] = self.memory.get(space, NOTHING) | used
            used |= _all(self.memory.get(space, NOTHING) for space in spaces)
        given = used | ({source} if source else NOTHING)
        replaces = bool(spaces) or at.base in CONSTANT_LOADS or is_pure(at, self.bindings[at.index])
        for name, guarded in self._written(at):
            value = given if replaces and not guarded and name[0] in ("R", "P") else given | here.get(name, NOTHING)
            if value:
                here[name] = value
            else:
                here.pop(name, None)

    def _written(self, at: Instruction) -> list[tuple[Name, bool]]:
        """Registers that are written, and whether in some lanes only; where unknown, all that may be."""
        written = [(event.name, event.guard is not None) for event in self.events.get(at.index, []) if event.writes]
        binding = self.bindings[at.index]
        if written or binding is None:
            return written
        targets = [target for target in binding.targets if target is not None and target.index >= 0]
        return [((t.file, t.index + k), True) for t in targets for k in range(2 if t.file in ("R", "UR") else 1)]


def _all(some: Iterable[Causes]) -> Causes:
    return NOTHING.union(*some)
