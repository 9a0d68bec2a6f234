"""Parameter types: from the mangled name, else from the CUDA source; a cubin has none."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from warplens.compiler.c_types import TYPES
from warplens.compiler.signature import NOISE, all_declarations, declared_name
from warplens.core.cubin import Kernel
from warplens.core.demangle import parameter_types
from warplens.launchspec.element_type import ElementType, parse_element

POINTER_BYTES = 8
VARIABLE = re.compile(r"\b__(?:device|constant|managed)__\s+([^;={}(),]+)(?=[;={])")
QUALIFIER = re.compile(
    r"\b(const|static|extern|volatile|restrict|__restrict(__)?|__grid_constant__|struct|std::(?=\w+_t\b))"
)


@dataclass(frozen=True, slots=True)
class ParameterType:
    """Type of one parameter.

    name      of the parameter in the source, "" if unknown
    spelled   as C++ has it, without qualifiers: "float*"; "" if unknown
    pointer   whether it is one
    element   the number type of the parameter, or of what it points to; None for structures and unknown types
    """

    name: str = ""
    spelled: str = ""
    pointer: bool = False
    element: ElementType | None = None

    @property
    def boolean(self) -> bool:
        return self.spelled == "bool"


def types_of(kernel: Kernel, sources: Mapping[str, str]) -> tuple[ParameterType, ...]:
    """One for each parameter; empty where neither the name nor the source has them."""
    count = len(kernel.parameters)
    declared = [found for text in sources.values() for found in all_declarations(text, kernel.name, count)]
    names = [declared_name(text) for text in declared[0]] if declared else [""] * count
    mangled = parameter_types(kernel.name)
    if len(mangled) == count:
        spelled = [_plain(text) for text in mangled]
    else:
        own = _own_names(sources.values())
        written = [[_declared_type(text, own) for text in one] for one in declared]
        spelled = [same[0] if len(set(same)) == 1 else "" for same in zip(*written, strict=True)] or [""] * count
    return tuple(
        _type(name, text, parameter.size)
        for name, text, parameter in zip(names, spelled, kernel.parameters, strict=True)
    )


def variable_types(sources: Mapping[str, str]) -> dict[str, ParameterType]:
    """Types of `__device__` and `__constant__` variables by name without namespaces, of arrays that of an element; none
    for those that the sources declare differently in two places."""
    own = _own_names(sources.values())
    found: dict[str, set[str]] = {}
    for text in sources.values():
        for declaration in VARIABLE.findall(NOISE.sub(" ", text)):
            spelled = _declared_type(declaration, own).removesuffix("*") if "*" not in declaration else ""
            found.setdefault(declared_name(declaration), set()).add(spelled.rstrip("*"))
    return {
        name: ParameterType(name, spelled, False, parse_element(TYPES[spelled]))
        for name, (spelled, *others) in ((name, tuple(kinds)) for name, kinds in found.items())
        if name and not others and spelled in TYPES
    }


def _type(name: str, spelled: str, size: int) -> ParameterType:
    base = spelled.rstrip("*")
    pointer = base != spelled
    known = base in TYPES and len(spelled) <= len(base) + 1
    element = parse_element(TYPES[base]) if known else None
    if pointer:
        return ParameterType(name, spelled, True, element) if size == POINTER_BYTES else ParameterType(name)
    if element is None or element.lanes > 1 or element.bytes != size:
        return ParameterType(name)
    return ParameterType(name, spelled, False, element)


def _declared_type(declaration: str, own: set[str]) -> str:
    """ "float*" of "const float* __restrict__ x"; "" for templates, and where the source gives a word a meaning."""
    text = declaration.split("=")[0].strip()
    name = declared_name(declaration)
    if "<" in text or "(" in text:
        return ""
    text, *dimensions = text.split("[")
    base = _plain(re.sub(rf"\b{name}\s*$", "", text) if name else text)
    return "" if set(re.findall(r"\w+", base)) & own else base + "*" * len(dimensions)


def _plain(text: str) -> str:
    """Without qualifiers and needless blanks."""
    return re.sub(r"\s*\*\s*", "*", " ".join(QUALIFIER.sub(" ", text).split()))


def _own_names(sources: Iterable[str]) -> set[str]:
    """Words that the sources themselves define as types or macros."""
    found: set[str] = set()
    for text in sources:
        found.update(re.findall(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", text, re.MULTILINE))
        code = NOISE.sub(" ", text)
        found.update(re.findall(r"\btypedef\b[^;{}]*?(\w+)\s*;", code))
        found.update(re.findall(r"\b(?:using|struct|class|enum|typename)\s+(\w+)", code))
    return found
