"""Control flow: lowers branches, calls, returns, exits, yields, block and cluster barriers."""

from __future__ import annotations

from typing import Literal

from warplens import llvm
from warplens.core.program import Label
from warplens.emulator.access.site import V32
from warplens.emulator.codegen.structured_builder import i32
from warplens.emulator.codegen.vector_types import I1, I32, I64, LANES, is_vector, vector
from warplens.emulator.instrument.instrumentation import BarrierArrival
from warplens.emulator.instrument.race_state import GroupKind
from warplens.emulator.lowering.instruction_context import InstructionPart
from warplens.emulator.state.counter_layout import DIVERGENT, ON, PARTED, REPLAYED
from warplens.emulator.state.structs import ALL_THREADS, BlockState, ClusterState, FaultKind, Reduce, WarpState
from warplens.isa.dsl.lanes import U32, Pred

TRY = 8192  # instructions that a wait at an mbarrier costs the warp's budget: one that never completes ends in seconds
CLUSTER = 16  # the cluster's barrier, after the 16 of BAR


class ControlFlow(InstructionPart):
    """Control flow of the active lanes."""

    def branch(self, target: Label, when: Pred | None = None, uniform: bool = False) -> None:
        b = self.b
        there, after = target.offset // 16, self.c.next_index()
        condition = self.condition
        if when is not None:
            condition = when.node if condition is None else (Pred(self.e, condition) & when).node
        if condition is None:
            self.f.go_on(there, self.at.index)
            return
        if is_vector(condition):
            taken = b.bitcast(b.and_(self.c.lanes, condition), I32)
        else:
            taken = b.select(condition, self.c.mask, i32(0))
        if when is not None:
            self.c.count(ON, b.zext(self.code.popcount(taken), I64))  # the lanes that branch, as an H200 counts
        if uniform:
            self._either(b.icmp_signed("==", taken, self.c.mask), target)
        elif is_vector(condition):
            self._diverge(taken, there, after)
        else:
            self._either(condition, target)

    def _diverge(self, taken: llvm.Value, there: int, after: int) -> None:
        """Lanes of `taken` branch, the others fall through.  The smaller split runs first, the fall-through one if
        they are equal: as on an H200 (measurements/README.md, "Which lanes run first")."""
        b, code, here = self.b, self.code, self.at.index
        some, all_, mixed, none = (b.append_basic_block(n) for n in ("some", "all", "mixed", "none"))
        b.cbranch(b.icmp_signed("==", taken, i32(0)), none, some)
        b.position_at_end(some)
        b.cbranch(b.icmp_signed("==", taken, self.c.mask), all_, mixed).set_weights([10, 1])
        b.position_at_end(all_)
        self.f.go_on(there, here)
        b.position_at_end(none)
        self.f.go_on(after, here)
        b.position_at_end(mixed)
        self.c.count(DIVERGENT)
        self.c.count(PARTED)
        rest = b.and_(self.c.mask, b.not_(taken))
        fewer = b.icmp_signed("<", code.popcount(taken), code.popcount(rest))
        if self.f.leaves_at(there, after):
            return self._leave_diverged(fewer, taken, rest, there, after)
        go, stay = (b.append_basic_block(n) for n in ("go", "stay"))
        b.cbranch(fewer, go, stay)
        with self.f.diverging():
            b.position_at_end(go)
            self._push_other_half(after, rest, taken)
            self.f.go_on(there, here)
            b.position_at_end(stay)
            self._push_other_half(there, taken, rest)
            if there <= here:
                self.f.spend_back(there, here)
            self.f.go_on(after, here)

    def _leave_diverged(
        self, fewer: llvm.Value, taken: llvm.Value, rest: llvm.Value, there: int, after: int
    ) -> None:  # fmt: skip
        """The same where the code for diverged warps is another function: `fewer` lanes branch, and run first there."""
        b, here = self.b, self.at.index
        places = [self.f.number(index) for index in (there, after)]
        waiting = b.select(fewer, rest, taken)
        b.call(self.runtime.stack.push_and_stale, [self.f.warp, b.select(fewer, *reversed(places)), waiting])
        b.store(b.select(fewer, taken, rest), self.f.exec)
        b.store(b.select(fewer, *places), self.f.resume_at)
        b.store(b.select(fewer, i32(int(there > here)), i32(1)), self.f.straight)
        if there <= here:
            self.f.spend_back(there, here)
        self.f.leave_at(there, after)

    def _push_other_half(self, place: int, lanes: llvm.Value, running: llvm.Value) -> None:
        """Pushes these lanes to resume at a program point; the others are now the running split."""
        self.b.call(self.runtime.stack.push_and_stale, [self.f.warp, self.f.later(place, lanes), lanes])
        self.b.store(running, self.f.exec)

    def branch_any(self, target: Label, wanted: Pred | None = None) -> None:
        lanes, also = self.c.active_mask, None if wanted is None else wanted.node
        if also is not None and is_vector(also):
            lanes = self.b.and_(lanes, self.b.bitcast(also, I32))
        taken = self.b.icmp_signed("!=", lanes, i32(0))
        if also is not None and not is_vector(also):
            taken = self.b.and_(taken, also)
        self._either(taken, target)

    def _either(self, taken: llvm.Value, target: Label) -> None:
        yes, no = (self.b.append_basic_block(n) for n in ("yes", "no"))
        self.b.cbranch(taken, yes, no)
        self.b.position_at_end(yes)
        self.f.go_on(target.offset // 16, self.at.index)
        self.b.position_at_end(no)
        self.f.go_on(self.c.next_index(), self.at.index)

    def branch_unless_mask(self, mask: U32, target: Label, equal: bool) -> None:
        """Nonexistent or exited lanes count as present: seen on an H200, where a warp of 8 threads passes BRA.DIV with
        a mask of all lanes.  Lanes outside the mask do not matter.  A lane whose guard is false follows the others,
        but does not count as present."""
        wanted = self.b.and_(self.c.first(mask).node, self.b.not_(self.c.exited()))
        missing = self.b.and_(wanted, self.b.not_(self.c.active_mask))
        self._either(self.b.icmp_signed("==" if equal else "!=", missing, i32(0)), target)

    def jump(self, low: U32, high: U32, base: int = 0) -> None:
        b = self.b
        places = b.lshr(self.e.splat((low + base).node), self.e.splat(i32(4)))
        self.f.all_later()
        slot = self.code.variable(V32, places)
        rest = b.and_(self.c.mask, b.not_(self.c.active_mask))
        if self.condition is not None:
            with self.code.when(self.code.nonzero(rest)):
                b.call(self.runtime.stack.push_and_stale, [self.f.warp, self.f.later(self.c.next_index(), rest), rest])
        self._spend_backwards(places)
        self.c.count_targets(places)
        replayed = b.call(self.runtime.stack.push_targets, [self.f.warp, self.c.active_mask, slot])
        self.c.count(REPLAYED, replayed)
        b.branch(self.f.dispatch)

    def _spend_backwards(self, places: llvm.Value) -> None:
        """Spends fuel as branches do, so that time advances: the distance back to an earlier program point."""
        b = self.b
        back = b.sub(self.f.number(self.at.index), b.extract_element(places, self.c.first_lane()))
        spent = b.select(b.icmp_signed(">", back, i32(0)), back, i32(0))
        b.store(b.sub(b.load(self.f.fuel, typ=I64), b.zext(spent, I64)), self.f.fuel)

    def call(self, target: Label) -> None:
        """Lanes of a whole warp that call continue as diverged ones, and so do the others."""
        if not self.f.place.whole or self.f.diverged:
            self.f.all_later()
            self.branch(target)
            return
        if self.condition is not None:
            some, none = (self.b.append_basic_block(n) for n in ("some", "none"))
            self.b.cbranch(self.code.nonzero(self.c.active_mask), some, none).set_weights([1, 100])
            self.b.position_at_end(none)
            self.f.go_on(self.c.next_index(), self.at.index)
            self.b.position_at_end(some)
        with self.f.diverging():
            self.branch(target)

    def exit(self, when: Pred | None = None) -> None:
        b = self.b
        lanes = self.c.active_mask
        if when is not None:
            lanes = b.and_(lanes, b.bitcast(self.e.splat(when.node), I32))
            self.c.count(ON, b.zext(self.code.popcount(lanes), I64))
        b.call(self.runtime.blocks.exit_lanes, [self.f.block, self.f.warp, lanes])
        whole = self.f.place.whole
        if self.f.t.uses_convergence_barriers and not whole:
            with self.code.when(self.code.nonzero(lanes)):
                b.call(self.runtime.splits.recheck, [self.f.env, self.f.warp])
        gone = self.f.done if whole else self.f.dispatch
        if self.condition is None and when is None:
            b.branch(gone)
            return
        left = b.and_(self.c.mask, b.not_(lanes))
        b.store(left, self.f.exec)
        on = b.append_basic_block("on")
        b.cbranch(self.code.nonzero(left), on, gone)
        b.position_at_end(on)
        self.f.go_on(self.c.next_index(), self.at.index)

    def trap(self) -> None:
        self.f.record_fault(FaultKind.TRAP, self.f.number(self.at.index))
        self.b.branch(self.f.fault)

    def yields(self) -> None:
        """Yields to other splits; lanes that wait for a spinning split are released (simt/split_scheduler.py)."""
        b, f = self.b, self.f
        if not f.place.whole or f.diverged:
            with self.code.when(b.call(self.runtime.splits.has_others, [f.warp])):
                away = [f.env, f.warp, f.later(self.c.next_index(), self.c.mask), self.c.mask]
                with self.code.when(b.call(self.runtime.splits.yield_lanes, away)):
                    b.branch(f.dispatch)
        f.go_on(self.c.next_index(), self.at.index)

    def waits_until(self, p: Pred, cost: int = TRY) -> None:
        b, code, f = self.b, self.code, self.f
        over = b.and_(self.c.active_mask, b.bitcast(self.e.splat(p.node), I32))
        waits = b.and_(b.icmp_signed("==", over, i32(0)), code.nonzero(self.c.active_mask))
        with code.when(waits, likely=False):
            code.store(b.or_(code.load(WarpState, f.warp, "reissued"), self.c.mask), WarpState, f.warp, "reissued")
            f.end_turn(cost)
            b.store(f.later(self.at.index, self.c.mask), f.resume_at)
            b.branch(f.suspend)

    def cluster_arrive(self) -> None:
        """Arrives at the cluster's barrier; in a cluster of one block, cluster_wait does all."""
        if not self.runtime.clustered:
            return
        code = self.code
        cluster = code.load(BlockState, self.f.block, "cluster")
        code.store(code.load(ClusterState, cluster, "phase"), WarpState, self.f.warp, "cluster_phase")
        code.bump(code.field(ClusterState, cluster, "arrived"), code.popcount(self.c.active_mask), I32)
        self._open_cluster(cluster)

    def _open_cluster(self, cluster: llvm.Value) -> None:
        """Advances the barrier's phase if all live threads have arrived."""
        b, code = self.b, self.code
        arrived, live = (code.load(ClusterState, cluster, name) for name in ("arrived", "live"))
        with code.when(b.and_(b.icmp_signed(">=", arrived, live), code.nonzero(arrived))):
            code.store(0, ClusterState, cluster, "arrived")
            code.bump(code.field(ClusterState, cluster, "phase"), 1, I32)

    def cluster_wait(self) -> None:
        if not self.runtime.clustered:
            self.block_barrier(CLUSTER, None)
            return
        cluster = self.code.load(BlockState, self.f.block, "cluster")
        self._open_cluster(cluster)  # the missing ones may have exited
        now, then = (
            self.code.load(ClusterState, cluster, "phase"),
            self.code.load(WarpState, self.f.warp, "cluster_phase"),
        )
        over = self.e.splat(self.b.icmp_signed("!=", now, then))
        self.waits_until(Pred(self.e, over))
        self.f.go_on(self.c.next_index(), self.at.index)

    def block_barrier(
        self, index: U32 | int, threads: U32 | int | None, *, waits: bool = True,
        reduces: Literal["popc", "and", "or"] | None = None, p: Pred | None = None,
    ) -> None:  # fmt: skip
        b, code = self.b, self.code
        coming = self._coming()
        number = self._uniform(index)
        lanes = code.popcount(self.c.mask)
        need = i32(ALL_THREADS) if threads is None else self._uniform(threads)
        if isinstance(threads, U32):
            need = b.select(b.icmp_signed("==", need, i32(0)), i32(ALL_THREADS), need)
        recorder = self.f.t.watch.recorder
        if recorder and (isinstance(index, U32) or isinstance(threads, U32) or self.condition is not None):
            given = number, i32(0) if threads is None else self._uniform(threads)
            recorder.barrier(code, self.f.env, self.f.number(self.at.index), given, coming)
        living = b.and_(self.f.first_mask(), b.not_(self.c.exited()))
        arrival = BarrierArrival(number, coming, living, self.f.number(self.at.index))
        self.f.t.watch.arrive(code, self.f.env, self.f.block, self.f.warp, arrival)
        if threads is not None:
            # A barrier with a count counts whole warps: exited lanes of a warp that arrives whole count too.
            lanes = b.select(b.icmp_signed("==", self.c.mask, living), i32(LANES), lanes)
        code.bump(code.field(BlockState, self.f.block, "arrived", number), lanes, I32)
        code.store(need, BlockState, self.f.block, "need", number)
        if reduces is not None and p is not None:
            true = b.bitcast(b.and_(b.bitcast(coming, vector(I1)), self.e.splat(p.node)), I32)
            code.bump(code.field(BlockState, self.f.block, "sum", number), code.popcount(true), I32)
            code.bump(code.field(BlockState, self.f.block, "lanes", number), code.popcount(coming), I32)
            code.store(int(Reduce[reduces.upper()]), BlockState, self.f.block, "reduction")
        if not waits:
            self.f.go_on(self.c.next_index(), self.at.index)
            return
        after = self.f.later(self.c.next_index(), self.c.mask)
        b.call(self.runtime.blocks.park, [self.f.warp, number, self.c.mask, after])
        if self.f.place.whole and not self.f.diverged:
            self.f.wait_at(self.c.next_index())
        else:
            b.branch(self.f.dispatch)

    def _coming(self) -> llvm.Value:
        """Lanes whose guard is true.  If there is one, the whole split waits with it: of the candidate rules the one
        that fits an H200 (measurements/README.md)."""
        if self.condition is None:
            return self.c.mask
        coming = self.c.active_mask
        self.c.skip_unless(self.code.nonzero(coming))
        return coming

    def _uniform(self, value: U32 | int) -> llvm.Value:
        return i32(value) if isinstance(value, int) else self.c.first(value).node

    def barrier_result(self) -> tuple[U32, Pred]:
        count = self.code.load(BlockState, self.f.block, "result", 0)
        truth = self.code.load(BlockState, self.f.block, "result", 1)
        return self.c.u32(count), Pred(self.e, self.b.trunc(truth, I1))

    def fence(self) -> None:
        """No-op: one thread runs a block, so its memory is in order; order between blocks is not relied upon."""
        watch = self.f.t.watch
        if self.at.base in ("MEMBAR", "FENCE"):
            watch.fence(self.code, self.f.env, self.f.block, self.f.warp)
        if "ASYNC" in self.at.modifiers and not {"G", "T"} & {*self.at.modifiers}:  # not of shared memory
            watch.fence_proxy(self.code, self.f.env, self.f.warp)

    def commit_copies(self) -> None:
        """Commits a copy group: copies complete at once, only the race detector needs the groups."""
        kind = GroupKind.BULK_COPIES if self.at.base == "UTMACMDFLUSH" else GroupKind.COPIES
        self.f.t.watch.commit(self.code, self.f.warp, kind)

    def wait_for_copies(self, groups: int) -> None:
        """Waits for copies of both kinds: DEPBAR does not tell them apart."""
        watch = self.f.t.watch
        watch.wait_for(self.code, self.f.warp, GroupKind.COPIES, groups)
        if self.at.base == "DEPBAR":
            watch.wait_for(self.code, self.f.warp, GroupKind.BULK_COPIES, groups)
