"""Inductor output: runs the Python files that PyTorch's inductor writes for a GPU with torch's build for the CPU.

Such a file (output_code.py, TORCH_LOGS=output_code) allocates tensors in the GPU's memory, asks for its stream, and
launches kernels through an autotuner around Triton's.  Here tensors are the host's, and Triton's driver is ours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from typing import Any

from warplens.frontend.triton_driver import current

IMPORT = "torch._inductor.async_compile"
"""What each such file imports."""

SETTINGS = {"compile_threads": 1, "use_static_cuda_launcher": False}
"""Kernels are compiled in this process, and launched by Triton's own launcher."""

MISSING = object()


class HostInterface:
    """Device interface: the host in place of a GPU, as torch._dynamo.device_interface.DeviceInterface."""

    @staticmethod
    def device(index: object) -> AbstractContextManager[None]:
        return nullcontext()

    @staticmethod
    def exchange_device(index: object) -> int:
        return 0

    maybe_exchange_device = exchange_device

    @staticmethod
    def current_device() -> int:
        return 0

    @staticmethod
    def get_raw_stream(index: object) -> int:
        return 0

    @staticmethod
    def synchronize(device: object = None) -> None:
        """Nothing: a launch is executed when it is called."""


@contextmanager
def inductor_on_host() -> Iterator[None]:
    """Within it files that inductor wrote can run.  Triton's driver must be ours, of triton_launches()."""
    import torch
    from torch._dynamo import device_interface
    from torch._inductor import config, utils, wrapper_benchmark
    from torch._inductor.runtime import triton_helpers, triton_heuristics

    guards = torch._C._dynamo.guards
    with ExitStack() as stack:
        for owner, name, value in (
            (torch._C, "_cuda_getCurrentRawStream", HostInterface.get_raw_stream),
            (guards, "_empty_strided_cuda", guards._empty_strided_cpu),
            (torch.cuda, "_DeviceGuard", HostInterface.device),
            (torch.cuda, "set_device", lambda device: None),
            (torch.cuda, "synchronize", HostInterface.synchronize),
            (device_interface, "get_interface_for_device", lambda device: HostInterface),
            (triton_helpers, "set_driver_to_gpu", lambda: None),
            (triton_heuristics.CachingAutotuner, "bench", predicted_milliseconds),
            (wrapper_benchmark, "compiled_module_main", once),
            (utils, "print_performance", lambda call, **_: call()),
        ):
            _replace(stack, owner, name, value)
        stack.enter_context(config.patch({name: value for name, value in SETTINGS.items() if hasattr(config, name)}))
        stack.enter_context(_host_tensors())
        yield


def once(name: str, benchmark: Callable[..., Any]) -> None:
    """In place of compiled_module_main, which measures: one call with the arguments that the file makes up."""
    benchmark(times=1, repeat=1)


def predicted_milliseconds(tuner: Any, launcher: Any, *args: Any, with_profiler: bool = False, **kwargs: Any) -> Any:
    """In place of CachingAutotuner.bench, which measures a configuration."""
    driver = current()
    assert driver is not None
    given, named = tuner.maybe_clone_args({}, *args, **kwargs)
    tuner.reset_to_zero_args(*args, **kwargs)
    return driver.get_benchmarker()(lambda: launcher(*given, **named, stream=0))


def _replace(stack: ExitStack, owner: Any, name: str, value: Any) -> None:
    before = getattr(owner, name, MISSING)
    setattr(owner, name, value)
    if before is MISSING:
        stack.callback(delattr, owner, name)
    else:
        stack.callback(setattr, owner, name, before)


def _host_tensors() -> Any:
    """A mode of torch in which tensors for "cuda" are made in the host's memory."""
    import torch
    from torch.overrides import TorchFunctionMode

    def on_host(value: Any) -> Any:
        is_gpu = isinstance(value, str | torch.device) and str(value).split(":")[0] == "cuda"
        return "cpu" if is_gpu else value

    def call(mode: object, function: Any, types: object, args: Any = (), kwargs: Any = None) -> Any:
        named = {name: on_host(value) for name, value in (kwargs or {}).items()}
        return function(*map(on_host, args), **named)

    return type("HostTensors", (TorchFunctionMode,), {"__torch_function__": call})()
