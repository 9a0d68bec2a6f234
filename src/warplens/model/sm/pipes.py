"""Pipes: when pipes and register banks of a sub-partition can serve an instruction (compiled).

Measured on an H200 with loops of two to ten instructions of all kinds (`mixture` of the calibration,
measurements/h200/pipes.csv):

- Floating-point multiplications and additions alternate: one goes to the heavy half of the FMA pipe, the next to the
  light one, 2 cycles each, whether or not the other half is free.  Integer products go to the heavy half, and the next
  turn is the light half's: with one of them to two FFMA three instructions take 4 cycles.
- Arithmetic on half pairs takes both halves.
- Late register results (MUFU, doubles) take the issue slot 2 cycles later of the sub-partition, unless that instruction
  is of the same kind.

Measured with multiply-adds of chosen registers (measurements/h200/register_banks.csv): an instruction that reads two
registers of one bank needs it free; for one register it may be busy for one more cycle.  While a bank is busy the
instruction waits, and no warp issues: of four that read two even registers, and four that read two odd ones, each four
take 7 cycles, with one warp or with four.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from warplens.model import layout as p
from warplens.simc import compiled

PAIR = 2  # registers of one bank for which it has to be free


class PipeSettings(NamedTuple):
    """second_cycles: for which an instruction takes its second pipe, at the end of its time in the first;
    late_cycles: from a late instruction's issue to the issue slot that its result takes."""

    second_cycles: float
    late_cycles: float


class Pipes(NamedTuple):
    """By sub-partition: free: when each pipe is;  banks: likewise of registers;  turn: next half of the FMA pipe;
    taken: the cycle whose issue slot a late result takes;  issuer: the warp that issued last."""

    free: Any
    banks: Any
    turn: Any
    taken: Any
    issuer: Any
    settings: PipeSettings


def idle(parts: int, settings: PipeSettings) -> Pipes:
    """Idle pipes of so many sub-partitions."""
    free = np.zeros((parts, p.PIPES)), np.zeros((parts, p.BANKS))
    return Pipes(*free, np.full(parts, p.FMA_HEAVY), np.zeros(parts), np.full(parts, -1), settings)


@compiled
def chosen(sp, i, work, pipes):  # type: ignore[no-untyped-def]
    """The pipe that an instruction would use."""
    pipe = work.rows[i, p.PIPE]
    return pipes.turn[sp] if pipe == p.FMA_LITE else pipe


@compiled
def free_from(sp, i, t, work, pipes):  # type: ignore[no-untyped-def]
    """(when the pipes can serve an instruction, its stall reason)."""
    free, reason, also = pipes.free[sp, chosen(sp, i, work, pipes)], p.MATH, work.rows[i, p.ALSO]
    if also > 0:
        free = max(free, pipes.free[sp, also] - work.cycles[i] + pipes.settings.second_cycles)
    if work.rows[i, p.TIMELY] > 0 and pipes.taken[sp] == max(free, t):
        free, reason = max(free, t) + 1, p.DISPATCH
    return free, reason


@compiled
def reads_of(sp, slot, pipes):  # type: ignore[no-untyped-def]
    """Column of the first bank: the reuse cache is valid for the warp that issued last."""
    return p.READS + (0 if pipes.issuer[sp] == slot else p.BANKS)


@compiled
def read_from(sp, slot, i, t, work, pipes):  # type: ignore[no-untyped-def]
    """When the banks can deliver the registers of a warp's instruction."""
    ready, reads = t, reads_of(sp, slot, pipes)
    for bank in range(p.BANKS):
        number = work.rows[i, reads + bank]
        if number > 0:
            ready = max(ready, pipes.banks[sp, bank] - (number != PAIR))
    return ready


@compiled
def serve(sp, slot, i, t, work, pipes, busy):  # type: ignore[no-untyped-def]
    """Occupy the pipes and banks with an instruction."""
    pipe, also = chosen(sp, i, work, pipes), work.rows[i, p.ALSO]
    pipes.free[sp, pipe] = max(pipes.free[sp, pipe], t) + work.cycles[i]
    busy[pipe] += work.cycles[i]
    if also > 0:
        pipes.free[sp, also] = max(pipes.free[sp, also], t) + pipes.settings.second_cycles
        busy[also] += pipes.settings.second_cycles
    if pipe == p.FMA_LITE or pipe == p.FMA_HEAVY:
        pipes.turn[sp] = p.FMA_LITE + p.FMA_HEAVY - pipe
    if work.rows[i, p.LATE] > 0:
        pipes.taken[sp] = t + pipes.settings.late_cycles
    reads = reads_of(sp, slot, pipes)
    for bank in range(p.BANKS):
        pipes.banks[sp, bank] = max(pipes.banks[sp, bank], t) + work.rows[i, reads + bank]
    pipes.issuer[sp] = slot
