"""Instruction table: pipe, cycles, latency and scoreboards of each instruction, as arrays."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from warplens.core.memory_opcodes import EVERY_ACTION, MEMORY, Action, opcodes
from warplens.core.program import Constant, Immediate, Instruction, Program, Register, opcode_words
from warplens.counters.opcodes import width
from warplens.isa.dsl.decode import bind
from warplens.machine import Machine, Speeds
from warplens.machine.parameter import assumed, measured
from warplens.model.instruction.register_banks import register_reads, takes_two_passes
from warplens.model.instruction.warpgroup_cycles import (
    PRODUCTS,
    has_wide_sums,
    product_cycles,
    product_latency,
    reading_share,
)
from warplens.model.instruction.wide_multiply import extra_stalls
from warplens.model.layout import Kind, MbarrierUpdate, Pipe
from warplens.sass.block_queue import past_l1
from warplens.sass.control_codes import LONGEST_STALL
from warplens.sass.operand_parser import COMMIT

Column = NDArray[np.int64]
ACTIONS: dict[Action, Kind] = {
    "load": Kind.LOAD, "store": Kind.STORE, "atomic": Kind.ATOMIC, "reduction": Kind.REDUCTION, "copy": Kind.ASYNC_COPY,
}  # fmt: skip
KINDS = {
    **{base: ACTIONS[op.action] for base, op in MEMORY.items() if op.space != "constant"},
    "LDGDEPBAR": Kind.COPY_GROUP, "UTMACMDFLUSH": Kind.COPY_GROUP, "DEPBAR": Kind.COPY_WAIT, "MEMBAR": Kind.FENCE,
    "SHFL": Kind.SHUFFLE, "UTMALDG": Kind.BULK_LOAD, "UTMASTG": Kind.BULK_STORE, "UTMAREDG": Kind.BULK_STORE,
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


SWAPS = frozenset({"CAS", "CAST"})
WRITING = ("fma", "fma_heavy", "alu", "fp16", "xu")  # pipes of which that was measured
# Beside bf16 products of one warpgroup:
WRITE_BESIDE = measured(
    4, "cycles", "measurements/h200/warpgroup_ports.csv: FMNMX, IMAD, HFMA2, FFMA with stall counts of 2 to 8"
)
XU_BESIDE = measured(10.7, "cycles", "measurements/h200/warpgroup_ports.csv: MUFU.EX2 of two warps")
TWO_PASSES_BESIDE = measured(12.4, "cycles", "measurements/h200/warpgroup_ports.csv: IMAD.WIDE of two warps")
TEXTURE_CYCLES = assumed(
    32.0,
    "cycles",
    "an SM has four texture units (NVIDIA, H100 white paper), each of which filters a texel a cycle: a warp takes 8 "
    "cycles of the SM, 32 of a sub-partition's share; not measured",
)


class InstructionTable(NamedTuple):
    """One entry an instruction in each column; firsts, lasts: first and last instruction of each basic block.

    kind           what it does (layout.Kind)
    stall          cycles until the warp's next instruction;  stays: 1 if the scheduler should stay with the warp
    write_barrier, read_barrier   scoreboards that are released with its result, with its registers read; -1: none
    wait_mask      scoreboards that it waits for, a bit each
    pipe, second_pipe, pipe_cycles   pipe that it takes, and for how long; second one that it takes as well, 0: none
    beside_cycles  likewise while products of a warpgroup write wide sums
    queued         1 for those that the pipe has a queue for: products of a warpgroup
    wide_sums, reading_share      of these: whether their sums have 32 bits, share of the time that they read in
    latency        cycles until its result is available
    late_result, timely_result    a late result of one takes an issue slot of the other (pipes.py)
    bank_reads     [1, bank]: registers that it reads in a bank; [0, bank]: if the warp itself has issued before
    swaps          1 for a compare-and-swap on shared memory in a loop of one basic block (sm/shared_memory.py)
    lane_bytes     that it moves;  is_global: 1 for memory other than shared;  bypasses_l1: 1 for loads past L1
    barrier, barrier_warps        number of a block barrier, -1: as the trace has it; warps that it waits for, 0: all
    mbarrier       what it does to one (layout.MbarrierUpdate)
    groups_left    asynchronous groups that a COPY_WAIT or PRODUCT_WAIT leaves in flight
    constant_line, constant_bank  of a CONSTANT_LOAD, without its register
    """

    kind: Column
    stall: Column
    stays: Column
    write_barrier: Column
    read_barrier: Column
    wait_mask: Column
    pipe: Column
    second_pipe: Column
    pipe_cycles: NDArray[np.float64]
    beside_cycles: NDArray[np.float64]
    queued: Column
    wide_sums: Column
    reading_share: NDArray[np.float64]
    latency: NDArray[np.float64]
    late_result: Column
    timely_result: Column
    bank_reads: Column
    swaps: Column
    lane_bytes: Column
    is_global: Column
    bypasses_l1: Column
    barrier: Column
    barrier_warps: Column
    mbarrier: Column
    groups_left: Column
    constant_line: Column
    constant_bank: Column
    firsts: Column
    lasts: Column


def machine_code(program: Program, machine: Machine) -> InstructionTable:
    code, units = program.instructions, machine.microarchitecture
    names = [pipe_of(i) for i in code]
    pipes = [pipes_of(i, name, machine.speeds) for i, name in zip(code, names, strict=True)]
    late = [_is_late(i, name) for i, name in zip(code, names, strict=True)]
    barriers = [block_barrier(i) for i in code]
    constants = [constant_place(i, int(units.constant_line_bytes)) for i in code]
    stall = column(stall_count(i, int(units.reconvergence_cycles)) for i in code)
    return InstructionTable(
        kind=column(kind_of(i) for i in code),
        stall=stall + extra_stalls(program, stall, units),
        stays=column(not i.control.yield_hint for i in code),
        write_barrier=column(scoreboard(i.control.write_barrier) for i in code),
        read_barrier=column(scoreboard(i.control.read_barrier) for i in code),
        wait_mask=column(i.control.wait_mask for i in code),
        pipe=column(first for first, _ in pipes),
        second_pipe=column(second for _, second in pipes),
        pipe_cycles=np.array([pipe_cycles(i, name, machine) for i, name in zip(code, names, strict=True)], np.float64),
        beside_cycles=np.array([beside_cycles(i, name, machine) for i, name in zip(code, names, strict=True)], float),
        queued=column(i.base in PRODUCTS for i in code),
        wide_sums=column(i.base in PRODUCTS and has_wide_sums(i) for i in code),
        reading_share=np.array([reading_share(i) if i.base in PRODUCTS else 0.0 for i in code], np.float64),
        latency=np.array([latency(i, name, machine) for i, name in zip(code, names, strict=True)], np.float64),
        late_result=column(late),
        timely_result=column(name in TIMELY and not is_late for name, is_late in zip(names, late, strict=True)),
        bank_reads=register_reads(program, [name in READING for name in names]),
        swaps=swaps_in_loops(program),
        lane_bytes=column(width(i) // 8 for i in code),
        is_global=column(kind_of(i) in KINDS.values() and i.base not in SHARED_ONLY for i in code),
        bypasses_l1=column(past_l1(i) for i in code),
        barrier=column(number for number, _ in barriers),
        barrier_warps=column(warps for _, warps in barriers),
        mbarrier=column(mbarrier_update(i) for i in code),
        groups_left=column(groups_left(i) for i in code),
        constant_line=column(line for line, _ in constants),
        constant_bank=column(bank for _, bank in constants),
        firsts=column(block.first for block in program.blocks),
        lasts=column(block.last for block in program.blocks),
    )


def column(values: Iterable[int]) -> Column:
    return np.fromiter(values, np.int64)


def swaps_in_loops(program: Program) -> Column:
    """1 for each compare-and-swap on shared memory whose basic block branches back to itself."""
    found = np.zeros(len(program.instructions), np.int64)
    for block in program.blocks:
        if block.first in block.successors:
            for i in program.instructions[block.first : block.last + 1]:
                found[i.index] = i.base == "ATOMS" and not SWAPS.isdisjoint(i.modifiers)
    return found


def pipe_of(instruction: Instruction) -> str:
    if instruction.base.startswith("U"):
        return "uniform"  # uniform instructions have a pipe of their own
    binding = bind(instruction)
    return binding.op.pipe if binding else "none"


def stall_count(instruction: Instruction, reconvergence_cycles: int) -> int:
    """Cycles until the warp's next instruction, so many more after BSYNC; a long count without the yield hint lasts
    only 2."""
    control = instruction.control
    count = control.stall if control.stall <= LONGEST_STALL or control.yield_hint else 2
    return count + (reconvergence_cycles if instruction.base == "BSYNC" else 0)


def scoreboard(number: int | None) -> int:
    return -1 if number is None else number


def immediates(instruction: Instruction) -> list[int]:
    return [o.bits for o in instruction.operands if isinstance(o, Immediate)]


def block_barrier(instruction: Instruction) -> tuple[int, int]:
    """(number of a block barrier or -1 where the trace has it, warps that it waits for or 0 for all)."""
    numbers = immediates(instruction)
    if kind_of(instruction) not in (Kind.BARRIER, Kind.BARRIER_ARRIVE):
        return 0, 0
    registers = any(isinstance(o, Register) and o.file in ("R", "UR") for o in instruction.operands)
    if registers or instruction.guard is not None:
        return -1, 0
    if not numbers:
        return 0, 0
    return numbers[0] % 16, -(-numbers[1] // 32) if len(numbers) > 1 else 0


MBARRIER_UPDATES = {
    "A1T0": MbarrierUpdate.ARRIVE, "ART0": MbarrierUpdate.ARRIVE, "A0TR": MbarrierUpdate.EXPECT,
    "A0TX": MbarrierUpdate.COMPLETE, "A0T1": MbarrierUpdate.NONE,
}  # fmt: skip


def mbarrier_update(instruction: Instruction) -> MbarrierUpdate:
    if kind_of(instruction) != Kind.MBARRIER:
        return MbarrierUpdate.NONE
    if "EXCH" in instruction.modifiers:
        return MbarrierUpdate.INIT
    if "ARRIVE" not in instruction.modifiers:
        return MbarrierUpdate.NONE
    found = [MBARRIER_UPDATES[m] for m in instruction.modifiers if m in MBARRIER_UPDATES]
    return found[0] if found else MbarrierUpdate.ARRIVE_EXPECTING


def groups_left(instruction: Instruction) -> int:
    numbers = immediates(instruction)
    return numbers[0] if kind_of(instruction) in (Kind.COPY_WAIT, Kind.PRODUCT_WAIT) and numbers else 0


def constant_place(instruction: Instruction, line_bytes: int) -> tuple[int, int]:
    """(line, bank) of a load from constant memory."""
    place = next((o for o in instruction.operands if isinstance(o, Constant)), None)
    if kind_of(instruction) != Kind.CONSTANT_LOAD or place is None:
        return 0, 0
    return place.offset // line_bytes, place.bank


def pipes_of(instruction: Instruction, pipe: str, speeds: Speeds) -> tuple[int, int]:
    """(pipe that it takes, FMA_LITE meaning either half in turn; second pipe that it takes as well, 0: none)."""
    if takes_two_passes(instruction):
        return Pipe.FMA_HEAVY, Pipe.ALU
    halves = has_halves(speeds)
    if pipe == "fma":
        return (Pipe.FMA_LITE if halves else Pipe.FMA_HEAVY), 0
    if pipe == "fp16" and halves and "MMA" not in instruction.modifiers:
        return Pipe.FMA_HEAVY, Pipe.FMA_LITE
    return Pipe[pipe.upper()], 0


def has_halves(speeds: Speeds) -> bool:
    """Whether the FMA pipe has a light half besides the heavy one for integers, as from GA10x and H100 on; then it
    also executes half pairs (Nsight Compute, Profiling Guide, "Pipelines")."""
    return speeds.pipe_fma < speeds.pipe_fma_heavy


def _is_late(instruction: Instruction, pipe: str) -> bool:
    """Whether it writes a register later than arithmetic does."""
    if pipe not in LATE and not (pipe == "fp16" and "MMA" in instruction.modifiers):
        return False
    return _writes_register(instruction)


def adds_floats(instruction: Instruction) -> bool:
    """Whether an atomic works on floats."""
    return not {"F16", "F16x2", "BF16_V2", "F32", "F64"}.isdisjoint(instruction.modifiers)


def kind_of(instruction: Instruction) -> Kind:
    return _kind(instruction.opcode, COMMIT in instruction.text, instruction.control.write_barrier is not None)


@cache
def _kind(opcode: str, commits: bool, has_scoreboard: bool) -> Kind:
    base, modifiers = opcode_words(opcode)
    if base == "BAR":
        return Kind.BARRIER_ARRIVE if "ARV" in modifiers else Kind.BARRIER
    if base == "LDC":
        return Kind.CONSTANT_LOAD
    if base in ("S2R", "S2UR"):
        return Kind.SPECIAL_REGISTER
    if base == "EXIT":
        return Kind.EXIT
    if base in PRODUCTS and commits:
        return Kind.PRODUCT_GROUP
    if opcode.startswith("WARPGROUP.ARRIVE"):
        return Kind.PRODUCT_START
    if opcode.startswith("WARPGROUP.DEPBAR"):
        return Kind.PRODUCT_WAIT
    if base == "SYNCS":
        return Kind.MBARRIER_WAIT if "PHASECHK" in modifiers else Kind.MBARRIER
    if opcode.startswith("UBLKCP.S.G"):
        return Kind.BULK_LOAD
    if opcode.startswith(("UBLKCP.G.S", "UBLKRED.G.S")):
        return Kind.BULK_STORE
    return KINDS.get(base, Kind.VARIABLE if has_scoreboard else Kind.FIXED)


def pipe_cycles(instruction: Instruction, pipe: str, machine: Machine) -> float:
    """Cycles for which an instruction occupies its pipe of the sub-partition."""
    speeds = machine.speeds
    if instruction.base == "SHFL":
        return speeds.pipe_shuffle
    if instruction.base in MATRICES or pipe == "tensor":
        return _matrix_cycles(instruction, machine)
    if pipe in ("none", "lsu"):
        return 1.0
    if pipe == "tex":
        return TEXTURE_CYCLES
    if takes_two_passes(instruction):
        return speeds.pipe_fma_high
    if pipe == "fma" and has_halves(speeds):
        return 2 * speeds.pipe_fma
    return float(getattr(speeds, f"pipe_{pipe}"))


def beside_cycles(instruction: Instruction, pipe: str, machine: Machine) -> float:
    """Likewise while a warpgroup's products write sums of 32 bits: results of other instructions then wait for the
    register write port."""
    cycles = pipe_cycles(instruction, pipe, machine)
    if pipe not in WRITING or not _writes_register(instruction) or instruction.base in MATRICES:
        return cycles
    if takes_two_passes(instruction):
        return max(cycles, TWO_PASSES_BESIDE)
    return max(cycles, XU_BESIDE if pipe == "xu" else WRITE_BESIDE)


def _writes_register(instruction: Instruction) -> bool:
    first = next(iter(instruction.operands), None)
    return isinstance(first, Register) and first.file == "R" and first.index >= 0


def _matrix_cycles(instruction: Instruction, machine: Machine) -> float:
    """Pipe cycles by shape and type: `matrix` of the calibration."""
    if instruction.base in PRODUCTS:
        return product_cycles(instruction)
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
    if instruction.base in PRODUCTS:
        return product_latency(instruction)
    if instruction.base in MATRICES or pipe == "tensor":
        # The result comes a fixed time after the pipe is free again: 18 cycles on an H200 for 6 shapes.
        return speeds.latency_tensor - speeds.pipe_tensor + _matrix_cycles(instruction, machine)
    name = LATENCIES.get(instruction.base) or "xu"
    if pipe == "fp64" and instruction.base not in LATENCIES:
        return max(speeds.latency_xu, speeds.pipe_fp64)
    return float(getattr(speeds, f"latency_{name}"))
