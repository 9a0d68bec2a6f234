"""Compiler: CUDA C++ or PTX in, a cubin and its kernels out.

In: source text, an architecture, options.  Out: `Cubin` with the code, parameters and tables of each kernel, and what
the source declares of them (names and types of parameters, launches in host code).  NVIDIA's compilers (NVRTC, ptxas)
do the compiling; what instructions mean is no matter of this package.
"""

from warplens.compiler.architecture import ARCHITECTURES, check_architecture
from warplens.compiler.cubin_reader import is_cubin, read_cubin
from warplens.compiler.fatbin import extract_cubins
from warplens.compiler.nvrtc import compile_source
from warplens.compiler.ptx import assemble, is_ptx

__all__ = [
    "ARCHITECTURES", "assemble", "check_architecture", "compile_source", "extract_cubins", "is_cubin", "is_ptx",
    "read_cubin",
]  # fmt: skip
