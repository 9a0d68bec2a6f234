"""One thread's share of a launch: its counters, its view of memory, its resident blocks."""

from __future__ import annotations

from collections.abc import Iterator
from ctypes import CFUNCTYPE, addressof, byref, c_int32, c_void_p, cast, sizeof
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from warplens.emulator.driver import Driver, Hook
from warplens.emulator.findings import Findings
from warplens.emulator.jit import Translated
from warplens.emulator.layout import BARRIERS, Block, Bounds, Buffer, Env, Status, Touch, Warp
from warplens.emulator.memory import DeviceMemory
from warplens.emulator.plan import Plan
from warplens.emulator.runtime import IDLE_TURN
from warplens.emulator.shadow import Order, row_bytes
from warplens.emulator.spare import aligned
from warplens.emulator.watch import NO_CHECKS, Checks, unit
from warplens.launch import Dim3, Launch

TAKER = CFUNCTYPE(None, c_int32)
SLICE = 1 << 16  # instructions in a warp's turn: long against saving registers, short against a user's patience
SHORT_SLICE = 1 << 13  # likewise where it may only find that it still has to wait
TURNS = 4000  # of a block before others are given theirs: so many barriers, or a thousandth of idle turns
RESIDENT = 2048  # blocks kept waiting at a time, unless the launch is cooperative


@dataclass(frozen=True)
class Shape:
    """What every worker needs to know of the launch."""

    launch: Launch
    plan: Plan
    shared_bytes: int
    local_bytes: int
    banks: dict[int, NDArray[np.uint8]]
    bank_bytes: dict[int, int]  # of each that belong to the kernel
    budget: int
    stop: NDArray[np.int32]
    tid: NDArray[np.int32]
    first_mask: NDArray[np.uint32]
    stride: int  # bytes of a warp's record
    checks: Checks = NO_CHECKS


