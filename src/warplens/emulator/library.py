"""The access routines that most kernels need, compiled once a host and kept: they are more code than most kernels."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from warplens.emulator import ir
from warplens.emulator.routines import Routines
from warplens.emulator.site import V32, V64, Windows
from warplens.emulator.vectors import I1, I32, I64, PTR
from warplens.isa._warp import Space

VOID = ir.VoidType()
TYPES = {str(kind): kind for kind in (I1, I32, I64, PTR, V32, V64, VOID)} | {
    str(kind): kind for kind in (ir.LiteralStructType([V32] * n) for n in (2, 4))
}


@dataclass(frozen=True)
class Signature:
    """A routine's name and types, spelled as LLVM does."""

    name: str
    result: str
    arguments: tuple[str, ...]


@dataclass(frozen=True)
class Library:
    """Routines in machine code of this host."""

    signatures: tuple[Signature, ...]
    code: bytes

    def dumped(self) -> bytes:
        head = json.dumps([[s.name, s.result, s.arguments] for s in self.signatures]).encode()
        return len(head).to_bytes(8, "little") + head + self.code

    @staticmethod
    def loaded(data: bytes) -> Library:
        size = int.from_bytes(data[:8], "little")
        listed = json.loads(data[8 : 8 + size])
        return Library(tuple(Signature(n, r, tuple(a)) for n, r, a in listed), data[8 + size :])


def library_module(windows: Windows) -> tuple[ir.Module, tuple[Signature, ...]]:
    """Loads and stores of every width in any pattern, and what they call."""
    module = ir.Module(name="library")
    routines = Routines(module, windows)
    spaces: tuple[Space, ...] = ("global", "shared", "local")
    for space in spaces:
        for size in (1, 2, 4, 8, 16):
            routines.gather(space, size, False)
            routines.scatter(space, size)
            if size < 4:
                routines.gather(space, size, True)
    for size in (1, 2, 4, 8, 16):
        routines.count_row(size)
    for space in ("global", "shared"):
        routines.gather_row(space)
        routines.scatter_row(space)
    made = [f for f in module.functions if not f.is_declaration]
    for function in made:
        function.linkage = "external"
    return module, tuple(
        Signature(f.name, str(f.function_type.return_type), tuple(str(a) for a in f.function_type.args)) for f in made
    )


def declare(module: ir.Module, signatures: Sequence[Signature]) -> None:
    """So that the routines are found in a kernel's module, and not built again."""
    for signature in signatures:
        kind = ir.FunctionType(TYPES[signature.result], [TYPES[a] for a in signature.arguments])
        ir.Function(module, kind, signature.name)
