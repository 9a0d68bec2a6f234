"""Programs on the executor and on the interpreter."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

import warplens as wl
from random_programs.cuda import OPTIONS, source
from random_programs.generate import generate
from random_programs.interpret import TooLong, interpret
from random_programs.memory import Buffers, fresh_buffers
from random_programs.tree import Program

ARCHITECTURES = ("sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120")
BUDGET = 50_000_000  # instructions a warp: the interpreter gives up long before


def compiled(programs: Sequence[Program], arch: str) -> wl.Module:
    return wl.compile(source=source(programs), arch=arch, options=OPTIONS)


def expected(program: Program) -> Buffers:
    """What the interpreter leaves; TooLong if the program is not worth its time."""
    buffers = fresh_buffers(program)
    interpret(program, buffers)
    return buffers


def difference(program: Program, module: wl.Module) -> str:
    """The first place where the executor left something else than the interpreter; "" if there is none."""
    want, got = expected(program), fresh_buffers(program)
    try:
        module[program.name].launch(program.grid, program.block, *got.args(), threads=1, budget=BUDGET)
    except wl.WarplensError as error:
        return f"{type(error).__name__}: {error}"
    return unlike(want, got)


def unlike(want: Buffers, got: Buffers) -> str:
    for name, right in want.results().items():
        found = got.results()[name]
        wrong = np.flatnonzero(found != right)
        if wrong.size:
            at = wrong[0]
            return f"{name}[{at}] is {found[at]:#x}, not {right[at]:#x} ({wrong.size} of {right.size} differ)"
    return ""


def differences(seeds: Sequence[int], arch: str) -> Iterator[tuple[int, str | None]]:
    """(seed, difference), None for a program that takes too long."""
    programs = [generate(seed) for seed in seeds]
    module = compiled(programs, arch)
    for program in programs:
        try:
            yield program.seed, difference(program, module)
        except TooLong:
            yield program.seed, None
