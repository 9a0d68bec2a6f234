"""Bulk operations: lowers bulk copies and tensor copies (TMA), which a warp makes once."""

from __future__ import annotations

from collections.abc import Sequence

from warplens import llvm
from warplens.emulator.access import access_emission
from warplens.emulator.bulk.bulk_access import BulkRoutines, bulk_copy_routine
from warplens.emulator.bulk.tensor_access import tensor_copy_routine
from warplens.emulator.codegen.structured_builder import i32
from warplens.emulator.codegen.vector_types import I64
from warplens.emulator.lowering.memory_ops import MemoryOps
from warplens.isa.dsl.lanes import U32
from warplens.isa.dsl.operation_records import BulkCopy, TensorCopy
from warplens.isa.dsl.warp_interface import Data


class BulkOps(MemoryOps):
    """Bulk operations of a warp with an active lane."""

    @property
    def _bulk(self) -> BulkRoutines:
        return BulkRoutines(self.f.t.routines, self.f.t.watch)

    def _word(self, value: U32 | None) -> llvm.Value:
        return i32(0) if value is None else self.c.first(value).node

    def _address(self, at: Data) -> llvm.Value:
        """Of one word in shared, of two in global memory, as 64 bits."""
        low, *high = (self.b.zext(self._word(word), I64) for word in at.words)
        return self.b.or_(low, self.b.shl(high[0], llvm.IRConstant(I64, 32))) if high else low

    def _once(self, routine: llvm.Function, arguments: Sequence[llvm.Value]) -> None:
        """Calls a routine if a lane is active."""
        site = self._site()
        with self.code.when(self.code.nonzero(self.c.active_mask)):
            self.f.t.watch.issue(self.code, self.f.warp, lane=self.c.first_lane())
            state = [self.f.env, self.f.block, self.f.warp, self.f.number(self.at.index), site.counters]
            self.b.call(routine, [*state, *arguments])
        access_emission.return_on_fault(site, self.f.fault, self.b.append_basic_block("after"))

    def bulk_copy(
        self, copy: BulkCopy, to: Data, source: Data, bytes: U32, barrier: U32 | None = None, blocks: U32 | None = None
    ) -> None:
        routine = bulk_copy_routine(self._bulk, copy, barrier is not None, blocks is not None)
        words = [self._word(word) for word in (bytes, barrier, blocks)]
        self._once(routine, [self._address(to), self._address(source), *words])

    def tensor_copy(
        self, copy: TensorCopy, map: Data, at: Data, shared: U32, offsets: U32 | None = None,
        barrier: U32 | None = None, blocks: U32 | None = None,
    ) -> None:  # fmt: skip
        routine = tensor_copy_routine(self._bulk, copy, barrier is not None, blocks is not None)
        words = [self._word(word) for word in (shared, offsets, barrier, blocks, *at.words)]
        self._once(routine, [self._address(map), *words])
