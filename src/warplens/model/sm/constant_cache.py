"""Constant cache: serves LDC word by word, and S2R and S2UR, which read special registers.

What it is   one unit an SM, for which every LDC queues, whether its address differs between lanes or not; 2 KB in 32
             lines of 64 bytes in sets of four, backed by a cache that neighbouring SMs share.
Formula      an LDC takes word_cycles for each distinct word and each missing line; it waits for one missing line after
             the other, `latency` each.  An S2R occupies the unit like one word.
Parameters   ConstantSettings.
Evidence     `constants` and `tables` of the calibration; measurements/h200/special.csv: 64 warps that begin together
             with two S2R and three LDC wait 319 cycles each, 32 warps 157.
Known error  ULDC and operands in constant memory have a cache of their own, which is assumed to hold what kernels have
             there.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from warplens.emulator.state.trace_format import ACCESSED
from warplens.model import layout as p
from warplens.model.lru import find
from warplens.model.trace.trace_decoder import ENTER, instruction, reached
from warplens.model.trace.trace_decoder import sectors as lines_of
from warplens.simc import Record, compiled

BANKS, LINES_OF_BANK = 8, 1024  # 64 KB; defined: as documented


class ConstantSettings(NamedTuple):
    """Cycles of the SM clock.

    word_cycles        of a word that is read;  replay_cycles: until the next word of one instruction
    line_cycles        of a missing line, where all SMs miss;  line_cycles_alone: where one does
    latency            of a missing line;  first_latency: of a line on first touch
    sets, ways         of the cache;  first_lines: fetched together on first touch
    """

    word_cycles: float
    replay_cycles: float
    line_cycles: float
    line_cycles_alone: float
    latency: float
    first_latency: float
    sets: int
    ways: int
    first_lines: int


class ConstantLines(NamedTuple):
    """Of each entry: tags, stamps (of the last use);  of each line of constant memory: fill, when it arrived;
    touched: groups of first_lines lines that have been read."""

    tags: Any
    stamps: Any
    fill: Any
    touched: Any


class ConstantState(Record):
    """free: until when words are read;  lines_free: until when lines are fetched (cycles);  clock: lookups so far."""

    free: float
    lines_free: float
    clock: float


@compiled
def look_up_constants(slot, i, t, warps, work, memory):  # type: ignore[no-untyped-def]
    """(when it leaves the queue, when its words are available)."""
    unit, settings = memory.servers.constants, memory.settings.constants
    tags, stamps, fill, touched = memory.constants
    at, different, count = warps.position[slot], 1, 1
    recorded = at < warps.stop[slot] and work.words[at] < ENTER and instruction(work.words[at]) == i
    if recorded:
        _, _, different = reached(work.words[at + 1])
        count = lines_of(work.words[at])
    # While others issue at full rate, a line stays so long: instructions that run together share it.
    stays = tags.size * settings.line_cycles_alone
    ready, missing = t, 0
    for k in range(count):
        line = work.code.constant_line[i]
        if recorded:
            line = np.int64(work.words[at + ACCESSED + k])
        line += LINES_OF_BANK * work.code.constant_bank[i]
        entry, there = find(tags, stamps, settings.sets, settings.ways, line)
        unit.clock += 1
        stamps[entry] = unit.clock
        if there or (ready < fill[line] + stays and ready > fill[line] - stays):
            ready = max(ready, min(fill[line], ready + settings.latency))
            tags[entry] = line
            continue
        missing += 1
        begin = max(ready, unit.lines_free)
        unit.lines_free = max(unit.lines_free, t) + settings.line_cycles
        ready = begin + settings.latency
        piece = line // settings.first_lines
        if touched[piece] == 0 and line >= LINES_OF_BANK:
            ready = begin + settings.first_latency
        touched[piece] = 1
        tags[entry], fill[line] = line, ready
    leave = max(unit.free, t + 1.0)
    unit.free = leave + (different + missing) * settings.word_cycles
    return leave, max(ready + (different - 1) * settings.replay_cycles, unit.free) + work.code.latency[i]


@compiled
def serve_special_register(t, late, memory):  # type: ignore[no-untyped-def]
    """Of an S2R, likewise: (when it leaves the queue, when its value is available)."""
    unit = memory.servers.constants
    leave = max(unit.free, t + 1.0)
    unit.free = leave + memory.settings.constants.word_cycles
    return leave, leave - 1.0 + late


def empty_constant_cache(settings: ConstantSettings) -> ConstantLines:
    """An empty cache."""
    lines, entries = BANKS * LINES_OF_BANK, settings.sets * settings.ways
    return ConstantLines(
        np.full(entries, -1, np.int64), np.zeros(entries), np.full(lines, -p.NEVER), np.zeros(lines, np.uint8)
    )
