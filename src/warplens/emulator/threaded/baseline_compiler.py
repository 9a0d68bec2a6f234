"""Baseline compiler: a kernel as threaded code; ready at once, and far slower than compiled code."""

from __future__ import annotations

from functools import cache

import numpy as np

from warplens import llvm
from warplens.core.cubin import Kernel
from warplens.core.program import Program
from warplens.emulator.access.runtime_library import declare
from warplens.emulator.access.site import AddressWindows
from warplens.emulator.jit.compile_module import compile_ir, library
from warplens.emulator.jit.native_code import NativeCode, RunBlock, RunBlocks
from warplens.emulator.state.check_set import OF_ACCESSES, Checks
from warplens.emulator.state.counter_layout import COLUMNS, REQUESTS
from warplens.emulator.threaded.dispatch_loop import DispatchLoop
from warplens.emulator.threaded.handler import HandlerContext
from warplens.emulator.threaded.handler_cache import HandlerCache
from warplens.emulator.threaded.template import TemplateSettings, UnfitError
from warplens.emulator.threaded.threaded_code import OP, ThreadedCode, threaded_code
from warplens.errors import UnsupportedInstruction
from warplens.llvm.host_target import Loaded, host, load
from warplens.system import disk_cache as disk
from warplens.system import memory_advice

_ready: dict[tuple[object, ...], NativeCode] = {}


def compile_threaded(kernel: Kernel, program: Program, checks: Checks) -> NativeCode | None:
    """The kernel as threaded code; None if only the compiled tier can execute it."""
    name = kernel.arch, kernel.code, program.name, kernel.cluster_blocks, program.crossed, checks, kernel.externs
    if name not in _ready:
        try:
            _ready[name] = _made(program, threaded_code(kernel, program, checks))
            memory_advice.release("libllvmlite")
        except (UnfitError, UnsupportedInstruction):  # the compiled tier reports it
            return None
    return _ready[name]


def _made(program: Program, code: ThreadedCode) -> NativeCode:
    windows = code.setting.windows
    handlers = _handlers(windows)
    addresses = handlers.find(set(code.templates), program, code.setting)
    table = code.table.copy()
    table["handler"] = [addresses[template] for template in code.templates]
    found = code.starts >= 0
    places = np.where(found, table.ctypes.data + OP.itemsize * np.maximum(code.starts, 0), 0).astype(np.uint64)
    loop = _block_loops(program, windows, code.setting)
    weights = np.zeros((len(program.instructions), COLUMNS - REQUESTS), np.int64)
    run_blocks, run_block = RunBlocks(loop.addresses["run_blocks"]), RunBlock(loop.addresses["run_block"])
    return NativeCode(run_blocks, run_block, weights, [table], places=places)


@cache
def _handlers(windows: AddressWindows) -> HandlerCache:
    return HandlerCache(disk.key(*host()), library(windows), compile_ir)


_loops: dict[str, Loaded] = {}


def _block_loops(program: Program, windows: AddressWindows, setting: TemplateSettings) -> Loaded:
    """The block loops and the dispatch loop: run_blocks and run_block."""
    shown = (windows, sorted(setting.checks - OF_ACCESSES), setting.unit, setting.restores, setting.may_yield)
    name = disk.key("block loops", *host(), repr(shown))
    if name not in _loops:

        def make() -> bytes:
            module = llvm.IRModule(name="block loops")
            declare(module, library(windows).signatures)
            context = HandlerContext(module, program, setting)
            blocks = context.runtime.blocks
            blocks.run_blocks(blocks.run_block(DispatchLoop(context).build()))
            return compile_ir(module)

        code = disk.remember("object", name, make)
        _loops[name] = load(library(windows).with_routines(code), ("run_blocks", "run_block"))
    return _loops[name]
