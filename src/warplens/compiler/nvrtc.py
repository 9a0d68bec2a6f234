"""NVRTC: compiles CUDA C++ to a cubin with the compiler of NVIDIA's wheel."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from warplens.compiler import includes, nvcc_compatibility
from warplens.compiler.architecture import check_architecture
from warplens.compiler.headers import HEADERS
from warplens.errors import CompileError, UsageError
from warplens.system import disk_cache, memory_advice
from warplens.system.nvidia_wheels import cutlass_headers

# nvcc has __int128 without being asked; NVRTC, and on Linux alone, with this.
AS_NVCC = ("--device-int128",) if sys.platform == "linux" else ()
ADDED_OPTIONS = "NVRTC_APPEND_FLAGS"  # NVRTC reads it itself


def compile_source(
    source: str, name: str, arch: str, options: Sequence[str] = (), names: Sequence[str] = ()
) -> tuple[bytes, Mapping[str, str]]:
    """The cubin of `source`, with line table, and the lowered name of each name expression in `names`.

    `name` is what the compiler calls the file in its messages and line table; `#include "x.h"` is looked for
    next to it.  Kept in the cache with the contents of all files that it may open (includes.py), except where a macro
    gives the name of one.  Raises CompileError with the compiler's log, UsageError for an unknown architecture.
    """
    check_architecture(arch)

    def question() -> str | None:
        folder, wheels = Path(name).resolve().parent, header_directories()
        given = [*options, *os.environ.get(ADDED_OPTIONS, "").split()]
        opened = includes.digests(source, folder, given, wheels)
        if opened is None:
            return None
        where = [name, str(folder), *map(str, wheels)]
        question = json.dumps([source, where, arch, given, list(names), _compiler_version(), opened])
        return disk_cache.key("cubin", question)

    key = question()
    found = None if key is None else disk_cache.recall("cubin", key)
    if found is not None:
        answer = json.loads(found)
        return b64decode(answer["cubin"]), answer["names"]
    cubin, lowered = _compile(source, name, arch, options, names)
    if key is not None and key == question():  # no file was changed meanwhile
        disk_cache.keep("cubin", key, json.dumps({"cubin": b64encode(cubin).decode(), "names": lowered}).encode())
    return cubin, lowered


def _compiler_version() -> str:
    """From the wheel's own notes: asking the library would load its 100 MB; and that of the headers that may go."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return " ".join(filter(None, (version("nvidia-cuda-nvrtc"), cutlass_headers()[1])))
    except PackageNotFoundError as error:
        raise CompileError("the CUDA compiler is missing: pip install nvidia-cuda-nvrtc") from error


def header_directories() -> list[Path]:
    """Where the wheels put the CUDA headers, the CUDA C++ core libraries, and CUTLASS where it is installed."""
    wheels = find_spec("nvidia")
    roots = wheels.submodule_search_locations or [] if wheels else []
    candidates = [Path(root) / "cu13" / "include" for root in roots]
    found = [directory for directory in candidates if (directory / "cuda_runtime.h").is_file()]
    if not found:
        raise CompileError(
            "the CUDA headers are missing: pip install nvidia-cuda-runtime nvidia-cuda-crt nvidia-cuda-cccl"
        )
    cccl = (directory / "cccl" for directory in found)
    return [*found, *(directory for directory in cccl if directory.is_dir()), *cutlass_headers()[0]]


DEBUGGING = {"-G", "--device-debug"}
Compiled = tuple[bytes, dict[str, str]]
FOR_DEVICES = re.compile(r"\b(std|thrust|cub)\b")
NAME_MAP = "__nv_name_map"  # what NVRTC calls the list of names that are asked for
UNKNOWN_OPTION = "unrecognized option"
MOST_ABSENT = 30  # headers of headers that are left out, one after the other


def _compile(source: str, name: str, arch: str, options: Sequence[str], names: Sequence[str]) -> Compiled:
    """The source as it is, or if the compiler refuses it, the part of it that is for the device."""
    try:
        return _compile_as_it_is(source, name, arch, options, names, HEADERS)
    except CompileError as refusal:
        if UNKNOWN_OPTION in str(refusal):
            raise CompileError(
                f"{refusal}; NVRTC does not take all options of nvcc: leave out those for the host's compiler, levels "
                "of optimisation (kernels are optimised), and --expt-relaxed-constexpr, which is not needed"
            ) from None
        return _compile_device_part(refusal, source, name, arch, options, names)


def _compile_device_part(
    refusal: CompileError, source: str, name: str, arch: str, options: Sequence[str], names: Sequence[str]
) -> Compiled:
    """CompileError of the device part, with a word on what was left out."""
    absent: list[str] = []
    whole = False
    directories = [*header_directories(), *nvcc_compatibility.folders(options)]
    for _ in range(MOST_ABSENT):
        part = nvcc_compatibility.device_part(source, name, directories, whole, absent)
        if not part.kernels:
            raise CompileError(
                f"{name} has no __global__ function; kernels that a library such as Thrust makes are in what nvcc "
                "makes of the file: give warplens that (nvcc -cubin)"
            )
        given = [*nvcc_compatibility.OPTIONS, *options]
        try:
            return _compile_as_it_is(part.text, name, arch, given, names, part.headers)
        except CompileError as again:
            refusal = again
        found = nvcc_compatibility.ABSENT.search(str(refusal))
        if found and found[1] not in absent:
            absent.append(found[1])
        elif not whole and FOR_DEVICES.search(str(refusal)):
            whole = True
        else:
            break
    raise CompileError("\n".join(filter(None, (str(refusal), part.format()))))


