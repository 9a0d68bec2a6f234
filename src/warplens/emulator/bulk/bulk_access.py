"""Bulk access: bulk copies and tensor copies (TMA), as accesses of 32 lanes, a unit each, one after the other.

So they are checked like any access, back up what they overwrite, and are seen by the race detectors.  They are not
counted so: what an instruction moves is added up in its row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from warplens import llvm
from warplens.emulator.access.atomic_access import note_mbarrier, update_routine
from warplens.emulator.access.gather_scatter import AccessRoutines
from warplens.emulator.access.site import V32, AccessSite, iota
from warplens.emulator.codegen.emitter import LlvmEmitter
from warplens.emulator.codegen.structured_builder import function, i32, i64
from warplens.emulator.codegen.vector_types import I32, I64, LANES, PTR
from warplens.emulator.instrument.instrumentation import Instrumentation
from warplens.emulator.instrument.race_state import GroupKind, How, Layout, Ordering
from warplens.emulator.state.counter_layout import BYTES, COLUMNS, REQUESTS, SECTORS
from warplens.emulator.state.structs import Bounds, Fault, MbarrierChange, WorkerEnv
from warplens.isa.barrier import after_arrival, after_bytes
from warplens.isa.dsl.lanes import U32
from warplens.isa.dsl.operation_records import BulkCopy, BulkReduction
from warplens.isa.dsl.warp_interface import Space, Update
from warplens.isa.numerics.reductions import reduced

THERE = 0xFF_FFFF  # of a shared address: its place in a block; above it the rank of the block
UNIT = 16  # bytes of a lane of a copy


@dataclass(frozen=True)
class BulkRoutines:
    """Bulk routines of one module: what the functions here emit into."""

    routines: AccessRoutines
    watch: Instrumentation

    def begin(self, name: str, arguments: Sequence[llvm.Type]) -> tuple[llvm.Function, AccessSite, list[llvm.Value]]:
        """(routine, its site without lanes, further arguments).  Begins with (env, block, warp, instruction, row)."""
        made, code = function(self.routines.module, name, llvm.VoidType(), [PTR, PTR, PTR, I32, PTR, *arguments])
        env, block, warp, index, row, *given = made.args
        scratch = code.variable(llvm.VectorType(I64, COLUMNS))
        site = AccessSite(code, self.routines.windows, env, block, warp, index, scratch, i32(0), counted=False)
        if self.watch.counts:
            code.bump(code.at(row, 8 * REQUESTS))
        self.watch.issue(code, warp, layout=i32(Layout.UNKNOWN))
        return made, site, given

    # One access of 32 lanes

    def load(
        self, site: AccessSite, space: Space, address: llvm.Value, size: int, recorded: bool = True
    ) -> list[llvm.Value]:  # fmt: skip
        """recorded: whether a warp trace has it, where it is one of global memory."""
        if recorded:
            self._record(site, space, address, size, "load")
        self._watched(site, space, address, size, "load", [])
        routine = self.routines.gather(space, size, False)
        read = site.b.call(routine, [*site.common(), address, site.mask])
        leave_on_fault(site)
        count = max(size // 4, 1)
        return [read] if count == 1 else [site.b.extract_value(read, k) for k in range(count)]

    def store(
        self, site: AccessSite, space: Space, address: llvm.Value, words: Sequence[llvm.Value], size: int,
        blocks: llvm.Value | None = None,
    ) -> None:  # fmt: skip
        """blocks: ranks in the cluster, each of which gets it at this place of its shared memory."""

        def put(address: llvm.Value) -> None:
            self._record(site, space, address, size, "store")
            self._watched(site, space, address, size, "store", words)
            site.b.call(self.routines.scatter(space, size), [*site.common(), address, site.mask, *words])
            leave_on_fault(site)

        each_block(site, address, blocks, put)

    def reduce(
        self, site: AccessSite, space: Space, address: llvm.Value, words: Sequence[llvm.Value], size: int,
        reduction: BulkReduction,
    ) -> None:  # fmt: skip
        """Not lane by lane, as no two have the same place, and blocks that depend on their order are run in order."""
        self.forget(site)
        old, e = self.load(site, space, address, size), site.e
        self.forget(site)
        width = number_bytes(reduction) // 4
        new: list[llvm.Value] = []
        for k in range(0, len(words), width):
            numbers = ([U32(e, word) for word in run[k : k + width]] for run in (old, words))
            new += [e.splat(word.node) for word in reduced(reduction, *numbers)]
        self.store(site, space, address, new, size)

    def forget(self, site: AccessSite) -> None:
        """The next access of the instruction finds its buffer anew, and notes how it uses it: the bounds that an
        instruction remembers are those of either reads or writes."""
        site.code.store(0, Bounds, site.bounds_entry(), "span")

    def _record(self, site: AccessSite, space: Space, address: llvm.Value, size: int, how: How) -> None:
        if self.watch.recorder and space == "global":
            self.watch.recorder.access(site, space, address, size, how)

    def _watched(
        self, site: AccessSite, space: Space, address: llvm.Value, size: int, how: How, words: Sequence[llvm.Value]
    ) -> None:
        if self.watch.recorder is None:
            ordering = Ordering(proxy=GroupKind.BULK_COPIES)
            self.watch.access(site, space, address, size, how, words, ordering)

    # mbarriers

    def complete(
        self, site: AccessSite, barrier: llvm.Value, bytes: llvm.Value, blocks: llvm.Value | None = None
    ) -> None:
        """So many bytes have arrived at the mbarrier, of each of the blocks if they are given."""
        self._update(site, barrier, after_bytes, bytes, blocks)
        if self.watch.recorder:
            one = replace(site, mask=i32(1))
            number = i32(1) if blocks is None else site.code.popcount(blocks)
            self.watch.recorder.mbarrier(one, site.b.and_(barrier, i32(THERE)), bytes, number)

    def arrive(self, site: AccessSite, barrier: llvm.Value, blocks: llvm.Value | None = None) -> None:
        """One arrival at the mbarrier, of each of the blocks if they are given."""
        self._update(site, barrier, after_arrival, i32(1), blocks)

    def _update(
        self, site: AccessSite, barrier: llvm.Value, becomes: Update, by: llvm.Value, blocks: llvm.Value | None
    ) -> None:
        one = replace(site, mask=i32(1))
        how = MbarrierChange.COPIED if becomes is after_bytes else MbarrierChange.ARRIVED
        low, zero = site.e.splat(by), llvm.IRConstant(V32, None)

        def change(address: llvm.Value) -> None:
            routine = update_routine(self.routines, becomes)
            site.b.call(routine, [*one.common(), address, one.mask, low, zero])
            leave_on_fault(site)
            first = site.b.extract_element(address, i32(0))
            note_mbarrier(site.code, site.block, first, site.index, how)
            if becomes is after_bytes:
                self.watch.complete_at_mbarrier(one, first)
            else:
                self.watch.arrive_at_mbarrier(one, address)

        each_block(site, site.e.splat(barrier), blocks, change)

    def add(self, site: AccessSite, row: llvm.Value, column: int, by: llvm.Value) -> None:
        if self.watch.counts:
            site.code.bump(site.code.at(row, 8 * column), by)


def number_bytes(reduction: BulkReduction) -> int:
    """Of a number, or of a pair of halves."""
    return 8 if reduction.number in ("u64", "s64", "f64") else 4


def sectors_of(site: AccessSite, start: llvm.Value, shared: llvm.Value, bytes: llvm.Value) -> llvm.Value:
    """Of requests for a line of shared memory each: two that share a sector count it twice (measured)."""
    b = site.b
    first, last = (b.lshr(place, i64(5)) for place in (start, b.sub(b.add(start, bytes), i64(1))))
    ends = b.lshr(b.sub(b.add(b.and_(shared, i64(127)), bytes), i64(1)), i64(7))
    shares = b.icmp_signed("!=", b.and_(b.sub(start, shared), i64(31)), i64(0))
    return b.add(b.add(b.sub(last, first), i64(1)), b.select(shares, ends, i64(0)))


def leave_on_fault(site: AccessSite) -> None:
    """Returns from the routine if an access has recorded a fault."""
    kind = site.code.load(Fault, site.code.field(WorkerEnv, site.env, "fault"), "kind")
    with site.code.when(site.code.nonzero(kind), likely=False):
        site.b.ret_void()


def each_block(
    site: AccessSite, address: llvm.Value, blocks: llvm.Value | None, visit: Callable[[llvm.Value], None]
) -> None:
    """Visits shared addresses: as they are, or at the same place in each of these blocks."""
    if blocks is None:
        visit(address)
        return
    b, e = site.b, LlvmEmitter(site.b)
    place = b.and_(address, e.number(address, THERE))
    site.code.each_bit(blocks, lambda rank: visit(b.or_(place, e.splat(b.shl(rank, i32(24))))))


def bulk_copy_routine(bulk: BulkRoutines, copy: BulkCopy, counts: bool, multicast: bool) -> llvm.Function:
    """(env, block, warp, instruction, row, target, source, bytes, barrier, blocks): addresses as 64 bits.

    counts   whether an mbarrier counts the bytes
    """
    reduction = copy.reduction
    what = f"_{reduction.op}_{reduction.number}" if reduction else ""
    name = f"bulk_{copy.to}_{copy.source}{what}{'_barrier' * counts}{'_multicast' * multicast}"
    if found := bulk.routines.module.globals.get(name):
        return found
    made, site, (to, source, size, barrier, blocks) = bulk.begin(name, [I64, I64, I32, I32, I32])
    b, code, row = site.b, site.code, made.args[4]
    bytes = b.zext(size, I64)
    bulk.add(site, row, BYTES, bytes)
    far, near = (source, to) if copy.source == "global" else (to, source)
    sectors = sectors_of(site, far, near, bytes)
    bulk.add(site, row, SECTORS, b.mul(sectors, b.zext(code.popcount(blocks), I64)) if multicast else sectors)
    step = LANES * UNIT

    def address(space: Space, start: llvm.Value, chunk: llvm.Value) -> llvm.Value:
        first = b.add(start, b.mul(chunk, i64(step)))
        if space == "global":
            return b.add(site.e.splat(first), iota(UNIT, I64))
        return b.add(site.e.splat(b.trunc(first, I32)), iota(UNIT, I32))

    def move(chunk: llvm.Value) -> None:
        left = b.sub(b.lshr(bytes, i64(UNIT.bit_length() - 1)), b.mul(chunk, i64(LANES)))
        ends = b.icmp_signed("<", left, i64(LANES))
        tail = b.sub(b.shl(i64(1), b.select(ends, left, i64(0))), i64(1))
        here = replace(site, mask=b.trunc(b.select(ends, tail, i64(0xFFFF_FFFF)), I32))
        words = bulk.load(here, copy.source, address(copy.source, source, chunk), UNIT)
        target = address(copy.to, to, chunk)
        if reduction:
            bulk.reduce(here, copy.to, target, words, UNIT, reduction)
        else:
            bulk.store(here, copy.to, target, words, UNIT, blocks if multicast else None)

    code.each(b.udiv(b.add(bytes, i64(step - 1)), i64(step)), move)
    if counts:
        bulk.complete(site, barrier, size, blocks if multicast else None)
    b.ret_void()
    return made


def arrival_routine(bulk: BulkRoutines, multicast: bool) -> llvm.Function:
    """(env, block, warp, instruction, row, barrier, blocks): an arrival at an mbarrier."""
    name = f"bulk_arrival{'_multicast' * multicast}"
    if found := bulk.routines.module.globals.get(name):
        return found
    made, site, (barrier, blocks) = bulk.begin(name, [I32, I32])
    bulk.arrive(site, barrier, blocks if multicast else None)
    site.b.ret_void()
    return made
