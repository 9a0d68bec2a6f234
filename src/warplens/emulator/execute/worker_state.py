"""Worker state: counters, records and block memory of a worker, pooled across launches of the same configuration.

Building one takes as long as ten thousand instructions.
"""

from __future__ import annotations

from ctypes import CFUNCTYPE, addressof, c_int32, c_int64, c_void_p, cast, memmove, memset, sizeof
from functools import lru_cache
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from warplens.core.counts import LONG_WARP
from warplens.emulator.analysis.kernel_features import uses_tensor_memory
from warplens.emulator.bulk.box_walk import walk_code
from warplens.emulator.execute.launch_state import WorkerConfiguration, thread_indices
from warplens.emulator.instrument.findings import FindingTable
from warplens.emulator.instrument.instrumentation import unit
from warplens.emulator.instrument.race_state import PUBLISHED_BYTES, GlobalShadow, WarpClocks, row_bytes
from warplens.emulator.memory.buffer_pool import address, aligned, in_own_cache_lines
from warplens.emulator.state.abi import BANK_BYTES
from warplens.emulator.state.check_set import ordered
from warplens.emulator.state.structs import BlockState, Bounds, BufferRange, Fault, Status, WarpState, WorkerEnv
from warplens.emulator.tensor_memory.tensor_functions import TENSOR_BYTES, tensor_functions, tensor_scratch
from warplens.emulator.texture import texture_binding

if TYPE_CHECKING:
    from warplens.emulator.jit.native_code import NativeCode
    from warplens.emulator.memory.device_memory import DeviceMemory

FirstWriteCallback = CFUNCTYPE(None, c_int32)
MAX_POOLED, MAX_POOLED_BYTES = 8, 1 << 20  # pooled states, and the memory of a block of each


@lru_cache(16)
def bank(content: bytes) -> NDArray[np.uint8]:
    """A read-only constant bank with this content."""
    return np.frombuffer(content.ljust(BANK_BYTES, b"\0"), np.uint8)


def no_buffer(number: int) -> None:
    """First-write handler of a pooled worker state: does nothing."""


class FirstWriteHook:
    """First-write hook: called by native code before it first writes a buffer; `take` is the worker's handler.

    An exception cannot pass through native code: it is kept in `failure`, and `failed` ends the run.
    """

    def __init__(self) -> None:
        self.take = self.failed = no_buffer
        self.failure: BaseException | None = None

    def called(self, number: int) -> None:
        for _ in range(2):  # Ctrl-C may interrupt a copy, and the backup must be complete before the write
            try:
                return self.take(number)
            except BaseException as wrong:
                self.failure = wrong
                self.failed(number)

    def check(self) -> None:
        """Raises the failure, if any."""
        if self.failure is not None:
            failure, self.failure = self.failure, None
            raise failure

    def end(self) -> None:
        """Drops the references to the worker and its arrays."""
        self.take = self.failed = no_buffer


