"""Operand decoding: matches the operands of an instruction with the parameters of its operation."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from warplens.core.program import Immediate, Instruction, Operand, Register
from warplens.isa.dsl.half_pair import H2
from warplens.isa.dsl.lanes import Lanes, Pred
from warplens.isa.dsl.op import Op, Source, find
from warplens.isa.dsl.warp_interface import Data

RUN_REGISTERS = {"64": 2, "128": 4, "256": 4}  # by width modifier


@dataclass(frozen=True, slots=True)
class Binding:
    """An instruction matched with its operation.

    targets   one entry a result of the operation: the destination register, or None where the listing leaves it out
    sources   (parameter, operand); the operand is None where the parameter takes its default
    """

    op: Op
    modifiers: Mapping[str, Any]
    targets: tuple[Register | None, ...]
    sources: tuple[tuple[Source, Operand | None], ...]


def bind(instruction: Instruction) -> Binding | None:
    """The meaning of an instruction, or None if it has none yet."""
    found = find(instruction.opcode)
    if found is None:
        return None
    op, modifiers = found
    values, predicates, rest = _destinations(op, instruction.operands)
    if op.section == "half" or H2 in (source.kind for source in op.sources):
        rest = _joined(rest)
    targets = tuple((predicates if kind is Pred else values).pop(0) for kind in op.results)
    if len(rest) > len(op.sources):
        return None
    padded = [*rest, *[None] * (len(op.sources) - len(rest))]
    if any(o is None and s.default is inspect.Parameter.empty for s, o in zip(op.sources, padded, strict=True)):
        return None
    return Binding(op, modifiers, targets, tuple(zip(op.sources, padded, strict=True)))


def _destinations(
    op: Op, operands: tuple[Operand, ...]
) -> tuple[list[Register | None], list[Register | None], list[Operand]]:
    """Destinations come first: predicates before or after the value, as many as the operation has results."""
    rest = list(operands)
    values: list[Register | None] = []
    predicates: list[Register | None] = []
    # A destination is a plain register: a negated predicate is a source.
    while rest and isinstance(rest[0], Register) and not rest[0].invert:
        register = rest[0]
        if register.file in ("P", "UP"):
            if len(predicates) == op.result_predicates:
                break
            predicates.append(register)
        elif register.file in ("R", "UR"):
            if len(values) == op.result_values:
                break
            values.append(register)
        else:
            break
        rest.pop(0)
    values += [None] * (op.result_values - len(values))
    predicates += [None] * (op.result_predicates - len(predicates))
    return values, predicates, rest


def _joined(operands: list[Operand]) -> list[Operand]:
    """A pair of 16-bit immediates, high half first, as the one word that it is."""
    for place, (high, low) in enumerate(pairwise(operands)):
        if isinstance(high, Immediate) and isinstance(low, Immediate):
            word = (high.bits & 0xFFFF) << 16 | low.bits & 0xFFFF
            return [*operands[:place], Immediate(word, f"({high.real}, {low.real})"), *operands[place + 2 :]]
    return operands


def register_count(kind: Any, instruction: Instruction) -> int:
    """How many registers an operand of this type takes; of a run by the width modifier, 256 bits being two runs."""
    if kind in (Data, Register):
        return max((RUN_REGISTERS.get(modifier, 1) for modifier in instruction.modifiers), default=1)
    return 2 if isinstance(kind, type) and issubclass(kind, Lanes) and kind.bits == 64 else 1


def immediate(operand: Operand) -> int:
    """The number of an operand that must be one."""
    assert isinstance(operand, Immediate), operand
    return operand.bits
