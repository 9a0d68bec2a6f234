"""Instruction cache: when the code of an instruction has arrived.

What it is   lines of 128 bytes (8 instructions) in a cache of the SM, a larger one behind it, and L2.
Formula      a warp that enters a line waits until it is there; with it the next ahead_lines are fetched. Lines come
             one after the other: near_cycles each from the larger cache, far_cycles from L2, first_cycles from DRAM.
             The line that was entered least recently is evicted.
Parameters   InstructionCacheSettings.
Evidence     measurements/h200/code_size.csv: loops of FFMA up to 256 KB, by 4 to 64 warps an SM.
Known error  warps of one sub-partition that are not at the same line: 1.2 to 1.3 cycles an instruction were measured
             where 16 and 32 warps walk through 48 to 128 KB, the model has 1.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from warplens.model import layout as p
from warplens.simc import Record, compiled


class InstructionCacheSettings(NamedTuple):
    """lines, near_lines      of the SM's cache, and of the larger one
    ahead_lines            that are fetched with the line that a warp enters
    ready_lines            of a launch's code that are there when they are first entered
    near_cycles, far_cycles, first_cycles   of the fetch of a line from the larger cache, L2 and DRAM"""

    lines: float
    near_lines: float
    ahead_lines: float
    ready_lines: float
    near_cycles: float
    far_cycles: float
    first_cycles: float


class InstructionCacheState(Record):
    """free: until when the path of lines to the SM is busy (cycles);  entered, near: lines that have been added to
    the two caches so far."""

    free: float
    entered: float
    near: float


class CodeLines(NamedTuple):
    """By line of the code: when it arrives (cycles);  entered, near: value of the counters of InstructionCacheState
    at its last use, -1: not used yet."""

    arrives: Any
    entered: Any
    near: Any


def no_code_lines(instructions: int) -> CodeLines:
    lines = instructions // p.CODE_LINE + 2
    return CodeLines(np.zeros(lines), np.full(lines, -1.0), np.full(lines, -1.0))


@compiled
def enter_line(line, at, state, code, settings):  # type: ignore[no-untyped-def]
    """When a line of the code is available that a warp enters; the next ones are fetched as well."""
    last = min(line + int(settings.ahead_lines), code.arrives.size - 1)
    if fetch_line(line, at, state, code, settings):
        for following in range(line + 1, last):
            fetch_line(following, at, state, code, settings)
    fetch_line(last, at, state, code, settings)
    return code.arrives[line]


@compiled
def fetch_line(line, at, state, code, settings):  # type: ignore[no-untyped-def]
    """Fetch a line if the SM's cache does not have it; whether it did so."""
    first = code.entered[line] < 0
    missing = first or state.entered - code.entered[line] >= settings.lines
    if missing:
        cycles = 0.0
        if first and state.near >= settings.near_lines:
            cycles = settings.first_cycles
        elif first and state.near >= settings.ready_lines:
            cycles = settings.near_cycles
        elif not first and state.near - code.near[line] >= settings.near_lines:
            cycles = settings.far_cycles
        elif not first:
            cycles = settings.near_cycles
        if first or state.near - code.near[line] >= settings.near_lines:
            state.near += 1
        code.near[line] = state.near
        state.entered += 1
        if cycles > 0:
            state.free = max(state.free, at) + cycles
            code.arrives[line] = state.free
    code.entered[line] = state.entered
    return missing
