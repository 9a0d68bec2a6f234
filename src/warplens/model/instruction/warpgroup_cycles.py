"""Warpgroup cycles: how long a product of a warpgroup occupies the tensor pipe of each sub-partition, and its latency.

Model        A warp's 16 rows take its sub-partition's pipe half a cycle for each column, whatever the type.  Meanwhile
             the SM reads the matrices in shared memory, 128 bytes a cycle, and the longer of the two decides.
Evidence     measurements/h200/warpgroup_cycles.csv: loops of 128 products of 65 forms by one to three warpgroups,
             within 3 % from 16 columns on.
             What it leaves to other instructions: sm/pipes.py, sm/shared_memory.py.
Left out     that other accesses to shared memory slow it (65.7 cycles for 63.9), what the compiler's waits for
             registers add with 256 columns into F32.
"""

from __future__ import annotations

from warplens.core.program import Instruction, Register
from warplens.machine.parameter import measured

PRODUCTS = frozenset(("HGMMA", "QGMMA", "IGMMA", "BGMMA"))
COLUMN = measured(
    0.5,
    "cycles",
    "measurements/h200/warpgroup_cycles.csv: eights_chained of 64 to 256 columns, three warpgroups, by column",
)
SHARED_BYTES = measured(
    128,
    "bytes per cycle",
    "measurements/h200/warpgroup_cycles.csv: eights_chained of 8 to 32 columns, and of sparse products",
)
LEAST = measured(
    13, "cycles", "measurements/h200/warpgroup_cycles.csv: eights_chained of 8 and 16 columns, A in registers"
)
START = measured(
    2.4, "cycles", "measurements/h200/warpgroup_cycles.csv: eights_chained, what remains of 64 to 256 columns"
)
AFTER = measured(
    104,
    "cycles",
    "measurements/h200/warpgroup_cycles.csv: 8 (eights_waited - eights_chained), A in shared memory",
)
AFTER_REGISTERS = measured(
    130, "cycles", "measurements/h200/warpgroup_cycles.csv: 8 (eights_waited - eights_chained), A in registers"
)
ROWS, ROW_BYTES = 64, 32  # of A; defined: PTX


def columns(instruction: Instruction) -> int:
    return next(int(m.split("x")[1]) for m in instruction.modifiers if m.startswith(f"{ROWS}x"))


def in_registers(instruction: Instruction) -> bool:
    left = instruction.operands[1]
    return isinstance(left, Register) and left.file == "R"


def has_wide_sums(instruction: Instruction) -> bool:
    """Whether its sums have 32 bits: a register each."""
    return "F16" not in instruction.modifiers or "F32" in instruction.modifiers


def reading_cycles(instruction: Instruction) -> float:
    """Cycles of shared memory for its matrices."""
    depth = ROW_BYTES * (2 if "SP" in instruction.modifiers else 1)
    rows = 0 if in_registers(instruction) else ROWS * ROW_BYTES
    return (rows + columns(instruction) * depth) / SHARED_BYTES


def product_cycles(instruction: Instruction) -> float:
    return max(COLUMN * columns(instruction), reading_cycles(instruction), LEAST) + START


def reading_share(instruction: Instruction) -> float:
    """Share of the time of a product in which shared memory reads its matrices."""
    return reading_cycles(instruction) / product_cycles(instruction)


def product_latency(instruction: Instruction) -> float:
    """Cycles until a wait for the product ends."""
    return product_cycles(instruction) + (AFTER_REGISTERS if in_registers(instruction) else AFTER)
