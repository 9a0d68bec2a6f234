"""Instruction sites: what selections of metrics test of each instruction, found once for all launches of a program.

A program launches one kernel with many grids, and each has 200 metrics: to test the sites again for each takes 30 times
as long as to add up the counts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from warplens.core.program import Instruction, Program
from warplens.counters.opcodes import MemoryAccess, access

MOST_KNOWN = 64  # programs


@dataclass(frozen=True, slots=True)
class Site:
    """Site: what selections test: opcode without and with its modifiers, memory access and the spaces that it reached.

    A generic access is three of them: the instruction, with the lanes that reached global memory, and the lanes that
    reached shared and local memory.
    """

    base: str
    opcode: str
    access: MemoryAccess | None
    spaces: frozenset[str]


Test = Callable[[Site], bool]
Weight = Callable[[Instruction], int]


class InstructionSites:
    """Instruction sites of a program whose generic accesses reached these spaces besides global memory."""

    def __init__(self, program: Program, spaces: tuple[str, ...]) -> None:
        self.program, self.spaces = program, spaces
        self._chosen: dict[Test, NDArray[np.bool_]] = {}
        self._factors: dict[tuple[Weight, Test], NDArray[np.int64]] = {}

    @cached_property
    def generic(self) -> list[int]:
        """Instructions that may reach several spaces."""
        return [n for n, i in enumerate(self.program.instructions) if (a := access(i)) and a.space == "generic"]

    @cached_property
    def _kinds(self) -> tuple[tuple[Site, ...], NDArray[np.intp]]:
        """The different sites, and which of them each instruction is, then what generic accesses did elsewhere: some
        fifty even in a large program."""
        whole = [_site(instruction) for instruction in self.program.instructions]
        parts = [replace(whole[n], spaces=frozenset({space})) for space in self.spaces for n in self.generic]
        every = (*whole, *parts)
        number = {site: index for index, site in enumerate(dict.fromkeys(every))}
        return tuple(number), np.array([number[site] for site in every], dtype=np.intp)

    def chosen(self, test: Test) -> NDArray[np.bool_]:
        """Which sites a test selects; read-only."""
        found = self._chosen.get(test)
        if found is None:
            kinds, kind = self._kinds
            found = self._chosen[test] = np.array([test(site) for site in kinds], dtype=bool)[kind]
            found.setflags(write=False)
        return found

    def factors(self, weight: Weight, test: Test) -> NDArray[np.int64]:
        """The weight of each selected instruction, 0 of others, 1 of parts of generic accesses; read-only."""
        found = self._factors.get((weight, test))
        if found is None:
            chosen = self.chosen(test)
            found = np.ones(chosen.size, np.int64)
            for number, instruction in enumerate(self.program.instructions):
                found[number] = weight(instruction) if chosen[number] else 0
            found.setflags(write=False)
            self._factors[weight, test] = found
        return found


def _site(instruction: Instruction) -> Site:
    found = access(instruction)
    if found is None:
        return Site(instruction.base, instruction.opcode, None, frozenset())
    own = "global" if found.space == "generic" else found.space
    spaces = frozenset({"global", "shared"} if found.action == "copy" else {own})
    return Site(instruction.base, instruction.opcode, found, spaces)


def sites_of(program: Program, spaces: tuple[str, ...]) -> InstructionSites:
    """The sites of a program, by its identity: comparing two takes as long as finding them."""
    name = id(program), spaces
    found = _known.pop(name, None)
    if found is None:
        found = InstructionSites(program, spaces)
        while len(_known) >= MOST_KNOWN:
            del _known[next(iter(_known))]
    _known[name] = found
    return found


_known: dict[tuple[int, tuple[str, ...]], InstructionSites] = {}  # each keeps its program; the latest used last
