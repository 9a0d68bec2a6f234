"""Runtime library: access routines that kernels share, compiled once a host on first use, and cached.

Together they are more code than most kernels.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise

from warplens import llvm
from warplens.emulator.access.gather_scatter import AccessRoutines
from warplens.emulator.access.site import V32, V64, AddressWindows
from warplens.emulator.codegen.vector_types import I1, I32, I64, PTR
from warplens.isa.dsl.warp_interface import Space
from warplens.system import disk_cache as disk

VOID = llvm.VoidType()
TYPES = {str(kind): kind for kind in (I1, I32, I64, PTR, V32, V64, VOID)} | {
    str(kind): kind for kind in (llvm.LiteralStructType([V32] * n) for n in (2, 4))
}


@dataclass(frozen=True)
class RoutineSignature:
    """A routine's name and types, in LLVM's syntax."""

    name: str
    result: str
    arguments: tuple[str, ...]


class RuntimeLibrary:
    """Routines in machine code of this host, each an object file of its own that is compiled on the first call.

    version   names what the code depends on besides the windows;  compiled: what a module's text becomes, with_calls()
    counted   whether they count accesses
    families  of routines that are too many to list: what their names begin with, and the module of one by its name
    """

    def __init__(
        self, windows: AddressWindows, version: str, compiled: Callable[[str], bytes], counted: bool = True,
        families: Mapping[str, Callable[[str, AddressWindows], llvm.IRModule]] | None = None,
    ) -> None:  # fmt: skip
        self.windows, self.version, self.compiled, self.counted = windows, version, compiled, counted
        self.families = families or {}
        self._parts: dict[str, bytes] = {}

    @cached_property
    def signatures(self) -> tuple[RoutineSignature, ...]:
        listed = json.loads(disk.remember("object", self._key("signatures"), self._listed))
        return tuple(RoutineSignature(name, result, tuple(arguments)) for name, result, arguments in listed)

    def with_routines(self, data: bytes) -> list[bytes]:
        """The object files of a compiled module and of the routines that it calls."""
        known = {signature.name for signature in self.signatures}
        called, codes = calls_of(data)
        left, found = [name for name in called if name in known or self._family(name)], dict[str, list[bytes]]()
        while left:
            name = left.pop()
            if name not in found:
                called, found[name] = calls_of(self._part(name))
                left += called & known
        return [*(code for name in sorted(found) for code in found[name]), *codes]

    def _part(self, name: str) -> bytes:
        if name not in self._parts:
            key = self._key("routine", name)
            self._parts[name] = disk.remember("object", key, lambda: self.compiled(self._text_of(name)))
        return self._parts[name]

    def _family(self, name: str) -> str | None:
        return next((family for family in self.families if name.startswith(family)), None)

    def _text_of(self, name: str) -> str:
        family = self._family(name)
        return self._module.text_of(name) if family is None else str(self.families[family](name, self.windows))

    def _key(self, *what: str) -> str:
        return disk.key("library", self.version, str(self.windows), str(self.counted), *what)

    def _listed(self) -> bytes:
        made = (f for f in self._module.functions if not f.is_declaration)
        types = ((f.name, f.function_type.return_type, f.function_type.args) for f in made)
        return json.dumps([[name, str(result), [str(a) for a in given]] for name, result, given in types]).encode()

    @cached_property
    def _module(self) -> llvm.IRModule:
        return library_module(self.windows, self.counted)


CALL = re.compile(r'call [^@\n]*@"(\w+)"')


def with_calls(text: str, codes: Sequence[bytes]) -> bytes:
    """Links the object files of a module to the functions that it calls."""
    head = json.dumps([sorted(set(CALL.findall(text))), [len(code) for code in codes]]).encode()
    return b"".join([len(head).to_bytes(8, "little"), head, *codes])


def calls_of(data: bytes) -> tuple[frozenset[str], list[bytes]]:
    """(names, object files)"""
    end = 8 + int.from_bytes(data[:8], "little")
    names, sizes = json.loads(data[8:end])
    ends = [*accumulate(sizes, initial=end)]
    return frozenset(names), [data[start:stop] for start, stop in pairwise(ends)]


def library_module(windows: AddressWindows, counted: bool = True) -> llvm.IRModule:
    """Loads and stores of every width in any pattern, and what they call."""
    module = llvm.IRModule(name="library")
    routines = AccessRoutines(module, windows, counted)
    spaces: tuple[Space, ...] = ("global", "shared", "local")
    for space in spaces:
        for size in (1, 2, 4, 8, 16):
            routines.gather(space, size, False)
            routines.scatter(space, size)
            if size < 4:
                routines.gather(space, size, True)
    for size in (1, 2, 4, 8, 16) if counted else ():
        routines.count_row(size)
    for space in ("global", "shared"):
        routines.gather_row(space)
        routines.scatter_row(space)
    for function in module.functions:
        function.linkage = "external"
    return module


def declare(module: llvm.IRModule, signatures: Sequence[RoutineSignature]) -> None:
    """Declares the routines in a kernel's module, so that they are not built again."""
    for signature in signatures:
        kind = llvm.FunctionType(TYPES[signature.result], [TYPES[a] for a in signature.arguments])
        llvm.Function(module, kind, signature.name)