def _unknown_name(log: str, file: str) -> UsageError | CompileError:
    """The error for a log: a wrong name alone is no fault of the source."""
    errors = re.findall(r"^(\S+)\(\d+\): error: (.*)", log, re.MULTILINE)
    asked = re.search(r"#pragma nv_mangled_name (.*)", log)
    if asked is None or any(where != NAME_MAP for where, _ in errors):
        return CompileError(log)
    return UsageError(
        f"no kernel {asked[1]!r} in {file}: {errors[0][1]}; write its name as in C++, with its namespaces and template "
        "arguments"
    )


def _compile_as_it_is(
    source: str, name: str, arch: str, options: Sequence[str], names: Sequence[str], known: Mapping[str, str]
) -> Compiled:
    if DEBUGGING.isdisjoint(options):
        return _compile_here(source, name, arch, options, names, known)
    return _compile_apart(source, name, arch, options, names, dict(known))


def _compile_apart(*arguments: object) -> Compiled:
    """By NVRTC in a process of its own: after -G NVRTC 13.0.88 compiles what follows in its process without
    optimisation, and parameters at addresses where they are not."""
    script = "from warplens.compiler.nvrtc import answer_compilation; answer_compilation()"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", script], input=json.dumps(arguments), capture_output=True, text=True, env=environment
    )
    if done.returncode != 0:
        raise CompileError(f"the process that compiles for debugging ended: {done.stderr.strip() or done.returncode}")
    answer = json.loads(done.stdout)
    if "error" in answer:
        raise (UsageError if answer["usage"] else CompileError)(answer["error"])
    return b64decode(answer["cubin"]), answer["names"]


def answer_compilation() -> None:
    """The other end of it: arguments as JSON from standard input, the cubin or the error to standard output."""
    try:
        cubin, lowered = _compile_here(*json.load(sys.stdin))
    except (CompileError, UsageError) as error:
        print(json.dumps({"error": str(error), "usage": isinstance(error, UsageError)}))
    else:
        print(json.dumps({"cubin": b64encode(cubin).decode(), "names": lowered}))


def _compile_here(
    source: str, name: str, arch: str, options: Sequence[str], names: Sequence[str], known: Mapping[str, str]
) -> Compiled:
    """By NVRTC in this process.  names: expressions of kernels;  known: headers by name.  CompileError."""
    try:
        from cuda.bindings import nvrtc
    except ImportError as error:
        raise CompileError(f"no CUDA compiler ({error}): pip install cuda-bindings") from error

    headers = [[part.encode() for part in parts] for parts in (known.values(), known.keys())]
    status, program = nvrtc.nvrtcCreateProgram(source.encode(), name.encode(), len(known), *headers)
    _check(nvrtc, status)
    try:
        for expression in names:
            _check(nvrtc, *nvrtc.nvrtcAddNameExpression(program, expression.encode()))
        directories = [*header_directories(), Path(name).resolve().parent]
        arguments = [f"-arch={arch}", "-lineinfo", *AS_NVCC, *(f"-I{directory}" for directory in directories), *options]
        (status,) = nvrtc.nvrtcCompileProgram(program, len(arguments), [a.encode() for a in arguments])
        if status != nvrtc.nvrtcResult.NVRTC_SUCCESS:
            log = _log(nvrtc, program)
            raise _unknown_name(log, name) if names else CompileError(log or _name(nvrtc, status))
        lowered = {expression: _lowered(nvrtc, program, expression) for expression in names}
        return _cubin(nvrtc, program), lowered
    finally:
        nvrtc.nvrtcDestroyProgram(program)
        memory_advice.release("libnvrtc")


def _cubin(nvrtc: Any, program: Any) -> bytes:
    status, size = nvrtc.nvrtcGetCUBINSize(program)
    _check(nvrtc, status)
    data = bytes(size)  # filled in place
    _check(nvrtc, *nvrtc.nvrtcGetCUBIN(program, data))
    return data


def _lowered(nvrtc: Any, program: Any, expression: str) -> str:
    status, name = nvrtc.nvrtcGetLoweredName(program, expression.encode())
    _check(nvrtc, status)
    text: str = name.decode()
    return text


def _log(nvrtc: Any, program: Any) -> str:
    status, size = nvrtc.nvrtcGetProgramLogSize(program)
    _check(nvrtc, status)
    log = bytes(size)
    _check(nvrtc, *nvrtc.nvrtcGetProgramLog(program, log))
    return log.rstrip(b"\0\n ").decode(errors="replace")


def _check(nvrtc: Any, status: Any) -> None:
    if status != nvrtc.nvrtcResult.NVRTC_SUCCESS:
        raise CompileError(f"the CUDA compiler failed: {_name(nvrtc, status)}")


def _name(nvrtc: Any, status: Any) -> str:
    text: str = nvrtc.nvrtcGetErrorString(status)[1].decode()
    return text
