"""Device: the GPU in this machine; launches kernels on it through cuda-core."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from warplens.core.demangle import demangled
from warplens.errors import HardwareError, KernelFault, UsageError
from warplens.hardware.launch_job import Bytes, Job

SCALARS = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}
DRIVER = Path("/proc/driver/nvidia/version")
STATIC_LIMIT = 48 * 1024  # bytes of dynamic shared memory that a kernel gets without asking


@dataclass(frozen=True)
class Gpu:
    """Device 0: its name and arch ("sm_90"); driver ("580.159.04", "" if unknown) and the CUDA version that
    this supports ("13.0")."""

    name: str
    arch: str
    driver: str
    cuda: str
    device: Any


def open_gpu() -> Gpu:
    """Device 0.  HardwareError where there is no driver, no GPU or no cuda-core."""
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        raise HardwareError("no NVIDIA driver on this machine (libcuda.so.1): run this where a GPU is") from None
    try:
        from cuda.bindings import driver
        from cuda.core import Device
    except ImportError:
        raise HardwareError("cuda-core is not installed: pip install 'warplens[gpu]'") from None
    try:
        device = Device(0)
        device.set_current()
        major, minor = device.compute_capability
        _, version = driver.cuDriverGetVersion()
    except Exception as error:  # cuda-core has no common class for these
        raise HardwareError(f"the NVIDIA driver gives no usable GPU: {error}") from None
    cuda = f"{version // 1000}.{version % 1000 // 10}"
    return Gpu(str(device.name), f"sm_{major}{minor}", driver_version(), cuda, device)


def driver_version() -> str:
    """ "580.159.04", or "" where the driver does not report it."""
    try:
        words = DRIVER.read_text(encoding="utf-8").split()
    except OSError:
        return ""
    return next((word for word in words if word[:1].isdigit() and word.count(".") >= 1), "")


@dataclass(frozen=True)
class Ready:
    """A launch that only has to be started: `buffers` on the GPU, filled; `start()` puts it into `stream`."""

    stream: Any
    buffers: list[Any]
    start: Callable[[], None]


@contextmanager
def prepared(job: Job, gpu: Gpu) -> Iterator[Ready]:
    """HardwareError if this GPU cannot run the code, UsageError for arguments that cannot be passed from here."""
    from cuda.core import LaunchConfig, ObjectCode
    from cuda.core import launch as start

    if job.arch.rstrip("af") != gpu.arch:
        raise HardwareError(
            f"{demangled(job.kernel)} is compiled for {job.arch}, the {gpu.name} here is {gpu.arch}: give --arch "
            f"{gpu.arch}"
        )
    with _as_hardware_error(job, gpu):
        stream = gpu.device.create_stream()
        module = ObjectCode.from_cubin(job.cubin)
        kernel = module.get_kernel(job.kernel)
        if job.launch.shared > STATIC_LIMIT:
            allow_shared(kernel, job.launch.shared, gpu)
        _set_variables(module, job)
        buffers = [_filled(gpu, stream, data) for data in job.buffers]
        clusters = tuple(blocks // size for blocks, size in zip(job.launch.grid, job.cluster, strict=True))
        config = LaunchConfig(  # where cuda-core is given clusters, its grid counts these
            grid=clusters, block=job.launch.block, shmem_size=job.launch.shared,
            is_cooperative=job.launch.cooperative, cluster=None if job.cluster == (1, 1, 1) else job.cluster,
        )  # fmt: skip
        passed = _passed(job, buffers)
    yield Ready(stream, buffers, lambda: start(stream, config, kernel, *passed))
    for buffer in buffers:
        buffer.close(stream)
    stream.sync()


def launch(job: Job, gpu: Gpu) -> list[Bytes]:
    """Runs the kernel; the buffers' bytes afterwards.

    HardwareError if this GPU cannot run the code, KernelFault if the kernel fails on it: the process then has to end,
    the driver gives the GPU back to no one else in it.
    """
    with prepared(job, gpu) as ready:
        with _as_hardware_error(job, gpu):
            ready.start()
        try:
            ready.stream.sync()
        except Exception as error:
            raise KernelFault(f"{demangled(job.kernel)} failed on the {gpu.name}: {error}") from None
        return [_read(buffer, data) for buffer, data in zip(ready.buffers, job.buffers, strict=True)]


@contextmanager
def _as_hardware_error(job: Job, gpu: Gpu) -> Iterator[None]:
    try:
        yield
    except UsageError:
        raise
    except Exception as error:  # cuda-core has no common class for these
        raise HardwareError(f"{demangled(job.kernel)} cannot be launched on the {gpu.name}: {error}") from None


def _passed(job: Job, buffers: Sequence[Any]) -> list[Any]:
    """Arguments as cuda-core takes them: buffers, and numbers of the parameter's size."""
    passed: list[Any] = []
    for argument in job.arguments:
        if isinstance(argument, int):
            passed.append(buffers[argument])
        elif len(argument) in SCALARS:
            passed.append(np.frombuffer(argument, SCALARS[len(argument)])[0])
        else:
            raise UsageError(
                f"{job.kernel} takes a structure of {len(argument)} bytes, which cannot be passed to a GPU from here; "
                "parameters of 1, 2, 4 and 8 bytes can"
            )
    return passed


def _filled(gpu: Gpu, stream: Any, data: Bytes) -> Any:
    from cuda.bindings import driver

    buffer = gpu.device.allocate(max(data.nbytes, 1), stream=stream)
    stream.sync()
    if data.nbytes:
        check(driver.cuMemcpyHtoD(int(buffer.handle), data.ctypes.data, data.nbytes))
    return buffer


def _read(buffer: Any, like: Bytes) -> Bytes:
    from cuda.bindings import driver

    result = np.empty_like(like)
    if result.nbytes:
        check(driver.cuMemcpyDtoH(result.ctypes.data, int(buffer.handle), result.nbytes))
    return result


def allow_shared(kernel: Any, amount: int, gpu: Gpu) -> None:
    from cuda.bindings import driver

    attribute = driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
    check(driver.cuKernelSetAttribute(attribute, amount, kernel.handle, gpu.device.device_id))


def _set_variables(module: Any, job: Job) -> None:
    from cuda.bindings import driver

    if not job.variables:
        return
    loaded = module.get_module()
    for name, data in job.variables.items():
        error, place, size = driver.cuModuleGetGlobal(loaded, name.encode())
        check((error,))
        kept = np.frombuffer(data, np.uint8)
        check(driver.cuMemcpyHtoD(place, kept.ctypes.data, min(size, kept.nbytes)))


def check(answer: Sequence[Any]) -> Any:
    """The result of a call to the driver, None where it has none."""
    if int(answer[0]):
        raise HardwareError(f"the driver answered {answer[0].name}")
    return answer[1] if len(answer) > 1 else None
