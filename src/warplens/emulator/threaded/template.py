"""The form of an instruction: what it does, without the numbers of its registers, its immediates and its targets.

Instructions of one form share one piece of machine code (handler.py), which finds their numbers in a step (`Step`).  To
write that code the form's own instruction is told: its operands have, for numbers, the places in the step.
"""

from __future__ import annotations

import ctypes as c
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from warplens.core.program import File, Instruction
from warplens.emulator.state.check_set import Checks
from warplens.emulator.state.structs import HEADER
from warplens.isa.dsl.decode import Binding

NUMBERS = 10  # of operands: sums with both carries have nine; with the rest 72 bytes


class ThreadedOp(c.Structure):
    """One instruction as its piece finds it; steps stand one behind the other, in the order of the code.

    piece    the address of its code
    index    its number; of the entry of a basic block that block's
    row, hit    bytes into the counters: its row and its place for executions in the usual form
    elsewhere   likewise its rows for the lanes of a generic access that reach shared and local memory
    target, way    where it may go instead of on: an instruction, and the bytes from here to its step
    numbers  of its operands: bytes from the warp's record to a register, immediates, offsets
    """

    _fields_ = [
        ("piece", c.c_void_p), ("index", c.c_int32), ("row", c.c_int32), ("hit", c.c_int32), ("elsewhere", c.c_int32),
        ("target", c.c_int32), ("way", c.c_int32), ("numbers", c.c_int32 * NUMBERS),
    ]  # fmt: skip


class ThreadedWarpState(c.Structure):
    """What stands behind a warp's record while pieces run it: its running split, then its registers as 32 numbers, of
    the uniform ones one.  R has as many as the kernel needs."""

    _fields_ = [
        ("exec", c.c_uint32), ("resume_at", c.c_int32), ("fuel", c.c_int64), ("straight", c.c_int32),
        ("P", c.c_uint32 * 8), ("UP", c.c_uint32 * 8), ("UR", c.c_uint32 * 139), ("B", c.c_uint32 * 32 * 16),
        ("R", c.c_uint32 * 32 * 0),
    ]  # fmt: skip


MOST_UNIFORM = 130  # a run may reach beyond


def held_space(last: Mapping[str, int]) -> int:
    """Bytes that Held takes with registers up to these numbers; a run may reach beyond."""
    return c.sizeof(ThreadedWarpState) + WIDTHS["R"] * (last["R"] + 16)


WIDTHS = {"P": 4, "UP": 4, "UR": 4, "B": 128, "R": 128}  # bytes a register
PLACES = {file: HEADER + getattr(ThreadedWarpState, file).offset for file in WIDTHS}
NUMBERED = ("R", "UR", "P", "UP")  # of others the number decides what is done
IMMEDIATE = cast(File, "I")  # the file of numbers that stand in the step

# In the form's own instruction a number from SLOTS on stands for a place in the step, SPAN for each.
SLOTS, SPAN = 1 << 40, 64  # no number of any type that LLVM is told
HERE = 1 << 50  # its own number
AHEAD, BACK = HERE + 1000, HERE - 1000  # its target
TARGETS = {"BRA", "BSSY", "CALL", "WARPSYNC"}  # whose label is no more than where to go
LITERAL = {"PRMT", "UPRMT"}  # whose immediates say what is done: far more for what is only known when it runs


class UnfitError(Exception):
    """An instruction has no form that others could share."""


@dataclass(frozen=True)
class TemplateSettings:
    """What else the code of a form depends on.

    shared_base, stack_top, checks, unit  as of Windows and Watch; the others as of Context
    """

    shared_base: int
    stack_top: int
    checks: Checks
    unit: int
    restores: bool
    uses_meeting: bool
    gives_way: bool
    shares: bool


@dataclass(frozen=True, eq=False)
class Template:
    """`key` is equal for instructions of one form; `own` makes the form's own instruction and its binding."""

    key: tuple[Any, ...]
    own: Callable[[], tuple[Instruction, Binding]] | None = None


def entry(tries: bool, setting: TemplateSettings) -> Template:
    """The step before a basic block; `tries`: it begins with an instruction that may be executed again and again."""
    return Template(("entry", tries, tuple(sorted(setting.checks))))


LOST = Template(("lost",))  # behind the code: there is nothing to execute
DRIVER = Template(("driver",))  # where the code of a function of the driver's would be
