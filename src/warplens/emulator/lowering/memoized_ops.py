"""Memoized operations: slow scalar operations keep their last operand and its result.

A kernel that divides by a launch constant converts it, takes its reciprocal and converts back in every warp: a
dependence chain of a hundred cycles.  A memoized result is available at once, since the host's branch prediction does
not wait for the comparison: a copy with a remainder in its index runs at 1.3 times the speed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from ctypes import sizeof
from typing import Any

from warplens import llvm
from warplens.core.program import Instruction
from warplens.emulator.codegen.structured_builder import i64
from warplens.emulator.codegen.vector_types import I32, I64, is_vector, scalar_type
from warplens.emulator.lowering.codegen_context import CodegenContext
from warplens.emulator.state.structs import Bounds, WorkerEnv
from warplens.isa.dsl.decode import Binding
from warplens.isa.dsl.lanes import Lanes

SLOW = {"I2F", "F2I", "MUFU"}
VALID = 1 << 32  # set in every key, so that a zeroed entry never matches


def memoized(
    f: CodegenContext, at: Instruction, binding: Binding, arguments: Sequence[Any], emit: Callable[[], Any]
) -> Any:
    """The result of the instruction; `emit` emits the code that computes it."""
    operand = _one_word(at, binding, arguments)
    if operand is None:
        return emit()
    b, code = f.b, f.code
    (kind,) = binding.op.results
    # The instruction accesses no memory: its Bounds entry is free.
    place = code.at(code.load(WorkerEnv, f.env, "bounds"), b.mul(b.sext(f.number(at.index), I64), i64(sizeof(Bounds))))
    key = b.or_(b.zext(b.bitcast(operand, I32), I64), i64(VALID))
    result = code.variable(I32)
    same = b.icmp_signed("==", code.load(Bounds, place, "low"), key)
    with b.if_else(same, likely=True) as (known, new):
        with known:
            b.store(b.trunc(code.load(Bounds, place, "last"), I32), result)
        with new:
            bits = b.bitcast(emit().node, I32)
            code.store(key, Bounds, place, "low")
            code.store(b.zext(bits, I64), Bounds, place, "last")
            b.store(bits, result)
    return kind(f.emitter, b.bitcast(b.load(result, typ=I32), scalar_type(kind)))


def _one_word(at: Instruction, binding: Binding, arguments: Sequence[Any]) -> llvm.Value | None:
    """The operand, if it and the result are one uniform word."""
    results, given = binding.op.results, [a for a in arguments if isinstance(a, Lanes)]
    if at.base not in SLOW or binding.op.takes_warp or len(results) != 1 or len(given) != 1:
        return None
    if not (issubclass(results[0], Lanes) and results[0].bits == given[0].bits == 32):
        return None
    node = given[0].node
    scalar = isinstance(node, llvm.Value) and not isinstance(node, llvm.IRConstant) and not is_vector(node)
    return node if scalar else None
