"""PTX -> cubin, by NVIDIA's linker (nvJitLink) as the package index ships it: PTX of Numba, Triton, CuPy, `nvcc -ptx`.

The ptxas in it is of the linker's version.  A program that loads PTX has it assembled by that of its driver, which may
make other machine code of it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from warplens import cache
from warplens.compiler.architecture import check_architecture
from warplens.errors import CompileError

LINKER = "nvidia-nvjitlink"


TYPES = {"f32": "float", "f64": "double", "u32": "unsigned", "s32": "int", "b32": "int"}


def declared(source: str, symbol: str) -> tuple[str, ...]:
    """Parameters of a kernel as C++ would declare them: PTX calls floats and integers of 32 bits what they are, while
    8 bytes may be a pointer or a number ("")."""
    entry = re.search(rf"\.entry\s+{re.escape(symbol)}\s*\(([^()]*)\)", source)
    kinds = re.findall(r"\.param\s+(?:\.align\s+\d+\s+)?\.(\w+)[^,]*", entry[1]) if entry else []
    return tuple(f"{TYPES[kind]} p{place}" if kind in TYPES else "" for place, kind in enumerate(kinds))


def is_ptx(name: str) -> bool:
    return name.lower().endswith(".ptx")


def assemble(source: str, name: str, arch: str, options: Sequence[str] = ()) -> bytes:
    """The cubin of PTX, with the line table that its `.loc` lines say; `options` go to the linker as they are.

    Kept in the cache.  CompileError with the linker's log, or where there is no linker; UsageError for an unknown
    architecture.
    """
    check_architecture(arch)
    question = json.dumps([source, arch, list(options), linker_version()])
    return cache.remember("ptx", cache.key(question), lambda: _assemble(source.encode(), name, arch, options))


def linker_version() -> str:
    """From the wheel's own notes."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(LINKER)
    except PackageNotFoundError:
        raise CompileError(f"PTX is assembled by NVIDIA's linker, which is missing: pip install {LINKER}") from None


def _assemble(source: bytes, name: str, arch: str, options: Sequence[str]) -> bytes:
    from cuda.bindings import nvjitlink

    given = [f"-arch={arch}", "-lineinfo", *options]
    try:
        handle = nvjitlink.create(len(given), given)
    except nvjitlink.nvJitLinkError as error:
        raise CompileError(f"NVIDIA's linker does not take the options {' '.join(given)}: {error}") from None
    try:
        nvjitlink.add_data(handle, nvjitlink.InputType.PTX, source + b"\0", len(source) + 1, name)
        nvjitlink.complete(handle)
        cubin = bytearray(nvjitlink.get_linked_cubin_size(handle))
        nvjitlink.get_linked_cubin(handle, cubin)
    except nvjitlink.nvJitLinkError as error:
        raise CompileError(f"{name}: {_log(nvjitlink, handle) or error}") from None
    finally:
        nvjitlink.destroy(handle)
    return bytes(cubin)


def _log(nvjitlink: Any, handle: int) -> str:
    log = bytearray(nvjitlink.get_error_log_size(handle))
    if log:
        nvjitlink.get_error_log(handle, log)
    lines = log.rstrip(b"\0\n").decode(errors="replace").splitlines()
    told = [line.removeprefix("ptxas application ptx input, ") for line in lines if not line.startswith("ERROR ")]
    return "\n".join(told) or ("this is no PTX: its first line is .version" if lines else "")
