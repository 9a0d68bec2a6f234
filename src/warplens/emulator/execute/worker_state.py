"""What a worker works with: its counters, its records, the memory of its blocks.  Kept for the next launch of the same
shape: to make all that takes as long as ten thousand instructions."""

from __future__ import annotations

from ctypes import CFUNCTYPE, addressof, c_int32, c_int64, c_void_p, cast, memmove, memset, sizeof
from functools import lru_cache
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from warplens.emulator.execute.launch_state import WorkerConfiguration, thread_indices
from warplens.emulator.instrument.findings import FindingTable
from warplens.emulator.instrument.instrumentation import unit
from warplens.emulator.instrument.race_state import PUBLISHED, WarpClocks, row_bytes
from warplens.emulator.memory.buffer_pool import address, aligned, alone
from warplens.emulator.state.abi import BANK_BYTES
from warplens.emulator.state.structs import BlockState, Bounds, BufferRange, Fault, Status, WarpState, WorkerEnv

if TYPE_CHECKING:
    from warplens.emulator.jit.native_code import NativeCode
    from warplens.emulator.memory.device_memory import DeviceMemory

TAKER = CFUNCTYPE(None, c_int32)
KEPT, MOST_BYTES = 8, 1 << 20  # rooms that are kept, and how large the memory of a block may be


@lru_cache(16)
def bank(content: bytes) -> NDArray[np.uint8]:
    """A constant bank with this content; nobody writes it."""
    return np.frombuffer(content.ljust(BANK_BYTES, b"\0"), np.uint8)


def nobody(number: int) -> None:
    """Takes no buffer."""


class BlockSource:
    """Machine code calls this before it first writes a buffer; `take` is what the worker does about it.

    An exception cannot leave machine code: `failure` keeps it for whoever started that, and `failed` ends the run.
    """

    def __init__(self) -> None:
        self.take = self.failed = nobody
        self.failure: BaseException | None = None

    def called(self, number: int) -> None:
        for _ in range(2):  # Ctrl-C may have come in the middle of a copy, and what is written must have been kept
            try:
                return self.take(number)
            except BaseException as wrong:
                self.failure = wrong
                self.failed(number)

    def check(self) -> None:
        """Raises what has gone wrong."""
        if self.failure is not None:
            failure, self.failure = self.failure, None
            raise failure

    def end(self) -> None:
        """The worker is held no longer, nor the arrays that it worked on."""
        self.take = self.failed = nobody


