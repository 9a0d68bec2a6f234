"""What a CUDA kernel executes, how long it takes and why; no GPU is needed.

    import numpy as np
    import warplens as wl

    module = wl.compile("copy.cu", arch="sm_90")     # CUDA C++ or PTX; wl.load() for a cubin or a program
    kernel = module["nccopy"]                        # .registers .shared_bytes .local_bytes .parameters .instructions
    x = np.arange(1 << 20, dtype=np.float32)
    y = np.zeros_like(x)
    run = kernel.launch((8192,), (128,), x, y, x.size)   # grid, block, arguments; arrays are updated in place

    run["smsp__inst_executed.sum"]                   # a metric under its Nsight Compute name
    run.metrics.to_frame()                           # all of them: value, unit, provenance
    prediction = run.predict("h200")                 # .time_us .duration_us .limit .metrics .stalls
    kernel.sweep((8192,), [64, 128], (x, y, x.size), gpu="h200")   # a row for each launch: .best .to_frame()
    wl.advise(run, gpu="h200")                       # what is wrong, and what it costs at the most
    wl.compare(run, other)                           # what the other does more or less, and why
    wl.report(run, "report.html")

Errors that the user can mend are subclasses of WarplensError.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from warplens.version import __version__

if TYPE_CHECKING:
    from warplens.advice.advise import Advice, advise
    from warplens.advice.run_comparison import RunComparison, compare
    from warplens.api import Module, compile, empty_pitched, load, pitched, report, tensor_map
    from warplens.core.metric import Metric, Metrics
    from warplens.errors import (
        CompileError,
        CubinError,
        HardwareError,
        KernelFault,
        Unpredictable,
        UnsupportedInstruction,
        UsageError,
        WarplensError,
    )
    from warplens.frontend.tile_kernel import CudaTileKernel, cuda_tile, cuda_tile_launches
    from warplens.frontend.triton_kernel import TritonKernel, triton, triton_launches
    from warplens.kernel import LaunchableKernel
    from warplens.launchspec.mapped_array import MappedArray
    from warplens.launchspec.pitched_array import Pitched
    from warplens.model.result.prediction import Prediction
    from warplens.run import Run
    from warplens.sweep.sweep_table import Sweep

_HOMES = {
    "advice.advise": ("Advice", "advise"),
    "advice.run_comparison": ("RunComparison", "compare"),
    "api": ("Module", "compile", "empty_pitched", "load", "pitched", "report", "tensor_map"),
    "frontend.tile_kernel": ("CudaTileKernel", "cuda_tile", "cuda_tile_launches"),
    "frontend.triton_kernel": ("TritonKernel", "triton", "triton_launches"),
    "kernel": ("LaunchableKernel",),
    "errors": (
        "CompileError", "CubinError", "HardwareError", "KernelFault", "Unpredictable", "UnsupportedInstruction",
        "UsageError", "WarplensError",
    ),
    "core.metric": ("Metric", "Metrics"),
    "model.result.prediction": ("Prediction",),
    "launchspec.mapped_array": ("MappedArray",),
    "launchspec.pitched_array": ("Pitched",),
    "run": ("Run",),
    "sweep.sweep_table": ("Sweep",),
}  # fmt: skip
_HOME = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "Advice",
    "CompileError",
    "CubinError",
    "CudaTileKernel",
    "HardwareError",
    "KernelFault",
    "LaunchableKernel",
    "MappedArray",
    "Metric",
    "Metrics",
    "Module",
    "Pitched",
    "Prediction",
    "Run",
    "RunComparison",
    "Sweep",
    "TritonKernel",
    "Unpredictable",
    "UnsupportedInstruction",
    "UsageError",
    "WarplensError",
    "__version__",
    "advise",
    "compare",
    "compile",
    "cuda_tile",
    "cuda_tile_launches",
    "empty_pitched",
    "load",
    "pitched",
    "report",
    "tensor_map",
    "triton",
    "triton_launches",
]


def load_ipython_extension(shell: Any) -> None:
    """What IPython calls for `%load_ext warplens`: cells can begin with %%warplens."""
    import_module("warplens.cli.cell_magic").register(shell)


def __dir__() -> list[str]:
    return sorted(__all__)


def __getattr__(name: str) -> Any:
    """Public names, each imported when it is first used: `import warplens` takes milliseconds."""
    if name not in _HOME:
        raise AttributeError(f"module 'warplens' has no attribute {name!r}")
    return getattr(import_module(f"warplens.{_HOME[name]}"), name)
