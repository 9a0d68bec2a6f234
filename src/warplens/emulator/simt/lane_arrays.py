"""Per-lane fields: masked store to, and comparison of, an array of a warp's record with one entry a lane."""

from __future__ import annotations

from warplens import llvm
from warplens.emulator.codegen.emitter import LlvmEmitter
from warplens.emulator.codegen.structured_builder import StructuredBuilder
from warplens.emulator.codegen.vector_types import I1, I32, vector
from warplens.emulator.state.structs import WarpState


def entries(code: StructuredBuilder, warp: llvm.Value, field: str) -> llvm.Value:
    """All 32 entries of the field."""
    return code.b.load(code.field(WarpState, warp, field), typ=vector(I32), align=4)


def assign(code: StructuredBuilder, warp: llvm.Value, field: str, lanes: llvm.Value, value: llvm.Value) -> None:
    """Masked store: sets these lanes' entries to `value`, one for all or 32."""
    new = value if value.type == vector(I32) else LlvmEmitter(code.b).splat(value)
    chosen = code.b.select(code.b.bitcast(lanes, vector(I1)), new, entries(code, warp, field))
    code.b.store(chosen, code.field(WarpState, warp, field), align=4)


def equal(code: StructuredBuilder, values: llvm.Value, value: llvm.Value) -> llvm.Value:
    """The mask of lanes whose entry of `values` is `value`."""
    return code.b.bitcast(code.b.icmp_signed("==", values, LlvmEmitter(code.b).splat(value)), I32)


def suspended_at(code: StructuredBuilder, warp: llvm.Value, pc: llvm.Value) -> llvm.Value:
    """Lanes that are suspended and resume at pc, or were so when last suspended."""
    return equal(code, entries(code, warp, "resume_pc"), pc)
