"""Operand numbers: separates an instruction's operand numbers from its operation."""

from __future__ import annotations

from dataclasses import replace

from warplens.core.program import Address, Constant, Immediate, Instruction, Label, Operand, Register


def split_numbers(instruction: Instruction) -> tuple[tuple[object, ...], list[int]]:
    """The instruction without its numbers, and the numbers in order.  Plain tuples, as it runs for thousands."""
    operation: list[object] = [instruction.opcode]
    numbers: list[int] = []

    def register(r: Register | None) -> None:
        if r is None:
            operation.append(None)
            return
        operation.append((r.file, r.index < 0, r.negate, r.absolute, r.invert, r.part))
        numbers.append(r.index)

    register(instruction.guard)
    for o in instruction.operands:
        if isinstance(o, Register):
            operation.append((o.file, o.index < 0, o.negate, o.absolute, o.invert, o.part))
            numbers.append(o.index)
        elif isinstance(o, Immediate):
            operation.append(Immediate)
            numbers.append(o.bits)
        elif isinstance(o, Constant):
            operation.append((Constant, o.bank, o.negate, o.absolute, o.invert, o.part))
            numbers.append(o.offset)
            register(o.index)
        elif isinstance(o, Address):
            operation.append((Address, o.scale, o.wide, o.unsigned))
            numbers.append(o.offset)
            register(o.base)
            register(o.uniform)
        elif isinstance(o, Label):
            operation.append((Label, o.offset > instruction.offset))
            numbers.append(o.offset // 16)
        else:
            operation.append(o)
    return tuple(operation), numbers


def with_numbers(instruction: Instruction, numbers: list[int]) -> Instruction:
    """The instruction with other operand numbers."""
    left = iter(numbers)

    def register(r: Register | None) -> Register | None:
        return None if r is None else replace(r, index=next(left))

    def operand(o: Operand) -> Operand:
        match o:
            case Register():
                return replace(o, index=next(left))
            case Immediate():
                return replace(o, bits=next(left))
            case Constant():
                offset = next(left)
                return replace(o, offset=offset, index=register(o.index))
            case Address():
                offset, base = next(left), register(o.base)
                return replace(o, offset=offset, base=base, uniform=register(o.uniform))
            case Label():
                return Label(16 * next(left))
        return o

    guard = register(instruction.guard)
    return replace(instruction, guard=guard, operands=tuple(map(operand, instruction.operands)))