@lru_cache(16)
def thread_indices(block: Dim3) -> tuple[NDArray[np.int32], NDArray[np.uint32]]:
    """threadIdx by warp, axis and lane (x runs fastest), and the lanes that exist in each warp."""
    x, y, z = block
    threads = x * y * z
    warps = -(-threads // 32)
    linear = np.arange(32 * warps)
    axes = np.stack([linear % x, linear // x % y, linear // (x * y)])
    tid = np.ascontiguousarray(axes.reshape(3, warps, 32).swapaxes(0, 1), np.int32)
    exists = (linear < threads).reshape(warps, 32)
    return tid, (exists * (1 << np.arange(32, dtype=np.uint64))).sum(1).astype(np.uint32)


class Context:
    """The memory of one resident block."""

    def __init__(self, shape: Shape) -> None:
        warps = shape.launch.warps_per_block
        self.warps = aligned(shape.stride * warps, 64)
        self.shared = aligned(shape.shared_bytes + 64, 64)
        self.local = aligned(shape.local_bytes * 32 * warps + 64, 64)
        self.block = Block()
        self.block.warps = self.warps.ctypes.data
        self.block.shared = self.shared.ctypes.data
        self.block.local = self.local.ctypes.data
        self.kept = self._watched(shape) if shape.checks else []

    def _watched(self, shape: Shape) -> list[NDArray[np.uint8]]:
        """What the checks remember of the block."""
        warps = shape.launch.warps_per_block
        units = -(-shape.shared_bytes // unit(shape.plan.program)) if "races" in shape.checks else 0
        init = "init" in shape.checks
        rows, published = aligned(units * row_bytes(warps) + 64, 64), aligned(128 * BARRIERS, 64)
        orders = aligned(sizeof(Order) * warps, 64)
        written = [aligned(n * init + 64, 64) for n in (shape.shared_bytes, shape.local_bytes * 32 * warps)]
        self.block.shadow, self.block.published = rows.ctypes.data, published.ctypes.data
        self.block.written_shared, self.block.written_local = (bytes_.ctypes.data for bytes_ in written)
        for number in range(warps):
            record = Warp.from_buffer(self.warps[number * shape.stride :].data)
            record.order = orders.ctypes.data + number * sizeof(Order)
        return [rows, published, orders, *written]


class Worker:
    def __init__(self, shape: Shape, memory: DeviceMemory, heap: tuple[int, int] | None = None) -> None:
        self.shape = shape
        self.counters = np.zeros(shape.plan.size, np.int64)
        count = len(shape.plan.program.instructions)
        self.bounds = (Bounds * count)()
        self.buffers = (Buffer * max(len(memory.allocations), 1))()
        for number, (entry, allocation) in enumerate(zip(self.buffers, memory.allocations, strict=False)):
            entry.low, entry.high = allocation.address, allocation.address + allocation.size
            entry.delta, entry.own = memory.delta(number), memory.may_be_written(number)
        self.memory = memory
        self.taker = TAKER(self._take)
        self.driver = Driver(shape, memory, self.buffers, heap)
        self.hook = Hook(self.driver.called)
        self.context = Context(shape)
        self.waiting: list[Context] = []
        self.spare: list[Context] = []
        self.added = 0  # blocks that wait since the last turn of all
        self.findings = Findings()
        self.env = self._env(memory)

    def _env(self, memory: DeviceMemory) -> Env:
        shape = self.shape
        env = Env()
        env.counters = self.counters.ctypes.data
        env.rows = env.counters + 8 * shape.plan.row(0)
        env.bounds = addressof(self.bounds)
        env.buffers = addressof(self.buffers)
        env.buffer_count = len(memory.allocations)
        env.take = cast(self.taker, c_void_p).value
        for number, bank in shape.banks.items():
            env.bank[number], env.bank_bytes[number] = bank.ctypes.data, shape.bank_bytes[number]
        env.tid, env.first_mask = shape.tid.ctypes.data, shape.first_mask.ctypes.data
        env.grid[:], env.block[:] = shape.launch.grid, shape.launch.block
        env.warps, env.threads = shape.launch.warps_per_block, shape.launch.threads_per_block
        env.shared_bytes, env.local_bytes = shape.shared_bytes, shape.local_bytes
        env.warp_stride = shape.stride
        env.slice, env.budget, env.turns = SLICE, shape.budget, TURNS
        env.stop = shape.stop.ctypes.data
        env.findings = addressof(self.findings)
        env.driver = cast(self.hook, c_void_p).value
        return env

    def _take(self, number: int) -> None:
        """A buffer is about to be written."""
        self.memory.take(number)
        self.look_again(number)

    def look_again(self, number: int) -> None:
        """A buffer may be elsewhere now than where instructions have found it."""
        entry = self.buffers[number]
        entry.delta, entry.own = self.memory.delta(number), 1
        bounds = np.frombuffer(memoryview(self.bounds).cast("B"), np.uint64).reshape(-1, sizeof(Bounds) // 8)
        bounds[bounds[:, 0] == entry.low, 1] = 0

    def touched(self) -> list[int]:
        return [int(entry.touched) for entry in self.buffers]

    def hung(self) -> tuple[Block, list[Warp]]:
        """The block in which a fault was recorded, and its warps."""
        place = list(self.env.fault.ctaid)
        for context in (self.context, *self.waiting):
            if list(context.block.ctaid) == place:
                break
        step, count = self.shape.stride, self.shape.launch.warps_per_block
        return context.block, [Warp.from_buffer(context.warps[step * n :].data) for n in range(count)]

    def run(self, code: Translated, chunks: Iterator[tuple[int, int]], finish: bool) -> Status:
        """Every block of the chunks (first, count).

        Blocks that wait for others, or take long, stay resident and take turns; unless told to finish them, the
        worker leaves them to its next run.
        """
        if code.places is not None:
            self.env.steps, self.env.step_count = code.places.ctypes.data, len(code.places)
        for first, count in chunks:
            status = self._start(code, first, count)
            if status is not Status.DONE:
                return status
        return self._finish(code) if finish else Status.DONE

    def _start(self, code: Translated, first: int, count: int) -> Status:
        """Blocks first to first + count - 1, each until it is done or has to wait."""
        begun = 0
        while begun < count:
            # Where blocks wait already, a further one is likely to wait too.
            self.env.slice, self.env.turns = (SLICE // 8, IDLE_TURN) if self.waiting else (SLICE, TURNS)
            block = byref(self.context.block)
            result = code.run_blocks(byref(self.env), block, first + begun, count - begun)
            status = Status(result & 0xFF)
            if status is not Status.READY:
                return status
            begun += (result >> 8) + 1
            self.waiting.append(self.context)
            self.context = self.spare.pop() if self.spare else Context(self.shape)
            self.added += 1
            if 2 * self.added <= len(self.waiting):  # so that all turns together stay linear in the blocks
                continue
            self.added = 0
            status = self._take_turns(code, SHORT_SLICE)
            resident = self.shape.launch.blocks if self.shape.launch.cooperative else RESIDENT
            if status is Status.DONE and len(self.waiting) >= resident:
                status = self._finish(code, resident - 1)
            if status is not Status.DONE:
                return status
        return Status.DONE

    def _finish(self, code: Translated, down_to: int = 0) -> Status:
        """Turns until no more than so many blocks wait: short ones while that helps, longer ones while it does not."""
        length = SHORT_SLICE
        while len(self.waiting) > down_to:
            before = len(self.waiting)
            status = self._take_turns(code, length)
            if status is not Status.DONE:
                return status
            length = SHORT_SLICE if len(self.waiting) < before else min(2 * length, SLICE)
        return Status.DONE

    def _take_turns(self, code: Translated, length: int) -> Status:
        """One turn of so many instructions a warp for each block that waits, the latest first: the earlier ones were
        begun before it, so what they wait for can only come from later ones."""
        self.env.slice, self.env.turns = length, IDLE_TURN
        for context in self.waiting[::-1]:
            status = Status(code.run_block(byref(self.env), byref(context.block)))
            if status in (Status.FAULT, Status.STOPPED):
                return status
            if status is Status.DONE:
                self.waiting.remove(context)
                self.spare.append(context)
                self.env.done += 1
        return Status.DONE


def in_any_order(touched: list[int]) -> bool:
    """Whether blocks may run in any order, or at once: no buffer is both read and written, and atomics commute."""
    atomics = (Touch.ADD, Touch.MIN, Touch.MAX, Touch.AND, Touch.OR, Touch.XOR)
    return all(bits in (0, Touch.READ, Touch.WRITE, *atomics) for bits in touched)
