"""LLVM text to machine code of this host, kept on disk by content."""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warplens.core.cubin import Kernel
from warplens.core.program import Program
from warplens.emulator.access.pattern import AccessCounts
from warplens.emulator.access.runtime_library import RuntimeLibrary, with_calls
from warplens.emulator.access.site import AddressWindows
from warplens.emulator.jit.lazy_divergent_code import LazyDivergentCode
from warplens.emulator.jit.native_code import NativeCode, RunAbreast, RunBlock, RunBlocks
from warplens.emulator.lowering.kernel_module import KernelModule, windows_of
from warplens.emulator.state.check_set import NO_CHECKS, Checks
from warplens.emulator.state.counter_layout import COLUMNS, REQUESTS
from warplens.llvm.host_target import Loaded, host, load, target
from warplens.system import disk_cache as disk
from warplens.system import memory_advice

# What pays: level 1 as a whole makes code that is at most a twentieth faster, and takes five times as long.
PASSES = (
    "always_inliner", "sroa", "simplify_cfg", "new_gvn", "instruction_combine", "simplify_cfg", "aggressive_dce",
)  # fmt: skip

# Of large code: what new_gvn finds there is not worth the time, a tenth of all.
LARGE_PASSES = ("always_inliner", "sroa", "simplify_cfg", "instruction_combine", "aggressive_dce")


def translate(kernel: Kernel, program: Program, tile: int, checks: Checks = NO_CHECKS) -> NativeCode:
    """The kernel in machine code for a tile (affine.py); from disk if this host has translated it before."""
    found = translated_before(kernel, program, tile, checks)
    if found is not None:
        return found
    name = _name_of(kernel, program, tile, checks)
    code = disk.keep("object", name, compile_object(kernel, program, tile, checks))
    return _keep(name, code, kernel, program, tile, checks)


def translated_before(kernel: Kernel, program: Program, tile: int, checks: Checks = NO_CHECKS) -> NativeCode | None:
    """The same, if it is there already."""
    name = _name_of(kernel, program, tile, checks)
    if name in _loaded:
        return _loaded[name]
    code = disk.recall("object", name)
    return None if code is None else _keep(name, code, kernel, program, tile, checks)


def _keep(name: str, code: bytes, kernel: Kernel, program: Program, tile: int, checks: Checks) -> NativeCode:
    _loaded[name] = _load(code, kernel, program, lambda made: _apart(name, made, kernel, program, tile, checks))
    memory_advice.release("libllvmlite")
    return _loaded[name]


def _name_of(kernel: Kernel, program: Program, tile: int, checks: Checks) -> str:
    chosen = str(tile), str(kernel.cluster_blocks), str(program.crossed)
    return _key(kernel.arch, kernel.code, program.name, *chosen, *sorted(checks), *kernel.externs)


@cache
def _key(*parts: str | bytes) -> str:
    return disk.key("translation", *host(), *parts)


def _apart(name: str, made: NativeCode, kernel: Kernel, program: Program, tile: int, checks: Checks) -> int:
    """The address of run_apart."""
    known = made.weights.copy()
    code = disk.remember("object", disk.key("apart", name), lambda: compile_apart(kernel, program, tile, checks, known))
    loaded = load(library_for(kernel, program).with_routines(code), ("run_apart", "weights"))
    made.loaded.append(loaded)
    made.weights[:] = _weights(loaded, len(program.instructions))
    return loaded.addresses["run_apart"]


_loaded: dict[str, NativeCode] = {}  # kept for the life of the process: code in use must not be freed


def compile_object(kernel: Kernel, program: Program, tile: int, checks: Checks = NO_CHECKS) -> bytes:
    """An object file with run_blocks, run_abreast and run_block."""
    signatures = library_for(kernel, program).signatures
    with _no_collection():
        translator = KernelModule(kernel, program, tile, checks, library=signatures)
        return compiled(translator.build(), passes_for(translator))


def compile_apart(kernel: Kernel, program: Program, tile: int, checks: Checks, weights: NDArray[np.int64]) -> bytes:
    """An object file with run_apart; `weights` are those of the other's."""
    signatures = library_for(kernel, program).signatures
    known = {n: AccessCounts(*map(int, row)) for n, row in enumerate(weights) if row.any()}
    with _no_collection():
        translator = KernelModule(kernel, program, tile, checks, signatures, known)
        return compiled(translator.build_apart(), passes_for(translator))


def passes_for(translator: KernelModule) -> Sequence[str]:
    return LARGE_PASSES if translator.large else PASSES


@contextmanager
def _no_collection() -> Iterator[None]:
    """Python looks through all objects again and again while many are made that all stay: a third of the time."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def library_for(kernel: Kernel, program: Program) -> RuntimeLibrary:
    """The routines that kernels of the program's architecture, and with clusters as large, share."""
    return library(windows_of(program, kernel.cluster_blocks))


@cache
def library(windows: AddressWindows) -> RuntimeLibrary:
    return RuntimeLibrary(windows, disk.key(*host()), compiled)


def compiled(written: Any, names: Sequence[str] = PASSES) -> bytes:
    """An object file of a module, after these passes of LLVM's, with the names of what it calls."""
    import llvmlite.binding as llvm

    text = str(written)
    module = llvm.parse_assembly(text)
    machine = target()
    passes = llvm.create_new_module_pass_manager()
    for name in names:
        getattr(passes, f"add_{name}_pass")()
    passes.run(module, llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options()))
    return with_calls(text, bytes(machine.emit_object(module)))


def _weights(loaded: Loaded, instructions: int) -> NDArray[np.int64]:
    columns = (ctypes.c_int16 * (instructions * (COLUMNS - REQUESTS))).from_address(loaded.addresses["weights"])
    return np.array(columns, np.int64).reshape(instructions, COLUMNS - REQUESTS)


def _load(code: bytes, kernel: Kernel, program: Program, make_apart: Callable[[NativeCode], int]) -> NativeCode:
    names = ("run_blocks", "run_block", "run_abreast", "weights", "apart")
    loaded = load(library_for(kernel, program).with_routines(code), names)
    made = NativeCode(
        RunBlocks(loaded.addresses["run_blocks"]),
        RunBlock(loaded.addresses["run_block"]),
        _weights(loaded, len(program.instructions)),
        [loaded],
        LazyDivergentCode(loaded.addresses["apart"], lambda: make_apart(made)),
        run_abreast=RunAbreast(loaded.addresses["run_abreast"]),
    )
    return made
