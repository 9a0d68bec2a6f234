"""Template cache: an instruction's template, by its text without numbers; only new ones are analysed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

from warplens.core.program import Address, Constant, Immediate, Instruction, Label, Register
from warplens.emulator.state.check_set import OF_ACCESSES
from warplens.emulator.threaded.operand_numbers import split_numbers, with_numbers
from warplens.emulator.threaded.template import (
    AHEAD,
    BACK,
    HERE,
    IMMEDIATE,
    LITERAL,
    NUMBERED,
    NUMBERS,
    PLACES,
    SLOTS,
    SPAN,
    TARGETS,
    WIDTHS,
    Template,
    TemplateSettings,
    UnfitError,
)
from warplens.isa.dsl.decode import Binding, bind
from warplens.isa.dsl.half_pair import H2
from warplens.isa.dsl.lanes import F64, Lanes, Pred
from warplens.isa.dsl.warp_interface import Addend, Floats

Word = Callable[[int], int]  # of the ThreadedOp, from a number of the instruction
NEVER = 1 << 60  # marker operands, in no instruction: identify which operand a number came from


@dataclass(frozen=True)
class OperandNumbers:
    """Operand numbers: the contents of an instruction's ThreadedOp; `target` is the instruction it may branch to."""

    words: list[int]
    target: int | None


class TemplateCache:
    """Template cache: the templates of kernels with the same settings."""

    def __init__(self, setting: TemplateSettings) -> None:
        self.setting = setting
        self.instances: dict[Any, TemplateInstance] = {}

    def of(self, instruction: Instruction) -> tuple[Template, OperandNumbers]:
        """UnfitError if the instruction's numbers do not fit a ThreadedOp, or it has no semantics."""
        operation, numbers = split_numbers(instruction)
        if instruction.base not in TARGETS and _names_places(instruction):
            operation = (operation, instruction.offset)
        instance = self.instances.get(operation)
        if instance is None:
            instance = self.instances[operation] = TemplateInstance(instruction, len(numbers), self.setting, operation)
        return instance.template(numbers), instance.operand_numbers(numbers)


class TemplateInstance:
    """Template instance: for instructions equal but for numbers, which go to the ThreadedOp and which to the key."""

    def __init__(self, instruction: Instruction, count: int, setting: TemplateSettings, operation: Any) -> None:
        self.instruction, self.operation = instruction, operation
        self.words: list[tuple[int, Word]] = []
        self.codes: dict[int, int] = {}  # for the template's own instruction
        self.target: int | None = None
        self.templates: dict[tuple[int, ...], Template] = {}
        marked = with_numbers(instruction, [NEVER + n for n in range(count)])
        _, before = split_numbers(instruction)
        binding = bind(marked)
        if binding is None:
            raise UnfitError
        self.kinds = {source.kind for source, _ in binding.sources}
        for register in (instruction.guard and marked.guard, *binding.targets):
            self._register(register, before)
        for source, operand in binding.sources:
            self._operand(source.kind, operand, before)
        if len(self.words) > NUMBERS:
            raise UnfitError
        self.literal = [n for n in range(count) if n not in self.codes]
        self.setting = _setting_of(instruction, binding, setting)

    def template(self, numbers: list[int]) -> Template:
        values = tuple([numbers[n] for n in self.literal])
        template = self.templates.get(values)
        if template is None:
            codes = [self.codes.get(n, number) for n, number in enumerate(numbers)]
            key = self.operation, values, self.setting
            template = self.templates[values] = Template(key, partial(self._own, codes))
        return template

    def operand_numbers(self, numbers: list[int]) -> OperandNumbers:
        words = [word(numbers[n]) for n, word in self.words]
        return OperandNumbers(words, None if self.target is None else numbers[self.target])

    # Which numbers go to the ThreadedOp

    def _put(self, mark: int, *words: Word) -> None:
        """Assigns the next free slots of the ThreadedOp to a number's words."""
        n = mark - NEVER
        self.codes[n] = SLOTS + SPAN * len(self.words)
        self.words += [(n, word) for word in words]

    def _register(self, register: Register | None, before: list[int]) -> None:
        if register is None or register.file not in NUMBERED or before[register.index - NEVER] < 0:
            return
        place, width = PLACES[register.file], WIDTHS[register.file]
        self._put(register.index, lambda index: place + width * index)

    def _operand(self, kind: Any, operand: Any, before: list[int]) -> None:
        match operand:
            case Register():
                self._register(operand, before)
            case Constant():
                self._put(operand.offset, _word)
                self._register(operand.index, before)
            case Address():
                self._put(operand.offset, _word)
                self._register(operand.base, before)
                self._register(operand.uniform, before)
            case Immediate() if self.instruction.base not in LITERAL:
                self._immediate(kind, operand.bits)
            case Label() if self.instruction.base in TARGETS:
                self.target = operand.offset // 16 - NEVER
                self.codes[self.target] = AHEAD if self._is_ahead() else BACK

    def _is_ahead(self) -> bool:
        return any(isinstance(o, Label) and o.offset > self.instruction.offset for o in self.instruction.operands)

    def _immediate(self, kind: Any, mark: int) -> None:
        if H2 in self.kinds:  # two may be one
            return
        if kind in (Addend, Floats):
            self._put(mark, _low)
        elif isinstance(kind, type) and issubclass(kind, Lanes) and kind is not Pred:
            if kind.bits == 32:
                self._put(mark, _low)
            elif kind is F64 or self.instruction.base == "I2F":  # the listing shows the high word of a double
                self._put(mark, lambda bits: 0, _low)
            else:
                self._put(mark, _low, lambda bits: _low(bits >> 32))

    # The template's own instruction

    def _own(self, codes: list[int]) -> tuple[Instruction, Binding]:
        fixed = isinstance(self.operation[0], tuple)
        at = replace(with_numbers(self.instruction, codes), source=None)
        at = at if fixed else replace(at, offset=16 * HERE)
        binding = bind(at)
        assert binding is not None
        sources = tuple((source, self._in_op(source.kind, operand)) for source, operand in binding.sources)
        return at, replace(binding, sources=sources)

    def _in_op(self, kind: Any, operand: Any) -> Any:
        """An immediate held in the ThreadedOp is read like a register."""
        if not isinstance(operand, Immediate) or operand.bits not in self.codes.values():
            return operand
        return Register(IMMEDIATE, operand.bits, part="F32" if kind is Floats else "")


@cache
def template_cache(setting: TemplateSettings) -> TemplateCache:
    return TemplateCache(setting)


def _low(bits: int) -> int:
    """The low word, as a signed number."""
    return (bits + (1 << 31)) % (1 << 32) - (1 << 31)


def _word(number: int) -> int:
    if not -(1 << 31) <= number < 1 << 31:
        raise UnfitError
    return number


def _names_places(instruction: Instruction) -> bool:
    """Whether the handler would contain program points of the kernel: then no other instruction can share it."""
    return instruction.base == "LEPC" or any(isinstance(o, Label) for o in instruction.operands)


def _setting_of(instruction: Instruction, binding: Binding, setting: TemplateSettings) -> tuple[Any, ...]:
    """The part of the settings that the instruction's code depends on."""
    if not binding.op.takes_warp:
        return ()
    checks = setting.checks - {"needed"} if binding.op.section == "load_store" else setting.checks - OF_ACCESSES
    near = (setting.windows, tuple(sorted(checks)), setting.unit, setting.shares)
    if instruction.base == "NOP" or binding.op.section in ("load_store", "warp", "special", "tensor"):
        return near
    return (*near, setting.restores, setting.uses_convergence_barriers, setting.may_yield)
