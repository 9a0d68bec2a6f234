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

Products of warpgroups queue for the tensor pipe: a warp goes on as soon as its product is in the queue, and the
products of all warps of a sub-partition take their turns (`issue` of measurements/h100/bulk_copies.csv: of one
warpgroup 8 products of 64x128x16 are issued after 154 cycles and done after 617, 16 after 666 and 1,129).

While products write sums of 32 bits, results of other instructions wait for the register write port: one of ALU,
IMAD or half pairs each 4 cycles in place of 2, of a half of the FMA pipe likewise, of MUFU each 10.7
(measurements/h200/warpgroup_ports.csv).  Instructions without a result, and all beside sums of 16 bits, keep their
rate, whatever they read.  Multiply-adds and additions delay the products by half a cycle each.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from warplens.machine.parameter import measured
from warplens.model import layout as p
from warplens.model.layout import Pipe, StallReason
from warplens.simc import compiled

QUEUED_PRODUCTS = measured(
    7,
    "products",
    "measurements/h100/bulk_copies.csv, `issue`: of 8 the last is issued 8 cycles late, of 16 424, when the 9th ends",
)
QUEUE_LAG = measured(
    28, "cycles", "measurements/h100/bulk_copies.csv, `issue`: from a product's end until another takes its place"
)
FMA_DELAY = measured(
    0.52,
    "cycles",
    "measurements/h200/warpgroup_ports.csv: FFMA of one warp beside bf16 products: 36 of them in 82.7 cycles for 63.9",
)
PAIR = 2  # registers of one bank for which it has to be free


class PipeSettings(NamedTuple):
    """second_cycles: for which an instruction takes its second pipe, at the end of its time in the first;
    late_cycles: from a late instruction's issue to the issue slot that its result takes."""

    second_cycles: float
    late_cycles: float


class ProductActivity(NamedTuple):
    """By sub-partition, of a warpgroup's products: until when they execute;  wide: 1 if their sums have 32 bits;
    reading: share of the time in which shared memory reads for them"""

    until: Any
    wide: Any
    reading: Any


class Pipes(NamedTuple):
    """By sub-partition: free: when each pipe is;  banks: likewise of registers;  turn: next half of the FMA pipe;
    taken: the cycle whose issue slot a late result takes;  issuer: the warp that issued last.
    product_ends, products: when the last products in the queue end, and how many there have been
    delay: cycles by which the next product begins late;  activity: ProductActivity"""

    free: Any
    banks: Any
    turn: Any
    taken: Any
    issuer: Any
    product_ends: Any
    products: Any
    delay: Any
    activity: ProductActivity
    settings: PipeSettings


def no_products(parts: int) -> ProductActivity:
    return ProductActivity(np.zeros(parts), np.zeros(parts, np.int64), np.zeros(parts))


def idle_pipes(parts: int, activity: ProductActivity, settings: PipeSettings) -> Pipes:
    """Idle pipes of so many sub-partitions."""
    free = np.zeros((parts, len(Pipe))), np.zeros((parts, p.BANKS))
    queue = np.full((parts, int(QUEUED_PRODUCTS)), -p.NEVER), np.zeros(parts, np.int64)
    turns = np.full(parts, Pipe.FMA_HEAVY), np.zeros(parts), np.full(parts, -1)
    return Pipes(*free, *turns, *queue, np.zeros(parts), activity, settings)


@compiled
def pipe_number(sp, i, work, pipes):  # type: ignore[no-untyped-def]
    """The pipe that an instruction would use."""
    pipe = work.code.pipe[i]
    return pipes.turn[sp] if pipe == Pipe.FMA_LITE else pipe


@compiled
def pipe_ready(sp, i, t, work, pipes):  # type: ignore[no-untyped-def]
    """(when the pipes can serve an instruction, its stall reason)."""
    free, also = pipes.free[sp, pipe_number(sp, i, work, pipes)], work.code.second_pipe[i]
    reason = StallReason.MATH_PIPE_THROTTLE
    if work.code.queued[i] > 0:
        free = pipes.product_ends[sp, pipes.products[sp] % pipes.product_ends.shape[1]] + QUEUE_LAG
    if also > 0:
        free = max(free, pipes.free[sp, also] - work.code.pipe_cycles[i] + pipes.settings.second_cycles)
    if work.code.timely_result[i] > 0 and pipes.taken[sp] == max(free, t):
        free, reason = max(free, t) + 1, StallReason.DISPATCH_STALL
    return free, reason


@compiled
def reuse_row(sp, slot, pipes):  # type: ignore[no-untyped-def]
    """Row of InstructionTable.bank_reads: the reuse cache is valid for the warp that issued last."""
    return int(pipes.issuer[sp] != slot)


@compiled
def banks_ready(sp, slot, i, t, work, pipes):  # type: ignore[no-untyped-def]
    """When the banks can deliver the registers of a warp's instruction."""
    ready, reads = t, reuse_row(sp, slot, pipes)
    for bank in range(p.BANKS):
        number = work.code.bank_reads[i, reads, bank]
        if number > 0:
            ready = max(ready, pipes.banks[sp, bank] - (number != PAIR))
    return ready


@compiled
def occupy_pipes(sp, slot, i, t, work, pipes, busy):  # type: ignore[no-untyped-def]
    """Occupy the pipes and banks with an instruction; returns when it begins in its pipe."""
    pipe, also = pipe_number(sp, i, work, pipes), work.code.second_pipe[i]
    begins, cycles, activity = max(pipes.free[sp, pipe], t), work.code.pipe_cycles[i], pipes.activity
    if work.code.queued[i] > 0:
        begins, pipes.delay[sp] = begins + pipes.delay[sp], 0.0
    elif activity.until[sp] > begins and activity.wide[sp] > 0:
        cycles = work.code.beside_cycles[i]
        pipes.delay[sp] += FMA_DELAY if work.code.pipe[i] == Pipe.FMA_LITE else 0.0
    pipes.free[sp, pipe] = begins + cycles
    if work.code.queued[i] > 0:
        pipes.product_ends[sp, pipes.products[sp] % pipes.product_ends.shape[1]] = pipes.free[sp, pipe]
        pipes.products[sp] += 1
        activity.until[sp], activity.wide[sp] = pipes.free[sp, pipe], work.code.wide_sums[i]
        activity.reading[sp] = work.code.reading_share[i]
    busy[pipe] += work.code.pipe_cycles[i]
    if also > 0:
        pipes.free[sp, also] = max(pipes.free[sp, also], t) + pipes.settings.second_cycles
        busy[also] += pipes.settings.second_cycles
    if pipe == Pipe.FMA_LITE or pipe == Pipe.FMA_HEAVY:
        pipes.turn[sp] = Pipe.FMA_LITE + Pipe.FMA_HEAVY - pipe
    if work.code.late_result[i] > 0:
        pipes.taken[sp] = t + pipes.settings.late_cycles
    reads = reuse_row(sp, slot, pipes)
    for bank in range(p.BANKS):
        pipes.banks[sp, bank] = max(pipes.banks[sp, bank], t) + work.code.bank_reads[i, reads, bank]
    pipes.issuer[sp] = slot
    return begins
