"""Warpgroup operations: lowers the products of warpgroups to calls of their routines."""

from __future__ import annotations

from warplens import llvm
from warplens.core.program import Register
from warplens.emulator.codegen.structured_builder import i32
from warplens.emulator.codegen.vector_types import I32, LANES, vector
from warplens.emulator.instrument.race_state import GroupKind, Layout, Ordering
from warplens.emulator.instrument.warpgroup_check import PRODUCT, REGISTERS
from warplens.emulator.lowering.control_flow import ControlFlow
from warplens.emulator.lowering.instruction_context import InstructionContext
from warplens.emulator.lowering.memory_ops import MemoryOps
from warplens.emulator.state.structs import BlockState, FaultKind, WarpState, WorkerEnv
from warplens.emulator.warpgroup.matrix_descriptor import ROW_BYTES, MatrixDescriptor
from warplens.emulator.warpgroup.product_routine import STRIP, product_routine
from warplens.emulator.warpgroup.product_sums import LANE_BYTES
from warplens.isa.dsl.lanes import U32, Pred
from warplens.isa.dsl.operation_records import GroupProduct
from warplens.isa.dsl.warp_interface import Data
from warplens.sass.operand_parser import COMMIT

V32 = vector(I32)
NO_MATRIX = Register("UR", -1)
PRODUCT_TRY = 1024  # instructions that a wait for the warpgroup costs the budget: a loop may have a million of them

