"""System call stub: calls Python with the lanes' registers, and returns."""

from __future__ import annotations

from warplens import llvm
from warplens.core.cubin import CODE_BASE, FUNCTIONS
from warplens.emulator.analysis.liveness import Name
from warplens.emulator.codegen.structured_builder import i32
from warplens.emulator.codegen.vector_types import I1, I32, LANES, PTR, vector
from warplens.emulator.lowering.codegen_context import CodegenContext
from warplens.emulator.state.abi import ARGUMENTS, FIRST_ARGUMENT
from warplens.emulator.state.structs import WorkerEnv

RETURN_ADDRESS = 20  # R20 and R21
PLACES = [CODE_BASE // 16 + n for n in range(len(FUNCTIONS))]
READ: set[Name] = {("R", FIRST_ARGUMENT + n) for n in range(ARGUMENTS)} | {("R", RETURN_ADDRESS)}
HOOK = llvm.FunctionType(I32, [PTR, PTR, PTR, I32, PTR, I32, I32])


def driver_block(function: CodegenContext) -> llvm.BasicBlock:
    """Block of the dispatcher for a number in PLACES."""
    b = function.b
    here, block = b.block, function.function.append_basic_block("driver")
    b.position_at_end(block)
    call_driver(function)
    b.position_at_end(here)
    return block


def call_driver(function: CodegenContext) -> None:
    """Emits the call by the running lanes, which resume at their return address.

    Code with calls keeps all registers as 32 numbers (uniformity.py).
    """
    b, code = function.b, function.code
    registers = function.registers
    lanes = vector(I32)
    words = code.variable(llvm.ArrayType(I32, LANES * ARGUMENTS))
    for n in range(ARGUMENTS):
        b.store(registers.fetch(("R", FIRST_ARGUMENT + n), "varying", 0), code.at(words, 4 * LANES * n), align=4)
    mask = b.load(function.exec, typ=I32)
    back_to = registers.fetch(("R", RETURN_ADDRESS), "varying", 0)
    places = code.variable(lanes, b.lshr(back_to, function.emitter.splat(i32(4))))
    back = b.extract_element(b.load(places, typ=lanes), code.lowest(mask))
    hook = code.load(WorkerEnv, function.env, "driver")
    place = b.load(function.resume_at, typ=I32)
    ended = b.call(hook, [function.env, function.block, function.warp, place, words, mask, back], HOOK)
    with code.when(code.nonzero(ended), likely=False):
        b.branch(function.fault)
    active = b.bitcast(mask, vector(I1))
    for n in range(2):
        name = ("R", FIRST_ARGUMENT + n)
        value = b.load(code.at(words, 4 * LANES * n), typ=lanes, align=4)
        registers.put(name, "varying", 0, b.select(active, value, registers.fetch(name, "varying", 0)))
    b.call(function.t.runtime.stack.push_groups, [function.warp, mask, places])
    b.branch(function.dispatch)
