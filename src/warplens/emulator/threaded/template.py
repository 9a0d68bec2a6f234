"""Template: an instruction without the numbers of its registers, immediates and targets.

Instructions of one template share one handler (handler.py), which loads their numbers from a `ThreadedOp`.  The handler
is lowered from the template's own instruction, whose operand numbers are offsets in the ThreadedOp.
"""

from __future__ import annotations

import ctypes as c
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from warplens.core.program import File, Instruction
from warplens.emulator.access.site import AddressWindows
from warplens.emulator.state.check_set import Checks
from warplens.emulator.state.structs import HEADER
from warplens.isa.dsl.decode import Binding

NUMBERS = 10  # of operands: sums with both carries have nine; with the rest 72 bytes


class ThreadedOp(c.Structure):
    """Threaded op: the record of one instruction, read by its handler; records are contiguous, in code order.

    handler    the handler's address
    index    the instruction's number; at the entry of a basic block the block's
    row, hit    byte offsets in the counters: its row, and its entry for executions with the known access pattern
    elsewhere   likewise its rows for the lanes of a generic access that reach shared and local memory
    target, way    branch target: its instruction, and the bytes from here to its record
    numbers  of its operands: bytes from the warp's record to a register, immediates, offsets
    """

    _fields_ = [
        ("handler", c.c_void_p), ("index", c.c_int32), ("row", c.c_int32), ("hit", c.c_int32), ("elsewhere", c.c_int32),
        ("target", c.c_int32), ("way", c.c_int32), ("numbers", c.c_int32 * NUMBERS),
    ]  # fmt: skip


class ThreadedWarpState(c.Structure):
    """Threaded warp state: follows a warp's record in the threaded tier: running split, then registers as 32 numbers,
    uniform ones as one.  R has as many as the kernel needs."""

    _fields_ = [
        ("exec", c.c_uint32), ("resume_at", c.c_int32), ("fuel", c.c_int64), ("straight", c.c_int32),
        ("P", c.c_uint32 * 8), ("UP", c.c_uint32 * 8), ("UR", c.c_uint32 * 139), ("B", c.c_uint32 * 32 * 16),
        ("R", c.c_uint32 * 32 * 0),
    ]  # fmt: skip


LONGEST_RUN = 128  # registers of a run: accumulators of a warpgroup's product
MOST_UNIFORM = 130  # a register run may extend past it


def held_space(last: Mapping[str, int]) -> int:
    """Bytes of a ThreadedWarpState with registers up to these numbers; a register run may extend past them."""
    return c.sizeof(ThreadedWarpState) + WIDTHS["R"] * (last["R"] + LONGEST_RUN)


WIDTHS = {"P": 4, "UP": 4, "UR": 4, "B": 128, "R": 128}  # bytes a register
PLACES = {file: HEADER + getattr(ThreadedWarpState, file).offset for file in WIDTHS}
NUMBERED = ("R", "UR", "P", "UP")  # in other files the number changes the operation
IMMEDIATE = cast(File, "I")  # the file of numbers held in the ThreadedOp

# In the template's own instruction a number from SLOTS on encodes an offset in the ThreadedOp, SPAN for each.
SLOTS, SPAN = 1 << 40, 256  # larger than any number that reaches LLVM, and than the registers of a run
HERE = 1 << 50  # its own number
AHEAD, BACK = HERE + 1000, HERE - 1000  # its target
TARGETS = {"BRA", "BSSY", "CALL", "WARPSYNC"}  # whose label is only a branch target
# Whose immediates select the operation or its results: reading them at run time would cost far more.
LITERAL = {"PRMT", "UPRMT", "TEX", "TLD", "TLD4", "TXD", "TXQ", "HGMMA", "USETMAXREG", "UTCHMMA"}


class UnfitError(Exception):
    """An instruction has no template that others could share."""


@dataclass(frozen=True)
class TemplateSettings:
    """Template settings: what else a handler's code depends on.

    windows, checks, unit  as of the access routines and the instrumentation; the others as of KernelContext
    """

    windows: AddressWindows
    checks: Checks
    unit: int
    restores: bool
    uses_convergence_barriers: bool
    may_yield: bool
    shares: bool


@dataclass(frozen=True, eq=False)
class Template:
    """Template: `key` is equal for its instructions; `own` makes its own instruction and the binding."""

    key: tuple[Any, ...]
    own: Callable[[], tuple[Instruction, Binding]] | None = None


def entry(tries: bool, setting: TemplateSettings) -> Template:
    """The template at the entry of a basic block; `tries`: the block begins with an instruction that is retried."""
    return Template(("entry", tries, tuple(sorted(setting.checks))))


LOST = Template(("lost",))  # after the code: nothing to execute
DRIVER = Template(("driver",))  # at the address of a system call
