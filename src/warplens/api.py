"""compile, load, launch: from a CUDA file to counts.  Top to bottom, the architecture."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from warplens.compiler import (
    assemble,
    check_architecture,
    compile_source,
    cubins_within,
    is_cubin,
    is_ptx,
    read_cubin,
)  # fmt: skip
from warplens.compiler.parameter_type import ParameterType, types_of
from warplens.control_characters import visible
from warplens.core.cubin import Cubin, Kernel, Parameter, chip_number
from warplens.core.demangle import cpp_names, demangled, same_name
from warplens.core.device_variables import CONSTANT_BANK, Variables
from warplens.core.hazard import checks_of
from warplens.core.launch import Dim3, Launch
from warplens.core.program import Program
from warplens.counters.occupancy import occupancy
from warplens.emulator import DeviceMemory, available_threads, pass_arguments, provided
from warplens.emulator import run as execute
from warplens.errors import CubinError, KernelFault, UsageError
from warplens.hardware.launch_job import Job
from warplens.launchspec.pitched_array import Pitched, allocate, padded, plain
from warplens.machine import Machine, choose
from warplens.machine.launch_limits import check_cluster_size, check_cooperative, check_launch
from warplens.run import ReplayState, Run
from warplens.sass import disassemble

Size = int | Sequence[int]
Progress = Callable[[int, int], None]


def compile(
    path: str | Path | None = None, *, source: str | None = None, arch: str = "sm_90",
    options: Sequence[str] = (), names: Sequence[str] = (),
) -> Module:  # fmt: skip
    """CUDA C++ to a module, or PTX: the content of a file whose name ends in .ptx, or text that begins as PTX does.

    path or source   the code; `options` go to NVRTC (of PTX: to ptxas) as they are
    names            name expressions of templates ("copy<float>"), which are then found under these names
    Raises CompileError with the compiler's own log, UsageError for an unknown architecture or a missing file.

    >>> module = wl.compile("examples/copy.cu", arch="sm_90")
    >>> module
    <Module for sm_90: ccopy, nccopy>
    >>> source = "template <class T> __global__ void fill(T* x, T v) { x[threadIdx.x] = v; }"
    >>> wl.compile(source=source, names=["fill<double>"])["fill<double>"].arch
    'sm_90'
    """
    if (path is None) == (source is None):
        raise UsageError("compile() takes either a path or source=")
    check_architecture(arch)
    name = str(path) if path is not None else "source.cu"
    text = source if source is not None else read_source(Path(name))
    if is_ptx(name, text):
        return Module(_placed(read_cubin(assemble(text, name, arch, options)), path), {})
    data, lowered = compile_source(text, name, arch, options, names)
    return Module(read_cubin(data, {name: text}), dict(lowered))


def read_source(path: Path) -> str:
    """The text, in UTF-8 or else in Latin-1, as older editors write it.  UsageError."""
    data = read_code(path)
    if b"\0" in data:
        raise UsageError(f"cannot read {path} as text: it holds bytes of 0; a cubin needs a name that ends in .cubin")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def load(path: str | Path | bytes, arch: str | None = None, kernel: str | None = None) -> Module:
    """A finished cubin, by path or as bytes; or one of those that nvcc has put into a program, library or fatbin.

    arch     which code is meant where the file has some for several architectures; else the newest
    kernel   one that the module must have, where the file has several of the same architecture
    CubinError if there is none, UsageError if it is not said which.

    >>> cubin = wl.compile("examples/copy.cu").cubin.data
    >>> wl.load(cubin)["nccopy"].registers
    12
    """
    found = load_all(path, arch)
    meant = [module for module in found if kernel is None or kernel in module]
    if len(meant) == 1:
        return meant[0]
    names = " | ".join(", ".join(module) for module in found)
    raise UsageError(f"say one kernel, load(..., kernel=...), of those in the file's modules: {names}")


def load_all(path: str | Path | bytes, arch: str | None = None, usual: str | None = None) -> list[Module]:
    """The modules with kernels that a file has for one architecture: `arch`, or else `usual`, or else the newest.

    A cubin is one, and has its own architecture.  CubinError or UsageError.
    """
    data, said = (path, "") if isinstance(path, bytes) else (read_code(path), f"{path}: ")
    try:
        within = {} if is_cubin(data) else cubins_within(data)
        chosen = arch or (usual if usual in within else max(within, key=chip_number, default=""))
        place = None if isinstance(path, bytes) else path
        made = [Module(_placed(read_cubin(code), place), {}) for code in within.get(chosen, [] if within else [data])]
        if arch and arch not in {module.arch for module in made}:
            held = ", ".join(within or [module.arch for module in made])
            raise UsageError(f"{said}it holds code for {held}, none for {arch}; --arch compiles source files only")
        return [module for module in made if len(module)] or made[:1]
    except CubinError as error:
        raise CubinError(f"{said}{error}") from None


def _placed(cubin: Cubin, path: str | Path | None) -> Cubin:
    """The cubin of the file at this path."""
    return cubin if path is None else replace(cubin, folder=Path(path).absolute().parent)


def read_code(path: str | Path) -> bytes:
    try:
        return Path(path).read_bytes()
    except FileNotFoundError:
        raise UsageError(f"no such file: {path}") from None
    except IsADirectoryError:
        raise UsageError(f"{path} is a directory; give a .cu file, a .ptx file or a cubin") from None
    except (OSError, ValueError) as error:  # ValueError: a path with a byte of 0
        raise UsageError(f"cannot read {path}: {getattr(error, 'strerror', error)}") from None


class Module:
    """The kernels of one cubin: a mapping of name to LaunchableKernel.

    variables   `__device__` and `__constant__` variables by name, which can be read and set
    cubin       what the file holds: `cubin.data` are its bytes, `cubin.sources` the text that was compiled

    >>> module = wl.compile("examples/copy.cu")
    >>> list(module), "ccopy" in module
    (['ccopy', 'nccopy'], True)
    >>> module = wl.compile(source="__device__ float table[4]; __global__ void k(float* x) { *x = table[1]; }")
    >>> module.variables["table"] = np.ones(4, np.float32)
    >>> module.variables["table"]
    <__device__ variable table: 16 bytes>
    """

    def __init__(self, cubin: Cubin, lowered: Mapping[str, str]) -> None:
        self.cubin = cubin
        self.variables = Variables(cubin)
        self._lowered = dict(lowered)
        self._programs = disassemble(cubin)
        self._found: dict[str, LaunchableKernel] = {}

    def __repr__(self) -> str:
        return visible(f"<Module for {self.arch}: {', '.join(self) or 'no kernels'}>")

    @property
    def arch(self) -> str:
        """What the code is compiled for: "sm_90"."""
        return self.cubin.arch

    def __iter__(self) -> Iterator[str]:
        """C++ names of the kernels: "copy<float>"."""
        return map(self.spoken, self.cubin.kernels)

    def __len__(self) -> int:
        return len(self.cubin.kernels)

    def _symbol(self, name: str) -> str:
        """The kernel's name in the cubin; a function without `extern "C"` is found by its C++ name too."""
        if name in self.cubin.kernels or name in self._lowered:
            return self._lowered.get(name, name)
        wanted = same_name(name)
        alike = [symbol for symbol in self.cubin.kernels if wanted in map(same_name, cpp_names(symbol))]
        whole = [symbol for symbol in alike if wanted.removeprefix("::") == same_name(demangled(symbol))]
        return next((found[0] for found in (whole, alike) if len(found) == 1), name)

    def spoken(self, symbol: str) -> str:
        """What a reader calls this kernel, and finds it by: its C++ name, where only one kernel has that."""
        return next((name for name in cpp_names(symbol) if self._symbol(name) == symbol), symbol)

    def __contains__(self, name: str) -> bool:
        return self._symbol(name) in self.cubin.kernels

    def __getitem__(self, name: str) -> LaunchableKernel:
        symbol = self._symbol(name)
        if symbol not in self.cubin.kernels:
            known = ", ".join(dict.fromkeys([*self._lowered, *map(self.spoken, self.cubin.kernels)])) or "none"
            raise UsageError(f"no kernel {name!r} here; there are: {known}")
        if symbol not in self._found:
            kernel = self.cubin.kernels[symbol]
            self._found[symbol] = LaunchableKernel(self.cubin, kernel, name, self.variables, self._programs)
        return self._found[symbol]


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
        self._programs = programs  # of the whole cubin, which is disassembled once

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
        """With its C++ name, for messages."""
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
                     buffers with padded rows.
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
        banks, variables = self._link(memory)
        limits = {} if budget is None else {"budget": budget}
        checks = checks_of(check)
        threads = threads or available_threads()
        try:
            counted = execute(
                self.kernel, self.program, launch, passed.block, memory, banks=banks, threads=threads,
                multiprocessors=machine.multiprocessors, progress=progress, checks=checks, sample=sample,
                **limits,
            )  # fmt: skip
        except KernelFault:
            raise
        except BaseException:
            memory.undo()
            raise
        finally:  # after a fault, too
            memory.again(whole=sample is None)
            for array, position in passed.arrays:
                if position in memory.written and array.flags.writeable:
                    memory.copy_back(position, array, threads)
            if variables is not None and variables in memory.written:
                memory.copy_back(variables, self.variables.image)
        arrays = {position for _, position in passed.arrays}
        inputs = arrays - memory.written or arrays
        input_bytes = sum(memory.allocations[position].size for position in inputs)
        memory.release()
        again = ReplayState(passed.block, memory, banks)
        return Run(self, launch, counted, machine, tuple(labels), checks, input_bytes=input_bytes, again=again)

    def job(self, launch: Launch, *args: Any) -> Job:
        """The launch with everything that it needs, to be repeated on a GPU.  UsageError as of launch()."""
        passed = pass_arguments(self.kernel, self.name, args, (), DeviceMemory(), self._types)
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
            bank = bytearray(kernel.constants.get(4, b""))
            for relocation in kernel.relocations:
                target = addresses.get(relocation.symbol, 0) + relocation.addend
                bank[relocation.offset : relocation.offset + 8] = target.to_bytes(8, "little")
            banks[4] = bytes(bank)
        return banks, place


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


