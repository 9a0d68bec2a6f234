"""Triton driver: takes the place of the GPU's in Triton, which compiles as always, and launches on the CPU."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from threading import RLock
from types import SimpleNamespace
from typing import Any

import numpy as np

from warplens.compiler import read_cubin
from warplens.core.cubin import chip_number
from warplens.errors import UsageError
from warplens.frontend.launch_options import USUAL, LaunchOptions
from warplens.frontend.python_kernel import load_kernel, short_path
from warplens.frontend.triton_arguments import converted, flattened, im2col_map, tiled_map
from warplens.kernel import LaunchableKernel
from warplens.machine import Machine
from warplens.run import Run

WARP = 32
UNUSED = 4  # packed metadata, launch metadata, enter hook, exit hook
SCRATCH = ("global_scratch", "profile_scratch")
"""Pointers behind a kernel's own arguments: to memory that it uses as it likes, one part a block."""


def source_file(function: Any) -> str:
    """The Python file of a kernel; "" of one that comes as Triton's own intermediate code."""
    if function is None:
        return ""
    named = getattr(function, "file_name", None)  # not before Triton 3.7
    return str(named or function.fn.__code__.co_filename)


@dataclass
class TritonDriver:
    """The driver of one GPU as Triton calls it (triton.backends.driver.DriverBase); `runs` are the launches so far."""

    machine: Machine
    options: LaunchOptions = USUAL
    runs: list[Run] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._file = self._version = ""  # where the kernel is written that Triton loads next, and Triton's version
        self.utils = SimpleNamespace(
            load_binary=self._load, unload_module=lambda module: None, get_device_properties=self._properties,
            fill_tma_descriptor_tiled=tiled_map, fill_tma_descriptor_im2col=im2col_map,
        )  # fmt: skip

    def get_current_target(self) -> Any:
        from triton.backends.compiler import GPUTarget

        return GPUTarget("cuda", chip_number(self.machine.arch), WARP)

    def get_current_device(self) -> str:
        """Key of Triton's own caches: no number, so that none is that of a GPU in the machine."""
        return f"warplens {self.machine.key}"

    def set_current_device(self, device: object) -> None:
        """Nothing: there is one device."""

    def get_current_stream(self, device: object) -> int:
        return 0

    def get_active_torch_device(self) -> Any:
        import torch

        return torch.device("cpu")

    def get_benchmarker(self) -> Callable[..., Any]:
        return self._benchmark

    def get_device_interface(self) -> Any:
        raise UsageError("triton.testing.do_bench measures on a GPU; run.predict() has the time that is predicted")

    def map_python_to_cpp_type(self, type: str) -> str:
        from triton.backends.nvidia.driver import ty_to_cpp

        return str(ty_to_cpp(type))

    def launcher_cls(self, source: Any, metadata: Any) -> Callable[..., None]:
        """What Triton calls to launch a compiled kernel, which it loads next."""
        self._file = source_file(getattr(source, "fn", None))
        self._version = getattr(metadata, "triton_version", "")
        return TritonLauncher(self, tuple(source.signature.items()), metadata, short_path(self._file))

    def _properties(self, device: object) -> Mapping[str, int]:
        limits = self.machine.limits
        return {
            "max_shared_mem": limits.shared_bytes_per_block_optin, "max_num_regs": limits.registers_per_multiprocessor,
            "multiprocessor_count": self.machine.multiprocessors, "warpSize": WARP,
            "sm_clock_rate": int(self.machine.boost_megahertz * 1000),
        }  # fmt: skip

    def _load(self, name: str, code: bytes, shared: int, device: object) -> tuple[Any, LaunchableKernel, int, int, int]:
        """Module, function, registers, spilled registers and threads that a block can have."""
        kernel = load_kernel(read_cubin(code), name, self._file, ("Triton", self._version))
        return kernel, kernel, kernel.registers, kernel.local_bytes // 4, self.machine.limits.threads_per_block

    def _benchmark(self, call: Callable[[], object], quantiles: Sequence[float] | None = None, **_: Any) -> Any:
        """Milliseconds that its last launch is predicted to take, for the autotuner."""
        before = len(self.runs)
        call()
        if len(self.runs) == before:
            raise UsageError("there is no launch to be timed")
        milliseconds = self.runs[-1].predict().time_us / 1000
        return [milliseconds] * len(quantiles) if quantiles else milliseconds


@dataclass(frozen=True)
class TritonLauncher:
    """Launcher of one compiled kernel, as Triton calls it; `file` is where it is written."""

    driver: TritonDriver
    signature: tuple[tuple[str, Any], ...]
    metadata: Any
    file: str = ""

    def __call__(self, x: int, y: int, z: int, stream: object, kernel: LaunchableKernel, *call: Any) -> None:
        """call: metadata and hooks for profilers, which are not used, and the arguments"""
        values = call[UNUSED:]
        driver = current() or self.driver  # Triton keeps the launcher for all that have this GPU
        metadata = self.metadata
        blocks = getattr(metadata, "num_ctas", 1)
        passed = flattened(self.signature, values, getattr(metadata, "tensordesc_meta", None) or ())
        sizes = [parameter.size for parameter in kernel.parameters]
        extra = [_scratch(metadata, name, x * y * z * blocks) for name in SCRATCH[: len(sizes) - len(passed)]]
        given = [converted(value, size) for value, size in zip(passed, sizes, strict=False)]
        run = kernel.launch(
            (x * blocks, y, z), metadata.num_warps * WARP, *given, *extra, shared=metadata.shared,
            cooperative=bool(getattr(metadata, "launch_cooperative_grid", False)), gpu=driver.machine.key,
            labels=[value.name for value in passed] + list(SCRATCH[: len(extra)]),
            cluster=(blocks, 1, 1) if blocks > 1 else None, **driver.options.given,
        )  # fmt: skip
        driver.runs.append(replace(run, title=kernel.name, file=self.file))


def _scratch(metadata: Any, name: str, blocks: int) -> Any:
    size = getattr(metadata, f"{name}_size", 0)
    return np.zeros(size * blocks, np.uint8) if size else None


_ACTIVE = RLock()
_DRIVERS: list[TritonDriver] = []  # those that are active, the innermost last


@contextmanager
def active(driver: TritonDriver) -> Iterator[TritonDriver]:
    """Triton with this driver, in all threads; what it launches belongs to the one that was active before, too."""
    config = triton_module().runtime.driver
    with _ACTIVE:
        before, known = config._active, len(driver.runs)
        config.set_active(driver)
        _DRIVERS.append(driver)
        try:
            yield driver
        finally:
            config._active = before
            _DRIVERS.pop()
            if (outer := current()) and outer is not driver:
                outer.runs.extend(driver.runs[known:])


def current() -> TritonDriver | None:
    """The driver that is active, if it is one of these."""
    return _DRIVERS[-1] if _DRIVERS else None


def triton_module() -> Any:
    try:
        import triton
    except ImportError as error:
        raise UsageError(f'Triton is not installed ({error}): pip install "warplens[triton]"') from None
    return triton


def triton_installed() -> bool:
    return find_spec("triton") is not None
