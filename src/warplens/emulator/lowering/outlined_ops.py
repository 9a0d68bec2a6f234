"""Outlined operations: long ones (special functions; in large kernels conversions, too) become functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from warplens import llvm
from warplens.emulator.analysis.affine import LINES
from warplens.emulator.codegen.emitter import LlvmEmitter
from warplens.emulator.codegen.structured_builder import function
from warplens.emulator.codegen.vector_types import is_vector
from warplens.isa.dsl.lanes import Lanes
from warplens.isa.dsl.op import Op

LONG = 30  # LLVM instructions from which an operation of large code is outlined: a call takes as long as about ten
VERY_LONG = 100  # of other code: a MUFU has 500 instructions of the host, and loops with many of them would leave its
# instruction cache


@dataclass(frozen=True)
class OutlinedOp:
    """Outlined operation: its function, and the types of its results."""

    function: llvm.Function
    kinds: tuple[type[Lanes], ...]


class OutlinedOps:
    """Outlined operations of one function of `module`; where the code is not large, only the very long ones."""

    def __init__(self, module: llvm.IRModule, large: bool, tile: int) -> None:
        self.module, self.tile = module, tile
        self.long = LONG if large else VERY_LONG
        self.lengths: dict[Any, int] = {}
        self.written: dict[Any, OutlinedOp] = {}

    def emit(self, e: LlvmEmitter, op: Op, modifiers: Mapping[str, Any], arguments: Sequence[Any]) -> Any:
        """The results of the operation for these operands: inline, or by a call."""
        key = None if op.takes_warp else _key(op, modifiers, arguments)
        if key is None or self.lengths.get(key, 0) <= self.long:
            before = e.b.function.count
            result = op.body(*arguments, **modifiers)
            self.lengths[key] = e.b.function.count - before
            return result
        if key not in self.written:
            self.written[key] = self._write(op, modifiers, arguments)
        return _call(e, self.written[key], arguments)

    def _write(self, op: Op, modifiers: Mapping[str, Any], arguments: Sequence[Any]) -> OutlinedOp:
        types = [a.node.type for a in arguments if isinstance(a, Lanes)]
        made, code = function(self.module, f"{op.name} {len(self.written)}", llvm.VoidType(), types)
        inner, given = LlvmEmitter(code.b, self.tile), list(made.args)
        result = op.body(*(type(a)(inner, given.pop(0)) if isinstance(a, Lanes) else a for a in arguments), **modifiers)
        results = result if isinstance(result, tuple) else (result,)
        nodes = [inner.vector_of(r.node) for r in results]
        kind = nodes[0].type if len(nodes) == 1 else llvm.LiteralStructType([n.type for n in nodes])
        made.function_type = llvm.FunctionType(kind, types)
        whole = nodes[0]
        if len(nodes) > 1:
            whole = llvm.IRConstant(kind, llvm.POISON)
            for k, node in enumerate(nodes):
                whole = code.b.insert_value(whole, node, k)
        code.b.ret(whole)
        return OutlinedOp(made, tuple(type(r) for r in results))


def _call(e: LlvmEmitter, written: OutlinedOp, arguments: Sequence[Any]) -> Any:
    whole = e.b.call(written.function, [a.node for a in arguments if isinstance(a, Lanes)])
    if len(written.kinds) == 1:
        return written.kinds[0](e, whole)
    return tuple(kind(e, e.b.extract_value(whole, k)) for k, kind in enumerate(written.kinds))


def _key(op: Op, modifiers: Mapping[str, Any], arguments: Sequence[Any]) -> Any:
    """Cache key of an operation's code; None if it is better inline: affine or uniform operands."""
    if not all(issubclass(kind, Lanes) for kind in op.results):
        return None
    parts: list[Any] = [id(op), repr(modifiers)]
    several = False
    for argument in arguments:
        if not isinstance(argument, Lanes):
            if not isinstance(argument, int):
                return None
            parts.append(argument)
        elif isinstance(argument.node, LINES):
            return None
        else:
            several = several or is_vector(argument.node)
            parts.append((type(argument), argument.node.type))
    return tuple(parts) if several else None
