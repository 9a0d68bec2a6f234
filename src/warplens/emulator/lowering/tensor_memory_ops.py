"""Tensor memory operations: lowers allocation, loads and stores of tensor memory to calls of compiled functions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import reduce

from warplens import llvm
from warplens.core.program import Address
from warplens.emulator.access import access_emission
from warplens.emulator.access.trap import record_fault
from warplens.emulator.bulk.bulk_access import BulkRoutines, arrival_routine
from warplens.emulator.codegen.structured_builder import i32, i64
from warplens.emulator.codegen.vector_types import I32, I64, LANES, vector
from warplens.emulator.instrument.race_state import GroupKind, Layout, Ordering
from warplens.emulator.lowering.memory_ops import MemoryOps
from warplens.emulator.state.structs import CLUSTER_BLOCKS, BlockState, ClusterState, FaultKind, WarpState, WorkerEnv
from warplens.emulator.tensor_memory import product_shape, tensor_cells, tensor_copies, tensor_multiply
from warplens.emulator.tensor_memory.tensor_copies import CopyForm
from warplens.emulator.tensor_memory.tensor_functions import SCRATCH, TensorFunction
from warplens.emulator.warpgroup.matrix_descriptor import ROW_BYTES, ROWS, MatrixDescriptor
from warplens.isa.dsl.lanes import U32, Pred
from warplens.isa.dsl.operation_records import TensorAccess, TensorMemoryCopy, TensorProduct
from warplens.isa.dsl.warp_interface import Data

V32 = vector(I32)
SHARED = 1  # number of the space in a fault record
RESULT_WORDS = 16  # simc.function.RESULTS
VECTOR_BYTES = 4 * LANES
SHAPES = {
    "32dp32bit": tensor_cells.WHOLE, "16dp64bit": tensor_cells.NARROW, "16dp128bit": tensor_cells.MIDDLE,
    "16dp256bit": tensor_cells.BROAD, "16dp32bit_t0_t15": tensor_cells.FIRST_HALF,
    "16dp32bit_t16_t31": tensor_cells.SECOND_HALF,
}  # fmt: skip
FAMILIES = ("halves", "bytes", "wholes", "nibbles")  # in the order of product_shape.py
LAYOUTS = {"one": product_shape.ONE, "stationary": product_shape.STATIONARY, "pair": product_shape.PAIR}
COPIES = {
    "128dp256bit": CopyForm(128, 2, tensor_copies.IN_ORDER), "4dp256bit": CopyForm(4, 2, tensor_copies.OF_QUARTERS),
    "128dp128bit": CopyForm(128, 1, tensor_copies.IN_ORDER),
    "2x64dp128bit_lw02_lw13": CopyForm(64, 1, tensor_copies.HALVES),
    "2x64dp128bit_lw01_lw23": CopyForm(64, 1, tensor_copies.PAIRS),
    "4x32dp128bit": CopyForm(32, 1, tensor_copies.EVERY_QUARTER),
}  # fmt: skip
TF32 = 2  # of the formats of an instruction descriptor
BROAD_CHUNKS = 1 << 29  # of a matrix descriptor's high word: 32 bytes are swizzled as one
NO_PEER = 32  # what is wrong, beyond the functions
FAULTS = {
    tensor_cells.NOT_ALLOCATED: FaultKind.TENSOR_COLUMN, tensor_cells.BEYOND: FaultKind.TENSOR_RANGE,
    tensor_cells.OTHER_LANES: FaultKind.TENSOR_LANE, tensor_cells.NO_SIZE: FaultKind.TENSOR_SIZE,
    tensor_multiply.NO_FORM: FaultKind.TENSOR_FORM, tensor_multiply.WRONG_LANE: FaultKind.TENSOR_RESULT,
    tensor_multiply.OUTSIDE: FaultKind.STRAY, NO_PEER: FaultKind.TENSOR_PEER,
}  # fmt: skip


class TensorMemoryOps(MemoryOps):
    """Tensor memory operations of one warp, in which a lane is active."""

    def allocate_tensor(self, slots: U32, pair: bool = False) -> tuple[Pred, U32]:
        build = self.b
        first, ready = self.code.variable(I32, i32(-1)), self.code.nonzero(self.c.active_mask)
        if pair and self.runtime.clustered:  # else the code asks again
            ready = build.and_(ready, self._started(self._other()))
        with self.code.when(ready):
            blocks = [self.f.block, self._peer()] if pair else [self.f.block]
            held = reduce(build.or_, (self._held(block) for block in blocks))
            wanted = self.c.first(slots).node
            for block in reversed(blocks):
                given = [*self._cells(block), build.zext(wanted, I64), build.zext(held, I64)]
                wrong, found, now = self._call(TensorFunction.ALLOCATE, given, 3)
                self._fault(wrong, build.shl(wanted, i32(5)))
                added = build.and_(build.trunc(now, I32), build.not_(held))
                kept = build.or_(self._held(block), added)
                self.code.store(kept, BlockState, block, "tensor_slots")
            build.store(build.trunc(found, I32), first)
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

    # Products

    def tensor_product(
        self, form: TensorProduct, a: Data | Address, b: Data, d: Address, given: Data, adds: Pred
    ) -> None:  # fmt: skip
        if not self.f.t.watch.moves("shared"):
            return
        build = self.b
        number = FAMILIES.index(form.family), isinstance(a, Address), form.blocks, LAYOUTS[form.layout], form.halvings
        with self.code.when(self.code.nonzero(self.c.active_mask)):
            if self.f.t.watch.init or self.f.t.watch.ordered:
                self._check_reads(form, a, b, self.c.first(given.words[0]).node)
            left = self._place(a) if isinstance(a, Address) else self._wide(a.words)
            word, metadata, scales_a, scales_b, *lanes = given.words
            first = build.extract_element(self.e.splat(adds.node), i32(0))
            lanes += lanes[:4] if form.layout != "pair" else []
            single = (self._number(word) for word in (word, metadata, scales_a, scales_b))
            masks = (self._wide(lanes[k : k + 2]) for k in (0, 2, 4, 6))
            state = (build.zext(first, I64), build.zext(self._held(), I64), self._base)
            fields = [left, self._wide(b.words), self._place(d), *single, *masks, *state]
            blocks = (self.f.block, self._peer() if form.layout == "pair" else self.f.block)
            arrays = [value for block in blocks for value in (*self._cells(block), *self._shared(block))]
            given_to = [*(i64(int(n)) for n in number), *fields, *arrays, *self._scratch()]
            wrong, place = self._call(TensorFunction.MULTIPLY, given_to, 2)
            self._fault(wrong, build.trunc(place, I32))

    def _check_reads(self, form: TensorProduct, a: Data | Address, b: Data, word: llvm.Value) -> None:
        """Checks what is read of shared memory: all of A, if it is there, and of B."""
        build = self.b

        def field(place: int, bits: int) -> llvm.Value:
            return build.and_(build.lshr(word, i32(place)), i32((1 << bits) - 1))

        single = build.icmp_signed("==", field(7, 3), i32(TF32))
        halves = form.family == "halves"
        size, steps = (build.select(single, i32(4), i32(2)), build.select(single, i32(1), i32(2))) if halves else (
            i32(1), i32(4),
        )  # fmt: skip
        if not isinstance(a, Address):
            rows = build.shl(field(24, 5), i32(4))
            self._check_matrix(a, rows, self.code.nonzero(field(15, 1)), size, steps)
        twice = build.shl(steps, field(2, 1))  # along K where A is sparse
        self._check_matrix(b, build.shl(field(17, 6), i32(3)), self.code.nonzero(field(16, 1)), size, twice)

    def _check_matrix(
        self, given: Data, rows: llvm.Value, transposed: llvm.Value, size: llvm.Value, steps: llvm.Value
    ) -> None:  # fmt: skip
        """rows: of A, or columns of B;  size: bytes of an element;  steps: of 8 elements along K."""
        code, build = self.code, self.b
        low, high = (self.c.first(word).node for word in given.words)
        known = build.icmp_signed("==", build.and_(high, i32(BROAD_CHUNKS)), i32(0))
        chunks = build.lshr(build.mul(steps, build.mul(size, i32(8))), i32(4))
        with code.when(build.and_(known, build.not_(transposed))):
            matrix = MatrixDescriptor(code, low, high, False)
            self._read_through(matrix)
            code.each(build.lshr(rows, i32(3)), lambda group: self._check_group(matrix, group, chunks, 4))
        with code.when(build.and_(known, transposed)):
            turned = MatrixDescriptor(code, low, high, True)
            self._read_through(turned)
            groups = build.lshr(build.mul(rows, size), i32(4))
            code.each(groups, lambda group: self._check_group(turned, group, steps, 8))

    def _check_group(self, matrix: MatrixDescriptor, group: llvm.Value, count: llvm.Value, most: int) -> None:
        """Checks `count` core matrices along K, of 8 times 16 bytes each."""
        for chunk in range(most):
            with self.code.when(self.b.icmp_signed("<", i32(chunk), count)):
                addresses = self.e.splat(i32(0))
                for lane, row in enumerate(matrix.rows(group, chunk)):
                    addresses = self.b.insert_element(addresses, row, i32(lane))
                site = self._site(i32((1 << ROWS) - 1))
                ordering = Ordering(proxy=GroupKind.TENSOR_PRODUCTS)
                self.f.t.watch.access(site, "shared", addresses, ROW_BYTES, "load", ordering=ordering)

    def _read_through(self, matrix: MatrixDescriptor) -> None:
        """The reads that follow are by this descriptor."""
        layout = self.b.add(matrix.swizzle, i32(Layout.PLAIN))
        self.f.t.watch.issue(self.code, self.f.warp, lane=self.c.first_lane(), layout=layout)

    def copy_to_tensor(self, form: TensorMemoryCopy, to: Address, source: Data) -> None:
        if not self.f.t.watch.moves("shared"):
            return
        build = self.b
        with self.code.when(self.code.nonzero(self.c.active_mask)):
            for block in (self.f.block, self._peer()) if form.pair else (self.f.block,):
                numbers = [self._wide(source.words), self._place(to), build.zext(self._held(block), I64), self._base]
                given = [*map(i64, COPIES[form.shape]), *self._cells(block), *self._shared(block), *numbers]
                wrong, place = self._call(TensorFunction.COPY, given, 2)
                self._fault(wrong, build.trunc(place, I32))

    @property
    def _base(self) -> llvm.Value:
        """The first address of shared memory."""
        return i64(self.f.t.routines.windows.shared_base)

    def _peer(self) -> llvm.Value:
        """The record of the other block of the pair."""
        if not self.runtime.clustered:
            self._fault(i64(NO_PEER), i32(0))
            return self.f.block
        other = self._other()
        self._fault(self.b.select(self._started(other), i64(0), i64(NO_PEER)), i32(0))
        return other

    def _other(self) -> llvm.Value:
        """Likewise, null if it has not started."""
        cluster = self.code.load(BlockState, self.f.block, "cluster")
        rank = self.b.xor(self.code.load(BlockState, self.f.block, "rank"), i32(1))
        return self.code.load(ClusterState, cluster, "blocks", self.b.and_(rank, i32(CLUSTER_BLOCKS - 1)))

    def _started(self, block: llvm.Value) -> llvm.Value:
        return self.b.icmp_signed("!=", self.b.ptrtoint(block, I64), i64(0))

    def _place(self, at: Address) -> llvm.Value:
        """An address in tensor memory."""
        return self.b.zext(self.c.first(self._narrow_address(at)).node, I64)

    def _number(self, word: U32) -> llvm.Value:
        return self.b.zext(self.c.first(word).node, I64)

    def _wide(self, words: Sequence[U32]) -> llvm.Value:
        """Two words as 64 bits."""
        low, high = (self._number(word) for word in words)
        return self.b.or_(low, self.b.shl(high, i64(32)))

    def _shared(self, block: llvm.Value) -> list[llvm.Value]:
        """The shared memory of a block as an array."""
        return [self.code.load(BlockState, block, "shared"), self.code.load(WorkerEnv, self.f.env, "shared_bytes")]

    def _scratch(self) -> list[llvm.Value]:
        """The arrays of doubles that a product uses."""
        start, offset, given = self.code.load(WorkerEnv, self.f.env, "tensor_scratch"), 0, list[llvm.Value]()
        for extents in SCRATCH:
            given += [self.code.at(start, 8 * offset), *map(i64, extents)]
            offset += math.prod(extents)
        return given

    def commit_tensor(self, at: Address, blocks: U32 | None = None) -> None:
        bulk = BulkRoutines(self.f.t.routines, self.f.t.watch)
        routine, site = arrival_routine(bulk, blocks is not None), self._site()
        with self.code.when(self.code.nonzero(self.c.active_mask)):
            self.f.t.watch.commit(self.code, self.f.warp, GroupKind.TENSOR_PRODUCTS)
            self.f.t.watch.wait_for(self.code, self.f.warp, GroupKind.TENSOR_PRODUCTS, 0)  # so who waits there knows
            words = [self.c.first(self._narrow_address(at)).node, self.c.first(blocks).node if blocks else i32(0)]
            state = [self.f.env, self.f.block, self.f.warp, self.f.number(self.at.index), site.counters]
            self.b.call(routine, [*state, *words])
        access_emission.return_on_fault(site, self.f.fault, self.b.append_basic_block("after"))

    # Calls

    def _held(self, block: llvm.Value | None = None) -> llvm.Value:
        """The slots of a block that are allocated; of this one unless another is named."""
        return self.code.load(BlockState, self.f.block if block is None else block, "tensor_slots")

    def _cells(self, block: llvm.Value | None = None) -> list[llvm.Value]:
        """Likewise its tensor memory as an array."""
        cells = self.code.load(BlockState, self.f.block if block is None else block, "tensor")
        return [cells, i64(tensor_cells.LANES), i64(tensor_cells.COLUMNS)]

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
                if kind is FaultKind.STRAY:
                    record_shared = {"bytes": i32(1), "space": i32(SHARED), "lanes": i32(1)}
                    fields |= {**record_shared, "address": self.b.zext(place, I64)}
                record_fault(self.code, self.f.env, self.f.block, kind, self.f.warp, **fields)
                self.b.branch(self.f.fault)
