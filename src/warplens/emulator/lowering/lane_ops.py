"""Lane operations: the warp interface of isa/ as LLVM IR, with special registers and cross-lane operations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from warplens import llvm
from warplens.core.program import Instruction
from warplens.emulator.access.gather_scatter import return_words
from warplens.emulator.access.site import V32
from warplens.emulator.analysis.abstract_interpreter import affine_thread_index
from warplens.emulator.codegen.emitter import LlvmEmitter
from warplens.emulator.codegen.structured_builder import function, i32, i64
from warplens.emulator.codegen.vector_types import I32, I64, LANES
from warplens.emulator.lowering.bulk_ops import BulkOps
from warplens.emulator.lowering.codegen_context import CodegenContext
from warplens.emulator.lowering.control_flow import ControlFlow
from warplens.emulator.lowering.cross_lane import match_routine, reduced, shuffled
from warplens.emulator.lowering.instruction_context import InstructionContext, unsupported
from warplens.emulator.lowering.memory_ops import MemoryOps
from warplens.emulator.lowering.reconvergence import Reconvergence
from warplens.emulator.lowering.tensor_memory_ops import TensorMemoryOps
from warplens.emulator.lowering.texture_ops import TextureOps
from warplens.emulator.lowering.warpgroup_ops import WarpgroupOps
from warplens.emulator.state import abi
from warplens.emulator.state.structs import BlockState, WarpState, WorkerEnv
from warplens.isa.dsl.lanes import U32, U64, Pred
from warplens.isa.dsl.warp_interface import Data, Formula, QuickFormula

LANE_MASKS = {  # special registers that depend on the lane alone
    "SR_LANEID": list(range(LANES)),
    "SR_EQMASK": [1 << lane for lane in range(LANES)],
    "SR_LTMASK": [(1 << lane) - 1 for lane in range(LANES)],
    "SR_LEMASK": [(2 << lane) - 1 for lane in range(LANES)],
    "SR_GTMASK": [0xFFFFFFFF & ~((2 << lane) - 1) for lane in range(LANES)],
    "SR_GEMASK": [0xFFFFFFFF & ~((1 << lane) - 1) for lane in range(LANES)],
}


class LaneOps(InstructionContext):
    """Lane operations: implements isa/dsl/warp_interface.py for one instruction, each operation from its part.

    Special registers and cross-lane operations are emitted here.
    """

    def __init__(
        self, function: CodegenContext, at: Instruction, mask: llvm.Value, lanes: llvm.Value, active: llvm.Value,
        condition: llvm.Value | None, split: bool,
    ) -> None:  # fmt: skip
        super().__init__(function, at, mask, lanes, active, condition, split)
        memory = MemoryOps(self)
        self.load, self.store, self.copy = memory.load, memory.store, memory.copy
        self.atomic, self.update, self.compare_and_store = memory.atomic, memory.update, memory.compare_and_store
        self.end_mbarrier = memory.end_mbarrier
        self.load_rows, self.store_rows, self.is_in = memory.load_rows, memory.store_rows, memory.is_in
        textures = TextureOps(self)
        self.fetch, self.texture_size = textures.fetch, textures.texture_size
        self.load_surface, self.store_surface = textures.load_surface, textures.store_surface
        self.reduce_surface = textures.reduce_surface
        bulk = BulkOps(self)
        self.bulk_copy, self.tensor_copy = bulk.bulk_copy, bulk.tensor_copy
        tensor = TensorMemoryOps(self)
        self.allocate_tensor, self.keep_tensor = tensor.allocate_tensor, tensor.keep_tensor
        self.tensor_load, self.tensor_store = tensor.tensor_load, tensor.tensor_store
        self.tensor_product, self.commit_tensor = tensor.tensor_product, tensor.commit_tensor
        self.copy_to_tensor = tensor.copy_to_tensor
        flow = ControlFlow(self)
        self.branch, self.branch_any, self.branch_unless_mask = flow.branch, flow.branch_any, flow.branch_unless_mask
        self.jump, self.call, self.exit, self.trap = flow.jump, flow.call, flow.exit, flow.trap
        self.yields, self.waits_until = flow.yields, flow.waits_until
        self.cluster_arrive, self.cluster_wait = flow.cluster_arrive, flow.cluster_wait
        self.block_barrier, self.barrier_result, self.fence = flow.block_barrier, flow.barrier_result, flow.fence
        self.commit_copies, self.wait_for_copies = flow.commit_copies, flow.wait_for_copies
        warpgroup = WarpgroupOps(self, flow)
        self.group_product, self.wait_for_products = warpgroup.group_product, warpgroup.wait_for_products
        self.give_registers, self.take_registers = warpgroup.give_registers, warpgroup.take_registers
        barriers = Reconvergence(self)
        self.set_barrier, self.set_barrier_mask = barriers.set_barrier, barriers.set_barrier_mask
        self.barrier_mask, self.reconverge, self.leave = barriers.barrier_mask, barriers.reconverge, barriers.leave
        self.converge, self.converge_by_mask = barriers.converge, barriers.converge_by_mask
        self.collect, self.end_collective = barriers.collect, barriers.end_collective

    def special(self, name: str) -> U32:
        if name in LANE_MASKS:
            return self.u32(llvm.IRConstant(V32, LANE_MASKS[name]))
        code, b = self.code, self.b
        fixed = abi.special_constants(self.f.t.program.arch)
        if name in fixed:
            return self.u32(i32(fixed[name]))
        if name == "SR_CgaCtaId":
            return self.u32(code.load(BlockState, self.f.block, "rank") if self.runtime.clustered else i32(0))
        index = code.load(WarpState, self.f.warp, "index")
        axis = "XYZ".find(name[-1])
        if name.startswith("SR_TID."):
            row = b.add(b.mul(b.zext(index, I64), i64(3 * 128)), i64(axis * 128))
            place = code.at(code.load(WorkerEnv, self.f.env, "tid"), row)
            line = affine_thread_index(self.f.t.tile, name, lambda: b.load(place, typ=I32))
            return self.u32(line or b.load(place, typ=V32, align=4))
        if name.startswith("SR_CTAID."):
            return self.u32(code.load(BlockState, self.f.block, "ctaid", axis))
        if name == "SR_VIRTID":
            return self.u32(b.shl(index, i32(8)))
        if name == "SR_SMEMSZ":
            total = b.trunc(code.load(WorkerEnv, self.f.env, "shared_bytes"), I32)
            return self.u32(b.add(total, i32(self.f.t.routines.windows.shared_base)))
        if name.startswith(("SR_CLOCK", "SR_GLOBALTIMER")):
            clock = self.clock()
            return clock.low() if name.endswith("LO") else clock.high()
        raise unsupported(self.f.t.program, self.at)

    def clock(self) -> U64:
        """Clock: fuel spent by backward jumps plus the position in the code since the last one; monotonic."""
        code, b = self.code, self.b
        spent = b.sub(code.load(WorkerEnv, self.f.env, "slice"), b.load(self.f.fuel, typ=I64))
        before = b.add(code.load(WarpState, self.f.warp, "used"), spent)
        return U64(self.e, b.add(before, b.zext(self.f.number(self.at.index), I64)))

    def once(self, key: str, words: int, formula: Formula, *runs: Data, quick: QuickFormula | None = None) -> Data:
        name, module = f"{self.at.opcode}{key}", self.f.t.module
        made = module.globals.get(name)
        if made is None:
            made = formula_function(module, name, words, runs, formula, quick)
        whole = self.b.call(made, [self.e.splat(word.node) for run in runs for word in run.words])
        return Data([self.u32(self.b.extract_value(whole, k)) for k in range(words)])

    # Cross-lane operations

    def ballot(self, p: Pred) -> U32:
        return self.u32(self.b.bitcast(self.b.and_(self._active, self.e.splat(p.node)), I32))

    def shuffle(self, value: U32, source: U32) -> U32:
        """An inactive lane gives 0: CUDA leaves it undefined, but it must not depend on register representation."""
        given = self.b.select(self._active, self.e.splat(value.node), llvm.IRConstant(V32, None))
        return self.u32(shuffled(self.code, given, self.e.splat(source.node)))

    def match_any(self, words: Data) -> U32:
        routine = match_routine(self.f.t.module, len(words.words))
        arguments = [self.e.splat(w.node) for w in words.words]
        return self.u32(self.b.call(routine, [self.active_mask, *arguments]))

    def reduce(self, value: U32, op: Literal["add", "min", "max", "smin", "smax", "and", "or", "xor"]) -> U32:
        return self.u32(reduced(self.code, self.e.splat(value.node), self._active, op))


def formula_function(
    module: llvm.IRModule, name: str, words: int, runs: Sequence[Data], formula: Formula, quick: QuickFormula | None
) -> llvm.Function:
    """A function that returns `words` words, formula(*runs); those of `quick` if valid in all lanes."""
    result = llvm.LiteralStructType([V32] * words)
    made, code = function(module, name, result, [V32 for run in runs for _ in run.words])
    emitter, left = LlvmEmitter(code.b), iter(made.args)
    given = [[U32(emitter, next(left)) for _ in run.words] for run in runs]
    if quick is None:
        return_words(code.b, [emitter.splat(word.node) for word in formula(*given)], result)
        return made
    found, same = quick(*given)
    with code.when(code.b.icmp_signed("==", code.b.bitcast(same.node, I32), i32(-1)), likely=True):
        return_words(code.b, [emitter.splat(word.node) for word in found], result)
    code.b.ret(code.b.call(formula_function(module, f"{name} slowly", words, runs, formula, None), made.args))
    return made
