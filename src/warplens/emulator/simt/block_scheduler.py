"""Block scheduler: block barriers, the warps of a block in turn, the blocks of a grid.

Splits waiting at a block barrier are parked: off the SIMT stack until enough threads of the block have arrived.
"""

from __future__ import annotations

from ctypes import sizeof
from functools import cached_property

from warplens import llvm
from warplens.emulator.access.trap import record_fault
from warplens.emulator.codegen.structured_builder import StructuredBuilder, function, i32, i64
from warplens.emulator.codegen.vector_types import I32, I64, PTR
from warplens.emulator.instrument.instrumentation import Instrumentation
from warplens.emulator.simt.simt_stack import VOID, SimtStack
from warplens.emulator.state.structs import (
    ALL_THREADS,
    ZEROED_FROM,
    ZEROED_TO,
    BlockState,
    ClusterState,
    FaultKind,
    Reduce,
    Status,
    WarpState,
    WorkerEnv,
)

INTERLEAVED_TURNS = 1 << 15  # time slices of interleaved blocks: rounds of their loops
IDLE_TURN = 1000  # cost of a round without a barrier passed, in rounds that pass one, of the rounds a block may take
PAIR_BARRIER_PLACE = 0x48  # read off the code that the compiler makes of tcgen05.alloc.cta_group::2
PAIR_BARRIER = 0x7FFFF800_001FFFFE  # an mbarrier for one arrival (isa/barrier.py)


