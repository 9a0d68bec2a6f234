"""Whole programs: the device behind CUDA's driver and runtime API.

A program runs with a library (shim/) that answers as libcuda and libcudart; its calls that matter come here, to the
process of `warplens run`, which shares the GPU's memory with it and executes and times its kernels.
"""

from warplens.program.device import Options
from warplens.program.nvcc_build import executable
from warplens.program.server import Outcome, serve

__all__ = ["Options", "Outcome", "executable", "serve"]
