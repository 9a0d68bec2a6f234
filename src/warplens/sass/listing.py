"""Listing: reads a cubin as a Program by NVIDIA's own disassembler.

nvdisasm gives the text of each instruction, the cubin its 16 bytes: instruction i of a kernel is at 16 * i.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import overload

from warplens.core.cubin import Cubin, Kernel
from warplens.core.program import Constant, Instruction, Label, Operand, Program, Special
from warplens.errors import CubinError, UsageError
from warplens.sass import nvdisasm
from warplens.sass.code_text import INSTRUCTION_BYTES, is_code_alone, is_large, kernels_text
from warplens.sass.control_codes import control
from warplens.sass.flow_graph import basic_blocks, natural_loops
from warplens.sass.nvdisasm import Line
from warplens.sass.operand_parser import parse_guard, parse_operands
from warplens.system import disk_cache

GAP: Line = ("", "NOP", "")


@overload
def disassemble(cubin: Cubin) -> Mapping[str, Program]: ...
@overload
def disassemble(cubin: Cubin, kernel: str) -> Program: ...
def disassemble(cubin: Cubin, kernel: str | None = None) -> Mapping[str, Program] | Program:
    """The program of one kernel, or of all by name; each is read when it is first asked for.

    Raises UsageError for a kernel that is not there, CubinError if nvdisasm is missing or refuses the cubin.
    """
    listing = Listing(cubin)
    return listing if kernel is None else listing[kernel]


class Listing(Mapping[str, Program]):
    """The programs of a cubin by kernel name."""

    def __init__(self, cubin: Cubin) -> None:
        self.cubin = cubin
        self._programs: dict[str, Program] = {}

    def __getitem__(self, name: str) -> Program:
        if name not in self.cubin.kernels:
            raise UsageError(f"no kernel {name!r} in this cubin; it has {', '.join(self.cubin.kernels)}")
        if name not in self._programs:
            kernel = self.cubin.kernels[name]
            self._programs[name] = program(kernel, self._lines_of(kernel))
        return self._programs[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.cubin.kernels)

    def __len__(self) -> int:
        return len(self.cubin.kernels)

    def __contains__(self, name: object) -> bool:
        return name in self.cubin.kernels

    def _lines_of(self, kernel: Kernel) -> list[Line]:
        if self._is_large and is_code_alone(kernel):
            return kernels_text([kernel])[0]
        if not self._is_large and all(map(is_code_alone, self.cubin.kernels.values())):
            return self._texts[kernel.name]
        lines = self._cubin_lines(kernel.symbol) if self._is_large and not kernel.linked else self._all_lines
        if kernel.name not in lines:
            raise CubinError(f"nvdisasm shows no code for kernel {kernel.name}")
        listed = list(lines[kernel.name])
        for function, place in kernel.linked.items():
            listed += [GAP] * (place // INSTRUCTION_BYTES - len(listed))
            listed += lines.get(function, [])
        return listed

    @cached_property
    def _is_large(self) -> bool:
        return is_large(self.cubin)

    @cached_property
    def _texts(self) -> dict[str, list[Line]]:
        return dict(zip(self.cubin.kernels, kernels_text(list(self.cubin.kernels.values())), strict=True))

    @cached_property
    def _all_lines(self) -> dict[str, list[Line]]:
        return self._cubin_lines(0)

    def _cubin_lines(self, symbol: int) -> dict[str, list[Line]]:
        """Of the function with this symbol number, or of all (0)."""
        name = disk_cache.key("sass", self.cubin.data, str(symbol), nvdisasm.version())
        found = disk_cache.recall("sass", name)
        if found is None:
            lines = nvdisasm.cubin_lines(self.cubin.data, symbol)
            found = disk_cache.keep("sass", name, json.dumps(lines, separators=(",", ":")).encode())
        return dict(json.loads(found))


def program(kernel: Kernel, lines: list[Line]) -> Program:
    """The instructions, blocks and loops of a kernel, from its lines as nvdisasm prints them."""
    if len(lines) * INSTRUCTION_BYTES != len(kernel.code):
        raise CubinError(f"nvdisasm shows {len(lines)} instructions in {len(kernel.code)} bytes of {kernel.name}")
    instructions = tuple(_instruction(kernel, index, *line) for index, line in enumerate(lines))
    blocks = basic_blocks(instructions, kernel.functions.values(), kernel.branch_targets)
    entries = sorted({0, *(offset // INSTRUCTION_BYTES for offset in kernel.functions.values())})
    return Program(kernel.name, kernel.arch, instructions, blocks, natural_loops(blocks, entries))


def _instruction(kernel: Kernel, index: int, predicate: str, opcode: str, text: str) -> Instruction:
    offset = index * INSTRUCTION_BYTES
    encoding = int.from_bytes(kernel.code[offset : offset + INSTRUCTION_BYTES], "little")
    guards = [word for word in predicate.split() if word.startswith("@")]
    for word in predicate.split():
        if not word.startswith("@"):  # P2R's source, the predicate file, is shown in the place of its guard
            destination, rest = text.split(",", 1)
            text = f"{destination},{word},{rest}"
    start = max((place for place in kernel.linked.values() if place <= offset), default=0)  # of its section
    operands = parse_operands(opcode, text, encoding, offset - start, kernel.places)
    if offset in kernel.data_addresses:
        address = Constant(bank=4, offset=kernel.data_addresses[offset])
        operands = tuple(address if isinstance(operand, Special) else operand for operand in operands)
    operands = tuple(_moved(operand, start) for operand in operands) if start else operands
    return Instruction(
        offset=offset,
        opcode=opcode,
        guard=parse_guard(guards[0]) if guards else None,
        operands=operands,
        text=text,
        control=control(encoding),
        encoding=encoding,
        source=kernel.lines[index],
    )


def _moved(operand: Operand, start: int) -> Operand:
    """Labels without a name are places in the section, which begins at `start`."""
    if isinstance(operand, Label) and not operand.name:
        return Label(start + operand.offset)
    return operand