class BlockContext:
    """The memory of one resident block, and the code that it has begun with."""

    code: NativeCode

    def __init__(self, measure: WorkerConfiguration) -> None:
        warps = measure.launch.warps_per_block
        self.warps = aligned(measure.stride * warps, 64)
        self.shared = aligned(measure.shared_bytes + 64, 64)
        self.local = aligned(measure.local_bytes * 32 * warps + 64, 64)
        self.block = alone(BlockState)
        self.block.warps, self.block.shared, self.block.local = map(address, (self.warps, self.shared, self.local))
        self.kept: list[object] = [*self._watched(measure)] if measure.checks else []  # what the block points to

    @property
    def size(self) -> int:
        """Bytes."""
        return self.warps.size + self.shared.size + self.local.size

    def clear(self) -> None:
        """As new: what a kernel reads that it has not written does not depend on the launches before.

        Shared memory is cleared when a block begins.
        """
        self.block.started = 0
        memset(self.block.warps, 0, self.warps.size)
        memset(self.block.local, 0, self.local.size)

    def _watched(self, measure: WorkerConfiguration) -> list[NDArray[np.uint8]]:
        """What the checks remember of the block."""
        warps = measure.launch.warps_per_block
        units = -(-measure.shared_bytes // unit(measure.plan.program)) if "races" in measure.checks else 0
        init = "init" in measure.checks
        rows, published = aligned(units * row_bytes(warps) + 64, 64), aligned(128 * PUBLISHED, 64)
        orders = aligned(sizeof(WarpClocks) * warps, 64)
        written = [aligned(n * init + 64, 64) for n in (measure.shared_bytes, measure.local_bytes * 32 * warps)]
        self.block.shadow, self.block.published = address(rows), address(published)
        self.block.written_shared, self.block.written_local = map(address, written)
        for number in range(warps):
            record = WarpState.from_buffer(self.warps[number * measure.stride :].data)
            record.order = address(orders) + number * sizeof(WarpClocks)
        return [rows, published, orders, *written]


class InterleavedWarps:
    """Blocks that go abreast.

    Some thousand bytes in a row are fetched at almost the speed of many; what so many warps take stays in the host's
    second cache.  (Additions of 2^24 floats: 22.4 ms with 8 warps abreast, 15.5 with 128, 16.6 with 256.)
    """

    WARPS = 128

    def __init__(self, measure: WorkerConfiguration, size: int) -> None:
        """size: bytes of a context."""
        several = min(-(-self.WARPS // measure.launch.warps_per_block), MOST_BYTES // size)
        self.contexts = [BlockContext(measure) for _ in range(several)]
        self.blocks = np.array([addressof(context.block) for context in self.contexts], np.uint64)

    def clear(self) -> None:
        """As new."""
        for context in self.contexts:
            context.clear()
            context.block.status = Status.DONE


class WorkerState:
    """Counters, records of accesses and buffers, a block's memory, and the record that machine code gets of it all."""

    def __init__(self, measure: WorkerConfiguration) -> None:
        self.measure = measure
        launch, plan = measure.launch, measure.plan
        self.counters: NDArray[np.int64] = np.ctypeslib.as_array(alone(c_int64 * plan.size))
        self.bounds = alone(Bounds * len(plan.program.instructions))
        self.buffers = alone(BufferRange * max(measure.buffers, 1))
        self.findings = FindingTable()
        self.context = BlockContext(measure)
        self.abreast: InterleavedWarps | None = None
        self.tid, self.first_mask = thread_indices(launch.block)
        self.taking = BlockSource()
        self._taker = TAKER(self.taking.called)
        env = self.env = alone(WorkerEnv)
        env.take = cast(self._taker, c_void_p).value
        env.counters = address(self.counters)
        env.rows = env.counters + 8 * plan.row(0)
        env.bounds, env.buffers = addressof(self.bounds), addressof(self.buffers)
        env.buffer_count = measure.buffers
        env.tid, env.first_mask = address(self.tid), address(self.first_mask)
        env.grid[:], env.block[:] = launch.grid, launch.block
        env.warps, env.threads = launch.warps_per_block, launch.threads_per_block
        env.shared_bytes, env.local_bytes = measure.shared_bytes, measure.local_bytes
        env.warp_stride, env.budget = measure.stride, measure.budget
        env.findings = addressof(self.findings)
        own = np.frombuffer(bytearray(measure.banks[0]), np.uint8)
        self.banks = [own, *map(bank, measure.banks[1:])]
        for number, content in enumerate(measure.banks):
            env.bank[number], env.bank_bytes[number] = address(self.banks[number]), len(content)
        base, size = measure.parameters
        env.bank_bytes[0] = base + size

    def clear(self) -> None:
        """As new."""
        memset(self.env.counters, 0, self.counters.nbytes)
        memset(addressof(self.bounds), 0, sizeof(self.bounds))
        memset(addressof(self.env.fault), 0, sizeof(Fault))
        self.env.done = self.env.steps = self.env.step_count = self.env.far = self.env.log = 0
        self.context.clear()

    def several(self) -> InterleavedWarps:
        """As new."""
        if self.abreast is None:
            self.abreast = InterleavedWarps(self.measure, self.context.size)
        self.abreast.clear()
        return self.abreast

    def furnish(self, memory: DeviceMemory, parameters: bytes) -> None:
        """The buffers as they are now, and the kernel's parameters."""
        memmove(self.env.bank[0] + self.measure.parameters[0], parameters, len(parameters))
        for number, (entry, allocation) in enumerate(zip(self.buffers, memory.allocations, strict=False)):
            entry.low, entry.high, entry.touched = allocation.address, allocation.address + allocation.size, 0
            memory.describe(number, entry)


class WorkerStatePool:
    """Those that nobody uses, the latest last."""

    def __init__(self) -> None:
        self._rooms: list[WorkerState] = []
        self._lock = Lock()

    def take(self, measure: WorkerConfiguration) -> WorkerState:
        """A room as new."""
        with self._lock:
            found = next((n for n, room in enumerate(self._rooms) if room.measure.like(measure)), None)
            room = None if found is None else self._rooms.pop(found)
        if room is None:
            return WorkerState(measure)
        room.clear()
        return room

    def give(self, room: WorkerState) -> None:
        """Back, to be kept or forgotten; nobody may run in it any more."""
        room.taking.end()
        if room.measure.checks or room.context.size > MOST_BYTES:
            return
        with self._lock:
            self._rooms.append(room)
            del self._rooms[:-KEPT]


ROOMS = WorkerStatePool()