class WarpgroupOps(MemoryOps):
    """Warpgroup operations of one warp."""

    def __init__(self, context: InstructionContext, flow: ControlFlow) -> None:
        super().__init__(context)
        self.flow = flow

    def group_product(self, form: GroupProduct, a: Data, b: Data, addends: Data, metadata: U32, scale: Pred) -> Data:
        code, build = self.code, self.b
        commits = any(isinstance(operand, Register) and operand.part == COMMIT for operand in self.at.operands)
        if commits:
            self.runtime.products.commit(code, self.f.warp)
        multiplies = self.at.operands[2] != NO_MATRIX  # else it only ends a group
        if not multiplies and commits:
            self._commit()
        if not multiplies or not self.f.t.watch.moves("shared"):
            return Data([self.c.u32(llvm.IRConstant(V32, None))] * form.words)
        routine = product_routine(self.f.t.module, form)
        accumulators = self._stored([*addends.words])
        given = self._stored([*(a.words if form.registers else [self.c.u32(i32(0))] * 4), metadata])
        left = [self.c.u32(i32(0))] * 2 if form.registers else a.words
        descriptors = [self.c.first(word).node for word in (*left, *b.words)]
        if self.f.t.watch.init or self.f.t.watch.ordered:
            self._check_reads(form, descriptors)
        if commits:
            self._commit()
        counted = build.zext(build.extract_element(self.e.splat(scale.node), i32(0)), I32)
        here = [self.f.env, self.f.block, self.f.warp, self.f.number(self.at.index)]
        where = [*here, i32(form.columns // STRIP), accumulators, given]
        failed = build.call(routine, [*where, *descriptors, counted])
        with code.when(code.nonzero(failed), likely=False):
            build.branch(self.f.fault)
        return Data([self.c.u32(self._kept(accumulators, k)) for k in range(form.words)])

    def _commit(self) -> None:
        self.f.t.watch.commit(self.code, self.f.warp, GroupKind.PRODUCTS)
        self._note(PRODUCT)

    def _check_reads(self, form: GroupProduct, words: list[llvm.Value]) -> None:
        """Checks what the warp reads of shared memory: its rows of A, all columns of B."""
        build = self.b
        if not form.registers:
            rank = build.and_(self.code.load(WarpState, self.f.warp, "index"), i32(3))
            left = MatrixDescriptor(self.code, words[0], words[1], form.transposed[0])
            first = build.shl(rank, i32(1))
            self._read_through(left)
            self.code.each(i32(2), lambda half: self._check_rows(left, build.add(first, half), 2))
        right = MatrixDescriptor(self.code, words[2], words[3], form.transposed[1])
        self._read_through(right)
        self.code.each(i32(form.columns // STRIP), lambda strip: self._check_rows(right, strip, form.chunks))

    def _read_through(self, matrix: MatrixDescriptor) -> None:
        """The reads that follow are by this descriptor."""
        layout = self.b.add(matrix.swizzle, i32(Layout.PLAIN))
        self.f.t.watch.issue(self.code, self.f.warp, lane=self.c.first_lane(), layout=layout)

    def _check_rows(self, matrix: MatrixDescriptor, group: llvm.Value, chunks: int) -> None:
        addresses = self.e.splat(i32(0))
        rows = [row for chunk in range(chunks) for row in matrix.rows(group, chunk)]
        for lane, row in enumerate(rows):
            addresses = self.b.insert_element(addresses, row, i32(lane))
        site = self._site(i32((1 << len(rows)) - 1))
        ordering = Ordering(proxy=GroupKind.PRODUCTS)
        self.f.t.watch.access(site, "shared", addresses, ROW_BYTES, "load", ordering=ordering)

    def _kept(self, accumulators: llvm.Value, number: int) -> llvm.Value:
        return self.b.load(self.code.at(accumulators, LANE_BYTES * number), typ=V32, align=4)

    def _stored(self, words: list[U32]) -> llvm.Value:
        """The words in memory, one after the other."""
        place = self.code.variable(llvm.ArrayType(I32, LANES * len(words)))
        for k, word in enumerate(words):
            self.b.store(self.e.splat(word.node), self.code.at(place, LANE_BYTES * k), align=4)
        return place

    def _note(self, kind: str) -> None:
        self.f.t.watch.note_instruction(self.code, self.f.warp, kind, self.f.number(self.at.index))

    def wait_for_products(self, groups: int) -> None:
        """Results are there at once; but what comes after the wait comes after the products of all four warps."""
        issued = self.b.call(self.runtime.products.issued, [self.f.env, self.f.block, self.f.warp, i32(groups)])
        self.flow.waits_until(Pred(self.e, issued), PRODUCT_TRY)
        self.f.t.watch.wait_for(self.code, self.f.warp, GroupKind.PRODUCTS, groups)

    # Registers

    def give_registers(self, count: int) -> None:
        code, build = self.code, self.b
        more = build.sub(self._held(), i32(count))
        self._fault_if(build.icmp_signed("<", more, i32(0)), count)
        self._note(REGISTERS)
        code.bump(code.field(WarpState, self.f.warp, "returned_registers"), more, I32)
        code.bump(code.field(BlockState, self.f.block, "spare_registers"), more, I32)

    def take_registers(self, count: int) -> Pred:
        code, build = self.code, self.b
        fewer = build.sub(i32(count), self._held())
        self._fault_if(build.icmp_signed("<", fewer, i32(0)), count)
        spare = code.load(BlockState, self.f.block, "spare_registers")
        enough = build.icmp_signed(">=", spare, fewer)
        there = Pred(self.e, enough)
        self.flow.waits_until(there)
        self._note(REGISTERS)
        code.bump(code.field(WarpState, self.f.warp, "returned_registers"), build.sub(i32(0), fewer), I32)
        code.bump(code.field(BlockState, self.f.block, "spare_registers"), build.sub(i32(0), fewer), I32)
        return there

    def _held(self) -> llvm.Value:
        """Registers a thread that the warp has."""
        first = self.code.load(WorkerEnv, self.f.env, "registers")
        return self.b.sub(first, self.code.load(WarpState, self.f.warp, "returned_registers"))

    def _fault_if(self, wrong: llvm.Value, count: int) -> None:
        lanes = self.b.select(wrong, self.c.active_mask, i32(0))
        self.f.fault_if(lanes, FaultKind.WRONG_REGISTERS, self.at, bytes=i32(count), space=self._held())
