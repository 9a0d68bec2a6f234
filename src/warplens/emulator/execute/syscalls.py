"""System calls: vprintf, __assertfail, malloc and free, provided by the driver and in no cubin.

Generated code calls Python with the registers of the calling lanes: arguments begin at R4,
a pointer takes an aligned pair, and the result goes to R4 and R5 (seen in the code that calls them).
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warplens.core.cubin import CODE_BASE, FUNCTIONS, Kernel
from warplens.core.demangle import demangled
from warplens.emulator.analysis.kernel_features import shared_start
from warplens.emulator.execute import printf
from warplens.emulator.execute.launch_state import LaunchState, thread_indices
from warplens.emulator.memory.device_memory import DeviceMemory
from warplens.emulator.state import abi
from warplens.emulator.state.abi import ARGUMENTS, FIRST_ARGUMENT
from warplens.emulator.state.structs import BlockState, BufferRange, FaultKind, Touch, WarpState, WorkerEnv
from warplens.errors import DynamicParallelism, UnsupportedInstruction

DEVICE_RUNTIME = re.compile("CDP|cuda_device_runtime|^cuda[A-Z]")  # of names in libcudadevrt
GRADIENTS = "__cuda_syscall_tex_grad"  # _3d_..., _cube_...
PRINTED_BYTES = 1 << 20  # as much as CUDA's buffer holds by default

Hook = ctypes.CFUNCTYPE(
    ctypes.c_int32, *[ctypes.c_void_p] * 3, ctypes.c_int32, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_int32
)
"""(env, block, warp, function called, registers, lanes, return point) -> whether the run ends here."""


def provided() -> dict[str, int]:
    """Code addresses of the driver's functions."""
    return {name: CODE_BASE + 16 * n for n, name in enumerate(FUNCTIONS)}


def check(kernel: Kernel) -> None:
    """UnsupportedInstruction if the kernel calls a function that is not provided."""
    if any(
        DEVICE_RUNTIME.search(name) for name in kernel.externs if name not in FUNCTIONS
    ):  # those it launches are among them, too
        raise DynamicParallelism(
            f"{demangled(kernel.name)} launches kernels itself (dynamic parallelism), which is not executed here"
        )
    for name in kernel.externs:
        if name.startswith(GRADIENTS):
            raise UnsupportedInstruction(
                f"{demangled(kernel.name)} calls {name}, with which the driver fetches from 3-D textures and "
                "cubemaps by gradients: that is not emulated; this kernel needs a GPU"
            )
        if name not in FUNCTIONS:
            raise UnsupportedInstruction(
                f"{demangled(kernel.name)} calls {name}, which is not in its code, and no function of the driver that "
                f"is provided here ({', '.join(FUNCTIONS)}); link files that nvcc -rdc=true has compiled first"
            )


class SystemCalls:
    """System calls of one worker: output of its blocks, heap, errors."""

    def __init__(
        self, state: LaunchState, memory: DeviceMemory, buffers: ctypes.Array[BufferRange], heap: tuple[int, int] | None
    ) -> None:
        self.state, self.memory, self.buffers = state, memory, buffers
        self.printed: list[tuple[int, str]] = []  # (block number, text)
        self.names: set[str] = set()  # of functions called
        self.size = 0
        self.lost = 0  # calls of printf beyond PRINTED_BYTES
        self.fault = ""
        self.error: BaseException | None = None
        self.heap = memory.open_heap(*heap) if heap else None

    def called(self, env: int, block: int, warp: int, place: int, registers: int, lanes: int, back: int) -> int:
        """The syscall callback.  The caller keeps it alive: stored on self it would make a reference cycle."""
        words = np.ctypeslib.as_array((ctypes.c_uint32 * (32 * ARGUMENTS)).from_address(registers))
        call = SystemCall(
            self.state, self.memory, BlockState.from_address(block), WarpState.from_address(warp),
            words.reshape(ARGUMENTS, 32), lanes,
        )  # fmt: skip
        try:
            calls = self._vprintf, self._assertfail, self._malloc, self._free, self._set_conditional
            number = place - CODE_BASE // 16
            self.names.add(FUNCTIONS[number])
            calls[number](call)
        except BaseException as error:  # an exception cannot pass through generated code
            self.error = error
        if self.error or self.fault:
            self._record(WorkerEnv.from_address(env).fault, call, back)
        return int(bool(self.error or self.fault))

    def _record(self, fault: Any, call: SystemCall, back: int) -> None:
        fault.kind, fault.instruction, fault.warp, fault.lanes = FaultKind.DRIVER, back - 1, call.warp.index, call.mask
        fault.ctaid[:] = call.block.ctaid

    def _print(self, call: SystemCall, text: str) -> None:
        if self.size < PRINTED_BYTES:
            self.size += len(text)
            self.printed.append((call.block_number, text))
        else:
            self.lost += 1

    def _vprintf(self, call: SystemCall) -> None:
        for lane in call.lanes:
            if self.size >= PRINTED_BYTES:
                self.lost += 1
                continue
            written, count = printf.text(call.pointer(4, lane), call.pointer(6, lane), call.reader(lane))
            self._print(call, written)
            call.result(lane, count)

    def _assertfail(self, call: SystemCall) -> None:
        """One line for each thread, as CUDA prints it."""
        for lane in call.lanes:
            read = call.reader(lane)
            message, file, function = (printf.string(call.pointer(n, lane), read) for n in (4, 6, 10))
            line, block, thread = call.word(8, lane), list(call.block.ctaid), call.thread(lane)
            where = f"block: [{block[0]},{block[1]},{block[2]}], thread: [{thread[0]},{thread[1]},{thread[2]}]"
            self._print(call, f"{file}:{line}: {function}: {where} Assertion `{message}` failed.\n")
            self.fault = self.fault or f"assertion `{message}` failed: {file}:{line}, {function}"

    def _malloc(self, call: SystemCall) -> None:
        assert self.heap is not None
        self.buffers[self.heap.number].touched |= Touch.ORDERED  # addresses depend on the order of the blocks
        for lane in call.lanes:
            call.result(lane, self.heap.take(call.pointer(4, lane)))

    def _free(self, call: SystemCall) -> None:
        assert self.heap is not None
        for lane in call.lanes:
            pointer = call.pointer(4, lane)
            if pointer and not self.heap.give_back(pointer):
                call.mask = 1 << lane
                self.fault = f"free of {pointer:#x}, which malloc did not give or which is free already"
                return

    def _set_conditional(self, call: SystemCall) -> None:
        """The condition of a node of a graph is a word in memory, and its handle the address."""
        for lane in call.lanes:
            handle, value = call.pointer(4, lane), call.word(6, lane)
            if not call.store(handle, value.to_bytes(4, "little")):
                self.fault = (
                    f"cudaGraphSetConditional of {handle:#x}, which cudaGraphConditionalHandleCreate did not give"
                )
                return


