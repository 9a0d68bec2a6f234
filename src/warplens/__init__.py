"""What a CUDA kernel really executes, how well it uses memory, and why.

The public door: names only, each loaded when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from warplens.version import __version__

if TYPE_CHECKING:
    from warplens.api import LaunchableKernel, Module, compile, empty_pitched, load, pitched, report
    from warplens.errors import (
        CompileError,
        CubinError,
        KernelFault,
        UnsupportedInstruction,
        UsageError,
        WarplensError,
    )
    from warplens.pitch import Pitched
    from warplens.run import Run

__all__ = [
    "CompileError",
    "CubinError",
    "KernelFault",
    "LaunchableKernel",
    "Module",
    "Pitched",
    "Run",
    "UnsupportedInstruction",
    "UsageError",
    "WarplensError",
    "__version__",
    "compile",
    "empty_pitched",
    "load",
    "pitched",
    "report",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'warplens' has no attribute {name!r}")
    from importlib import import_module

    raised = name.endswith(("Error", "Fault", "Instruction"))
    home = "errors" if raised else {"Run": "run", "Pitched": "pitch"}.get(name, "api")
    return getattr(import_module(f"warplens.{home}"), name)
