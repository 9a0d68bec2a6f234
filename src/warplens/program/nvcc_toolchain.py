"""nvcc toolchain: nvcc of the machine or of NVIDIA's wheels, with the host's C++ compiler; says what is missing."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
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

ARCHITECTURE = re.compile(r"--?(arch|gpu-architecture|gencode|generate-code|gpu-code|code)(=(?P<value>.*))?")
NAMED = re.compile(r"(?:sm|compute|lto)_(?P<number>\d+)\w*")
OF_THE_MACHINE = "native"
HOST_COMPILERS = ("g++", "clang++")
NEWEST_GCC = re.compile(r"#if __GNUC__ > (?P<number>\d+)")
OLDEST_GCC = 9  # with C++17, which CUDA 13 compiles by default


@dataclass(frozen=True)
class ArchitectureOptions:
    """Architecture options: what a command says of architectures, as this nvcc can do it.

    names     what they are, that nvcc knows;  unknown: those that it does not know
    options   those of the command, without the ones that name what is unknown
    """

    names: tuple[str, ...]
    unknown: tuple[str, ...]
    options: tuple[str, ...]


def architecture_options(options: Sequence[str]) -> ArchitectureOptions:
    """What makefiles name and nvcc has dropped (sm_60), and `native`, which needs a GPU, are left out."""
    words, kept = iter(options), list[str]()
    names, unknown = dict[str, None](), dict[str, None]()
    for word in words:
        found = ARCHITECTURE.fullmatch(word)
        if not found:
            kept.append(word)
            continue
        value = found["value"] if found["value"] is not None else next(words, "")
        asked = {match[0]: match["number"] for match in NAMED.finditer(value)}
        missing = [name for name, number in asked.items() if not _is_known(number)]
        if missing or value == OF_THE_MACHINE:
            unknown |= dict.fromkeys(missing or [value])
        else:
            kept += [word] if found["value"] is not None else [word, value]
            names |= dict.fromkeys(asked or [value])
    return ArchitectureOptions(tuple(names), tuple(unknown), tuple(kept))


def _is_known(number: str) -> bool:
    listed = _listed_architectures(nvcc_command()[0])
    return not listed or f"compute_{number}" in listed


@cache
def _listed_architectures(nvcc: str) -> frozenset[str]:
    done = subprocess.run([nvcc, "--list-gpu-arch"], capture_output=True, text=True, check=False)
    return frozenset(done.stdout.split())


def nvcc_command() -> list[str]:
    """The beginning of a command.  UsageError that says what to install."""
    if not any(map(shutil.which, HOST_COMPILERS)):
        raise UsageError(NO_HOST_COMPILER)
    if found := shutil.which("nvcc"):
        return [found, *_host_option(Path(found).resolve().parent.parent)]
    wheel = program_of(PACKAGE, "nvcc")
    if wheel is None:
        raise UsageError(NO_NVCC)
    root = wheel[0].parent.parent
    if missing := list(dict.fromkeys(_missing(root, wheel[1]))):
        raise UsageError(f"nvcc is there, and parts of it are missing: pip install {' '.join(missing)}")
    return [str(wheel[0]), f"-L{root / 'lib'}", *_host_option(root)]


def _host_option(root: Path) -> list[str]:
    """The host's compiler, where it is not g++: an older one if nvcc refuses that, or clang++."""
    if not shutil.which("g++"):
        return ["-ccbin", "clang++"]
    newest = _newest_gcc(root)
    if not newest or _gcc_version() <= newest:
        return []
    older = (f"g++-{number}" for number in range(newest, OLDEST_GCC - 1, -1))
    return next((["-ccbin", name] for name in older if shutil.which(name)), [])


def _newest_gcc(root: Path) -> int:
    """The newest that nvcc's headers let pass; 0 where they do not say."""
    header = root / "include/crt/host_config.h"
    found = NEWEST_GCC.search(header.read_text(encoding="utf-8", errors="replace")) if header.is_file() else None
    return int(found["number"]) if found else 0


@cache
def _gcc_version() -> int:
    done = subprocess.run(["g++", "-dumpversion"], capture_output=True, text=True, check=False)
    number = done.stdout.split(".")[0].strip()
    return int(number) if number.isdecimal() else 0


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
