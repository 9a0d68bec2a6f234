"""Compile module: LLVM IR text to native code of this host, cached on disk by content."""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache

import numpy as np
from numpy.typing import NDArray

from warplens.core.cubin import Kernel
from warplens.core.program import Program
from warplens.emulator.access.pattern import AccessCounts
from warplens.emulator.access.runtime_library import RuntimeLibrary, with_calls
from warplens.emulator.access.site import AddressWindows
from warplens.emulator.jit.lazy_divergent_code import LazyDivergentCode
from warplens.emulator.jit.native_code import NativeCode, RunBlock, RunBlocks, RunInterleaved
from warplens.emulator.jit.object_file import emit_object_apart
from warplens.emulator.lowering.kernel_module import KernelModule, windows_of
from warplens.emulator.state.check_set import NO_CHECKS, UNCOUNTED, Checks
from warplens.emulator.state.counter_layout import COLUMNS, REQUESTS
from warplens.emulator.warpgroup.product_routine import FAMILY, routine_module
from warplens.llvm.function_extraction import extract
from warplens.llvm.host_target import Loaded, emit_object, host, load
from warplens.llvm.module import IRModule
from warplens.system import disk_cache as disk
from warplens.system import memory_advice

# LLVM's -O1 pipeline makes code at most 5 % faster, and takes five times as long.
PASSES = (
    "always_inliner", "sroa", "simplify_cfg", "new_gvn", "instruction_combine", "simplify_cfg", "aggressive_dce",
)  # fmt: skip

# For large code: new_gvn takes a tenth of the compile time there and finds too little.
LARGE_PASSES = ("always_inliner", "sroa", "simplify_cfg", "instruction_combine", "aggressive_dce")

APART = 2000  # instructions, from which on LLVM takes 5 s and more, in a process of its own


def compile_kernel(kernel: Kernel, program: Program, tile: int, checks: Checks = NO_CHECKS) -> NativeCode:
    """The kernel as native code for a tile (affine.py); from the disk cache if compiled before."""
    found = cached_code(kernel, program, tile, checks)
    if found is not None:
        return found
    name = _name_of(kernel, program, tile, checks)
    code = disk.keep("object", name, compile_object(kernel, program, tile, checks))
    return _keep(name, code, kernel, program, tile, checks)


def cached_code(kernel: Kernel, program: Program, tile: int, checks: Checks = NO_CHECKS) -> NativeCode | None:
    """The same, if cached in memory or on disk; what is not on disk is not looked for again."""
    name = _name_of(kernel, program, tile, checks)
    if name in _loaded:
        return _loaded[name]
    code = None if name in _absent else disk.recall("object", name)
    if code is None:
        _absent.add(name)
        return None
    return _keep(name, code, kernel, program, tile, checks)


def _keep(name: str, code: bytes, kernel: Kernel, program: Program, tile: int, checks: Checks) -> NativeCode:
    routines = library_for(kernel, program, checks)
    _loaded[name] = _load(
        routines.with_routines(code), program, lambda made: _load_divergent(name, made, kernel, program, tile, checks)
    )
    memory_advice.release("libllvmlite")
    return _loaded[name]


def _name_of(kernel: Kernel, program: Program, tile: int, checks: Checks) -> str:
    chosen = str(tile), str(kernel.cluster_blocks), str(program.crossed)
    return _key(kernel.arch, kernel.code, program.name, *chosen, *sorted(checks), *kernel.externs)


@cache
def _key(*parts: str | bytes) -> str:
    return disk.key("translation", *host(), *parts)


def _load_divergent(name: str, made: NativeCode, kernel: Kernel, program: Program, tile: int, checks: Checks) -> int:
    """The address of run_divergent."""
    known = made.weights.copy()
    code = disk.remember(
        "object", disk.key("divergent", name), lambda: compile_divergent(kernel, program, tile, checks, known)
    )
    loaded = load(library_for(kernel, program, checks).with_routines(code), ("run_divergent", "weights"))
    made.loaded.append(loaded)
    made.weights[:] = _weights(loaded, len(program.instructions))
    return loaded.addresses["run_divergent"]


_absent: set[str] = set()  # looking takes 0.2 ms, as long as a small launch
_loaded: dict[str, NativeCode] = {}  # kept for the life of the process: code in use must not be freed


def compile_object(kernel: Kernel, program: Program, tile: int, checks: Checks = NO_CHECKS) -> bytes:
    """The object file with run_blocks, run_interleaved and run_block."""
    signatures = library_for(kernel, program, checks).signatures
    with _no_collection():
        module = KernelModule(kernel, program, tile, checks, library=signatures)
        return compile_ir(module.build(), passes_for(module), len(program.instructions) > APART)


def compile_divergent(kernel: Kernel, program: Program, tile: int, checks: Checks, weights: NDArray[np.int64]) -> bytes:
    """The object file with run_divergent; `weights` are those of compile_object()."""
    signatures = library_for(kernel, program, checks).signatures
    known = {n: AccessCounts(*map(int, row)) for n, row in enumerate(weights) if row.any()}
    with _no_collection():
        module = KernelModule(kernel, program, tile, checks, signatures, known)
        return compile_ir(module.build_divergent(), passes_for(module), len(program.instructions) > APART)


def passes_for(module: KernelModule) -> Sequence[str]:
    return LARGE_PASSES if module.large else PASSES


@contextmanager
def _no_collection() -> Iterator[None]:
    """Disables garbage collection, which would take a third of the time: many objects are made, and all stay."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def library_for(kernel: Kernel, program: Program, checks: Checks = NO_CHECKS) -> RuntimeLibrary:
    """The runtime library that kernels of one architecture and cluster size share; those that count have their own."""
    return library(windows_of(program, kernel.cluster_blocks), not checks & UNCOUNTED)


@cache
def library(windows: AddressWindows, counted: bool = True) -> RuntimeLibrary:
    families = {FAMILY: routine_module}
    return RuntimeLibrary(windows, disk.key(*host()), compile_ir, counted, families)


def compile_ir(written: IRModule | str, names: Sequence[str] = PASSES, apart: bool = False) -> bytes:
    """The object files of a module, after these LLVM passes, with the names of the routines it calls.

    Its helper functions, which other modules have too, are object files of their own.
    apart   by another process
    """
    text, helpers = (written, []) if isinstance(written, str) else extract(written)
    emit = emit_object_apart if apart else emit_object
    return with_calls("\n".join([text, *helpers]), [emit(text, names), *map(_helper_object, helpers)])


@cache
def _helper_object(text: str) -> bytes:
    return disk.remember("object", disk.key("helper", *host(), text), lambda: emit_object(text, PASSES))


def _weights(loaded: Loaded, instructions: int) -> NDArray[np.int64]:
    columns = (ctypes.c_int16 * (instructions * (COLUMNS - REQUESTS))).from_address(loaded.addresses["weights"])
    return np.array(columns, np.int64).reshape(instructions, COLUMNS - REQUESTS)


def _load(objects: list[bytes], program: Program, make_divergent: Callable[[NativeCode], int]) -> NativeCode:
    names = ("run_blocks", "run_block", "run_interleaved", "weights", "divergent_code")
    loaded = load(objects, names)
    made = NativeCode(
        RunBlocks(loaded.addresses["run_blocks"]),
        RunBlock(loaded.addresses["run_block"]),
        _weights(loaded, len(program.instructions)),
        [loaded],
        LazyDivergentCode(loaded.addresses["divergent_code"], lambda: make_divergent(made)),
        run_interleaved=RunInterleaved(loaded.addresses["run_interleaved"]),
    )
    return made
