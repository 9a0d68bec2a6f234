"""One thread's share of a launch: its counters, its view of memory, its resident blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from ctypes import addressof, byref, c_void_p, cast, sizeof

import numpy as np

from warplens.emulator.execute.cluster_memory import ClusterMemory
from warplens.emulator.execute.launch_state import LaunchState
from warplens.emulator.execute.syscalls import Hook, SystemCalls
from warplens.emulator.execute.worker_state import ROOMS, BlockContext, InterleavedWarps
from warplens.emulator.jit.native_code import NativeCode
from warplens.emulator.memory.buffer_pool import address
from warplens.emulator.memory.device_memory import DeviceMemory
from warplens.emulator.simt.block_scheduler import IDLE_TURN
from warplens.emulator.state.structs import WARPSYNC, BlockState, Bounds, FaultKind, Status, Touch, WarpState, WorkerEnv

SLICE = 1 << 16  # instructions in a warp's turn: long against saving registers, short against a user's patience
SHORT_SLICE = 1 << 13  # likewise where it may only find that it still has to wait
TURNS = 4000  # of a block before others are given theirs: so many barriers, or a thousandth of idle turns
BESIDE = 64 << 20  # bytes that blocks which have only begun may take
RESIDENT = 2048  # blocks kept waiting at a time, unless the launch is cooperative


Listens = Callable[[WorkerEnv, int], None]  # is told the number of a block that is about to run


class Worker:
    def __init__(self, shape: LaunchState, memory: DeviceMemory, heap: tuple[int, int] | None = None) -> None:
        self.shape, self.memory = shape, memory
        self.room = ROOMS.take(shape.measure)
        self.room.furnish(memory, shape.parameters)
        self.room.taking.take, self.room.taking.failed = self._take, self._end
        self.counters, self.buffers, self.env = self.room.counters, self.room.buffers, self.room.env
        self.findings, self.context = self.room.findings, self.room.context
        self.driver = SystemCalls(shape, memory, self.buffers, heap)
        self.hook = Hook(self.driver.called) if shape.calls else None
        self.clusters = ClusterMemory(shape.measure) if shape.measure.cluster != (1, 1, 1) else None
        self.waiting: list[BlockContext] = []
        self.spare: list[BlockContext] = []
        self.abreast: InterleavedWarps | None = None
        self.listens: Listens | None = None
        self.added = 0  # blocks that wait since the last turn of all
        self.env.driver = cast(self.hook, c_void_p).value if self.hook else 0
        self.env.stop = addressof(shape.stop)
        self.env.side_by_side = int(shape.launch.cooperative or shape.launch.blocks <= RESIDENT)

    def leave(self) -> None:
        """What it worked with is for others: nothing runs any more, and nobody wants to know what it counted."""
        ROOMS.give(self.room)

    def _take(self, number: int) -> None:
        """A buffer is about to be written."""
        self.memory.take(number)
        self.look_again(number)

    def _end(self, number: int) -> None:
        """Soon, since a buffer could not be taken."""
        self.shape.stop.value = 1

    def look_again(self, number: int) -> None:
        """A buffer may be elsewhere now than where instructions have found it."""
        entry = self.buffers[number]
        self.memory.describe(number, entry)
        bounds = np.frombuffer(memoryview(self.room.bounds).cast("B"), np.uint64).reshape(-1, sizeof(Bounds) // 8)
        bounds[bounds[:, 0] == entry.low, 1] = 0

    def touched(self) -> list[int]:
        return [entry.touched for entry in self.buffers]

    def _number(self, block: BlockState) -> int:
        x, y, z = block.ctaid
        columns, rows, _ = self.shape.launch.grid
        return int(x + columns * (y + rows * z))

    @property
    def _beside(self) -> int:
        """How many blocks begin before one goes on, if all of the grid may be on a GPU at once."""
        return BESIDE // max(self.context.size, 1) if self.env.side_by_side else 0

    def hung(self) -> tuple[BlockState, list[WarpState]]:
        """The block in which a fault was recorded, and its warps."""
        place = list(self.env.fault.ctaid)
        for context in (self.context, *self.waiting):
            if list(context.block.ctaid) == place:
                break
        step, count = self.shape.measure.stride, self.shape.launch.warps_per_block
        return context.block, [WarpState.from_buffer(context.warps[step * n :].data) for n in range(count)]

    def waits_at_meeting(self) -> bool:
        """Whether the fault is that a block hangs, and lanes of it wait at a BSYNC."""
        if self.env.fault.kind != FaultKind.DEADLOCK:
            return False
        return any(lanes for warp in self.hung()[1] for lanes in warp.barriers.waiting[:WARPSYNC])

    def go_abreast(self) -> None:
        """From now on."""
        self.abreast = self.room.several()

    def run(self, code: NativeCode, chunks: Iterator[tuple[int, int]], finish: bool) -> Status:
        """Every block of the chunks (first, count).

        Blocks that wait for others, or take long, stay resident and take turns; unless told to finish them, the
        worker leaves them to its next run.
        """
        self._use(code)
        for first, count in chunks:
            status = self._start(code, first, count)
            if status is not Status.DONE:
                return status
        return self._finish() if finish else Status.DONE

    def _use(self, code: NativeCode) -> None:
        if code.places is not None:
            self.env.steps, self.env.step_count = address(code.places), len(code.places)

    def _start(self, code: NativeCode, first: int, count: int) -> Status:
        """Blocks first to first + count - 1, each until it is done or has to wait."""
        begun = 0
        if self.abreast is not None:
            begun, status = self._start_abreast(code, self.abreast, first, count)
            if status is not Status.READY:
                return status
        while begun < count:
            # Where blocks wait already, a further one is likely to wait too.
            self.env.slice, self.env.turns = (SLICE // 8, IDLE_TURN) if self.waiting else (SLICE, TURNS)
            block, number, several = byref(self.context.block), first + begun, count - begun
            if self.listens:
                self.listens(self.env, number)
            if self.clusters is not None:
                number, several = self.clusters.enter(self.context, number), 1
            result = code.run_blocks(byref(self.env), block, number, several)
            status = Status(result & 0xFF)
            if status is Status.DONE and begun + several < count:
                begun += several
                continue
            if status is not Status.READY:
                return status
            begun += (result >> 8) + 1
            self.context.code = code
            self.waiting.append(self.context)
            self.context = self.spare.pop() if self.spare else BlockContext(self.shape.measure)
            self.added += 1
            if len(self.waiting) < self._beside:  # all begin before one goes on, as on a GPU
                continue
            if 2 * self.added <= len(self.waiting):  # so that all turns together stay linear in the blocks
                continue
            self.added = 0
            status = self._take_turns(SHORT_SLICE)
            self._use(code)
            resident = self.shape.launch.blocks if self.shape.launch.cooperative else RESIDENT
            if status is Status.DONE and len(self.waiting) >= resident:
                status = self._finish(resident - 1)
                self._use(code)
            if status is not Status.DONE:
                return status
        return Status.DONE

    def _start_abreast(self, code: NativeCode, abreast: InterleavedWarps, first: int, count: int) -> tuple[int, Status]:
        """How many have begun, several at a time.  READY: those that do not come to an end wait with the others."""
        self.env.slice, self.env.turns = 0, 1  # to the end of a round
        blocks, several = address(abreast.blocks), len(abreast.contexts)
        result = code.run_abreast(byref(self.env), blocks, several, first, count)
        status = Status(result & 0xFF)
        if status is Status.READY:
            left = [context for context in abreast.contexts if context.block.status != Status.DONE]
            for context in left:
                context.code = code
            self.waiting += left
            self.abreast = None
        return result >> 8, status

    def _finish(self, down_to: int = 0) -> Status:
        """Turns until no more than so many blocks wait: short ones while that helps, longer ones while it does not."""
        length = SHORT_SLICE
        while len(self.waiting) > down_to:
            before = len(self.waiting)
            status = self._take_turns(length)
            if status is not Status.DONE:
                return status
            length = SHORT_SLICE if len(self.waiting) < before else min(2 * length, SLICE)
        return Status.DONE

    def _take_turns(self, length: int) -> Status:
        """One turn of so many instructions a warp for each block that waits, the latest first: the earlier ones were
        begun before it, so what they wait for can only come from later ones."""
        self.env.slice, self.env.turns = length, IDLE_TURN
        env, left = byref(self.env), []
        for context in reversed(self.waiting):
            if self.listens:
                self.listens(self.env, self._number(context.block))
            self._use(context.code)
            status = context.code.run_block(env, byref(context.block))
            if status == Status.DONE:
                self.spare.append(context)
                self.env.done += 1
            elif status == Status.READY:
                left.append(context)
            else:
                return Status(status)
        self.waiting = left[::-1]
        return Status.DONE


def in_any_order(touched: list[int]) -> bool:
    """Whether blocks may run in any order, or at once: no buffer is both read and written, and atomics commute."""
    atomics = (Touch.ADD, Touch.MIN, Touch.MAX, Touch.AND, Touch.OR, Touch.XOR)
    return all(bits in (0, Touch.READ, Touch.WRITE, *atomics) for bits in touched)
