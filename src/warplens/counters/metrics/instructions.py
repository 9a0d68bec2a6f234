"""Instructions executed, by warp and by thread, by width, and floating-point work.

Checked against an H200 on 14 kernels: a warp instruction whose guard is false in all lanes counts as
executed, the guard of a branch or EXIT takes lanes off `pred_on` like any other, and uniform instructions
count all active lanes. `smsp__sass_inst_executed_op_memory_*` counts instructions switched off in all lanes
(3 of `@!PT LDS`), constant loads not at all.  A branch or BREAK that reads a second predicate (`@P0 BRA P1`) has on
the lanes that go.

Replays are issues of one executed instruction beyond the first, which the hardware's own counters see and the
SASS ones do not: a jump (BRX, CALL, RET) is issued once for each target; BSYNC once more for lanes that were let go
by a BREAK or EXIT of others, or that meet at a barrier whose lanes were written back by BMOV (measured on an H200,
docs/hardware.md).
"""

from __future__ import annotations

from warplens.counters.vocabulary import (
    ALL,
    EXECUTED,
    REPLAYED,
    REPLAYS,
    THREADS,
    THREADS_ON,
    WARPS,
    Formula,
    bits,
    exact,
    opcode,
)

FLOATING = {
    "fadd": ("FADD", "FADD2"),
    "fmul": ("FMUL", "FMUL2"),
    "ffma": ("FFMA", "FFMA2"),
    "dadd": ("DADD",),
    "dmul": ("DMUL",),
    "dfma": ("DFMA",),
    "hadd": ("HADD2",),
    "hmul": ("HMUL2",),
    "hfma": ("HFMA2",),
}
"""Thread instructions, not operations: a pair (HFMA2, FFMA2) counts once."""

ISSUED = EXECUTED[ALL] + REPLAYS[ALL]
ISSUED_THREADS = THREADS[ALL] + REPLAYED[ALL]
ISSUED_ON = THREADS_ON[ALL] + REPLAYED[ALL]
THREADS_PER_INST = ISSUED_THREADS / ISSUED
ON_PER_INST = ISSUED_ON / ISSUED
PCT_THREADS = 100 * ISSUED_THREADS / (32 * ISSUED)
PCT_ON = 100 * ISSUED_ON / (32 * ISSUED)

METRICS: tuple[Formula, ...] = (
    exact("smsp__inst_executed.sum", "inst", ISSUED),
    exact("sm__inst_executed.sum", "inst", ISSUED),
    exact("smsp__sass_inst_executed.sum", "inst", EXECUTED[ALL]),
    exact("smsp__thread_inst_executed.sum", "inst", ISSUED_THREADS),
    exact("smsp__thread_inst_executed_pred_on.sum", "inst", ISSUED_ON),
    # The names without "average_" are those that Nsight Compute prints up to 2025; the library calls them
    # deprecated.
    exact("smsp__thread_inst_executed_per_inst_executed.ratio", "", THREADS_PER_INST),
    exact("smsp__thread_inst_executed_per_inst_executed.pct", "%", PCT_THREADS),
    exact("smsp__average_thread_inst_executed_per_inst_executed.ratio", "", THREADS_PER_INST),
    exact("smsp__average_thread_inst_executed_per_inst_executed.pct", "%", PCT_THREADS),
    exact("smsp__thread_inst_executed_pred_on_per_inst_executed.ratio", "", ON_PER_INST),
    exact("smsp__thread_inst_executed_pred_on_per_inst_executed.pct", "%", PCT_ON),
    exact("smsp__average_thread_inst_executed_pred_on_per_inst_executed.ratio", "", ON_PER_INST),
    exact("smsp__average_thread_inst_executed_pred_on_per_inst_executed.pct", "%", PCT_ON),
    exact("smsp__average_inst_executed_per_warp.ratio", "inst/warp", ISSUED / WARPS),
    *(
        exact(f"smsp__sass_inst_executed_op_memory_{width}b.sum", "inst", EXECUTED[bits(width)])
        for width in (8, 16, 32, 64, 128)
    ),
    *(
        exact(f"smsp__sass_thread_inst_executed_op_{name}_pred_on.sum", "inst", THREADS_ON[opcode(*bases)])
        for name, bases in FLOATING.items()
    ),
)
