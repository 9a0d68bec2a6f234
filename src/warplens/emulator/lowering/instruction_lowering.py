"""Instruction lowering: one SASS instruction as LLVM IR: guard, operands, operation, results."""

from __future__ import annotations

from functools import partial

from warplens import llvm
from warplens.core.program import Instruction
from warplens.emulator.codegen.structured_builder import i32
from warplens.emulator.codegen.vector_types import I32, I64, is_vector
from warplens.emulator.lowering.codegen_context import CodegenContext
from warplens.emulator.lowering.lane_ops import LaneOps
from warplens.emulator.lowering.memoized_ops import memoized
from warplens.emulator.state.counter_layout import ON, takes_condition
from warplens.emulator.state.structs import WarpState, WorkerEnv
from warplens.isa.dsl.decode import Binding
from warplens.isa.dsl.lanes import Lanes
from warplens.sass.block_queue import reads_other_blocks


def enter(f: CodegenContext, counts: llvm.Value, number: llvm.Value, mask: llvm.Value, tries: bool) -> None:
    """Counts an execution of a basic block by the lanes of mask.

    tries   whether it begins with a wait: then entering it again to reissue the wait is not counted (waits_until)
    """
    b, code = f.b, f.code
    if tries:
        first = b.append_basic_block("first")
        reissued = code.load(WarpState, f.warp, "reissued")
        code.store(b.and_(reissued, b.not_(mask)), WarpState, f.warp, "reissued")
        on = b.append_basic_block("on")
        b.cbranch(b.icmp_signed("==", b.and_(reissued, mask), i32(0)), first, on)
        b.position_at_end(first)
    code.bump(counts)
    if f.t.watch.counts:
        code.bump(code.at(counts, 8), b.zext(code.popcount(mask), I64))
    f.t.watch.enter(code, f.env, f.block, f.warp, number, mask)
    if tries:
        b.branch(on)
        b.position_at_end(on)


def lower_instruction(
    f: CodegenContext, instruction: Instruction, binding: Binding, mask: llvm.Value, lanes: llvm.Value, split: bool
) -> None:
    """Emits one instruction.

    mask, lanes  the running split as word and as vector
    split        whether it may be less than all living lanes
    """
    if instruction.base == "NOP":
        f.t.watch.reconverge(f.code, f.warp, mask)  # a __syncwarp() of converged lanes compiles to this
        return
    b = f.b
    guard = instruction.guard
    f.registers.flow.at(instruction.index, guard)
    condition = None if guard is None else f.registers.predicate(guard)
    if condition is None:
        active = lanes
    elif is_vector(condition):
        active = b.and_(lanes, condition)
    else:
        active = f.code.lanes(b.select(condition, mask, i32(0)))
    f.at, f.active = instruction, active
    if f.t.shares and reads_other_blocks(instruction):
        f.code.store(b.trunc(f.code.load(WorkerEnv, f.env, "side_by_side"), I32), WarpState, f.warp, "asked")
    if f.t.watch.counts and condition is not None and not takes_condition(instruction):
        on = b.zext(f.code.popcount(b.bitcast(active, I32)), I64)
        f.code.bump(f.code.at(f.row(instruction.index), 8 * ON), on)
    arguments = [f.registers.read(source, operand, instruction) for source, operand in binding.sources]
    if binding.op.takes_warp:
        for value in arguments:
            if isinstance(value, Lanes):
                value.node = f.emitter.vector_of(value.node)
        arguments.insert(0, LaneOps(f, instruction, mask, lanes, active, condition, split))
    emit = partial(f.outlined_ops.emit, f.emitter, binding.op, binding.modifiers, arguments)
    result = memoized(f, instruction, binding, arguments, emit)
    if binding.op.results:
        results = result if isinstance(result, tuple) else (result,)
        for target, value in zip(binding.targets, results, strict=True):
            if target is not None:
                f.registers.write(target, value, active, condition)
