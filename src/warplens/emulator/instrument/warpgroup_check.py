"""Warpgroup check: whether the four warps of a warpgroup execute the same products (wgmma) and setmaxnreg.

The warps are compared as they end: how many groups of products each has committed, and how many registers it has.
"""

from __future__ import annotations

from warplens import llvm
from warplens.emulator.codegen.structured_builder import StructuredBuilder, function, i32
from warplens.emulator.codegen.vector_types import PTR
from warplens.emulator.instrument.findings import NO_PARTY, EmittedFinding, FindingKind, emit_finding
from warplens.emulator.instrument.race_state import VOID, GroupClocks, GroupKind, WarpClocks, groups_of
from warplens.emulator.state.structs import WARPGROUP_WARPS, BlockState, WarpState, WorkerEnv

PRODUCT, REGISTERS = "product_at", "registers_at"  # of WarpClocks: the last instruction of each kind


def note_instruction(code: StructuredBuilder, warp: llvm.Value, kind: str, instruction: llvm.Value) -> None:
    """A warp executes an instruction that all of its warpgroup must."""
    code.store(instruction, WarpClocks, code.load(WarpState, warp, "order"), kind)


def ended_routine(module: llvm.IRModule) -> llvm.Function:
    """(env, block, warp): a warp has ended; reports those of its warpgroup that ended with other numbers."""
    if found := module.globals.get("warp_of_group_ended"):
        return found
    made, code = function(module, "warp_of_group_ended", VOID, [PTR, PTR, PTR])
    env, block, warp = made.args
    b = code.b
    index, first = code.load(WarpState, warp, "index"), code.load(BlockState, block, "warps")
    start = b.and_(index, i32(-WARPGROUP_WARPS))

    def compare(k: llvm.Value) -> None:
        number = b.add(start, k)
        exists = b.icmp_signed("<", number, code.load(WorkerEnv, env, "warps"))
        with code.when(b.and_(exists, b.icmp_signed("!=", number, index))):
            step = b.mul(code.widened(number), code.load(WorkerEnv, env, "warp_stride"))
            other = code.at(first, step)
            with code.when(b.icmp_signed("==", code.load(WarpState, other, "exited"), i32(-1))):
                parties = [(warp, index), (other, number)]
                for kind in (PRODUCT, REGISTERS):
                    _compare(code, (env, block), kind, parties)

    code.each(i32(WARPGROUP_WARPS), compare)
    b.ret_void()
    return made


def _compare(
    code: StructuredBuilder, place: tuple[llvm.Value, llvm.Value], kind: str,
    parties: list[tuple[llvm.Value, llvm.Value]],
) -> None:  # fmt: skip
    """place: environment and block;  parties: the warp that ends and one that has, with their numbers."""
    b = code.b
    (mine, at, thread), (theirs, their_at, their_thread) = (_done(code, kind, *party) for party in parties)
    with code.when(b.icmp_signed("!=", mine, theirs), likely=False):
        alone = b.icmp_signed("==", at, i32(NO_PARTY))  # that has executed none
        second, second_thread = b.select(alone, their_at, at), b.select(alone, their_thread, thread)
        first = b.select(alone, i32(NO_PARTY), their_at)
        missing = b.select(alone, parties[0][1], parties[1][1])
        finding = EmittedFinding(
            i32(FindingKind.PART_OF_A_WARPGROUP), first, second, their_thread, second_thread, missing
        )
        emit_finding(code, *place, finding)


def _done(
    code: StructuredBuilder, kind: str, warp: llvm.Value, number: llvm.Value
) -> tuple[llvm.Value, llvm.Value, llvm.Value]:
    """What is compared of a warp, the last instruction of the kind, and its first thread."""
    order = code.load(WarpState, warp, "order")
    if kind == PRODUCT:
        done = code.load(GroupClocks, groups_of(code, order, GroupKind.PRODUCTS), "committed")
    else:
        done = code.load(WarpState, warp, "returned_registers")
    return done, code.load(WarpClocks, order, kind), code.b.shl(number, i32(5))