def pitched(array: NDArray[Any], *, gpu: str | None = None) -> Pitched:
    """A copy of a 2-D or 3-D array, as a device buffer whose rows begin at multiples of the GPU's pitch alignment.

    gpu   whose alignment it is (default: WARPLENS_GPU, the GPU in the machine, h200).  UsageError for another shape.

    >>> picture = wl.pitched(np.ones((3, 5), np.float32))
    >>> picture, picture.array.shape
    (<Pitched float32 array of shape (3, 5), pitch 512 bytes>, (3, 5))
    """
    return padded(np.asarray(array), _alignment(gpu))


def empty_pitched(shape: Sequence[int], dtype: DTypeLike, *, gpu: str | None = None) -> Pitched:
    """A device buffer with padded rows whose contents are not set: NaN in floats, -1 in signed integers.

    gpu   whose alignment it is, as for pitched().  UsageError for a shape of other than 2 or 3 sizes.

    >>> wl.empty_pitched((4, 100), np.int32).pitch
    512
    """
    return allocate(shape, dtype, _alignment(gpu))


def _alignment(gpu: str | None) -> int:
    return choose(gpu, os.environ)[0].limits.pitch_alignment_bytes


def report(run: Run, path: str | Path) -> None:
    """Writes a run to `path`: a page for .html, the document for .json.  UsageError for another ending.

    >>> x = np.zeros(128, np.float32)
    >>> run = wl.compile("examples/copy.cu")["ccopy"].launch(1, 128, x, x.copy(), np.int32(128))
    >>> wl.report(run, "/dev/stdout")
    Traceback (most recent call last):
      ...
    warplens.errors.UsageError: a report cannot be written to /dev/stdout: .html and .json are possible endings
    """
    run.report(path)
