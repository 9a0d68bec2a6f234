"""Listing: reads a cubin as a Program by NVIDIA's own disassembler (nvdisasm) of the package index.

nvdisasm gives the text of each instruction, the cubin its 16 bytes: instruction i of a kernel is at 16 * i.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import overload

from warplens.core.cubin import Cubin, Kernel
from warplens.core.program import Constant, Instruction, Label, Operand, Program, Special
from warplens.errors import CubinError, UsageError
from warplens.sass.control_codes import control
from warplens.sass.flow_graph import basic_blocks, natural_loops
from warplens.sass.operand_parser import parse_guard, parse_operands
from warplens.system import disk_cache
from warplens.system.nvidia_wheels import program_of

Line = tuple[str, str, str]
"""Predicate, opcode with modifiers, operands."""

GAP: Line = ("", "NOP", "")
INSTRUCTION_BYTES = 16
LONGEST_SECONDS = 300  # nvdisasm takes some 10 us an instruction
# Bytes of code of a cubin from which each kernel is disassembled by itself.  CuPy's has 383 kernels and 9 MB: all take
# 72 s, one 3.
LARGE = 1 << 20
MISSING = "nvdisasm is missing: pip install nvidia-cuda-nvdisasm"


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
            lines = (
                self._lines_of(kernel.symbol) if self._large and kernel.symbol and not kernel.linked else self._lines
            )
            if name not in lines:
                raise CubinError(f"nvdisasm shows no code for kernel {name}")
            listed = list(lines[name])
            for function, place in kernel.linked.items():
                listed += [GAP] * (place // INSTRUCTION_BYTES - len(listed))
                listed += lines.get(function, [])
            self._programs[name] = program(kernel, listed)
        return self._programs[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.cubin.kernels)

    def __len__(self) -> int:
        return len(self.cubin.kernels)

    def __contains__(self, name: object) -> bool:
        return name in self.cubin.kernels

    @cached_property
    def _large(self) -> bool:
        return sum(len(kernel.code) for kernel in self.cubin.kernels.values()) > LARGE

    @cached_property
    def _lines(self) -> dict[str, list[Line]]:
        return self._lines_of(0)

    @cached_property
    def _digest(self) -> str:
        return disk_cache.key("sass", self.cubin.data, _tool()[1])

    def _lines_of(self, symbol: int) -> dict[str, list[Line]]:
        """Of the function with this symbol number, or of all (0).  nvdisasm takes about 1.3 s to start, so its answer
        is kept."""
        name = disk_cache.key(self._digest, str(symbol)) if symbol else self._digest
        lines: dict[str, list[Line]] = json.loads(
            disk_cache.remember("sass", name, lambda: _compact(_nvdisasm(self.cubin.data, symbol)))
        )
        return lines


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


def _compact(document: bytes) -> bytes:
    """Of nvdisasm's JSON, the lines of each function."""
    try:
        _, functions = json.loads(document, strict=False)  # names are printed as they are, control characters too
        lines = {
            function["function-name"]: [
                (line.get("predicate", ""), line["opcode"], line.get("operands", ""))
                for line in function["sass-instructions"]
            ]
            for function in functions
        }
    except (ValueError, KeyError, TypeError, AttributeError):
        raise CubinError("nvdisasm shows no code that can be read: the cubin is damaged, or has odd names") from None
    return json.dumps(lines, separators=(",", ":")).encode()


def _nvdisasm(data: bytes, symbol: int) -> bytes:
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(data)
        file.flush()
        chosen = ["-fun", str(symbol)] if symbol else []
        command = [str(_tool()[0]), "-json", *chosen, file.name]
        try:
            answer = subprocess.run(command, capture_output=True, check=False, timeout=LONGEST_SECONDS)
        except subprocess.TimeoutExpired:
            raise CubinError(f"nvdisasm took over {LONGEST_SECONDS} s: the cubin is damaged or too large") from None
    if answer.returncode:
        reason = answer.stderr.decode(errors="replace").strip().replace(file.name, "the cubin")
        if answer.returncode < 0:
            reason = f"it ended by signal {-answer.returncode}; the cubin may be damaged"
        raise CubinError(f"nvdisasm refused the cubin: {reason}")
    return answer.stdout


def _tool() -> tuple[Path, str]:
    """nvdisasm, and its version."""
    found = program_of("nvidia-cuda-nvdisasm", "nvdisasm")
    if found is None:
        raise CubinError(MISSING)
    return found
