"""SM clock: launches with matrix instructions run at a lower clock.

From the first HMMA or IMMA on an H200's SM runs at 1810 MHz, not at 1980; at 1600 where such instructions come in
bursts.  DMMA does not slow it (`clock of floats`, `clock of doubles` of the calibration).  Products of warpgroups
slow it further: with factors like noise on all SMs to 1700, with zeros to 1780, of one SM to 1730 and 1800
(measurements/h200/matrix_clocks.csv).  It rises again 1.9 us after the last product, so pauses within a launch that
are shorter do not matter; launches of 100 ms and more are slower still (1630), where power limits them: not modelled.
The memory system beyond L1 keeps its clock: L2 bandwidth in bytes a second is the same (`read beside floats, L2`: 35.2
us as without), and DRAM latency is shorter by its excess over L2 latency (`chase beside floats, 1024 MiB`: 621 cycles
for 662).
"""

from __future__ import annotations

from dataclasses import replace

from warplens.core.counts import Trace
from warplens.core.program import Program
from warplens.machine import Machine
from warplens.model.instruction.instruction_table import MATRICES
from warplens.model.instruction.warpgroup_cycles import PRODUCTS

IN_A_CYCLE = ("l2_read", "l2_write")
IN_CYCLES = (
    "l2_line_read_cycles", "l2_line_write_cycles", "l2_atomic_piece_cycles", "l2_atomic_lone_cycles",
    "l2_atomic_reply_cycles",
    "atomic_word_cycles",
    "atomic_sector_cycles", "atomic_float_cycles", "latency_dram_spread",
)  # fmt: skip
UNITS = MATRICES - {"DMMA"}


def megahertz_of(program: Program, trace: Trace, machine: Machine) -> float:
    """Clock of the SMs that execute this launch, 0 for the boost clock."""
    executed = {i.base for i in program.instructions if trace.executed[i.index]}
    if executed & PRODUCTS:
        return machine.speeds.warpgroup_megahertz
    return machine.speeds.matrix_megahertz if executed & UNITS else 0


def with_sm_clock(program: Program, trace: Trace, machine: Machine) -> Machine:
    """`machine` at the clock of this launch, with speeds beyond L1 converted to cycles of that clock."""
    speeds, clock = machine.speeds, megahertz_of(program, trace, machine)
    slower = clock / machine.boost_megahertz
    if not slower or slower >= 1:
        return machine
    changed = {name: getattr(speeds, name) / slower for name in IN_A_CYCLE}
    changed |= {name: getattr(speeds, name) * slower for name in IN_CYCLES}
    changed["latency_dram"] = speeds.latency_l2 + (speeds.latency_dram - speeds.latency_l2) * slower
    return replace(machine, boost_megahertz=round(clock), speeds=replace(speeds, **changed))
