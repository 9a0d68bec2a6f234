"""SM clock: launches with matrix instructions run at a lower clock.

From the first HMMA or IMMA on an H200's SM runs at 1810 MHz, not at 1980; at 1600 where such instructions come in
bursts.  DMMA does not slow it (`clock of floats`, `clock of doubles` of the calibration).  The memory system beyond L1
keeps its clock: L2 bandwidth in bytes a second is the same (`read beside floats, L2`: 35.2 us as without), and DRAM
latency is shorter by its excess over L2 latency (`chase beside floats, 1024 MiB`: 621 cycles for 662).
"""

from __future__ import annotations

from dataclasses import replace

from warplens.core.counts import Trace
from warplens.core.program import Program
from warplens.machine import Machine
from warplens.model.instruction.instruction_table import MATRICES

IN_A_CYCLE = ("l2_read", "l2_write")
IN_CYCLES = (
    "l2_line_read_cycles", "l2_line_write_cycles", "l2_atomic_piece_cycles", "l2_atomic_lone_cycles",
    "l2_atomic_reply_cycles",
    "atomic_word_cycles",
    "atomic_sector_cycles", "atomic_float_cycles", "latency_dram_spread",
)  # fmt: skip
UNITS = MATRICES - {"DMMA"}


def with_sm_clock(program: Program, trace: Trace, machine: Machine) -> Machine:
    """`machine` at the clock of this launch, with speeds beyond L1 converted to cycles of that clock."""
    speeds = machine.speeds
    slower = speeds.matrix_megahertz / machine.boost_megahertz
    if not slower or slower >= 1 or not any(trace.executed[i.index] for i in program.instructions if i.base in UNITS):
        return machine
    changed = {name: getattr(speeds, name) / slower for name in IN_A_CYCLE}
    changed |= {name: getattr(speeds, name) * slower for name in IN_CYCLES}
    changed["latency_dram"] = speeds.latency_l2 + (speeds.latency_dram - speeds.latency_l2) * slower
    return replace(machine, boost_megahertz=round(speeds.matrix_megahertz), speeds=replace(speeds, **changed))
