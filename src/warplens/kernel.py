"""Launchable kernel: a kernel of a module with its properties, launched with arrays and numbers.

It combines the cubin's declaration, the program, the variables of the module and the emulator.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from warplens.compiler.parameter_type import ParameterType, types_of
from warplens.control_characters import visible
from warplens.core.cubin import Cubin, Kernel, Parameter
from warplens.core.demangle import demangled
from warplens.core.device_variables import CONSTANT_BANK, Variables
from warplens.core.hazard import checks_of
from warplens.core.launch import Dim3, Launch
from warplens.core.program import Program
from warplens.counters.occupancy import occupancy
from warplens.emulator import DEFAULT_BUDGET, DeviceMemory, LaunchRequest, available_threads, pass_arguments, provided
from warplens.emulator import run as execute
from warplens.errors import KernelFault, UsageError
from warplens.hardware.launch_job import Job
from warplens.launchspec.mapped_array import MappedArray
from warplens.launchspec.pitched_array import plain
from warplens.machine import Machine, choose
from warplens.machine.launch_limits import check_cluster_size, check_cooperative, check_launch
from warplens.run import Run
from warplens.sweep.run_sweep import run_sweep
from warplens.sweep.sweep_space import SweepSpace
from warplens.sweep.sweep_table import Sweep

Size = int | Sequence[int]
Progress = Callable[[int, int], None]


class LaunchableKernel:
    """A kernel that can be launched; what the cubin says of it is in `kernel`, its machine code in `program`.

    registers     32-bit registers per thread;  instructions: of its machine code, padding included
    shared_bytes  static shared memory per block;  local_bytes: stack per thread
    parameters    .ordinal, .offset and .size in bytes of each

    >>> kernel = wl.compile("examples/copy.cu")["nccopy"]
    >>> kernel.registers, kernel.instructions, [parameter.size for parameter in kernel.parameters]
    (12, 48, [8, 8, 4])
    >>> kernel.program.instructions[0].opcode
    'LDC'
    """

    def __init__(
        self, cubin: Cubin, kernel: Kernel, name: str, variables: Variables, programs: Mapping[str, Program]
    ) -> None:
        self.cubin = cubin
        self.variables = variables
        self.kernel = kernel
        self.name = name
        self._programs = programs  # programs of the whole cubin, disassembled once

    def __repr__(self) -> str:
        return visible(
            f"<kernel {self.name} for {self.arch}: {self.instructions} instructions, {self.registers} registers>"
        )

    @property
    def arch(self) -> str:
        """What the code is compiled for: "sm_90"."""
        return self.kernel.arch

    @property
    def registers(self) -> int:
        """32-bit registers per thread."""
        return self.kernel.registers

    @property
    def shared_bytes(self) -> int:
        """Static shared memory per block, without what the driver reserves."""
        return self.kernel.shared_bytes

    @property
    def local_bytes(self) -> int:
        """Stack per thread."""
        return self.kernel.local_bytes

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """Ordinal, offset and size in bytes of each parameter."""
        return self.kernel.parameters

    @property
    def _named(self) -> Kernel:
        """The kernel with its C++ name, for messages."""
        return replace(self.kernel, name=demangled(self.kernel.name))

    @cached_property
    def _types(self) -> tuple[ParameterType, ...]:
        return types_of(self.kernel, self.cubin.sources)

    @cached_property
    def program(self) -> Program:
        """The machine code: instructions, basic blocks, loops."""
        return self._programs[self.kernel.name]

    @property
    def instructions(self) -> int:
        """Instructions of the machine code, padding included."""
        return len(self.program.instructions)

    def in_clusters(self, size: Size) -> LaunchableKernel:
        """The kernel as the launch attribute of cudaLaunchKernelEx starts it: in clusters of so many blocks, x first.
        UsageError if the kernel demands another size (__cluster_dims__) or the architecture has no clusters."""
        kernel, wanted = self.kernel, dim3(size, "cluster")
        check_cluster_size(self._named, wanted)
        return LaunchableKernel(self.cubin, replace(kernel, cluster=wanted), self.name, self.variables, self._programs)

    def check(self, launch: Launch, machine: Machine) -> None:
        """UsageError with the first reason for which `machine` would refuse this launch."""
        check_launch(launch, machine, self._named)
        if launch.cooperative:
            kernel, threads = self._named, launch.threads_per_block
            resident = occupancy(
                machine, kernel.registers, threads, kernel.shared_bytes, launch.shared, kernel.barriers
            ).blocks
            check_cooperative(launch, machine, kernel, resident)

    def launch(
        self, grid: Size, block: Size, *args: Any, shared: int = 0, cooperative: bool = False, gpu: str | None = None,
        threads: int | None = None, budget: int | None = None, progress: Progress | None = None,
        labels: Sequence[str] = (), check: Sequence[str] = (), sample: int | None = None,
        cluster: Size | None = None,
    ) -> Run:  # fmt: skip
        """Executes the kernel on the CPU.

        grid, block  up to three sizes, x first;  shared: dynamic shared memory in bytes a block
        cooperative  all blocks are resident at once, so that grid.sync() can wait for them
        args         arrays are device buffers, updated in place; numbers are converted to the parameter's type where
                     nothing is lost; None is a null pointer.  An array passed twice is one buffer.  pitched() makes
                     buffers with padded rows, tensor_map() gives an array with its CUtensorMap.
        gpu          whose limits apply (default: WARPLENS_GPU, the GPU in the machine, h200)
        threads      of the host; counts do not depend on it.  budget: instructions a warp may execute
        labels       names of the arguments, for messages
        check        "races", "init", "barriers" or "all": what they find is in run.hazards; counts stay the same
        sample       run so many blocks, 3 or more, instead of all: counts are scaled to the grid and wear "sampled",
                     the arrays hold what these blocks wrote
        cluster      blocks of a cluster, x first, of a kernel that leaves this to its launch
        Raises UsageError for a wrong argument or launch, KernelFault if the kernel does something wrong: the arrays
        and variables are then as they were at the fault.

        >>> kernel = wl.compile("examples/copy.cu")["ccopy"]
        >>> x = np.arange(4096, dtype=np.float32)
        >>> y = np.zeros_like(x)
        >>> run = kernel.launch(32, 128, x, y, np.int32(x.size))
        >>> bool((y == x).all()), run["smsp__inst_executed.sum"]
        (True, 2048)
        """
        if cluster is not None:
            return self.in_clusters(cluster).launch(
                grid, block, *args, shared=shared, cooperative=cooperative, gpu=gpu, threads=threads, budget=budget,
                progress=progress, labels=labels, check=check, sample=sample,
            )  # fmt: skip
        machine, _ = choose(gpu, os.environ)
        launch = Launch(dim3(grid, "grid"), dim3(block, "block"), whole(shared, "shared", 0), cooperative)
        for limit, name in ((threads, "threads"), (budget, "budget"), (sample, "sample")):
            if limit is not None:
                whole(limit, name, 1)
        self.check(launch, machine)
        memory = DeviceMemory()
        passed = pass_arguments(self.kernel, self.name, args, labels, memory, self._types)
        restored = {number for number, allocation in enumerate(memory.allocations) if allocation.ours}
        banks, variables = self._link(memory)
        request = LaunchRequest(
            self.kernel, self.program, launch, passed.block, memory, banks, machine.multiprocessors,
            budget or DEFAULT_BUDGET,
        )  # fmt: skip
        checks = checks_of(check)
        threads = threads or available_threads()
        try:
            counted = execute(request, threads=threads, progress=progress, checks=checks, sample=sample)
        except KernelFault:
            raise
        except BaseException:
            memory.undo()
            raise
        finally:  # after a fault, too
            memory.again(whole=sample is None)
            for array, position in passed.arrays:
                if position in memory.written - restored and array.flags.writeable:
                    memory.copy_back(position, array, threads)
            if variables is not None and variables in memory.written:
                memory.copy_back(variables, self.variables.image)
        arrays = {position for _, position in passed.arrays}
        inputs = arrays - memory.written or arrays
        input_bytes = sum(memory.allocations[position].size for position in inputs)
        changed_bytes = sum(memory.allocations[position].size for position in arrays & memory.written)
        memory.release()
        return Run(
            self, launch, counted, machine, tuple(labels), checks, input_bytes=input_bytes,
            changed_bytes=changed_bytes, again=request,
        )  # fmt: skip

    def sweep(
        self, grid: Any, block: Any, args: Sequence[Any] = (), *, shared: Any = 0,
        gpu: str | Sequence[str] | None = None, metrics: str | Sequence[str] = (), sample: int | None = None,
    ) -> Sweep:  # fmt: skip
        """Launches the kernel with each value of the parameters that are lists, with every combination of them.

        grid, block, shared  as of launch(), or a list; grid and shared may be functions of the block
        args     arguments as of launch(), or functions of the block.  Arrays and variables of the module are as they
                 were for each launch, and after all of them
        gpu      whose limits apply and where the time is predicted, or a list; None: no time is predicted
        metrics  names for further columns: "smsp__inst_executed.sum", "regex:sectors"
        sample   run so many blocks of each launch instead of all
        A launch that is refused or faults is a row with its error; if all are, the first error is raised.

        >>> x = np.zeros(1 << 16, np.float32)
        >>> args = x, x.copy(), np.int32(x.size)
        >>> kernel = wl.compile("examples/copy.cu")["nccopy"]
        >>> sweep = kernel.sweep(lambda block: x.size // block, [64, 128], args, metrics="smsp__inst_executed.sum")
        >>> [(row["block"], row["grid"], row["smsp__inst_executed.sum"]) for row in sweep]
        [(64, 1024, 77824), (128, 512, 77824)]
        """
        space = SweepSpace(grid, block, args, shared, gpu)
        variables = self.variables.image, self.variables.constants
        return run_sweep(self.name, space, partial(self.launch, sample=sample), variables, metrics)

    def job(self, launch: Launch, *args: Any) -> Job:
        """The launch with everything that it needs, to be repeated on a GPU.  UsageError as of launch()."""
        passed = pass_arguments(self.kernel, self.name, args, (), DeviceMemory(), self._types)
        if any(isinstance(value, MappedArray) for value in args):
            raise UsageError(f"{self.name} takes a tensor map, which is made for the memory here: no GPU can have it")
        args = tuple(plain(value) for value in args)
        distinct = {(a.ctypes.data, a.nbytes): n for n, (a, _) in enumerate(passed.arrays)}
        arguments: list[int | bytes] = []
        for parameter, value in zip(self.parameters, args, strict=True):
            if isinstance(value, np.ndarray) and value.ndim:
                arguments.append(distinct[value.ctypes.data, value.nbytes])
            else:
                arguments.append(passed.block[parameter.offset : parameter.offset + parameter.size])
        buffers = tuple(a.reshape(-1).view(np.uint8).copy() for a, _ in passed.arrays)
        changed = self.variables.changed(self.cubin)
        return Job(
            self.cubin.data, self.kernel.name, self.arch, launch, tuple(arguments), buffers, changed,
            self.kernel.cluster,
        )  # fmt: skip

    def _link(self, memory: DeviceMemory) -> tuple[dict[int, bytes], int | None]:
        """Constant banks with variables and addresses, and the number of the allocation of `__device__` variables."""
        variables, kernel = self.variables, self.kernel
        banks = {CONSTANT_BANK: variables.constants.tobytes()} if variables.constants.size else {}
        addresses = {**provided(), **kernel.functions}
        place = len(memory.allocations) if variables.image.size else None
        if place is not None:
            base = memory.allocate("__device__ variables", variables.image)
            addresses |= {name: base + variable.offset for name, variable in self.cubin.globals.items()}
            variables.link(self.cubin, addresses)
        if kernel.relocations:
            banks[4] = address_bank(kernel, addresses)
        return banks, place


def address_bank(kernel: Kernel, addresses: Mapping[str, int]) -> bytes:
    """Constant bank 4 with the addresses of functions and `__device__` variables."""
    bank = bytearray(kernel.constants.get(4, b""))
    for relocation in kernel.relocations:
        target = addresses.get(relocation.symbol, 0) + relocation.addend
        bank[relocation.offset : relocation.offset + 8] = target.to_bytes(8, "little")
    return bytes(bank)


def dim3(size: Size, what: str) -> Dim3:
    """Up to three positive sizes, the rest 1."""
    given = tuple(size) if isinstance(size, Sequence | np.ndarray) else (size,)
    if not 1 <= len(given) <= 3 or any(not isinstance(n, int | np.integer) or n < 1 for n in given):
        raise UsageError(f"{what} = {size!r}: one to three positive whole numbers are possible")
    x, y, z = (*map(int, given), 1, 1)[:3]
    return x, y, z


def whole(amount: int, what: str, least: int) -> int:
    """The amount as an int.  UsageError if it is no whole number, or less than `least`."""
    if not isinstance(amount, int | np.integer) or amount < least:
        raise UsageError(f"{what} = {amount!r}: whole numbers from {least} are possible")
    return int(amount)
