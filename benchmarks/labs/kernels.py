"""Rungs on this machine's GPU: compiled by NVRTC as lab.toml says, started on PyTorch's tensors.

Nothing but PyTorch, NumPy and cuda-bindings is needed, so that a machine without warplens's other packages will do.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from cuda.bindings import driver, nvrtc

from warplens.core.launch import Launch
from warplens.launchspec.launch_block import KernelEntry

FIXED_SHARED = 48 << 10  # bytes; a block gets more than these only where the kernel says so beforehand


def done(answer: Sequence[Any]) -> Any:
    """The result of a call of the driver or of NVRTC.  RuntimeError where it failed."""
    if int(answer[0]):
        raise RuntimeError(str(answer[0]))
    return answer[1] if len(answer) == 2 else answer[1:]


class Kernel:
    def __init__(self, file: Path, entry: KernelEntry) -> None:
        """RuntimeError with the compiler's words."""
        program = done(nvrtc.nvrtcCreateProgram(file.read_bytes(), file.name.encode(), 0, [], []))
        options = [b"-arch=sm_90", *(option.encode() for option in entry.options)]
        name = entry.name.encode()
        done(nvrtc.nvrtcAddNameExpression(program, name))
        if int(nvrtc.nvrtcCompileProgram(program, len(options), options)[0]):
            log = b" " * done(nvrtc.nvrtcGetProgramLogSize(program))
            nvrtc.nvrtcGetProgramLog(program, log)
            raise RuntimeError(f"{file.name}: {log.decode()}")
        cubin = b" " * done(nvrtc.nvrtcGetCUBINSize(program))
        done(nvrtc.nvrtcGetCUBIN(program, cubin))
        lowered = done(nvrtc.nvrtcGetLoweredName(program, name))
        self.module = done(driver.cuModuleLoadData(cubin))
        self.function = done(driver.cuModuleGetFunction(self.module, lowered))

    def start(self, launch: Launch, arguments: Sequence[Any]) -> None:
        """Returns at once."""
        if launch.shared > FIXED_SHARED:
            most = driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
            done(driver.cuFuncSetAttribute(self.function, most, launch.shared))
        values = tuple(a.data_ptr() if isinstance(a, torch.Tensor) else a for a in arguments)
        types = tuple(
            ctypes.c_void_p if isinstance(a, torch.Tensor) else np.ctypeslib.as_ctypes_type(type(a)) for a in arguments
        )
        plain = tuple(v.item() if isinstance(v, np.generic) else v for v in values)
        sizes = (*launch.grid, *launch.block)
        done(driver.cuLaunchKernel(self.function, *sizes, launch.shared, 0, (plain, types), 0))
