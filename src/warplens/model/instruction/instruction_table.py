"""Instruction table: pipe, cycles, latency and scoreboards of each instruction, as arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from warplens.core.memory_opcodes import EVERY_ACTION, MEMORY, Action, opcodes
from warplens.core.program import Constant, Immediate, Instruction, Program, Register
from warplens.counters.opcodes import width
from warplens.isa.dsl.decode import bind
from warplens.machine import Machine, Speeds
from warplens.model import layout as p
from warplens.model.instruction.register_banks import in_two_passes, register_reads
from warplens.model.instruction.wide_multiply import held_back
from warplens.sass.block_queue import past_l1
from warplens.sass.control_codes import LONGEST_STALL

PIPES = ("none", "fma_lite", "fma_heavy", "alu", "fp16", "fp64", "xu", "lsu", "cbu", "adu", "uniform", "tensor")
ACTIONS: dict[Action, int] = {
    "load": p.LOAD, "store": p.STORE, "atomic": p.ATOMIC, "reduction": p.REDUCE, "copy": p.COPY,
}  # fmt: skip
KINDS = {
    **{base: ACTIONS[op.action] for base, op in MEMORY.items() if op.space != "constant"},
    "LDGDEPBAR": p.GROUP, "DEPBAR": p.GROUP_WAIT, "MEMBAR": p.FENCE, "SHFL": p.EXCHANGE,
}  # fmt: skip
READING = ("fma", "fma_heavy", "alu", "fp16", "fp64")  # pipes whose instructions wait for register banks
TIMELY, LATE = ("fma", "fma_heavy", "alu", "fp16"), ("fp64", "xu")  # results that compete for the register write port
SHARED_ONLY = frozenset({"SHFL", *opcodes(("shared",), EVERY_ACTION)})
MATRICES = frozenset({"HMMA", "IMMA", "QMMA", "BMMA", "DMMA"})  # Nsight counts DMMA as fp64 pipe
# defined: rows x columns x depth
SHAPES = {
    "884": 8 * 8 * 4, "1688": 16 * 8 * 8, "1684": 16 * 8 * 4, "16816": 16 * 8 * 16, "16832": 16 * 8 * 32,
    "8816": 8 * 8 * 16, "8832": 8 * 8 * 32, "16864": 16 * 8 * 64, "168128": 16 * 8 * 128, "168256": 16 * 8 * 256,
    "88128": 8 * 8 * 128,
}  # fmt: skip


@dataclass(frozen=True)
class InstructionTable:
    """rows: (instruction, column of layout.py);  cycles: of its pipe;  latencies: until its result is available;
    firsts, lasts: of each basic block."""

    rows: NDArray[np.int64]
    cycles: NDArray[np.float64]
    latencies: NDArray[np.float64]
    firsts: NDArray[np.int64]
    lasts: NDArray[np.int64]


def machine_code(program: Program, machine: Machine) -> InstructionTable:
    n = len(program.instructions)
    rows = np.zeros((n, p.COLUMNS), np.int64)
    cycles, latencies = np.zeros(n), np.zeros(n)
    for instruction in program.instructions:
        i = instruction.index
        pipe = pipe_of(instruction)
        rows[i, : p.READS] = _row(instruction, pipe, machine)
        cycles[i] = taken(instruction, pipe, machine)
        latencies[i] = latency(instruction, pipe, machine)
    rows[:, p.READS :] = register_reads(program, [pipe_of(i) in READING for i in program.instructions])
    rows[:, p.STALL] += held_back(program, rows[:, p.STALL], machine.microarchitecture)
    firsts = np.array([block.first for block in program.blocks], np.int64)
    lasts = np.array([block.last for block in program.blocks], np.int64)
    return InstructionTable(rows, cycles, latencies, firsts, lasts)


def pipe_of(instruction: Instruction) -> str:
    if instruction.base.startswith("U"):
        return "uniform"  # uniform instructions have a pipe of their own
    binding = bind(instruction)
    return binding.op.pipe if binding else "none"


def _row(instruction: Instruction, pipe: str, machine: Machine) -> list[int]:
    control, base, units = instruction.control, instruction.base, machine.microarchitecture
    kind = kind_of(instruction)
    depth, number = 0, 0
    numbers = [o.bits for o in instruction.operands if isinstance(o, Immediate)]
    if kind == p.GROUP_WAIT:
        depth = numbers[0] if numbers else 0
    if kind in (p.BARRIER, p.ARRIVE) and numbers:
        number = numbers[0] % 16
        depth = -(-numbers[1] // 32) if len(numbers) > 1 else 0
    place = next((o for o in instruction.operands if isinstance(o, Constant)), None)
    if kind == p.TABLE and place is not None:
        depth, number = place.offset // int(units.constant_line_bytes), place.bank
    first, second = _pipes(instruction, pipe, machine.speeds)
    late = _is_late(instruction, pipe)
    is_global = kind in KINDS.values() and base not in SHARED_ONLY
    stall = control.stall if control.stall <= LONGEST_STALL or control.yield_hint else 2
    return [
        stall + (int(units.meeting_cycles) if base == "BSYNC" else 0),
        -1 if control.write_barrier is None else control.write_barrier,
        -1 if control.read_barrier is None else control.read_barrier,
        control.wait_mask,
        first,
        kind,
        width(instruction) // 8,
        depth,
        number,
        int(is_global),
        int(past_l1(instruction) or adds_floats(instruction)),
        second,
        int(late),
        int(pipe in TIMELY and not late),
        int(not control.yield_hint),
    ]


def _pipes(instruction: Instruction, pipe: str, speeds: Speeds) -> tuple[int, int]:
    """(pipe that it takes, FMA_LITE meaning either half in turn; second pipe that it takes as well, 0: none)."""
    if in_two_passes(instruction):
        return p.FMA_HEAVY, p.ALU
    halves = has_halves(speeds)
    if pipe == "fma":
        return (p.FMA_LITE if halves else p.FMA_HEAVY), 0
    if pipe == "fp16" and halves and "MMA" not in instruction.modifiers:
        return p.FMA_HEAVY, p.FMA_LITE
    return PIPES.index(pipe), 0


def has_halves(speeds: Speeds) -> bool:
    """Whether the FMA pipe has a light half besides the heavy one for integers, as from GA10x and H100 on; then it
    also executes half pairs (Nsight Compute, Profiling Guide, "Pipelines")."""
    return speeds.pipe_fma < speeds.pipe_fma_heavy


def _is_late(instruction: Instruction, pipe: str) -> bool:
    """Whether it writes a register later than arithmetic does."""
    if pipe not in LATE and not (pipe == "fp16" and "MMA" in instruction.modifiers):
        return False
    first = next(iter(instruction.operands), None)
    return isinstance(first, Register) and first.file == "R"


def adds_floats(instruction: Instruction) -> bool:
    """Whether an atomic works on floats."""
    return not {"F16", "F16x2", "BF16_V2", "F32", "F64"}.isdisjoint(instruction.modifiers)


def kind_of(instruction: Instruction) -> int:
    if instruction.base == "BAR":
        return p.ARRIVE if "ARV" in instruction.modifiers else p.BARRIER
    if instruction.base == "LDC":
        return p.TABLE
    if instruction.base in ("S2R", "S2UR"):
        return p.TELL
    if instruction.base == "EXIT":
        return p.END
    kind = KINDS.get(instruction.base)
    if kind is not None:
        return kind
    return p.VARIABLE if instruction.control.write_barrier is not None else p.FIXED


def taken(instruction: Instruction, pipe: str, machine: Machine) -> float:
    """Cycles for which an instruction occupies its pipe of the sub-partition."""
    speeds = machine.speeds
    if instruction.base == "SHFL":
        return speeds.pipe_shuffle
    if instruction.base in MATRICES or pipe == "tensor":
        return _of_matrices(instruction, machine)
    if pipe in ("none", "lsu"):
        return 1.0
    if in_two_passes(instruction):
        return speeds.pipe_fma_high
    if pipe == "fma" and has_halves(speeds):
        return 2 * speeds.pipe_fma
    return float(getattr(speeds, f"pipe_{pipe}"))


def _of_matrices(instruction: Instruction, machine: Machine) -> float:
    """Pipe cycles by shape and type: `matrix` of the calibration."""
    speeds, units = machine.speeds, machine.microarchitecture
    named = (m.replace("x", "") for m in instruction.modifiers)  # 16816, but 16x8x16 for DMMA
    shape = next((m for m in named if m in SHAPES), "")
    if instruction.base == "DMMA":
        return speeds.pipe_tensor_double * max(1.0, SHAPES.get(shape, units.shape_dmma) / units.shape_dmma)
    kind = "tf32" if "TF32" in instruction.modifiers else instruction.base.lower()
    whole = float(getattr(units, f"shape_{kind}", units.shape_hmma))
    share = SHAPES.get(shape, whole) / whole
    return speeds.pipe_tensor_half if share < 1 else speeds.pipe_tensor * share


LATENCIES: dict[str, str] = {
    "S2R": "special_register", "S2UR": "special_register", "CS2R": "special_register", "LDC": "constant",
    "LDCU": "constant", "ULDC": "constant", "SHFL": "shuffle", "MEMBAR": "fence",
}  # fmt: skip


def latency(instruction: Instruction, pipe: str, machine: Machine) -> float:
    speeds = machine.speeds
    if instruction.base == "MEMBAR" and "CTA" in instruction.modifiers:
        return 1.0
    if instruction.base in MATRICES or pipe == "tensor":
        # The result comes a fixed time after the pipe is free again: 18 cycles on an H200 for 6 shapes.
        return speeds.latency_tensor - speeds.pipe_tensor + _of_matrices(instruction, machine)
    name = LATENCIES.get(instruction.base) or "xu"
    if pipe == "fp64" and instruction.base not in LATENCIES:
        return max(speeds.latency_xu, speeds.pipe_fp64)
    return float(getattr(speeds, f"latency_{name}"))
