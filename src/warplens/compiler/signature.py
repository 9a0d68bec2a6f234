"""Signatures: names of a kernel's parameters in its CUDA source.

A cubin knows places and sizes of parameters but not their names.  The source is scanned for `__global__`
functions of the kernel's name, without preprocessing: a kernel that a macro writes is not found.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from warplens.core.demangle import plain_name, split_parameters

NOISE = re.compile(
    r"//(?:\\\n|[^\n])*"  # a line comment, continued by a backslash
    r"|/\*.*?\*/"
    r'|"(?:\\.|[^"\\\n])*"'
    r"|'(?:\\.|[^'\\\n])*'(?!\w)"
    r"|^[ \t]*#(?:\\\n|[^\n])*",
    re.DOTALL | re.MULTILINE,
)
_DIGIT_SEPARATOR = re.compile(r"(?<=\d)'(?=\d)")
_KERNEL = re.compile(r"\b__global__\b")
_NAME = re.compile(r"\b([A-Za-z_]\w*)\s*\(")
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
_ATTRIBUTES = frozenset({"__launch_bounds__", "__cluster_dims__", "__maxnreg__", "__attribute__", "alignas"})
_QUALIFIERS = frozenset({"const", "volatile", "__restrict__", "__grid_constant__", "restrict"})
_BEFORE_NAME = _QUALIFIERS | {"struct", "class", "enum", "union", "typename"}
_TYPES = _QUALIFIERS | {
    *("void", "bool", "char", "short", "int", "long", "float", "double", "unsigned", "signed", "auto", "size_t"),
    *(f"{sign}int{bits}_t" for sign in ("", "u") for bits in (8, 16, 32, 64)),
}
_OPEN, _CLOSE = "([{<", ")]}>"


def parameter_names(source: str, kernel: str, count: int) -> tuple[str, ...]:
    """The names of a kernel's parameters in order, "" for one without.

    kernel  as in the symbol table: plain, or mangled as C++ compilers do (_ZN3app5scaleIfEEvPT_)
    count   of parameters; a function of the same name with another number of them is passed over
    An empty tuple if the source has no such kernel.
    """
    return tuple(declared_name(parameter) for parameter in declarations(source, kernel, count))


def declarations(source: str, kernel: str, count: int) -> tuple[str, ...]:
    """The same as they are written, without comments: ("const float* x", "int n")."""
    return next(all_declarations(source, kernel, count), ())


def all_declarations(source: str, kernel: str, count: int) -> Iterator[tuple[str, ...]]:
    """The same of every function of that name: branches of #if may declare it differently."""
    wanted = plain_name(kernel)
    for name, parameters in kernels(source):
        if name == wanted and len(parameters) == count:
            yield tuple(" ".join(parameter.split()) for parameter in parameters)


def _blank(noise: re.Match[str]) -> str:
    return " " if not noise[0].startswith(('"', "'")) else '""'


def kernels(text: str) -> Iterator[tuple[str, list[str]]]:
    """Name and parameters of every __global__ function, definitions and declarations."""
    source = NOISE.sub(_blank, _DIGIT_SEPARATOR.sub("", text))
    for mark in _KERNEL.finditer(source):
        at = mark.end()
        while found := _NAME.search(source, at):
            inside, at = _bracketed(source, found.end() - 1)
            if found[1] not in _ATTRIBUTES:
                yield found[1], split_parameters(inside)
                break


def body(source: str, kernel: str) -> str:
    """The text of a kernel's definition behind its parameters, without comments; "" where the source has none."""
    clean = NOISE.sub(_blank, _DIGIT_SEPARATOR.sub("", source))
    wanted = plain_name(kernel)
    for mark in _KERNEL.finditer(clean):
        text = clean[mark.end() :]
        named = next((found for found in _NAME.finditer(text) if found[1] not in _ATTRIBUTES), None)
        if named and named[1] == wanted:
            _, end = _bracketed(text, named.end() - 1)
            return _KERNEL.split(text[end:])[0]
    return ""


def _bracketed(source: str, opening: int) -> tuple[str, int]:
    """The text between a bracket and its partner, and the index after it."""
    depth = 0
    for at in range(opening, len(source)):
        depth += (source[at] == "(") - (source[at] == ")")
        if depth == 0:
            return source[opening + 1 : at], at + 1
    return source[opening + 1 :], len(source)


def declared_name(parameter: str) -> str:
    """The name in a declaration such as `const float* __restrict__ x` or `int (*table)[4] = 0`."""
    declaration = _without_default(parameter)
    pointer = re.search(r"\(\s*[*&]\s*([A-Za-z_]\w*)\s*\)", declaration)
    if pointer:
        return pointer[1]
    words = _IDENTIFIER.findall(_outside_angles(declaration.split("[")[0]))
    types = [word for word in words[:-1] if word not in _BEFORE_NAME]
    named = words and types and words[-1] not in _TYPES
    return str(words[-1]) if named and not _ends_qualified(declaration) else ""


def _without_default(parameter: str) -> str:
    depth = 0
    for at, character in enumerate(parameter):
        depth += (character in _OPEN) - (character in _CLOSE)
        if character == "=" and depth == 0:
            return parameter[:at]
    return parameter


def _outside_angles(text: str) -> str:
    """Without template arguments."""
    depth, kept = 0, ""
    for character in text:
        depth -= character == ">"
        kept += character if depth == 0 and character not in "<>" else ""
        depth += character == "<"
    return kept


def _ends_qualified(declaration: str) -> bool:
    """`app::Point` alone is a type."""
    return re.search(r"::\s*[A-Za-z_]\w*\s*$", declaration) is not None


def first_names(sources: Iterable[str], kernel: str, count: int) -> tuple[str, ...]:
    """parameter_names of the first source that has the kernel."""
    return next((names for source in sources if (names := parameter_names(source, kernel, count))), ())
