"""The same question as `engine.NumpyEngine` answers, put to the emitter that the executor runs."""

from __future__ import annotations

import ctypes
from typing import Any

import llvmlite.binding as llvm
import numpy as np
from engine import Minus, Not

from warplens import llvm as ir
from warplens.emulator.codegen.emitter import LlvmEmitter
from warplens.emulator.codegen.vector_types import LANES, PTR, scalar_type, vector
from warplens.isa.dsl.lanes import F32, F64, U32, Lanes, Pred
from warplens.isa.dsl.op import Op, find
from warplens.isa.dsl.warp_interface import Addend

llvm.initialize_native_target()
llvm.initialize_native_asmprinter()
WORDS = {1: np.uint8, 32: np.uint32, 64: np.uint64}


class LlvmEngine:
    """Compiles each instruction into a function from arrays of 32 lanes to arrays of 32 lanes."""

    def evaluate(self, opcode: str, *operands: Any) -> tuple[np.ndarray, ...]:
        found = find(opcode)
        assert found is not None, f"no meaning for {opcode}"
        op, modifiers = found
        given = list(operands) + [s.default for s in op.sources[len(operands) :]]
        lanes = max(len(getattr(o, "values", o)) for o in given if not isinstance(o, int))
        inputs = [bits_of(s.kind, o, lanes) for s, o in zip(op.sources, given, strict=True) if s.kind is not int]
        run, _alive = compiled(op, modifiers, given)
        outputs = [np.zeros(lanes + LANES, np.uint64) for _ in op.results]
        for start in range(0, lanes, LANES):
            chunk = [np.ascontiguousarray(x[start : start + LANES]) for x in inputs]
            results = [np.zeros(LANES, WORDS[kind.bits]) for kind in op.results]
            run(*(x.ctypes.data for x in chunk + results))
            for whole, part in zip(outputs, results, strict=True):
                whole[start : start + LANES] = part
        return tuple(x[:lanes] for x in outputs)

    def value(self, opcode: str, *operands: Any) -> list[int]:
        return [int(bits) for bits in self.evaluate(opcode, *operands)[0]]


def kind_of(kind: Any) -> type[Lanes]:
    return U32 if kind is Addend else kind


def bits_of(kind: Any, operand: Any, lanes: int) -> np.ndarray:
    """The operand's bits in memory, filled up to whole warps."""
    kind, values = kind_of(kind), getattr(operand, "values", operand)
    values = [values] * lanes if isinstance(values, int) else list(values)
    values += [values[0]] * (-lanes % LANES)
    if kind in (F32, F64) and any(isinstance(x, float) for x in values):
        with np.errstate(over="ignore"):
            return np.array(values, np.float32 if kind is F32 else np.float64).view(WORDS[kind.bits])
    return np.array([int(x) & ((1 << kind.bits) - 1) for x in values], WORDS[kind.bits])


def compiled(op: Op, modifiers: Any, given: list[Any]) -> tuple[Any, Any]:
    module = ir.IRModule("one")
    sources = [(s, o) for s, o in zip(op.sources, given, strict=True)]
    count = sum(s.kind is not int for s, _ in sources) + len(op.results)
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), [PTR] * count), "one")
    builder = ir.IRBuilder(function.append_basic_block())
    e, places = LlvmEmitter(builder), list(function.args)
    values = [o if s.kind is int else read(e, s.kind, o, places.pop(0)) for s, o in sources]
    outcome = op.body(*values, **modifiers)
    for result in outcome if isinstance(outcome, tuple) else (outcome,):
        value = e.splat(result.node)
        if isinstance(result, Pred):
            value = builder.zext(value, vector(ir.IntType(8)))
        builder.store(value, places.pop(0), align=1)
    builder.ret_void()
    target = llvm.Target.from_default_triple().create_target_machine(opt=1, jit=True)
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(str(module)), target)
    engine.finalize_object()
    return ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * count)(engine.get_function_address("one")), engine


def read(e: LlvmEmitter, kind: Any, operand: Any, place: ir.Value) -> Any:
    stored = ir.IntType(8) if kind is Pred else scalar_type(kind_of(kind))
    node = e.b.load(place, typ=vector(stored), align=1)
    if kind is Pred:
        node = e.b.trunc(node, vector(ir.IntType(1)))
    value = kind_of(kind)(e, node)
    if kind is Addend:
        return Addend(value, isinstance(operand, Minus))
    if isinstance(operand, Minus):
        return -value
    return ~value if isinstance(operand, Not) else value