class BlockScheduler:
    """Block scheduler: owns `WarpState.parked` and BlockState; emits each of its functions on first use.

    barriers   block barriers that a block can use
    clustered  whether blocks run in clusters
    """

    def __init__(
        self,
        module: llvm.IRModule,
        watch: Instrumentation,
        stack: SimtStack,
        barriers: int,
        clustered: bool,
    ) -> None:
        self.module = module
        self.watch = watch
        self.stack = stack
        self.barriers = barriers
        self.clustered = clustered

    @cached_property
    def exit_lanes(self) -> llvm.Function:
        """exit_lanes(block, warp, mask): marks these lanes as exited."""
        made, code = function(self.module, "exit_lanes", VOID, [PTR, PTR, I32], inline=True)
        block, warp, mask = made.args
        b = code.b
        exited = b.or_(code.load(WarpState, warp, "exited"), mask)
        code.store(exited, WarpState, warp, "exited")
        gone = b.neg(code.popcount(mask))
        code.bump(code.field(BlockState, block, "live"), gone, I32)
        if self.clustered:
            code.bump(code.field(ClusterState, code.load(BlockState, block, "cluster"), "live"), gone, I32)
        b.ret_void()
        return made

    # Block barriers

    @cached_property
    def park(self) -> llvm.Function:
        """park(warp, barrier, mask, pc): a split waits at a block barrier."""
        made, code = function(self.module, "park", VOID, [PTR, I32, I32, I32], inline=True)
        warp, barrier, mask, pc = made.args
        n = code.load(WarpState, warp, "parked")
        code.store(pc, WarpState, warp, "parked_pc", n)
        code.store(mask, WarpState, warp, "parked_mask", n)
        code.store(barrier, WarpState, warp, "parked_at", n)
        code.store(code.b.add(n, i32(1)), WarpState, warp, "parked")
        code.b.ret_void()
        return made

    @cached_property
    def unpark(self) -> llvm.Function:
        """unpark(warp, barrier): splits waiting there become ready."""
        made, code = function(self.module, "unpark", VOID, [PTR, I32], inline=True)
        warp, barrier = made.args
        b = code.b
        waits = b.icmp_signed("==", code.load(WarpState, warp, "parked"), i32(1))
        alone = b.and_(waits, b.icmp_signed("==", self.stack.count(code, warp), i32(0)))
        here = b.icmp_signed("==", code.load(WarpState, warp, "parked_at", 0), barrier)
        with b.if_else(b.and_(alone, here), likely=True) as (whole, parts):
            with whole:  # most warps: push inline; its calls would take as long as ten instructions
                pc, mask = (code.load(WarpState, warp, f"parked_{name}", 0) for name in ("pc", "mask"))
                self.stack.push_on_empty(code, warp, pc, mask)
                code.store(0, WarpState, warp, "parked")
            with parts:
                b.call(self._unpark_parts, [warp, barrier])
        b.ret_void()
        return made

    @cached_property
    def _unpark_parts(self) -> llvm.Function:
        made, code = function(self.module, "unpark_parts", VOID, [PTR, I32])
        warp, barrier = made.args
        b = code.b
        kept = code.variable(I32, i32(0))

        def visit(i: llvm.Value) -> None:
            pc, mask, at = (code.load(WarpState, warp, n, i) for n in ("parked_pc", "parked_mask", "parked_at"))
            with b.if_else(b.icmp_signed("==", at, barrier)) as (goes, stays):
                with goes:
                    b.call(self.stack.push_and_stale, [warp, pc, mask])
                with stays:
                    k = b.load(kept, typ=I32)
                    for name, value in (("parked_pc", pc), ("parked_mask", mask), ("parked_at", at)):
                        code.store(value, WarpState, warp, name, k)
                    b.store(b.add(k, i32(1)), kept)

        code.each(code.load(WarpState, warp, "parked"), visit)
        code.store(b.load(kept, typ=I32), WarpState, warp, "parked")
        b.ret_void()
        return made

    @cached_property
    def open_barriers(self) -> llvm.Function:
        """open_barriers(env, block): releases every complete block barrier; whether there was one."""
        made, code = function(self.module, "open_barriers", I32, [PTR, PTR])
        env, block = made.args
        b = code.b
        opened = code.variable(I32, i32(0))

        def barrier(n: llvm.Value) -> None:
            arrived = code.load(BlockState, block, "arrived", n)
            need = code.load(BlockState, block, "need", n)
            everyone = b.icmp_signed("==", need, i32(ALL_THREADS))
            wanted = b.select(everyone, code.load(BlockState, block, "live"), need)
            full = b.icmp_signed(">=", arrived, wanted)
            with code.when(b.and_(full, b.icmp_signed(">", arrived, i32(0)))):
                lanes, total = code.load(BlockState, block, "lanes", n), code.load(BlockState, block, "sum", n)
                with code.when(b.icmp_signed(">", lanes, i32(0))):
                    wants_all = b.icmp_signed("==", code.load(BlockState, block, "reduction"), i32(Reduce.AND))
                    truth = b.select(wants_all, b.icmp_signed("==", total, lanes), code.nonzero(total))
                    code.store(total, BlockState, block, "result", 0)
                    code.store(b.zext(truth, I32), BlockState, block, "result", 1)
                self.watch.opened(code, env, block, n, need)
                for name in ("arrived", "lanes", "sum"):
                    code.store(0, BlockState, block, name, n)
                code.each(
                    code.load(WorkerEnv, env, "warps"),
                    lambda w: b.call(self.unpark, [self.warp(code, env, block, w), n]),
                )
                b.store(i32(1), opened)

        code.each(i32(self.barriers), barrier)
        b.ret(b.load(opened, typ=I32))
        return made

    def warp(self, code: StructuredBuilder, env: llvm.Value, block: llvm.Value, index: llvm.Value) -> llvm.Value:
        """The record of a warp of the block."""
        step = code.b.mul(code.widened(index), code.load(WorkerEnv, env, "warp_stride"))
        return code.at(code.load(BlockState, block, "warps"), step)

    # Blocks and grid

    @cached_property
    def start_block(self) -> llvm.Function:
        """start_block(env, block): every warp at the first instruction, shared memory zeroed, no warp at a barrier."""
        made, code = function(self.module, "start_block", VOID, [PTR, PTR])
        env, block = made.args
        b = code.b
        code.store(code.load(WorkerEnv, env, "threads"), BlockState, block, "live")
        code.store(1, BlockState, block, "started")
        zero_from = BlockState.arrived.offset
        code.clear(code.at(block, zero_from), i64(sizeof(BlockState) - zero_from))
        shared_bytes = code.load(WorkerEnv, env, "shared_bytes")
        with code.when(code.nonzero(shared_bytes)):
            code.clear(code.load(BlockState, block, "shared"), shared_bytes)
        with code.when(code.nonzero(code.load(WorkerEnv, env, "reserved_bytes")), likely=False):
            self._prepare_reserved(code, block)

        def start(w: llvm.Value) -> None:
            warp = self.warp(code, env, block, w)
            code.clear(code.at(warp, ZEROED_FROM), i64(ZEROED_TO - ZEROED_FROM))
            code.store(w, WarpState, warp, "index")
            masks = code.load(WorkerEnv, env, "first_mask")
            mask = b.load(b.gep(masks, [w], source_etype=I32), typ=I32)
            self.stack.start(code, warp)
            code.store(mask, WarpState, warp, "exec")
            code.store(b.not_(mask), WarpState, warp, "exited")  # no lane waits for nonexistent ones

        code.each(code.load(WorkerEnv, env, "warps"), start)
        self.watch.start_block(code, env, block)
        b.ret_void()
        return made

    def _prepare_reserved(self, code: StructuredBuilder, block: llvm.Value) -> None:
        """The driver's part of shared memory: by this barrier and its phase the blocks of a pair that allocate
        tensor memory wait for each other; the one of even rank may go first."""
        shared = code.load(BlockState, block, "shared")
        even = code.b.and_(code.b.not_(code.load(BlockState, block, "rank")), i32(1))
        code.b.store(i64(PAIR_BARRIER), code.at(shared, PAIR_BARRIER_PLACE), align=8)
        code.b.store(even, code.at(shared, PAIR_BARRIER_PLACE + 8), align=4)

    @cached_property
    def keep_longest(self) -> llvm.Function:
        """keep_longest(env, block, instructions): a warp that executed so many is done; the longest is kept, of equal
        ones that of the first block."""
        made, code = function(self.module, "keep_longest", VOID, [PTR, PTR, I64])
        env, block, instructions = made.args
        b, number = code.b, self._number(code, env, block)
        longer = b.icmp_signed(">", instructions, code.load(WorkerEnv, env, "longest_warp"))
        earlier = b.icmp_signed("<", number, code.load(WorkerEnv, env, "longest_block"))
        with code.when(b.or_(longer, earlier)):
            code.store(instructions, WorkerEnv, env, "longest_warp")
            code.store(number, WorkerEnv, env, "longest_block")
        b.ret_void()
        return made

    @cached_property
    def add_instructions(self) -> llvm.Function:
        """add_instructions(env, block, instructions): a warp that executed so many is done; adds them to those of its
        block, which one worker runs at a time."""
        made, code = function(self.module, "add_instructions", VOID, [PTR, PTR, I64])
        env, block, instructions = made.args
        b = code.b
        kept = code.load(WorkerEnv, env, "block_instructions")
        with code.when(code.nonzero(kept)):
            place = code.at(b.inttoptr(kept, PTR), b.mul(self._number(code, env, block), i64(8)))
            b.store(b.add(b.load(place, typ=I64), instructions), place)
        b.ret_void()
        return made

    def _number(self, code: StructuredBuilder, env: llvm.Value, block: llvm.Value) -> llvm.Value:
        """The block's number in the grid."""
        b = code.b
        x, y, z = (b.zext(code.load(BlockState, block, "ctaid", axis), I64) for axis in range(3))
        columns, rows = (b.zext(code.load(WorkerEnv, env, "grid", axis), I64) for axis in range(2))
        return b.add(x, b.mul(columns, b.add(y, b.mul(rows, z))))

    def run_block(self, run_warp: llvm.Function) -> llvm.Function:
        """run_block(env, block): warps in turn until the block is done, faults, or has used its rounds."""
        made, code = function(self.module, "run_block", I32, [PTR, PTR])
        made.linkage = "external"  # Python gives waiting blocks their time slices
        env, block = made.args
        b = code.b
        with code.when(b.icmp_signed("==", code.load(BlockState, block, "started"), i32(0))):
            b.call(self.start_block, [env, block])
        left = code.variable(I64, code.load(WorkerEnv, env, "turns"))
        running, moved = code.variable(I32), code.variable(I32)

        def visit(w: llvm.Value) -> None:
            warp = self.warp(code, env, block, w)
            alive = b.icmp_signed("!=", code.load(WarpState, warp, "status"), i32(Status.DONE))
            with code.when(alive):
                with code.when(code.nonzero(self.stack.count(code, warp))):
                    status = b.call(run_warp, [env, block, warp])
                    code.store(status, WarpState, warp, "status")
                    b.store(i32(1), moved)
                    with code.when(b.icmp_signed(">=", status, i32(Status.FAULT)), likely=False):
                        b.ret(status)
                done = b.icmp_signed("==", code.load(WarpState, warp, "status"), i32(Status.DONE))
                b.store(b.add(b.load(running, typ=I32), b.select(done, i32(0), i32(1))), running)

        def turn() -> None:
            asked = code.load(WorkerEnv, env, "asked")
            b.store(i32(0), running)
            b.store(i32(0), moved)
            code.each(code.load(WorkerEnv, env, "warps"), visit)
            with code.when(b.icmp_signed("==", b.load(running, typ=I32), i32(0))):
                slots = code.load(BlockState, block, "tensor_slots")
                with code.when(code.nonzero(slots), likely=False):
                    columns = b.shl(code.popcount(slots), i32(5))
                    record_fault(code, env, block, FaultKind.TENSOR_KEPT, bytes=columns)
                    b.ret(i32(Status.FAULT))
                b.ret(i32(Status.DONE))
            opened = b.call(self.open_barriers, [env, block])
            stuck = b.icmp_signed("==", b.or_(opened, b.load(moved, typ=I32)), i32(0))
            with code.when(stuck, likely=False):
                record_fault(code, env, block, FaultKind.DEADLOCK)
                b.ret(i32(Status.FAULT))
            stop = b.load_atomic(code.load(WorkerEnv, env, "stop"), "monotonic", 4, typ=I32)  # Python writes it
            with code.when(code.nonzero(stop), likely=False):
                b.ret(i32(Status.STOPPED))
            # A block that passes a barrier makes progress; one whose warps only use up time slices may be waiting.
            cost = b.select(code.nonzero(opened), i64(1), i64(IDLE_TURN))
            # If a warp has polled other blocks, those run now.
            alone = b.icmp_signed("==", code.load(WorkerEnv, env, "asked"), asked)
            b.store(b.select(alone, b.sub(b.load(left, typ=I64), cost), i64(0)), left)

        code.loop(lambda: b.icmp_signed(">", b.load(left, typ=I64), i64(0)), turn)
        b.ret(i32(Status.READY))
        return made

    def run_blocks(self, one_block: llvm.Function) -> llvm.Function:
        """run_blocks(env, block, first, count): blocks first, first + 1 ... of the grid, x fastest, one after the
        other.  Returns 256 * blocks finished + the status of the last."""
        made, code = function(self.module, "run_blocks", I64, [PTR, PTR, I64, I64])
        made.linkage = "external"
        env, block, number_of_first, count = made.args
        b = code.b
        self._put(code, env, block, number_of_first)

        def visit(i: llvm.Value) -> None:
            code.store(0, BlockState, block, "started")
            status = b.call(one_block, [env, block])
            with code.when(b.icmp_signed("!=", status, i32(Status.DONE)), likely=False):
                b.ret(b.or_(b.shl(i, i64(8)), b.zext(status, I64)))
            code.bump(code.field(WorkerEnv, env, "done"))
            stop = b.load_atomic(code.load(WorkerEnv, env, "stop"), "monotonic", 4, typ=I32)  # Python writes it
            with code.when(code.nonzero(stop), likely=False):
                b.ret(b.or_(b.shl(b.add(i, i64(1)), i64(8)), i64(Status.STOPPED)))
            self._next_block(code, env, block)

        code.each(count, visit)
        b.ret(b.or_(b.shl(count, i64(8)), i64(Status.DONE)))
        return made

    def run_interleaved(self, one_block: llvm.Function) -> llvm.Function:
        """run_interleaved(env, blocks, several, first, count): as run_blocks, but `several` blocks at a time, whose
        records `blocks` points to, in turn.

        Returns 256 * blocks begun + the status of the last; READY if blocks do not finish: the rest may be waiting
        for others.
        """
        made, code = function(self.module, "run_interleaved", I64, [PTR, PTR, I64, I64, I64])
        made.linkage = "external"
        env, blocks, several, first, count = made.args
        b = code.b
        begun, running, turns = (code.variable(I64) for _ in range(3))
        b.store(i64(0), begun)

        def result(status: llvm.Value) -> llvm.Value:
            return b.or_(b.shl(b.load(begun, typ=I64), i64(8)), b.zext(status, I64))

        def begin(i: llvm.Value) -> None:
            block = b.load(b.gep(blocks, [i], source_etype=PTR), typ=PTR)
            self._put(code, env, block, b.add(first, b.load(begun, typ=I64)))
            code.store(0, BlockState, block, "started")
            code.store(int(Status.READY), BlockState, block, "status")
            code.bump(begun)

        def visit(i: llvm.Value) -> None:
            block = b.load(b.gep(blocks, [i], source_etype=PTR), typ=PTR)
            with code.when(b.icmp_signed("==", code.load(BlockState, block, "status"), i32(Status.READY))):
                status = b.call(one_block, [env, block])
                code.store(status, BlockState, block, "status")
                with code.when(b.icmp_signed(">", status, i32(Status.DONE)), likely=False):
                    b.ret(result(status))
                with code.when(b.icmp_signed("==", status, i32(Status.DONE))):
                    code.bump(code.field(WorkerEnv, env, "done"))
                    code.bump(running, -1)

        def group() -> None:
            left = b.sub(count, b.load(begun, typ=I64))
            size = b.select(b.icmp_signed("<", left, several), left, several)
            code.each(size, begin)
            b.store(size, running)
            b.store(i64(INTERLEAVED_TURNS), turns)

            def turn() -> None:
                code.each(size, visit)
                code.bump(turns, -1)
                with code.when(b.icmp_signed("==", b.load(turns, typ=I64), i64(0)), likely=False):
                    b.ret(result(i32(Status.READY)))

            code.loop(lambda: code.nonzero(b.load(running, typ=I64)), turn)

        code.loop(lambda: b.icmp_signed("<", b.load(begun, typ=I64), count), group)
        b.ret(result(i32(Status.DONE)))
        return made

    def _put(self, code: StructuredBuilder, env: llvm.Value, block: llvm.Value, number: llvm.Value) -> None:
        """Sets ctaid for the block with this number."""
        b = code.b
        width, height = (b.zext(code.load(WorkerEnv, env, "grid", axis), I64) for axis in range(2))
        row = b.udiv(number, width)
        for axis, value in enumerate((b.urem(number, width), b.urem(row, height), b.udiv(row, height))):
            code.store(b.trunc(value, I32), BlockState, block, "ctaid", axis)

    def _next_block(self, code: StructuredBuilder, env: llvm.Value, block: llvm.Value) -> None:
        """Advances ctaid to the next block by addition: divisions would take as long as a short warp."""

        def step(axis: int) -> None:
            code.bump(code.field(BlockState, block, "ctaid", axis), 1, I32)
            if axis == 2:
                return
            end = code.b.icmp_signed(
                "==", code.load(BlockState, block, "ctaid", axis), code.load(WorkerEnv, env, "grid", axis)
            )
            with code.when(end, likely=False):
                code.store(0, BlockState, block, "ctaid", axis)
                step(axis + 1)

        step(0)
