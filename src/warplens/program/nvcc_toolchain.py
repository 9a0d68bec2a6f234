"""nvcc toolchain: nvcc of the machine or of NVIDIA's wheels, with the host's C++ compiler; says what is missing."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from warplens.errors import UsageError
from warplens.system.nvidia_wheels import program_of

NO_NVCC = 'a .cu file is compiled by nvcc, which is missing: pip install "warplens[build]", or install CUDA 13'
NO_HOST_COMPILER = (
    "nvcc needs a C++ compiler for the host's code, and there is none: install g++ (apt install g++) or clang++"
)
PACKAGE, OPTIMIZER = "nvidia-cuda-nvcc", "nvidia-nvvm"
PARTS = (
    ("nvvm/bin/cicc", OPTIMIZER), ("bin/crt", "nvidia-cuda-crt"), ("include/cuda_runtime.h", "nvidia-cuda-runtime"),
    ("lib/libcudart_static.a", "nvidia-cuda-runtime"), ("include/cccl", "nvidia-cuda-cccl"),
)  # fmt: skip
"""What nvcc of the wheels needs besides itself, below their common folder, and the packages that bring it."""


def nvcc_command() -> list[str]:
    """The beginning of a command.  UsageError that says what to install."""
    host = next((name for name in ("g++", "clang++") if shutil.which(name)), None)
    if host is None:
        raise UsageError(NO_HOST_COMPILER)
    with_host = [] if host == "g++" else ["-ccbin", host]
    if found := shutil.which("nvcc"):
        return [found, *with_host]
    wheel = program_of(PACKAGE, "nvcc")
    if wheel is None:
        raise UsageError(NO_NVCC)
    root = wheel[0].parent.parent
    if missing := list(dict.fromkeys(_missing(root, wheel[1]))):
        raise UsageError(f"nvcc is there, and parts of it are missing: pip install {' '.join(missing)}")
    return [str(wheel[0]), f"-L{root / 'lib'}", *with_host]


def _missing(root: Path, nvcc: str) -> Iterator[str]:
    """Packages to install, as pip takes them: of the release of nvcc."""
    release = ".".join(nvcc.split(".")[:2])
    for part, package in PARTS:
        if not (root / part).exists():
            yield f'"{package}=={release}.*"'
    try:  # its PTX must not be newer than ptxas
        if version(OPTIMIZER).split(".")[:2] != nvcc.split(".")[:2]:
            yield f'"{OPTIMIZER}=={release}.*"'
    except PackageNotFoundError:
        yield f'"{OPTIMIZER}=={release}.*"'
