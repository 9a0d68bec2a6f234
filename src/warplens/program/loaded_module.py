"""Loaded module: an image that a program has loaded: its kernels, and its variables in the arena."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from warplens.api import Module
from warplens.compiler import assemble, is_cubin, read_cubin
from warplens.compiler.fatbin import fitting_entry, is_fatbin
from warplens.core.cubin import Kernel, chip_number
from warplens.core.device_variables import CONSTANT_BANK
from warplens.core.launch import Dim3, Launch
from warplens.counters.occupancy import occupancy
from warplens.emulator import provided
from warplens.errors import CompileError, CubinError, WarplensError
from warplens.kernel import LaunchableKernel, address_bank
from warplens.machine import Machine
from warplens.program.arena import Arena
from warplens.program.protocol import FUNCTION, PARAMETER, LaunchMessage, Status


class ImageError(WarplensError):
    """An image that cannot be loaded; `status` is what the program sees."""

    def __init__(self, message: str, status: Status) -> None:
        super().__init__(message)
        self.status = status


def machine_code(image: bytes, gpu: Machine) -> bytes:
    """The cubin of an image for a GPU: itself, one in a fatbin, or assembled PTX.  ImageError, CubinError."""
    if is_fatbin(image):
        entry = fitting_entry(image, gpu.arch)
        if entry is None:
            raise ImageError(f"it has no code that {gpu.title} ({gpu.arch}) can run", Status.NO_BINARY)
        image = entry.code
    if is_cubin(image):
        return image
    try:
        return assemble(image.rstrip(b"\0").decode("latin-1"), "the program's PTX", gpu.arch)
    except CompileError as error:
        raise ImageError(str(error), Status.INVALID_PTX) from None


class LoadedModule:
    """Loaded module: `module`, with the addresses of its `__device__` variables and of constant bank 3."""

    def __init__(self, image: bytes, gpu: Machine, arena: Arena) -> None:
        try:
            self.module = Module(read_cubin(machine_code(image, gpu)), {})
        except CubinError as error:
            raise ImageError(str(error), Status.INVALID_IMAGE) from None
        arch, wanted = chip_number(self.module.arch), chip_number(gpu.arch)
        if arch // 10 != wanted // 10 or arch > wanted:
            raise ImageError(f"its code is for {self.module.arch}, {gpu.title} is {gpu.arch}", Status.NO_BINARY)
        self.arena = arena
        variables = self.module.variables
        self.variables = self.constants = 0
        if variables.image.size:
            self.variables = arena.place_variables(variables.image, "__device__ variables")
            variables.link(self.module.cubin, self.addresses)
            arena.view(self.variables, variables.image.size)[:] = variables.image
        if variables.constants.size:
            self.constants = arena.place_variables(variables.constants, "__constant__ variables")

    @cached_property
    def addresses(self) -> dict[str, int]:
        """Addresses of the driver's functions and the module's `__device__` variables, by symbol."""
        cubin = self.module.cubin
        functions = {name: at for kernel in cubin.kernels.values() for name, at in kernel.functions.items()}
        named = {name: self.variables + variable.offset for name, variable in cubin.globals.items()}
        return {**provided(), **functions, **named}

    def unload(self) -> None:
        for place in (self.variables, self.constants):
            self.arena.remove(place)

    def variable(self, name: str) -> tuple[int, int] | None:
        """Address and bytes of a variable, by symbol."""
        cubin = self.module.cubin
        for places, base in ((cubin.globals, self.variables), (cubin.constants, self.constants)):
            if name in places:
                return base + places[name].offset, places[name].size
        return None

    def banks(self, kernel: Kernel) -> dict[int, bytes]:
        """The constant banks of a launch, as the variables are now."""
        banks = {}
        if self.constants:
            banks[CONSTANT_BANK] = self.arena.view(self.constants, self.module.variables.constants.size).tobytes()
        if kernel.relocations:
            banks[4] = address_bank(kernel, {**self.addresses, **kernel.functions})
        return banks


@dataclass(frozen=True, eq=False)
class LaunchConfiguration:
    """Launch configuration: a kernel with grid, block, shared memory and cluster, checked; the same object for equal
    launches.

    share   of the GPU that the grid occupies, at most 1
    """

    function: LoadedFunction
    kernel: LaunchableKernel
    launch: Launch
    share: float


class LoadedFunction:
    """Loaded function: a kernel of a loaded module; `name` as a reader calls it."""

    def __init__(self, owner: LoadedModule, symbol: str) -> None:
        self.owner = owner
        self.kernel = owner.module[symbol]
        self.name = owner.module.spoken(symbol)
        self._clusters: dict[Dim3, LaunchableKernel] = {}
        self._configurations: dict[tuple[object, ...], LaunchConfiguration] = {}

    def configuration(self, message: LaunchMessage, gpu: Machine) -> LaunchConfiguration:
        """That of a launch.  UsageError if the GPU refuses it."""
        asked = message.grid, message.block, message.shared, message.cooperative
        found = self._configurations.get((asked, message.cluster))
        if found is None:
            kernel, launch = self.in_clusters(message.cluster), Launch(*asked)
            kernel.check(launch, gpu)
            used = kernel.kernel
            resident = gpu.multiprocessors * occupancy(
                gpu, used.registers, launch.threads_per_block, used.shared_bytes, launch.shared, used.barriers
            ).blocks  # fmt: skip
            share = min(1.0, launch.blocks / resident) if resident else 1.0
            found = LaunchConfiguration(self, kernel, launch, share)
            self._configurations[asked, message.cluster] = found
        return found

    def in_clusters(self, size: Dim3) -> LaunchableKernel:
        """The kernel as a launch with this attribute starts it; (0, 0, 0): without it."""
        if not any(size):
            return self.kernel
        if size not in self._clusters:
            self._clusters[size] = self.kernel.in_clusters(size)
        return self._clusters[size]

    def record(self, number: int, gpu: Machine) -> bytes:
        """What the program is told of it (struct function_info)."""
        kernel = self.kernel.kernel
        by_registers = gpu.limits.registers_per_block // (max(kernel.registers, 16) * 32) // 4 * 4 * 32
        threads = min(kernel.max_threads or gpu.limits.threads_per_block, gpu.limits.threads_per_block, by_registers)
        constants = self.owner.module.variables.constants.size
        cluster = kernel.cluster if kernel.cluster_blocks > 1 else (0, 0, 0)
        head = FUNCTION.pack(
            number, kernel.registers, kernel.shared_bytes, kernel.local_bytes, constants, threads,
            chip_number(kernel.arch), len(kernel.parameters), kernel.parameter_bytes, *cluster,
        )  # fmt: skip
        return head + b"".join(PARAMETER.pack(p.offset, p.size) for p in kernel.parameters)
