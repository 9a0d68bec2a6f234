"""CUDA C++ or PTX -> cubin -> Kernel.  F3."""

from warplens.compiler.architecture import ARCHITECTURES, check_architecture
from warplens.compiler.cubin import read_cubin
from warplens.compiler.nvrtc import compile_source
from warplens.compiler.ptx import assemble, is_ptx

__all__ = ["ARCHITECTURES", "assemble", "check_architecture", "compile_source", "is_ptx", "read_cubin"]
