"""Demangling: C++ names of kernels and variables from their symbols, by LLVM's demangler.

"app::scale<float, 4>" for "_ZN3app5scaleIfLi4EEEvPT_"; a symbol that is not mangled is returned unchanged.
"""

from __future__ import annotations

import re
from functools import cache

from pydemumble import demangle

# NVRTC spells the address of a function without its parameters: <&app::square>.
_ADDRESS = re.compile(r"(&[\w:]+)\((?:[^()]|\([^()]*\))*\)")
_ARGUMENTS = re.compile(r"<[^<>]*>|\[abi:\w+\]")
_OPEN, _CLOSE = "([{<", ")]}>"


def demangled(symbol: str) -> str:
    """Name with namespaces and template arguments, without result and parameters."""
    return _name_and_parameters(symbol)[0]


def parameter_types(symbol: str) -> tuple[str, ...]:
    """C++ types of the function's parameters: ("float const*", "int"); () for a symbol that holds none."""
    return tuple(split_parameters(_name_and_parameters(symbol)[1]))


def full_name(symbol: str) -> str:
    """ "app::scale" for "_ZN3app5scaleIfEEvPT_": without template arguments."""
    name = demangled(symbol)
    while (shorter := _ARGUMENTS.sub("", name)) != name:
        name = shorter
    return name


def plain_name(symbol: str) -> str:
    """ "scale" for "_ZN3app5scaleIfEEvPT_": the function's last name."""
    return full_name(symbol).rsplit("::", 1)[-1]


@cache
def cpp_names(symbol: str) -> tuple[str, ...]:
    """Spellings that select this kernel, the shortest first; the last ones distinguish overloads."""
    short, full, whole = plain_name(symbol), full_name(symbol), demangled(symbol)
    types = ", ".join(parameter_types(symbol))
    return short, full, whole.removeprefix(full.removesuffix(short)), whole, f"::{whole}", f"{whole}({types})"


@cache
def same_name(name: str) -> str:
    """Normal form of a name's spellings: "scale<float,4>" for "scale<float, 4u>"."""
    return re.sub(r"(?<![\w.])(\d+)[uUlL]+\b", r"\1", re.sub(r"\s+(?!\w)|(?<!\w)\s+", "", name))


def split_parameters(text: str) -> list[str]:
    """Parameters of a C++ list: split at the commas outside of all brackets; a lone `void` is none."""
    parts, depth = [""], 0
    for character in text:
        depth += (character in _OPEN) - (character in _CLOSE)
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts if part.strip() not in ("", "void")]


@cache
def _name_and_parameters(symbol: str) -> tuple[str, str]:
    text = demangle(symbol) if symbol.startswith("_Z") else ""
    text = _ADDRESS.sub(r"\1", text).removeprefix("void ")  # return type of a template instance
    if not text.endswith(")"):
        return text or symbol, ""
    opening = _opening_bracket(text)
    return text[:opening], text[opening + 1 : -1]


def _opening_bracket(text: str) -> int:
    """Index of the bracket that the last character closes."""
    depth = 0
    for index in reversed(range(len(text))):
        depth += (text[index] == ")") - (text[index] == "(")
        if depth == 0:
            return index
    return 0
