"""Loads of constant memory: one word after the other, from a small cache, behind it one that neighbours share.  F5.

Every LDC, whether its address differs between lanes or not, queues up for the one unit that reads constant memory word
by word.  Its cache of 2 KB has 32 lines of 64 bytes in sets of four; a line that it lacks comes from the next cache,
and an instruction waits for one line after the other.  Measured: `constants` and `tables` of the calibration.
The unit also tells what S2R and S2UR ask for, as many as it reads words (measurements/h200/special.csv): 64 warps that
begin together with two of them and three LDC wait 319 cycles each, 32 warps 157.
ULDC and operands in constant memory have a cache of their own, which holds what kernels usually have there.
"""

from __future__ import annotations

import numpy as np

from warplens.emulator.state.trace_format import ACCESSED
from warplens.model import layout as p
from warplens.model.lru import find
from warplens.model.trace.trace_decoder import ENTER, instruction, reached
from warplens.model.trace.trace_decoder import sectors as lines_of
from warplens.simc import compiled

SETS, WAYS = 8, 4  # source: misses by Nsight Compute, calibration.md
LINES = SETS * WAYS
BANKS, LINES_OF_BANK = 8, 1024  # 64 KB; defined: as documented
# source: `constant walk, cold` of calibration.csv
FIRST_LINES = 4  # that come together when nobody has read any of them: 256 bytes


@compiled
def looked_up(slot, i, t, warps, work, memory, s):  # type: ignore[no-untyped-def]
    """(when it leaves the queue, when its words are there)."""
    servers, (tags, stamps, fill, touched) = memory.servers, memory.constants
    at, different, count = warps.position[slot], 1, 1
    recorded = at < warps.stop[slot] and work.words[at] < ENTER and instruction(work.words[at]) == i
    if recorded:
        _, _, different = reached(work.words[at + 1])
        count = lines_of(work.words[at])
    # While others come as fast as they can, a line stays so long: instructions that run together share what comes.
    stays = LINES * s[p.TABLE_ALONE]
    ready, missing = t, 0
    for k in range(count):
        line = work.rows[i, p.DEPTH]
        if recorded:
            line = np.int64(work.words[at + ACCESSED + k])
        line += LINES_OF_BANK * work.rows[i, p.NUMBER]
        entry, there = find(tags, stamps, SETS, WAYS, line)
        servers[p.TABLE_CLOCK] += 1
        stamps[entry] = servers[p.TABLE_CLOCK]
        if there or (ready < fill[line] + stays and ready > fill[line] - stays):
            ready = max(ready, min(fill[line], ready + s[p.LAT_TABLE]))
            tags[entry] = line
            continue
        missing += 1
        begin = max(ready, servers[p.TABLE_LINES])
        servers[p.TABLE_LINES] = max(servers[p.TABLE_LINES], t) + s[p.TABLE_LINE]
        ready = begin + s[p.LAT_TABLE]
        piece = line // FIRST_LINES
        if touched[piece] == 0 and line >= LINES_OF_BANK:
            ready = begin + s[p.LAT_TABLE_FIRST]
        touched[piece] = 1
        tags[entry], fill[line] = line, ready
    leave = max(servers[p.TABLES], t + 1.0)
    servers[p.TABLES] = leave + (different + missing) * s[p.TABLE_WORD]
    return leave, max(ready + (different - 1) * s[p.TABLE_REPLAY], servers[p.TABLES]) + work.lats[i]


@compiled
def told(t, late, memory, s):  # type: ignore[no-untyped-def]
    """Of an S2R, likewise: (when it leaves the queue, when its number is there)."""
    leave = max(memory.servers[p.TABLES], t + 1.0)
    memory.servers[p.TABLES] = leave + s[p.TABLE_WORD]
    return leave, leave - 1.0 + late
