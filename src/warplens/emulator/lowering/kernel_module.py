"""Kernel module: SASS to the LLVM module of one kernel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, get_args

from warplens import llvm
from warplens.core.cubin import Kernel
from warplens.core.demangle import plain_name
from warplens.core.hazard import Check
from warplens.core.program import Block, Instruction, Program
from warplens.emulator.access.gather_scatter import AccessRoutines
from warplens.emulator.access.pattern import AccessCounts, Pattern
from warplens.emulator.access.runtime_library import RoutineSignature, declare
from warplens.emulator.access.site import AddressWindows
from warplens.emulator.analysis.cfg import reachable_blocks, successors
from warplens.emulator.analysis.divergence import may_yield
from warplens.emulator.analysis.kernel_features import (
    barriers_of,
    restores_barriers,
    shared_start,
    uses_convergence_barriers,
)
from warplens.emulator.analysis.uniformity import ProgramPoint, UniformityFacts, analyze_uniformity
from warplens.emulator.codegen.vector_types import I32, PTR
from warplens.emulator.instrument.instrumentation import Instrumentation, unit
from warplens.emulator.lowering.codegen_context import RUN_DIVERGENT, TranslationUnit
from warplens.emulator.lowering.warp_function import WarpFunction
from warplens.emulator.simt.simt_runtime import SimtRuntime
from warplens.emulator.state import abi
from warplens.emulator.state.check_set import NO_CHECKS, Checks
from warplens.emulator.state.counter_layout import LARGE, CounterLayout
from warplens.errors import UnsupportedInstruction
from warplens.isa.dsl.decode import Binding, bind
from warplens.sass.block_queue import polls_other_blocks

# Instructions from which on vectors live in memory between blocks, in the code for whole warps and in that for diverged
# ones: code of a few blocks has little to gain, and small loops would load and store what registers may hold.
WHOLE_IN_MEMORY, DIVERGED_IN_MEMORY = 2000, LARGE

MOST_ANALYZED = 4
_analyzed: dict[Any, UniformityFacts] = {}  # of the kernels that were translated last


def windows_of(program: Program, cluster: int = 1) -> AddressWindows:
    return AddressWindows(shared_start(program), abi.STACK_TOP, cluster)


def check_cluster(kernel: Kernel, checks: Checks) -> None:
    if kernel.cluster_blocks == 1:
        return
    of = f"{plain_name(kernel.name)} ({kernel.arch}) runs in clusters of {kernel.cluster_blocks} blocks"
    if checks & set(get_args(Check)):
        raise UnsupportedInstruction(
            f"{of}: its counts, results and time can be had, but no checks of its accesses; run it without --check"
        )


class KernelModule(TranslationUnit):
    """Kernel module: builds the module of one kernel.

    tile     lanes of a warp that are adjacent along x (affine.py); with 0 nothing is assumed about threadIdx
    weights  those of the code for whole warps, for the module with the code for diverged warps
    """

    def __init__(
        self, kernel: Kernel, program: Program, tile: int, checks: Checks = NO_CHECKS,
        library: Sequence[RoutineSignature] = (), weights: Mapping[int, AccessCounts] | None = None,
    ) -> None:  # fmt: skip
        check_cluster(kernel, checks)
        self.kernel = kernel
        self.tile = tile
        self.program = program
        self.plan = CounterLayout(program)
        self.module = llvm.IRModule(name=f"{program.name}.{program.arch}")
        self.watch = Instrumentation(self.module, unit(program), checks)
        self.restores, self.may_yield = restores_barriers(program), may_yield(program)
        barriers = barriers_of(program)
        clustered = kernel.cluster_blocks > 1
        self.runtime = SimtRuntime(self.module, self.watch, barriers, self.restores, self.may_yield, clustered)
        self.routines = AccessRoutines(self.module, windows_of(program, kernel.cluster_blocks), self.watch.counts)
        declare(self.module, library)
        self.bindings = [self._bind(i) for i in program.instructions]
        self.weights = dict(weights or {})
        self.by_start = {block.first: block for block in program.blocks}
        self.number = {block.first: n for n, block in enumerate(program.blocks)}
        self.reached = reachable_blocks(program)
        self.uses_convergence_barriers = uses_convergence_barriers(program)
        self.shares = polls_other_blocks(program)
        blocks = [self.by_start[start] for start in sorted(self.reached)]
        self.flow = successors(program)
        self.shapes = self._facts(blocks)
        self.start = max(place for place in self.shapes.states if place.first == 0)
        self.divergence_points = self._divergence_points()

    def _facts(self, blocks: Sequence[Block]) -> UniformityFacts:
        """The analysis of a kernel, which is the same for its modules and takes 5 s for 6,000 instructions."""
        key = self.kernel.code, self.kernel.arch, self.program.name, self.program.crossed, self.tile
        found = _analyzed.pop(key, None)
        if found is None:
            found = analyze_uniformity(self.program, self.bindings, blocks, self.tile, self.flow)
        _analyzed[key] = found  # the last one
        while len(_analyzed) > MOST_ANALYZED:
            _analyzed.pop(next(iter(_analyzed)), None)
        return found

    def usual(self, index: int, pattern: Pattern | None) -> Pattern | None:
        if pattern is None or self.weights.setdefault(index, pattern.counts) != pattern.counts:
            return None
        return pattern

    def _bind(self, instruction: Instruction) -> Binding | None:
        return bind(instruction)

    def _divergence_points(self) -> set[ProgramPoint]:
        """Program points where lanes can resume when a whole warp diverges."""
        known = self.shapes.states
        return {ProgramPoint(t) for p in known if p.whole for t in self.flow[p.first]} & set(known)

    @property
    def large(self) -> bool:
        return len(self.program.instructions) > LARGE

    def keeps_vectors_in_memory(self, diverged: bool) -> bool:
        return len(self.program.instructions) > (DIVERGED_IN_MEMORY if diverged else WHOLE_IN_MEMORY)

    @property
    def has_divergent_module(self) -> bool:
        """Whether diverged warps have a module of their own: not if a warp may start diverged, or makes syscalls."""
        return self.start.whole and bool(self.divergence_points) and not self.kernel.externs

    def build(self) -> llvm.IRModule:
        """run_blocks, run_interleaved and run_block; the global `divergent_code` holds the address of run_divergent, if
        that has a module of its own."""
        function = llvm.Function(self.module, llvm.FunctionType(I32, [PTR, PTR, PTR]), "run_warp")
        function.linkage = "internal"
        divergent_code, places = llvm.GlobalVariable(self.module, PTR, "divergent_code"), set(self.shapes.states)
        divergent_code.initializer = llvm.IRConstant(PTR, None)
        if self.has_divergent_module:
            places = {place for place in places if place.whole}
        _attributes(function)
        if not self.large:  # a tenth faster where warps wait at barriers, but slower to compile
            function.attributes.add("alwaysinline")
        WarpFunction(self, function, places, divergent_code if self.has_divergent_module else None).build()
        blocks = self.runtime.blocks
        one_block = blocks.run_block(function)
        blocks.run_blocks(one_block)
        blocks.run_interleaved(one_block)
        self._keep_weights()
        return self.module

    def build_divergent(self) -> llvm.IRModule:
        """run_divergent, for diverged warps."""
        function = llvm.Function(self.module, RUN_DIVERGENT, "run_divergent")
        _attributes(function)
        places = [place for place in self.shapes.states if not place.whole]
        WarpFunction(self, function, places).build_divergent(self.divergence_points)
        self._keep_weights()
        return self.module

    def _keep_weights(self) -> None:
        """Emits the weight table: what a hit of each instruction adds to its columns; read with the counters."""
        nothing = (0,) * len(AccessCounts().columns())
        rows = [self.weights[i].columns() if i in self.weights else nothing for i in range(len(self.bindings))]
        numbers = [number for row in rows for number in row]
        kind = llvm.ArrayType(llvm.IntType(16), len(numbers))
        table = llvm.GlobalVariable(self.module, kind, "weights")
        table.global_constant = True
        table.initializer = llvm.IRConstant(kind, numbers)


def _attributes(function: llvm.Function) -> None:
    function.attributes.add("nounwind")
    function.noalias = function.args[:3]
