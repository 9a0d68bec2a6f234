"""Worker: one thread's share of a launch, with its counters, its view of memory and its resident blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from ctypes import addressof, byref, c_void_p, cast, sizeof

import numpy as np
from numpy.typing import NDArray

from warplens.emulator.execute.cluster_memory import ClusterMemory
from warplens.emulator.execute.launch_state import LaunchState
from warplens.emulator.execute.syscalls import Hook, SystemCalls
from warplens.emulator.execute.worker_state import WORKER_STATES, BlockContext, InterleavedWarps
from warplens.emulator.jit.native_code import NativeCode
from warplens.emulator.memory.buffer_pool import address
from warplens.emulator.memory.device_memory import DeviceMemory
from warplens.emulator.simt.block_scheduler import IDLE_TURN
from warplens.emulator.state.structs import WARPSYNC, BlockState, Bounds, FaultKind, Status, Touch, WarpState, WorkerEnv

SLICE = 1 << 16  # instructions in a warp's time slice: long against saving registers, short against a user's patience
SHORT_SLICE = 1 << 13  # likewise for a warp that may only find that it still has to wait
BLOCK_TURNS = 4000  # rounds of a block before others run: so many barriers, or a thousandth of that in idle rounds
STARTED_BYTES = 64 << 20  # memory of blocks that have only begun
MAX_WAITING = 2048  # blocks of a worker, unless the launch is cooperative


BlockListener = Callable[[WorkerEnv, int], None]  # called with the number of a block that is about to run


class Worker:
    def __init__(self, launch_state: LaunchState, memory: DeviceMemory, heap: tuple[int, int] | None = None) -> None:
        self.launch_state, self.memory = launch_state, memory
        self.state = WORKER_STATES.take(launch_state.configuration)
        self.state.bind_launch(memory, launch_state.parameters)
        self.state.first_write.take, self.state.first_write.failed = self._take_buffer, self._stop
        self.counters, self.buffers, self.env = self.state.counters, self.state.buffers, self.state.env
        self.findings, self.context = self.state.findings, self.state.context
        self.driver = SystemCalls(launch_state, memory, self.buffers, heap)
        self.hook = Hook(self.driver.called) if launch_state.calls else None
        self.clusters = (
            ClusterMemory(launch_state.configuration) if launch_state.configuration.cluster != (1, 1, 1) else None
        )
        self.waiting: list[BlockContext] = []
        self.spare: list[BlockContext] = []
        self.interleaved: InterleavedWarps | None = None
        self.listener: BlockListener | None = None
        self.added = 0  # waiting blocks added since all last had a time slice
        self.env.driver = cast(self.hook, c_void_p).value if self.hook else 0
        self.env.stop = addressof(launch_state.stop)
        self.env.side_by_side = int(launch_state.launch.cooperative or launch_state.launch.blocks <= MAX_WAITING)

    def release(self) -> None:
        """Returns its state to the pool, once no code runs in it and its counters have been read."""
        WORKER_STATES.give(self.state)

    def _take_buffer(self, number: int) -> None:
        """A buffer is about to be written."""
        self.memory.take(number)
        self.update_buffer(number)

    def _stop(self, number: int) -> None:
        """Ends the run soon, since a buffer could not be taken."""
        self.launch_state.stop.value = 1

    def update_buffer(self, number: int) -> None:
        """A buffer may have moved: updates its BufferRange, clears the bounds that instructions cached of it."""
        entry = self.buffers[number]
        self.memory.describe(number, entry)
        bounds = np.frombuffer(memoryview(self.state.bounds).cast("B"), np.uint64).reshape(-1, sizeof(Bounds) // 8)
        bounds[bounds[:, 0] == entry.low, 1] = 0

    def touched(self) -> NDArray[np.uint64]:
        """The use of each buffer (Touch bits)."""
        return self.state.touched

    def _number(self, block: BlockState) -> int:
        x, y, z = block.ctaid
        columns, rows, _ = self.launch_state.launch.grid
        return int(x + columns * (y + rows * z))

    @property
    def _max_started(self) -> int:
        """How many blocks start before a waiting one continues, if the whole grid may be resident on a GPU."""
        return STARTED_BYTES // max(self.context.size, 1) if self.env.side_by_side else 0

    def hung(self) -> tuple[BlockState, list[WarpState]]:
        """The block in which a fault was recorded, and its warps."""
        place = list(self.env.fault.ctaid)
        for context in (*self.waiting, self.context):  # one that has not begun has a place of its own, too
            if list(context.block.ctaid) == place:
                break
        step, count = self.launch_state.configuration.stride, self.launch_state.launch.warps_per_block
        return context.block, [WarpState.from_buffer(context.warps[step * n :].data) for n in range(count)]

    def waits_at_convergence_barrier(self) -> bool:
        """Whether the fault is that a block hangs, and lanes of it wait at a BSYNC."""
        if self.env.fault.kind != FaultKind.DEADLOCK:
            return False
        return any(lanes for warp in self.hung()[1] for lanes in warp.barriers.waiting[:WARPSYNC])

    def interleave_warps(self) -> None:
        """From now on several blocks run at a time, their warps in turn, a time slice each."""
        self.interleaved = self.state.interleaved_warps()

    def run(self, code: NativeCode, chunks: Iterator[tuple[int, int]], finish: bool) -> Status:
        """Every block of the chunks (first, count).

        Blocks that wait for others, or take long, stay resident and get time slices; without `finish` only in the
        next run.
        """
        self._bind_code(code)
        for first, count in chunks:
            status = self._start(code, first, count)
            if status is not Status.DONE:
                return status
        return self._finish() if finish else Status.DONE

    def _bind_code(self, code: NativeCode) -> None:
        if code.places is not None:
            self.env.threaded_ops, self.env.threaded_op_count = address(code.places), len(code.places)

    def _start(self, code: NativeCode, first: int, count: int) -> Status:
        """Runs blocks first to first + count - 1, each until it is done or has to wait."""
        begun = 0
        if self.interleaved is not None:
            begun, status = self._start_interleaved(code, self.interleaved, first, count)
            if status is not Status.READY:
                return status
        while begun < count:
            # If blocks wait already, the next one is likely to wait too.
            self.env.slice, self.env.turns = (SLICE // 8, IDLE_TURN) if self.waiting else (SLICE, BLOCK_TURNS)
            block, number, several = byref(self.context.block), first + begun, count - begun
            if self.clusters is not None:
                number, several = self.clusters.enter(self.context, number), 1
            if self.listener:
                self.listener(self.env, number)
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
            self.context = self.spare.pop() if self.spare else BlockContext(self.launch_state.configuration)
            self.added += 1
            if len(self.waiting) < self._max_started:  # all start before one continues, as on a GPU
                continue
            if 2 * self.added <= len(self.waiting):  # keeps the number of time slices linear in the blocks
                continue
            self.added = 0
            status = self._run_time_slices(SHORT_SLICE)
            self._bind_code(code)
            resident = self.launch_state.launch.blocks if self.launch_state.launch.cooperative else MAX_WAITING
            if status is Status.DONE and len(self.waiting) >= resident:
                status = self._finish(resident - 1)
                self._bind_code(code)
            if status is not Status.DONE:
                return status
        return Status.DONE

    def _start_interleaved(
        self, code: NativeCode, interleaved: InterleavedWarps, first: int, count: int
    ) -> tuple[int, Status]:
        """Runs several at a time; returns how many have begun.  READY: unfinished ones join the waiting blocks."""
        self.env.slice, self.env.turns = 0, 1  # to the end of a round
        blocks, several = address(interleaved.blocks), len(interleaved.contexts)
        result = code.run_interleaved(byref(self.env), blocks, several, first, count)
        status = Status(result & 0xFF)
        if status is Status.READY:
            left = [context for context in interleaved.contexts if context.block.status != Status.DONE]
            for context in left:
                context.code = code
            self.waiting += left
            self.interleaved = None
        return result >> 8, status

    def _finish(self, down_to: int = 0) -> Status:
        """Runs time slices until at most `down_to` blocks wait: short ones while that helps, longer ones otherwise."""
        length = SHORT_SLICE
        while len(self.waiting) > down_to:
            before = len(self.waiting)
            status = self._run_time_slices(length)
            if status is not Status.DONE:
                return status
            length = SHORT_SLICE if len(self.waiting) < before else min(2 * length, SLICE)
        return Status.DONE

    def _run_time_slices(self, length: int) -> Status:
        """One time slice of so many instructions a warp for each waiting block, the latest first: all earlier blocks
        have begun, so they can only wait for later ones."""
        self.env.slice, self.env.turns = length, IDLE_TURN
        env, left = byref(self.env), []
        for context in reversed(self.waiting):
            if self.listener:
                self.listener(self.env, self._number(context.block))
            self._bind_code(context.code)
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


def commutes(touched: NDArray[np.uint64]) -> bool:
    """Whether blocks may run in any order, or in parallel: no buffer is both read and written, and atomics commute."""
    atomics = (Touch.ADD, Touch.MIN, Touch.MAX, Touch.AND, Touch.OR, Touch.XOR)
    return all(bits in (Touch.READ, Touch.WRITE, *atomics) for bits in touched[touched != 0].tolist())


def updated_in_place(touched: NDArray[np.uint64]) -> list[int]:
    """The buffers that are loaded and stored, if there are some and blocks could run in any order but for them."""
    updated = touched == Touch.READ | Touch.WRITE
    return np.flatnonzero(updated).tolist() if commutes(touched[~updated]) else []
