"""LLVM text to machine code of this host, kept on disk by content."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from typing import Any

from warplens import cache as disk
from warplens.emulator.lift import Translator
from warplens.emulator.watch import NO_CHECKS, Checks
from warplens.kernel import Kernel
from warplens.program import Program

RunBlocks = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
RunBlock = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p)


@dataclass(frozen=True)
class Translated:
    """A kernel in machine code of this host.  `engine` owns the code."""

    run_blocks: Any
    run_block: Any
    engine: Any


@cache
def _host() -> tuple[str, str, str]:
    """The version of the compiler, the host's processor and its features, as LLVM names them."""
    import llvmlite.binding as llvm

    return version("llvmlite"), llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()


@cache
def _target() -> Any:
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    _, cpu, features = _host()
    target = llvm.Target.from_default_triple()
    return target.create_target_machine(cpu=cpu, features=features, opt=2, jit=True, codemodel="jitdefault")


@cache
def _vocabulary() -> str:
    """A hash of the sources that decide what code is made: a changed sentence is never answered from the cache."""
    from pathlib import Path

    root = Path(__file__).parent.parent
    files = sorted(p for folder in ("isa", "emulator") for p in (root / folder).glob("*.py"))
    return disk.key(*(p.read_bytes() for p in files))


def translate(kernel: Kernel, program: Program, checks: Checks = NO_CHECKS) -> Translated:
    """The kernel in machine code; from disk if this host has translated it before."""
    name = disk.key(
        "translation", *_host(), _vocabulary(), kernel.arch, kernel.code, program.name,
        *sorted(checks), *kernel.externs,
    )  # fmt: skip
    if name not in _loaded:
        _loaded[name] = _load(disk.remember("object", name, lambda: compile_object(kernel, program, checks)))
    return _loaded[name]


_loaded: dict[str, Translated] = {}  # kept for the life of the process: code in use must not be freed


def compile_object(kernel: Kernel, program: Program, checks: Checks = NO_CHECKS) -> bytes:
    """An object file with run_blocks and run_block."""
    import llvmlite.binding as llvm

    text = str(Translator(kernel, program, checks).build())
    module = llvm.parse_assembly(text)
    target = _target()
    options = llvm.create_pipeline_tuning_options(speed_level=1)
    options.loop_vectorization = options.slp_vectorization = False
    builder = llvm.create_pass_builder(target, options)
    builder.getModulePassManager().run(module, builder)
    return bytes(target.emit_object(module))


def _load(code: bytes) -> Translated:
    import llvmlite.binding as llvm

    target = _target()
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), target)
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    return Translated(
        RunBlocks(engine.get_function_address("run_blocks")),
        RunBlock(engine.get_function_address("run_block")),
        engine,
    )
