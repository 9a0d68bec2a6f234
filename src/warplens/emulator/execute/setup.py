"""Setup: builds the launch state and allocates the driver's buffers in device memory."""

from __future__ import annotations

from ctypes import c_int32
from dataclasses import dataclass

import numpy as np

from warplens.core.cubin import Kernel
from warplens.core.launch import Launch
from warplens.core.program import Program
from warplens.emulator.analysis.kernel_features import (
    allocates_stack,
    highest,
    reads_constant,
    shared_start,
)
from warplens.emulator.execute import syscalls
from warplens.emulator.execute.launch_request import LaunchRequest
from warplens.emulator.execute.launch_state import LaunchState, WorkerConfiguration
from warplens.emulator.lowering.register_allocation import saved_space
from warplens.emulator.state import abi
from warplens.emulator.state.check_set import Checks
from warplens.emulator.state.counter_layout import CounterLayout
from warplens.emulator.state.structs import HEADER
from warplens.emulator.threaded.template import held_space

Heap = tuple[int, int] | None  # number of its allocation, and its address


def prepare(request: LaunchRequest, checks: Checks) -> tuple[LaunchState, Heap]:
    """The launch state; allocates the driver's buffers in device memory."""
    kernel, launch, memory = request.kernel, request.launch, request.memory
    syscalls.check(kernel)
    code = known(kernel, request.program, bool(checks))
    barrier = memory.allocate("the grid's barrier", np.zeros(64, np.uint8)) if launch.cooperative else 0
    heap = memory.place_heap() if {"malloc", "free"} & set(kernel.externs) else None
    own = np.frombuffer(request.parameters, np.uint8)
    parameters = memory.allocate("the kernel's parameters", own) if code.addresses_parameters else 0
    initial = kernel.constants.get(0, b"")
    # nvcc reads a float3 behind all others by one load of 16 bytes
    shared = _rounded(kernel.shared_bytes + launch.shared, 16)
    scratch = _rounded(shared, 128) if code.uses_scratch else 0
    first = abi.launch_block(
        kernel.arch, initial, launch, request.multiprocessors, barrier, kernel.cluster, parameters, scratch
    )
    configuration = WorkerConfiguration(
        code.plan,
        launch,
        buffers=1 << len(memory.allocations).bit_length(),
        shared_bytes=code.reserved + (scratch + abi.GROUP_SCRATCH_BYTES if code.uses_scratch else shared),
        local_bytes=_rounded(max(kernel.local_bytes, request.stack_bytes if code.deep else 0), 16),
        stride=code.stride,
        budget=request.budget,
        checks=checks,
        banks=(first, *(request.banks.get(n, kernel.constants.get(n, b"")) for n in range(1, 8))),
        parameters=(kernel.parameter_base, len(request.parameters)),
        cluster=kernel.cluster,
        registers=-(-kernel.registers // 8) * 8,
        reserved=code.reserved,
    )
    state = LaunchState(configuration, request.parameters, bool(kernel.externs), c_int32(0))
    return state, heap


@dataclass(frozen=True)
class KernelSetup:
    """Kernel setup: what launches need of a program, computed once: the scan takes as long as the rest of setup.

    stride   bytes of a warp's record
    deep     whether its stack may go deeper than the compiler knows: it calls functions, or allocates on the stack
    addresses_parameters  whether it takes the address of its parameters
    uses_scratch  whether it uses the driver's scratch of cooperative groups
    reserved  bytes of the driver's shared memory, before a block's own, that it accesses
    """

    plan: CounterLayout
    stride: int
    deep: bool
    addresses_parameters: bool
    uses_scratch: bool
    reserved: int


_known: dict[tuple[str, bytes, bool], KernelSetup] = {}  # by machine code: its latest program


def known(kernel: Kernel, program: Program, checked: bool = False) -> KernelSetup:
    name = kernel.arch, kernel.code, checked
    found = _known.get(name)
    if found is None or found.plan.program is not program:  # it may have other source lines
        place = abi.bank0(kernel.arch)
        found = _known[name] = KernelSetup(
            CounterLayout(program),
            saved_bytes(program),
            any(i.base == "CALL" for i in program.instructions) or allocates_stack(program),
            reads_constant(program, place.parameters),
            reads_constant(program, place.group_scratch),
            abi.shared_base(kernel.arch) - shared_start(program),
        )
    return found


def _rounded(size: int, unit: int) -> int:
    return -(-size // unit) * unit


def tile_of(launch: Launch) -> int:
    """How many lanes of a warp are adjacent along x; 0 if the warps of a block differ."""
    x, y, z = launch.block
    if x % 32 == 0 or y * z == 1:
        return 32
    rows = 32 // x if 32 % x == 0 else 0
    return x if rows and (z == 1 or y % rows == 0) else 0


def saved_bytes(program: Program) -> int:
    """Bytes of a warp's record with its registers, whichever tier runs it."""
    last = highest(program)
    return HEADER + max(saved_space(last), held_space(last))
