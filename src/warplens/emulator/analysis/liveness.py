"""Liveness: registers that are read before they are overwritten, by lanes of a guard."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from warplens.core.program import Register

Name = tuple[str, int]
Guard = Register | None
P = TypeVar("P")
GUARDS = ("P", "UP")  # files of the registers that guards are in


@dataclass(frozen=True, slots=True)
class RegisterAccess:
    """One instruction reads or writes a register, in the lanes of its guard."""

    index: int
    writes: bool
    name: Name
    guard: Guard


class Liveness(Generic[P]):
    """Reads and writes of each block, recorded in order; then the usual backward dataflow.

    A register that is written and then read under the same guard is not live before.
    """

    def __init__(self) -> None:
        self.events: dict[P, list[RegisterAccess]] = {}
        self.here: list[RegisterAccess] = []
        self.index = 0
        self.guard: Guard = None

    def begin(self, block: P) -> None:
        self.here = self.events[block] = []

    def at(self, index: int, guard: Guard) -> None:
        """Reads and writes from now on are this instruction's."""
        self.index, self.guard = index, guard

    def reads(self, name: Name) -> None:
        self.here.append(RegisterAccess(self.index, False, name, self.guard))

    def writes(self, name: Name) -> None:
        self.here.append(RegisterAccess(self.index, True, name, self.guard))

    def names(self) -> set[Name]:
        return {event.name for events in self.events.values() for event in events}

    def _reach_in(self, block: P) -> tuple[set[Name], set[Name]]:
        """Upward-exposed reads of the block (gen), and registers that it overwrites in all lanes (kill)."""
        used: set[Name] = set()
        defined: set[Name] = set()
        covered: set[tuple[Name, Guard]] = set()
        for event in self.events.get(block, ()):
            if event.writes:
                if event.guard is None:
                    defined.add(event.name)
                if event.name[0] in GUARDS:
                    covered = {(n, g) for n, g in covered if g is None or (g.file, g.index) != event.name}
                covered.add((event.name, event.guard))
            elif event.name not in defined and (event.name, event.guard) not in covered:
                used.add(event.name)
        return used, defined

    def live(self, successors: Mapping[P, Iterable[P]]) -> dict[P, set[Name]]:
        """Registers read before they are overwritten from each block on."""
        effects = {block: self._reach_in(block) for block in successors}
        live = {block: set(effects[block][0]) for block in successors}
        before: dict[P, list[P]] = defaultdict(list)
        for block, targets in successors.items():
            for target in targets:
                before[target].append(block)
        todo = set(successors)
        while todo:
            block = todo.pop()
            after = set().union(*(live[s] for s in successors[block] if s in live))
            grown = live[block] | (after - effects[block][1])
            if grown != live[block]:
                live[block] = grown
                todo.update(before[block])
        return live

    def free(self, block: P, after: set[Name]) -> frozenset[tuple[int, Name]]:
        """Guarded writes (instruction, register) that only lanes with the same guard will see: they may be made in
        all lanes.  `after`: what is live after the block."""
        found = set()
        seen: dict[Name, set[Guard]] = defaultdict(set, {name: {None} for name in after})
        for event in reversed(self.events.get(block, ())):
            if not event.writes:
                seen[event.name].add(event.guard)
                continue
            # A guard by a predicate that is about to change is another guard before.
            for guards in seen.values() if event.name[0] in GUARDS else ():
                if any(g is not None and (g.file, g.index) == event.name for g in guards):
                    guards.add(None)
            if event.guard is None:
                seen[event.name].clear()
            elif seen[event.name] <= {event.guard}:
                found.add((event.index, event.name))
                seen[event.name].clear()
        return frozenset(found)
