"""Trap record: records the first fault of a worker, of any kind."""

from __future__ import annotations

from warplens import llvm
from warplens.emulator.codegen.structured_builder import StructuredBuilder
from warplens.emulator.state.structs import BlockState, Fault, FaultKind, WarpState, WorkerEnv


def record_fault(
    code: StructuredBuilder,
    env: llvm.Value,
    block: llvm.Value,
    kind: FaultKind,
    warp: llvm.Value | None = None,
    **fields: llvm.Value,
) -> llvm.Value:
    """Records kind, block, warp (None: all of the block) and these fields of Fault; returns the record."""
    fault = code.field(WorkerEnv, env, "fault")
    code.store(kind, Fault, fault, "kind")
    for axis in range(3):
        code.store(code.load(BlockState, block, "ctaid", axis), Fault, fault, "ctaid", axis)
    if warp is not None:
        code.store(code.load(WarpState, warp, "index"), Fault, fault, "warp")
    for name, value in fields.items():
        code.store(value, Fault, fault, name)
    return fault
