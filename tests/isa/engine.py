"""One instruction on lanes of given values: what every test of a meaning is written in.

The tests ask an engine for the results of an opcode.  The slow emitter answers here; whatever else implements
`evaluate` can be put in its place.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy_emitter import NumpyEmitter

from warplens.isa.dsl.lanes import F32, F64, U32, Lanes
from warplens.isa.dsl.op import find
from warplens.isa.dsl.warp_interface import Addend


@dataclass(frozen=True)
class Minus:
    """An operand with a minus before it."""

    values: Any


@dataclass(frozen=True)
class Not:
    """An operand with ~ or ! before it."""

    values: Any


class NumpyEngine:
    """Evaluates sentences with the slow emitter."""

    def evaluate(self, opcode: str, *operands: Any) -> tuple[np.ndarray, ...]:
        """The bits of each result.  Operands: bits, floats or bools, one a lane; an int is for all lanes."""
        found = find(opcode)
        assert found is not None, f"no meaning for {opcode}"
        op, modifiers = found
        lanes = max(len(getattr(o, "values", o)) for o in operands if not isinstance(o, int))
        e = NumpyEmitter(lanes)
        given = list(operands) + [s.default for s in op.sources[len(operands) :]]
        assert inspect.Parameter.empty not in given, f"{opcode} wants {[s.name for s in op.sources]}"
        outcome = op.body(*(read(e, s.kind, o) for s, o in zip(op.sources, given, strict=True)), **modifiers)
        return tuple(r.node for r in (outcome if isinstance(outcome, tuple) else (outcome,)))

    def value(self, opcode: str, *operands: Any) -> list[int]:
        """The bits of the first result."""
        return [int(bits) for bits in self.evaluate(opcode, *operands)[0]]


def read(e: NumpyEmitter, kind: Any, operand: Any) -> Any:
    if kind is int:
        return operand
    if kind is Addend:
        plain = values_of(e, U32, getattr(operand, "values", operand))
        return Addend(plain, isinstance(operand, Minus))
    if isinstance(operand, Minus):
        return -values_of(e, kind, operand.values)
    if isinstance(operand, Not):
        return ~values_of(e, kind, operand.values)
    return values_of(e, kind, operand)


def values_of(e: NumpyEmitter, kind: type[Lanes], operand: Any) -> Lanes:
    if isinstance(operand, int):
        operand = [operand] * e.lanes
    if kind in (F32, F64) and any(isinstance(x, float) for x in operand):
        real = np.float32 if kind is F32 else np.float64
        with np.errstate(over="ignore"):
            array = np.array(operand, real)
        operand = array.view(np.uint32 if kind is F32 else np.uint64)
    mask = (1 << kind.bits) - 1
    return kind(e, np.array([int(x) & mask for x in operand], np.uint64))
