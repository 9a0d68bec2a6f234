"""The C++ name of a kernel from its symbol: "scale<float, 4>" for "_ZN3app5scaleIfLi4EEEvPT_" with "app::" before.

A part of the Itanium C++ ABI's grammar (https://itanium-cxx-abi.github.io/cxx-abi/abi.html#mangling): names, template
arguments that are types, numbers or functions, and substitutions.  Of lambdas and other expressions nothing is known:
such a symbol has no other name.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

from warplens.compiler.signature import full_name, plain_name

BUILTIN = {
    "v": "void", "b": "bool", "c": "char", "a": "signed char", "h": "unsigned char", "s": "short",
    "t": "unsigned short", "i": "int", "j": "unsigned int", "l": "long", "m": "unsigned long", "x": "long long",
    "y": "unsigned long long", "n": "__int128", "o": "unsigned __int128", "f": "float", "d": "double", "w": "wchar_t",
}  # fmt: skip
BEHIND = {"P": "*", "R": "&", "O": "&&", "K": " const", "V": " volatile", "r": " restrict"}
SUFFIX = {"i": "", "j": "u", "l": "l", "m": "ul", "x": "ll", "y": "ull"}  # of a number as a template argument
UNNAMED = "_GLOBAL__N_"  # how compilers call a namespace without a name
DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def demangled(symbol: str) -> str:
    """With namespaces and template arguments, without parameters; the symbol itself where it cannot be read."""
    reader = _NameReader(symbol)
    try:
        return reader.name() if reader.took("_Z") else symbol
    except (LookupError, ValueError):
        return symbol


@cache
def parameter_types(symbol: str) -> tuple[str, ...]:
    """C++ types of the function's parameters: ("float const*", "int"); () if the symbol does not tell them."""
    reader = _NameReader(symbol)
    try:
        if not reader.took("_Z"):
            return ()
        reader.name()
        reader.template = [] if reader.packed else reader.given
        if reader.given:
            reader.type()  # a template's instance has its result before its parameters
        types = []
        while reader.at < len(symbol):
            types.append(reader.type())
        return () if types == ["void"] else tuple(types)
    except (LookupError, ValueError):
        return ()


@cache
def cpp_names(symbol: str) -> tuple[str, ...]:
    """The names by which a reader may mean this kernel, the shortest first; the last ones tell overloads apart."""
    short, full, whole = plain_name(symbol), full_name(symbol), demangled(symbol)
    types = ", ".join(parameter_types(symbol))
    return short, full, whole.removeprefix(full.removesuffix(short)), whole, f"::{whole}", f"{whole}({types})"


def same_name(name: str) -> str:
    """What two spellings of one name have in common: "scale<float,4>" for "scale<float, 4u>"."""
    return re.sub(r"(?<![\w.])(\d+)[uUlL]+\b", r"\1", re.sub(r"\s+(?!\w)|(?<!\w)\s+", "", name))


class _NameReader:
    """Reads a symbol from left to right; ValueError or LookupError where the grammar above ends."""

    def __init__(self, symbol: str) -> None:
        self.text, self.at = symbol, 0
        self.known: list[str] = []  # what S_, S0_, S1_ ... stand for
        self.given: list[str] = []  # the template arguments that were read last
        self.packed = False
        self.template: list[str] = []  # what T_, T0_, T1_ ... stand for

    def took(self, word: str) -> bool:
        """Whether this stands here; then it is behind us."""
        here = self.text.startswith(word, self.at)
        self.at += len(word) * here
        return here

    def match(self, pattern: str) -> str:
        found = re.compile(pattern).match(self.text, self.at)
        if found is None:
            raise ValueError(pattern)
        self.at = found.end()
        return found[0]

    def next(self) -> str:
        return self.text[self.at]

    def keep(self, name: str) -> str:
        self.known.append(name)
        return name

    def name(self) -> str:
        """Of a function or a class."""
        if self.took("N"):
            return self.nested()
        name = "std::" + self.source() if self.took("St") else self.substituted() or self.source()
        if self.text[self.at : self.at + 1] == "I":
            if name not in self.known:
                self.keep(name)
            name += self.arguments()
        return name

    def nested(self) -> str:
        self.match("[rVK]*")
        name = ""
        while not self.took("E"):
            if self.next() == "I":
                name += self.arguments()
            elif self.took("St"):
                name = "std"
                continue
            elif found := self.substituted():
                name = found
                continue
            else:
                name = f"{name}::{self.source()}".removeprefix("::")
            if self.next() != "E":
                self.keep(name)
        return name

    def source(self) -> str:
        self.took("L")  # of a function that is only seen in this file
        length = int(self.match(r"\d+"))
        name = self.text[self.at : self.at + length]
        self.at += length
        if len(name) < length or not length:
            raise ValueError("cut short")
        return "(anonymous namespace)" if name.startswith(UNNAMED) else name

    def substituted(self) -> str:
        """What S_, S0_ ... is; "" where none stands here."""
        if not re.compile("S[0-9A-Z]*_").match(self.text, self.at):
            return ""
        number = self.match("S[0-9A-Z]*_")[1:-1]
        place = 0
        for digit in number:
            place = 36 * place + DIGITS.index(digit)
        return self.known[place + 1 if number else 0]

    def arguments(self) -> str:
        self.match("I")
        found = self.given = self.until_end(self.argument)
        return f"<{', '.join(found)}>"

    def until_end(self, read: Callable[[], list[str]]) -> list[str]:
        found: list[str] = []
        while not self.took("E"):
            found += read()
        return found

    def argument(self) -> list[str]:
        if self.took("J"):  # a pack
            self.packed = True
            return self.until_end(self.argument)
        if self.took("XadL"):  # the address of a function
            address = f"&{self.literal()}"
            self.match("E")
            return [address]
        return [self.literal() if self.took("L") else self.type()]

    def literal(self) -> str:
        if self.took("_Z"):
            function = self.name()
            self.until_end(lambda: [self.type()])  # its parameters
            return function
        letter = self.next()
        kind = self.type()
        value = self.match("n?[0-9]+").replace("n", "-")
        self.match("E")
        if letter == "b":
            return "false" if value == "0" else "true"
        return value + SUFFIX[letter] if letter in SUFFIX else f"({kind}){value}"

    def type(self) -> str:
        letter = self.next()
        if letter in BUILTIN:
            self.at += 1
            return BUILTIN[letter]
        if letter in BEHIND:
            self.at += 1
            return self.keep(self.type() + BEHIND[letter])
        if letter == "T":
            number = self.match("T[0-9]*_")[1:-1]
            return self.keep(self.template[int(number) + 1 if number else 0])
        before = len(self.known)
        name = self.name()
        return name if letter == "S" and len(self.known) == before and name in self.known else self.keep(name)
