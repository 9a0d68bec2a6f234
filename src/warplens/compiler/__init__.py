"""CUDA C++ or PTX -> cubin -> Kernel.  F3."""

from warplens.compiler.architecture import ARCHITECTURES, check_architecture
from warplens.compiler.cubin_reader import is_cubin, read_cubin
from warplens.compiler.fatbin import cubins_within
from warplens.compiler.nvrtc import compile_source
from warplens.compiler.ptx import assemble, is_ptx

__all__ = [
    "ARCHITECTURES", "assemble", "check_architecture", "compile_source", "cubins_within", "is_cubin", "is_ptx",
    "read_cubin",
]  # fmt: skip
