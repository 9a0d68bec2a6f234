"""SIMT runtime: the scheduling functions of one module, grouped by the warp state they own."""

from __future__ import annotations

from warplens import llvm
from warplens.emulator.instrument.instrumentation import Instrumentation
from warplens.emulator.simt.block_scheduler import BlockScheduler
from warplens.emulator.simt.convergence_barrier import ConvergenceBarriers
from warplens.emulator.simt.convergence_barrier_yield import YieldingBsync
from warplens.emulator.simt.product_groups import ProductGroups
from warplens.emulator.simt.simt_stack import SimtStack
from warplens.emulator.simt.split_scheduler import SplitScheduler
from warplens.emulator.simt.yielded_lanes import YieldedLanes


class SimtRuntime:
    """SIMT runtime: its parts, each linked to those it uses.

    stack     splits that are ready
    yields    lanes that yielded, and the turn
    barriers  lanes that wait at BSYNC or WARPSYNC
    bsync     BSYNC in kernels whose lanes yield
    splits    which split runs next; YIELD, EXIT, BREAK
    blocks    block barriers, warps of a block, blocks of a grid
    products  groups of products (wgmma) that the warps of a warpgroup have committed
    """

    def __init__(
        self,
        module: llvm.IRModule,
        watch: Instrumentation,
        barriers: int,
        restores: bool,
        may_yield: bool,
        clustered: bool = False,
    ) -> None:
        """barriers: block barriers that a block can use; restores: whether convergence barriers are restored from
        registers; may_yield: whether lanes may yield; clustered: whether blocks run in clusters."""
        self.clustered = clustered
        self.stack = SimtStack(module)
        self.yields = YieldedLanes(self.stack)
        self.barriers = ConvergenceBarriers(module, watch, self.stack, restores, may_yield)
        self.bsync = YieldingBsync(self.stack, self.yields, self.barriers)
        self.splits = SplitScheduler(self.stack, self.yields, self.barriers, self.bsync, may_yield)
        self.blocks = BlockScheduler(module, watch, self.stack, barriers, clustered)
        self.products = ProductGroups(self.blocks)
