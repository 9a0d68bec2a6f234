"""CUDA C++ -> cubin -> Kernel.  F3."""

from warplens.compiler.architecture import ARCHITECTURES, check_architecture
from warplens.compiler.cubin import read_cubin
from warplens.compiler.nvrtc import compile_source

__all__ = ["ARCHITECTURES", "check_architecture", "compile_source", "read_cubin"]
