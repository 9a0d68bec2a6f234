"""Product groups: the groups of products (wgmma) that each warp of a warpgroup has committed.

A product is one of all four warps, so a wait for its group ends only when all four have issued it.  Each warp computes
its rows at issue; a warp that waits here therefore also lets the others read their matrices, before it tells anybody
that shared memory may be written again.
"""

from __future__ import annotations

from functools import cached_property

from warplens import llvm
from warplens.emulator.codegen.structured_builder import StructuredBuilder, function, i32
from warplens.emulator.codegen.vector_types import I1, I32, PTR
from warplens.emulator.simt.block_scheduler import BlockScheduler
from warplens.emulator.state.structs import WARPGROUP_WARPS, WarpState, WorkerEnv

COMMITTED = "product_groups"  # of WarpState


class ProductGroups:
    """Product groups: owns `WarpState.product_groups`."""

    def __init__(self, blocks: BlockScheduler) -> None:
        self.blocks = blocks

    def commit(self, code: StructuredBuilder, warp: llvm.Value) -> None:
        """The products so far are a group."""
        code.bump(code.field(WarpState, warp, COMMITTED), 1, I32)

    @cached_property
    def issued(self) -> llvm.Function:
        """issued(env, block, warp, groups) -> whether the other living warps of the warpgroup have committed all groups
        of this warp but the last `groups`."""
        made, code = function(self.blocks.module, "products_issued", I1, [PTR, PTR, PTR, I32])
        env, block, warp, groups = made.args
        b = code.b
        wanted = b.sub(code.load(WarpState, warp, COMMITTED), groups)
        first = b.and_(code.load(WarpState, warp, "index"), i32(-WARPGROUP_WARPS))
        left = b.sub(code.load(WorkerEnv, env, "warps"), first)
        count = b.select(b.icmp_signed("<", left, i32(WARPGROUP_WARPS)), left, i32(WARPGROUP_WARPS))

        def visit(k: llvm.Value) -> None:
            other = self.blocks.warp(code, env, block, b.add(first, k))
            lives = b.icmp_signed("!=", code.load(WarpState, other, "exited"), i32(-1))
            late = b.icmp_signed("<", code.load(WarpState, other, COMMITTED), wanted)
            with code.when(b.and_(lives, late)):
                b.ret(llvm.IRConstant(I1, 0))

        code.each(count, visit)
        b.ret(llvm.IRConstant(I1, 1))
        return made