class BlockContext:
    """Block context: memory of one resident block, and the code that it began with."""

    code: NativeCode

    def __init__(self, configuration: WorkerConfiguration) -> None:
        warps = configuration.launch.warps_per_block
        self.warps = aligned(configuration.stride * warps, 64)
        self.shared = aligned(configuration.shared_bytes + 64, 64)
        self.local = aligned(configuration.local_bytes * 32 * warps + 64, 64)
        self.block = in_own_cache_lines(BlockState)
        self.block.warps, self.block.shared, self.block.local = map(address, (self.warps, self.shared, self.local))
        if uses_tensor_memory(configuration.plan.bases):
            self.tensor = aligned(TENSOR_BYTES, 64)
            self.block.tensor = address(self.tensor)
        self.kept: list[object] = (
            [*self._shadow_memory(configuration)] if configuration.checks else []
        )  # kept alive: the block points to them

    @property
    def size(self) -> int:
        """Bytes."""
        return self.warps.size + self.shared.size + self.local.size

    def clear(self) -> None:
        """Zeroes it: uninitialised reads must not depend on earlier launches.

        Shared memory is cleared when a block begins.
        """
        self.block.started = 0
        memset(self.block.warps, 0, self.warps.size)
        memset(self.block.local, 0, self.local.size)

    def _shadow_memory(self, configuration: WorkerConfiguration) -> list[NDArray[np.uint8]]:
        """Shadow memory of the block, for --check."""
        warps = configuration.launch.warps_per_block
        checks, step = configuration.checks, unit(configuration.plan.program)
        units = -(-configuration.shared_bytes // step) if ordered(checks) else 0
        init = "init" in checks
        rows = aligned(units * row_bytes(warps, "asynchronous" in checks) + 64, 64)
        published = aligned(PUBLISHED_BYTES, 64)
        orders = aligned(sizeof(WarpClocks) * warps, 64)
        written = [
            aligned(n * init + 64, 64) for n in (configuration.shared_bytes, configuration.local_bytes * 32 * warps)
        ]
        self.block.shadow, self.block.published = address(rows), address(published)
        self.block.written_shared, self.block.written_local = map(address, written)
        for number in range(warps):
            record = WarpState.from_buffer(self.warps[number * configuration.stride :].data)
            record.order = address(orders) + number * sizeof(WarpClocks)
        return [rows, published, orders, *written]


class InterleavedWarps:
    """Interleaved warps: the contexts of blocks whose warps are interleaved.

    Runs of some thousand bytes are fetched at almost the speed of longer ones; the working set of so many warps stays
    in the host's L2.  (Additions of 2^24 floats: 22.4 ms with 8 interleaved warps, 15.5 with 128, 16.6 with 256.)
    """

    WARPS = 128

    def __init__(self, configuration: WorkerConfiguration, size: int) -> None:
        """size: bytes of a block context."""
        several = min(-(-self.WARPS // configuration.launch.warps_per_block), MAX_POOLED_BYTES // size)
        self.contexts = [BlockContext(configuration) for _ in range(several)]
        self.blocks = np.array([addressof(context.block) for context in self.contexts], np.uint64)

    def clear(self) -> None:
        """Zeroes it."""
        for context in self.contexts:
            context.clear()
            context.block.status = Status.DONE


class WorkerState:
    """Worker state: counters, access and buffer records, a block's memory, and `env`, native code's view of them."""

    def __init__(self, configuration: WorkerConfiguration) -> None:
        self.configuration = configuration
        launch, plan = configuration.launch, configuration.plan
        self.counters: NDArray[np.int64] = np.ctypeslib.as_array(in_own_cache_lines(c_int64 * plan.size))
        self.bounds = in_own_cache_lines(Bounds * len(plan.program.instructions))
        self.buffers = in_own_cache_lines(BufferRange * configuration.buffers)
        words = np.frombuffer(memoryview(self.buffers).cast("B"), np.uint64).reshape(-1, sizeof(BufferRange) // 8)
        self._touched: NDArray[np.uint64] = words[:, BufferRange.touched.offset // 8]
        self.findings = FindingTable()
        self.context = BlockContext(configuration)
        self.interleaved: InterleavedWarps | None = None
        self.tid, self.first_mask = thread_indices(launch.block)
        self.first_write = FirstWriteHook()
        self._first_write_callback = FirstWriteCallback(self.first_write.called)
        env = self.env = in_own_cache_lines(WorkerEnv)
        env.take = cast(self._first_write_callback, c_void_p).value
        env.counters = address(self.counters)
        env.rows = env.counters + 8 * plan.row(0)
        env.bounds, env.buffers = addressof(self.bounds), addressof(self.buffers)
        env.tid, env.first_mask = address(self.tid), address(self.first_mask)
        env.grid[:], env.block[:] = launch.grid, launch.block
        env.warps, env.threads = launch.warps_per_block, launch.threads_per_block
        env.registers = configuration.registers
        env.shared_bytes, env.local_bytes = configuration.shared_bytes, configuration.local_bytes
        env.reserved_bytes = configuration.reserved
        env.warp_stride, env.budget = configuration.stride, configuration.budget
        env.findings = addressof(self.findings)
        self.ticks = GlobalShadow()  # of checks that order accesses to shared memory only
        env.races = addressof(self.ticks)
        own = np.frombuffer(bytearray(configuration.banks[0]), np.uint8)
        self.banks = [own, *map(bank, configuration.banks[1:])]
        for number, content in enumerate(configuration.banks):
            env.bank[number], env.bank_bytes[number] = address(self.banks[number]), len(content)
        base, size = configuration.parameters
        env.bank_bytes[0] = base + size

    def clear(self) -> None:
        """Zeroes it."""
        memset(self.env.counters, 0, self.counters.nbytes)
        memset(addressof(self.bounds), 0, sizeof(self.bounds))
        memset(addressof(self.env.fault), 0, sizeof(Fault))
        self.env.done = self.env.threaded_ops = self.env.threaded_op_count = self.env.far = self.env.log = 0
        self.env.footprint = 0
        self.context.clear()

    def interleaved_warps(self) -> InterleavedWarps:
        """Cleared contexts for interleaved warps."""
        if self.interleaved is None:
            self.interleaved = InterleavedWarps(self.configuration, self.context.size)
        self.interleaved.clear()
        return self.interleaved

    def bind_launch(self, memory: DeviceMemory, parameters: bytes) -> None:
        """Binds the buffers at their current addresses, and the kernel's parameters; no warp is done."""
        self.env.longest_warp, self.env.longest_block, self.env.block_instructions = LONG_WARP, -1, 0
        memmove(self.env.bank[0] + self.configuration.parameters[0], parameters, len(parameters))
        self.env.buffer_count = len(memory.allocations)
        memory.describe_all(self.buffers)
        self._bind_textures(memory)
        if uses_tensor_memory(self.configuration.plan.bases):
            self.tensor_scratch = tensor_scratch()
            self.env.tensor_scratch = address(self.tensor_scratch)
            for number, place in enumerate(tensor_functions()):
                self.env.tensor_code[number] = place
        if any(base.startswith("UTMA") for base in self.configuration.plan.bases):
            self.env.begin_box, self.env.advance_box = walk_code()

    def _bind_textures(self, memory: DeviceMemory) -> None:
        """Binds the descriptors, and the code for them where there are any."""
        self.env.textures = self.env.texture_count = self.env.fetch_texture = self.env.locate_surface = 0
        if not len(memory.textures):
            return
        self.textures = texture_binding.bound(memory.textures, [(a.address, a.size) for a in memory.allocations])
        self.env.textures, self.env.texture_count = address(self.textures), len(self.textures)
        self.env.fetch_texture, self.env.locate_surface = texture_binding.fetch_code(), texture_binding.surface_code()

    @property
    def touched(self) -> NDArray[np.uint64]:
        """The use of each buffer (Touch bits)."""
        return self._touched[: self.env.buffer_count].copy()


class WorkerStatePool:
    """Free list, most recently used last."""

    def __init__(self) -> None:
        self._free: list[WorkerState] = []
        self._lock = Lock()

    def take(self, configuration: WorkerConfiguration) -> WorkerState:
        """A cleared state, pooled or new."""
        with self._lock:
            found = next((n for n, state in enumerate(self._free) if state.configuration.like(configuration)), None)
            state = None if found is None else self._free.pop(found)
        if state is None:
            return WorkerState(configuration)
        state.clear()
        return state

    def give(self, state: WorkerState) -> None:
        """Returns a state that no code runs in; the pool keeps or drops it."""
        state.first_write.end()
        if state.configuration.checks or state.context.size > MAX_POOLED_BYTES:
            return
        with self._lock:
            self._free.append(state)
            del self._free[:-MAX_POOLED]


WORKER_STATES = WorkerStatePool()
