"""Launch request: a kernel with everything that one launch of it needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from warplens.core.cubin import Kernel
from warplens.core.launch import Launch
from warplens.core.program import Program
from warplens.emulator.memory.device_memory import DeviceMemory
from warplens.emulator.state.abi import CALL_STACK

DEFAULT_BUDGET = 1_000_000_000  # some seconds here, a second on a GPU


@dataclass(frozen=True)
class LaunchRequest:
    """Launch request: executed by run(), recorded by record(), as often as needed.

    parameters       contents of the parameter block;  memory: what it points to
    banks            contents of constant banks that replace those of the kernel, by number
    multiprocessors  of the GPU that the kernel is to see
    budget           warp instructions that a warp may execute
    stack_bytes      local memory of a thread, at least, where the compiler does not know how deep it goes
    """

    kernel: Kernel
    program: Program
    launch: Launch
    parameters: bytes
    memory: DeviceMemory
    banks: Mapping[int, bytes] = field(default_factory=dict)
    multiprocessors: int = 132
    budget: int = DEFAULT_BUDGET
    stack_bytes: int = CALL_STACK
