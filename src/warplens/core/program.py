"""Program: decoded machine code: instructions with operands, basic blocks, loops."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Literal

from warplens.core.cubin import SourceLine

File = Literal["R", "UR", "P", "UP", "B", "SB"]


@dataclass(frozen=True, slots=True)
class Register:
    """Register operand.

    file    R (32 lanes x 32 bit), UR (one 32-bit value a warp), P (32 lanes x 1 bit), UP, B (convergence
            barrier), SB (scoreboard)
    index   number; -1 for the constant member of the file: RZ, URZ (zero), PT, UPT (true)
    negate  `-R`;  absolute `|R|`;  invert `~R` or `!P`
    part    "" or the half or byte selected: "H0_H0", "H1_H1", "B0" ...
    """

    file: File
    index: int
    negate: bool = False
    absolute: bool = False
    invert: bool = False
    part: str = ""


@dataclass(frozen=True, slots=True)
class Immediate:
    """Immediate operand.

    bits   two's complement value for integers (may be negative); for floats the 32-bit word of the encoding
           (16 bits for each member of a half pair)
    real   the number as printed if it is a float, else None
    """

    bits: int
    real: str | None = None


@dataclass(frozen=True, slots=True)
class Constant:
    """Constant operand: c[bank][index + offset]; `index` is None for a fixed offset."""

    bank: int
    offset: int
    index: Register | None = None
    negate: bool = False
    absolute: bool = False
    invert: bool = False
    part: str = ""


@dataclass(frozen=True, slots=True)
class Address:
    """Address operand: [base * scale + uniform + offset].

    wide     base is a 64-bit register pair (`.64`);  unsigned: a zero-extended 32-bit register (`.U32`)
    """

    base: Register | None
    uniform: Register | None
    offset: int
    scale: int = 1
    wide: bool = False
    unsigned: bool = False


@dataclass(frozen=True, slots=True)
class Label:
    """Label: byte offset in the kernel's section, and its name if it has one."""

    offset: int
    name: str = ""


@dataclass(frozen=True, slots=True)
class Special:
    """Special register ("SR_TID.X"), or the predicate file as a whole ("PR")."""

    name: str


Operand = Register | Immediate | Constant | Address | Label | Special


@dataclass(frozen=True, slots=True)
class Control:
    """Control code: scheduling fields set by the compiler (bits 105 to 125 of the encoding).

    stall           cycles before this warp may issue its next instruction
    yield_hint      hint to the scheduler to switch warps
    write_barrier   scoreboard released when the result is written, or None
    read_barrier    scoreboard released when the sources have been read, or None
    wait_mask       bit k: wait for scoreboard k
    """

    stall: int
    yield_hint: bool
    write_barrier: int | None
    read_barrier: int | None
    wait_mask: int


@cache
def opcode_words(opcode: str) -> tuple[str, tuple[str, ...]]:
    """Base and modifiers of an opcode.  A prediction asks for them a hundred times an instruction."""
    base, *modifiers = opcode.split(".")
    return base, tuple(modifiers)


@dataclass(frozen=True, slots=True)
class Instruction:
    """Instruction: one machine instruction.

    offset    byte offset in the kernel's section (16 bytes an instruction)
    opcode    with its modifiers: "IMAD.WIDE.U32"
    guard     the predicate it runs under, or None
    text      operands as printed
    encoding  the 128-bit word
    """

    offset: int
    opcode: str
    guard: Register | None
    operands: tuple[Operand, ...]
    text: str
    control: Control
    encoding: int
    source: SourceLine | None

    @property
    def index(self) -> int:
        return self.offset // 16

    @property
    def base(self) -> str:
        return opcode_words(self.opcode)[0]

    @property
    def modifiers(self) -> tuple[str, ...]:
        return opcode_words(self.opcode)[1]


@dataclass(frozen=True, slots=True)
class Block:
    """Basic block: instructions [first, last] by index; successors by index of their first instruction."""

    first: int
    last: int
    successors: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Loop:
    """Natural loop: its header and all its blocks, by index of their first instruction; depth from 1."""

    header: int
    blocks: frozenset[int]
    depth: int


@dataclass(frozen=True, slots=True)
class Program:
    """Program: the disassembled kernel.  `blocks` are in code order and cover every instruction once.

    crossed  whether lanes of a warp wait for each other in two places, as found by a launch
             (emulator/execute/grid.py)
    """

    name: str
    arch: str
    instructions: tuple[Instruction, ...]
    blocks: tuple[Block, ...]
    loops: tuple[Loop, ...]
    crossed: bool = False

    def __repr__(self) -> str:
        size = f"{len(self.instructions)} instructions, {len(self.blocks)} blocks"
        return f"<Program {self.name} for {self.arch}: {size}>"

    @property
    def body(self) -> tuple[Instruction, ...]:
        """The instructions without the padding at the end: a branch to itself, then NOPs up to 128 bytes."""
        end = len(self.instructions)
        while end and self.instructions[end - 1].base == "NOP":
            end -= 1
        last = self.instructions[end - 1] if end else None
        if last and last.base == "BRA" and any(isinstance(o, Label) and o.offset == last.offset for o in last.operands):
            end -= 1
        return self.instructions[:end]
