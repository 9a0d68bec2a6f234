"""The `op` decorator: a function's signature defines how operands and modifiers are decoded.

Positional parameters are operands: a `Lanes` type reads a register, immediate or constant as that type (64-bit types
read pairs), `int` an immediate, `Addend` a 32-bit value that keeps its carry, `Address`, `Label`, `Register` and
`Special` the operand itself, `Warp` (first) the warp for what reaches beyond the lanes.  A default makes an operand
optional.
Keyword-only parameters are modifiers: `X: bool` is whether `.X` is there, a `Literal` or `Choice` one of its choices,
a NamedTuple several of them.  Where the order decides which is which, the name contains the parameter in braces:
`F2F.{half}.F32` is not `F2F.F32.F16`.
The return annotation names the destinations in order; predicates among them may be left out by the listing.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar, Literal, TypeVar, get_args, get_origin, get_type_hints

from warplens.isa.dsl.lanes import Lanes, Pred
from warplens.isa.dsl.warp_interface import Data, Warp

F = TypeVar("F", bound=Callable[..., Any])


class Choice(str):
    """A modifier with more choices than a Literal lists well: `choices` has them."""

    choices: ClassVar[tuple[str, ...]] = ()
    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Source:
    """One operand that the operation reads; `default` is `inspect.Parameter.empty` where it must be there."""

    name: str
    kind: type
    default: Any


@dataclass(frozen=True, slots=True)
class Modifier:
    """One modifier; `choices` is empty for a flag."""

    name: str
    choices: tuple[str, ...]
    default: Any


@dataclass(frozen=True, slots=True)
class Op:
    """An operation: its dotted name, its function, and what the signature declares.

    pipe     the execution pipe, as Nsight names it in sm__inst_executed_pipe_*
    probe    CUDA expressions, or PTX, that make the compiler emit it, "" if none are given
    text     plain English with the operands in braces, "" where the English emitter can run the function
    section  the file it is in
    groups   parameters that are several modifiers, and their NamedTuples
    """

    name: str
    body: Callable[..., Any]
    sources: tuple[Source, ...]
    modifiers: tuple[Modifier, ...]
    results: tuple[type, ...]
    takes_warp: bool
    ignores: frozenset[str]
    pipe: str
    probe: str
    text: str
    section: str
    groups: tuple[tuple[str, Any], ...] = ()

    @property
    def result_predicates(self) -> int:
        return sum(r is Pred for r in self.results)

    @property
    def result_values(self) -> int:
        return len(self.results) - self.result_predicates

    def match(self, modifiers: list[str]) -> dict[str, Any] | None:
        """The keyword arguments for these modifiers, or None if one of them is not known here."""
        left = list(modifiers)
        place = 0  # in the name's order: F2F.F32.F64 is not F2F.F64.F32
        chosen: dict[str, Any] = {}
        for part in self.name.split(".")[1:]:
            choices = self._choices(part[1:-1]) if part.startswith("{") else (part,)
            found = next((at for at in range(place, len(left)) if left[at] in choices), None)
            if found is None:
                return None
            place = found
            given = left.pop(place)
            if part.startswith("{"):
                chosen[part[1:-1]] = given
        for modifier in self.modifiers:
            if modifier.name in chosen:
                continue
            if not modifier.choices:
                chosen[modifier.name] = modifier.name in left
                left = [m for m in left if m != modifier.name]
                continue
            here = next((m for m in left if m in modifier.choices), None)
            if here is not None:
                left.remove(here)
            elif modifier.default is inspect.Parameter.empty:
                return None
            chosen[modifier.name] = modifier.default if here is None else here
        if any(m not in self.ignores for m in left):
            return None
        for name, kind in self.groups:
            chosen[name] = kind(**{field: chosen.pop(field) for field in kind._fields})
        return chosen

    def _choices(self, modifier: str) -> tuple[str, ...]:
        return next(m.choices for m in self.modifiers if m.name == modifier)


_operations: dict[str, list[Op]] = defaultdict(list)


def op(*names: str, pipe: str, probe: str = "", text: str = "", ignores: str = "") -> Callable[[F], F]:
    """Make a function the meaning of these opcodes; `ignores` lists modifiers without functional effect."""

    def register(body: F) -> F:
        for name in names:
            operation = _read(name, body, frozenset(ignores.split()), pipe, probe, text)
            _operations[name.split(".")[0]].append(operation)
        return body

    return register


def _read(name: str, body: Callable[..., Any], ignores: frozenset[str], pipe: str, probe: str, text: str) -> Op:
    hints = get_type_hints(body)
    sources: list[Source] = []
    modifiers: list[Modifier] = []
    groups: list[tuple[str, Any]] = []
    takes_warp = False
    for parameter in inspect.signature(body).parameters.values():
        kind = hints[parameter.name]
        if kind is Warp:
            takes_warp = True
        elif parameter.kind is inspect.Parameter.KEYWORD_ONLY:
            # A name that Python does not allow, such as 16x2, is spelled with a leading underscore.
            fields = {parameter.name: kind}
            defaults = {parameter.name: parameter.default}
            if hasattr(kind, "_fields"):
                groups.append((parameter.name, kind))
                fields, defaults = get_type_hints(kind), kind._field_defaults
            for field, hint in fields.items():
                default = defaults.get(field, inspect.Parameter.empty)
                modifiers.append(Modifier(field, _choices_of(hint), default))
        else:
            sources.append(Source(parameter.name, kind, parameter.default))
    returned = hints.get("return", type(None))
    results = get_args(returned) if get_origin(returned) is tuple else (returned,)
    return Op(
        name, body, tuple(sources), tuple(modifiers), tuple(r for r in results if r is not type(None)), takes_warp,
        ignores, pipe, probe, text, body.__module__.rsplit(".", 1)[-1], tuple(groups),
    )  # fmt: skip


def _choices_of(kind: Any) -> tuple[str, ...]:
    return get_args(kind) if get_origin(kind) is Literal else getattr(kind, "choices", ())


@cache
def operations() -> Mapping[str, tuple[Op, ...]]:
    """All operations by the first part of their opcode, the most specific name first.  The folder is the list."""
    package = importlib.import_module("warplens.isa")
    for module in pkgutil.iter_modules(package.__path__):
        if not module.ispkg:
            importlib.import_module(f"warplens.isa.{module.name}")
    return {base: tuple(sorted(ops, key=lambda o: -o.name.count("."))) for base, ops in sorted(_operations.items())}


@cache
def find(opcode: str) -> tuple[Op, Mapping[str, Any]] | None:
    """The operation that an opcode with its modifiers means, and its modifiers' values; None if there is none.

    A name with a U in front that is not defined itself is the same operation on the uniform datapath.
    """
    base, *modifiers = opcode.split(".")
    known = operations().get(base) or (operations().get(base[1:], ()) if base.startswith("U") else ())
    for operation in known:
        chosen = operation.match(modifiers)
        if chosen is not None:
            return operation, chosen
    return None


__all__ = ["Data", "Lanes", "Modifier", "Op", "Source", "find", "op", "operations"]
