"""Tensor memory operations: lowers allocation, loads and stores of tensor memory to calls of compiled functions."""

from __future__ import annotations

from collections.abc import Sequence

from warplens import llvm
from warplens.core.program import Address
from warplens.emulator.access.trap import record_fault
from warplens.emulator.codegen.structured_builder import i32, i64
from warplens.emulator.codegen.vector_types import I32, I64, LANES, vector
from warplens.emulator.lowering.memory_ops import MemoryOps
from warplens.emulator.state.structs import BlockState, FaultKind, WarpState, WorkerEnv
from warplens.emulator.tensor_memory import tensor_cells
from warplens.emulator.tensor_memory.tensor_functions import TensorFunction
from warplens.isa.dsl.lanes import U32, Pred
from warplens.isa.dsl.operation_records import TensorAccess
from warplens.isa.dsl.warp_interface import Data

V32 = vector(I32)
RESULT_WORDS = 16  # simc.function.RESULTS
VECTOR_BYTES = 4 * LANES
SHAPES = {
    "32dp32bit": tensor_cells.WHOLE, "16dp64bit": tensor_cells.NARROW, "16dp128bit": tensor_cells.MIDDLE,
    "16dp256bit": tensor_cells.BROAD, "16dp32bit_t0_t15": tensor_cells.FIRST_HALF,
    "16dp32bit_t16_t31": tensor_cells.SECOND_HALF,
}  # fmt: skip
FAULTS = {
    tensor_cells.NOT_ALLOCATED: FaultKind.TENSOR_COLUMN, tensor_cells.BEYOND: FaultKind.TENSOR_RANGE,
    tensor_cells.OTHER_LANES: FaultKind.TENSOR_LANE, tensor_cells.NO_SIZE: FaultKind.TENSOR_SIZE,
}  # fmt: skip


class TensorMemoryOps(MemoryOps):
    """Tensor memory operations of one warp, in which a lane is active."""

    def allocate_tensor(self, slots: U32) -> tuple[Pred, U32]:
        build = self.b
        first, held = self.code.variable(I32, i32(-1)), self._held()
        with self.code.when(self.code.nonzero(self.c.active_mask)):
            wanted = self.c.first(slots).node
            given = [*self._cells(), build.zext(wanted, I64), build.zext(held, I64)]
            wrong, found, now = self._call(TensorFunction.ALLOCATE, given, 3)
            self._fault(wrong, build.shl(wanted, i32(5)))
            build.store(build.trunc(found, I32), first)
            self.code.store(build.trunc(now, I32), BlockState, self.f.block, "tensor_slots")
        number = build.load(first, typ=I32)
        return Pred(self.e, build.icmp_signed(">=", number, i32(0))), self.c.u32(number)

    def keep_tensor(self, mask: U32) -> U32:
        held = self._held()
        active = self.code.nonzero(self.c.active_mask)
        kept = self.b.select(active, self.b.and_(held, self.c.first(mask).node), held)
        self.code.store(kept, BlockState, self.f.block, "tensor_slots")
        return self.c.u32(held)

    def tensor_load(self, access: TensorAccess, at: Address, old: Data) -> Data:
        words = self._stored(old)
        self._move(TensorFunction.LOAD, access, at, words)
        places = (self.code.at(words, VECTOR_BYTES * k) for k in range(access.words))
        return Data([self.c.u32(self.b.load(place, typ=V32, align=4)) for place in places])

    def tensor_store(self, access: TensorAccess, at: Address, data: Data) -> None:
        self._move(TensorFunction.STORE, access, at, self._stored(data))

    def _move(self, function: TensorFunction, access: TensorAccess, at: Address, words: llvm.Value) -> None:
        if not self.f.t.watch.moves("shared"):
            return
        build = self.b
        form = [i64(SHAPES[access.shape]), i64(access.words), i64(int(access.packed))]
        with self.code.when(self.code.nonzero(self.c.active_mask)):
            address, warp = self.c.first(self._narrow_address(at)).node, self.code.load(WarpState, self.f.warp, "index")
            where = [build.zext(number, I64) for number in (address, warp, self._held())]
            given = [*form, *self._cells(), words, i64(access.words), i64(LANES), *where]
            wrong, place = self._call(function, given, 2)
            self._fault(wrong, build.trunc(place, I32))

    # Calls

    def _held(self) -> llvm.Value:
        return self.code.load(BlockState, self.f.block, "tensor_slots")

    def _cells(self) -> list[llvm.Value]:
        """The block's tensor memory as an array."""
        return [
            self.code.load(BlockState, self.f.block, "tensor"), i64(tensor_cells.LANES), i64(tensor_cells.COLUMNS)
        ]  # fmt: skip

    def _stored(self, data: Data) -> llvm.Value:
        """The words in memory, one after the other."""
        room = self.code.variable(llvm.ArrayType(I32, LANES * len(data.words)))
        for k, word in enumerate(data.words):
            self.b.store(self.e.splat(word.node), self.code.at(room, VECTOR_BYTES * k), align=4)
        return room

    def _call(self, function: TensorFunction, given: Sequence[llvm.Value], count: int) -> list[llvm.Value]:
        """The first results of a function."""
        results = self.code.variable(llvm.ArrayType(I64, RESULT_WORDS))
        arguments = [*given, results]
        kind = llvm.FunctionType(llvm.VoidType(), [argument.type for argument in arguments])
        code = self.code.load(WorkerEnv, self.f.env, "tensor_code", int(function))
        self.b.call(code, arguments, kind)
        return [self.b.load(self.code.at(results, 8 * k), typ=I64) for k in range(count)]

    def _fault(self, wrong: llvm.Value, place: llvm.Value) -> None:
        """Ends the kernel if something is wrong; `place`: the column or the lane that it is wrong with."""
        for number, kind in FAULTS.items():
            with self.code.when(self.b.icmp_signed("==", wrong, i64(number)), likely=False):
                fields = {"instruction": self.f.number(self.at.index), "lanes": self.c.active_mask, "bytes": place}
                record_fault(self.code, self.f.env, self.f.block, kind, self.f.warp, **fields)
                self.b.branch(self.f.fault)