class SystemCall:
    """System call: one call by the active lanes of a warp split: their registers, and memory as each lane sees it."""

    def __init__(
        self, state: LaunchState, memory: DeviceMemory, block: Any, warp: Any, words: NDArray[np.uint32], mask: int
    ) -> None:
        self.state, self.memory, self.block, self.warp, self.words, self.mask = state, memory, block, warp, words, mask

    @property
    def lanes(self) -> Sequence[int]:
        return [lane for lane in range(32) if self.mask >> lane & 1]

    @property
    def block_number(self) -> int:
        x, y, z = self.block.ctaid
        width, height, _ = self.state.launch.grid
        return int(x + width * (y + height * z))

    def thread(self, lane: int) -> list[int]:
        """threadIdx."""
        return [int(axis[lane]) for axis in thread_indices(self.state.launch.block)[0][self.warp.index]]

    def word(self, register: int, lane: int) -> int:
        return int(self.words[register - FIRST_ARGUMENT, lane])

    def pointer(self, register: int, lane: int) -> int:
        return self.word(register, lane) | self.word(register + 1, lane) << 32

    def result(self, lane: int, value: int) -> None:
        self.words[0, lane], self.words[1, lane] = value & 0xFFFFFFFF, value >> 32

    def store(self, at: int, content: bytes) -> bool:
        """Writes to global memory; False where none is allocated."""
        for number, allocation in enumerate(self.memory.allocations):
            if allocation.address <= at <= allocation.address + allocation.size - len(content):
                start = at - allocation.address
                self.memory.view(number)[start : start + len(content)] = np.frombuffer(content, np.uint8)
                return True
        return False

    def reader(self, lane: int) -> Callable[[int, int], bytes]:
        """Reads memory at generic addresses; empty where none is allocated."""

        def read(at: int, size: int) -> bytes:
            window, offset = at >> 32, at & 0xFFFFFFFF
            if window == abi.SHARED_WINDOW:
                return self._shared(offset, size)
            return self._local(offset, size, lane) if window == abi.LOCAL_WINDOW else self._global(at, size)

        return read

    def _global(self, at: int, size: int) -> bytes:
        for number, allocation in enumerate(self.memory.allocations):
            if allocation.address <= at < allocation.address + allocation.size:
                start = at - allocation.address
                found: bytes = self.memory.view(number)[start : start + size].tobytes()
                return found
        return b""

    def _shared(self, offset: int, size: int) -> bytes:
        start = offset - shared_start(self.state.plan.program)
        held = max(min(size, self.state.configuration.shared_bytes - start), 0) if start >= 0 else 0
        return ctypes.string_at(self.block.shared + start, held)

    def _local(self, offset: int, size: int, lane: int) -> bytes:
        """Word w of lane l lies at (32 w + l) * 4 of the warp's local memory."""
        stack = self.state.configuration.local_bytes
        start = offset - (abi.STACK_TOP - stack)
        base = self.block.local + 32 * stack * self.warp.index
        first, end = max(start, 0), min(start + size, stack)
        words = range(first // 4, -(-end // 4))
        content = b"".join(ctypes.string_at(base + 128 * word + 4 * lane, 4) for word in words)
        return content[first % 4 :][: max(end - first, 0)]


def output(drivers: Sequence[SystemCalls]) -> str:
    """The output, in order of the blocks' numbers; within a block in execution order."""
    if not any(driver.printed for driver in drivers):
        return ""
    everything = sorted((entry for driver in drivers for entry in driver.printed), key=lambda entry: entry[0])
    kept, size = [], 0
    lost = sum(driver.lost for driver in drivers)
    for _, text in everything:
        lost += size >= PRINTED_BYTES
        if size < PRINTED_BYTES:
            kept.append(text)
        size += len(text)
    if lost:
        kept.append(f"\n[{lost:,} more printed beyond the first {PRINTED_BYTES:,} bytes]\n")
    return "".join(kept)
