"""Code text: the lines of kernels as nvdisasm prints them, kept on disk by machine code.

Kernels without relocations are disassembled as code alone, those of one architecture by one start of nvdisasm: it takes
longer than the rest of a small kernel's compilation.  A change that leaves the machine code as it was (a comment,
another name) needs no start.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from contextlib import suppress
from itertools import groupby

from warplens.core.cubin import Cubin, Kernel
from warplens.errors import CubinError
from warplens.sass import nvdisasm
from warplens.sass.nvdisasm import Line
from warplens.sass.operand_parser import JUMPS
from warplens.system import disk_cache

INSTRUCTION_BYTES = 16
# Bytes of code of a cubin from which each kernel is disassembled by itself.  CuPy's has 383 kernels and 9 MB: all take
# 72 s, one 3.
LARGE = 1 << 20


def is_large(cubin: Cubin) -> bool:
    return sum(len(kernel.code) for kernel in cubin.kernels.values()) > LARGE


def is_code_alone(kernel: Kernel) -> bool:
    """Whether its text follows from its code and the places of its functions, of which no two are the same."""
    return not kernel.relocated and not kernel.linked and len(set(kernel.functions.values())) == len(kernel.functions)


def disassemble_ahead(cubins: Iterable[Cubin]) -> None:
    """Disassembles cubins that will be asked for, by one start of nvdisasm for each architecture.

    Leaves out large ones and those with kernels that are not code alone; does nothing without a disk cache.
    """
    if disk_cache.directory() is None:
        return
    kernels = [
        kernel
        for cubin in cubins
        if not is_large(cubin) and all(map(is_code_alone, cubin.kernels.values()))
        for kernel in cubin.kernels.values()
    ]
    by_architecture = sorted(kernels, key=lambda kernel: kernel.arch)
    for _, alike in groupby(by_architecture, key=lambda kernel: kernel.arch):
        with suppress(CubinError):  # of one: whoever asks for that gets the error
            kernels_text(list(alike))


def kernels_text(kernels: Sequence[Kernel]) -> list[list[Line]]:
    """The lines of each of these kernels of one architecture, whose text follows from their code.  CubinError."""
    names = [disk_cache.key("code", kernel.arch, kernel.code, nvdisasm.version()) for kernel in kernels]
    kept = {name: disk_cache.recall("sass", name) for name in names}
    known: dict[str, list[Line]] = {name: json.loads(lines) for name, lines in kept.items() if lines is not None}
    missing = {name: kernel for name, kernel in zip(names, kernels, strict=True) if name not in known}
    if missing:
        for name, lines in zip(missing, _disassembled(list(missing.values())), strict=True):
            disk_cache.keep("sass", name, json.dumps(lines, separators=(",", ":")).encode())
            known[name] = lines
    return [_with_names(kernel, known[name]) for name, kernel in zip(names, kernels, strict=True)]


def _disassembled(kernels: Sequence[Kernel]) -> list[list[Line]]:
    lines = nvdisasm.code_lines(kernels[0].arch, b"".join(kernel.code for kernel in kernels))
    if len(lines) * INSTRUCTION_BYTES != sum(len(kernel.code) for kernel in kernels):
        raise CubinError(f"nvdisasm shows {len(lines)} instructions of {', '.join(k.name for k in kernels)}")
    texts, start = [], 0
    for kernel in kernels:
        count = len(kernel.code) // INSTRUCTION_BYTES
        texts.append([_from(line, start * INSTRUCTION_BYTES) for line in lines[start : start + count]])
        start += count
    return texts


def _with_names(kernel: Kernel, lines: list[Line]) -> list[Line]:
    """With functions by name where they are called and returned to, as nvdisasm prints them of a cubin."""
    functions = {hex(place): name for name, place in kernel.functions.items()}
    named = []
    for predicate, opcode, operands in lines:
        if opcode.startswith(("CALL.REL", "RET.REL")):
            *others, place = operands.split(",")
            operands = ",".join((*others, functions.get(place, place)))
        named.append((predicate, opcode, operands))
    return named


def _from(line: Line, start: int) -> Line:
    """The line with places that count from `start`."""
    predicate, opcode, operands = line
    if not start or not (opcode in JUMPS or opcode.split(".")[0] in JUMPS) or ".ABS" in opcode:
        return line
    *others, place = operands.split(",")
    if not place.startswith("0x"):
        return line
    return predicate, opcode, ",".join((*others, hex(int(place, 16) - start)))
