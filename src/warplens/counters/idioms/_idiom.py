"""Idiom registry: the type of an idiom, and the search for all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

from warplens.core.cubin import SourceLine
from warplens.core.program import Program
from warplens.counters.idioms._def_use import DefUse, NameOf


@dataclass(frozen=True, slots=True)
class Idiom:
    """Instructions that serve one purpose.

    name          of what they compute: "remainder by a variable"
    sentence      the evidence, and the cost where it is known
    instructions  their indexes in the program, ascending
    lines         their source lines, those of most instructions first
    encloses      it is the shape of a whole loop, which contains other idioms and the loop's own work
    """

    name: str
    sentence: str
    instructions: tuple[int, ...]
    lines: tuple[SourceLine, ...]
    encloses: bool = False


@dataclass(frozen=True, slots=True)
class Found:
    """Found idiom: result of a recogniser; `name` only where it differs from the recogniser's own."""

    sentence: str
    instructions: Iterable[int]
    name: str = ""


def counted(number: int, noun: str) -> str:
    """ "1 value", "2 values"."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


Recogniser = Callable[[DefUse], Iterator[Found]]

_RECOGNISERS: dict[str, tuple[Recogniser, bool]] = {}


def idiom(name: str, encloses: bool = False) -> Callable[[Recogniser], Recogniser]:
    """Makes a function a recogniser of the idiom; its docstring describes how the idiom is recognised."""

    def register(function: Recogniser) -> Recogniser:
        _RECOGNISERS[name] = function, encloses
        return function

    return register


@cache
def recognisers() -> dict[str, tuple[Recogniser, bool]]:
    """Every recogniser of this folder by the name of its idiom, and whether that encloses others."""
    for module in sorted(m.name for m in iter_modules([str(Path(__file__).parent)])):
        if not module.startswith("_"):
            import_module(f"{__package__}.{module}")
    return dict(_RECOGNISERS)


def idioms(program: Program, name_of: NameOf = lambda constant: None) -> tuple[Idiom, ...]:
    """Every idiom of the program, in code order; an instruction may be part of several.

    `name_of` gives the name of a constant ("blockDim.x", a parameter's), or None.
    """
    return idioms_in(DefUse(program, name_of))


def idioms_in(flow: DefUse) -> tuple[Idiom, ...]:
    """The same of a program whose def-use chains are known already."""
    found = [
        _whole(flow, found.name or name, found, encloses)
        for name, (recognise, encloses) in recognisers().items()
        for found in recognise(flow)
    ]
    return tuple(sorted(found, key=lambda i: (i.instructions[:1], i.name)))


def _whole(flow: DefUse, name: str, found: Found, encloses: bool) -> Idiom:
    indexes = tuple(sorted(set(found.instructions)))
    counts: dict[SourceLine, int] = {}
    for index in indexes:
        source = flow.instructions[index].source
        if source is not None:
            counts[source] = counts.get(source, 0) + 1
    lines = sorted(counts, key=lambda line: (-counts[line], line.file, line.line))
    return Idiom(name, found.sentence, indexes, tuple(lines), encloses)
