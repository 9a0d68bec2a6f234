"""Cubin: kernels, variables and relocations that a binary declares."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

SET_CONDITIONAL = "cudaGraphSetConditional"
FUNCTIONS = ("vprintf", "__assertfail", "malloc", "free", SET_CONDITIONAL)  # system calls: no cubin holds them
CODE_BASE = 1 << 30  # their addresses: after all code


@cache
def chip_number(arch: str) -> int:
    """90 for "sm_90" and "sm_90a"."""
    found = re.search(r"\d+", arch)
    return int(found[0]) if found else 0


@dataclass(frozen=True, slots=True)
class Parameter:
    """Parameter: bytes [offset, offset + size) of a kernel's parameter block."""

    ordinal: int
    offset: int
    size: int


@dataclass(frozen=True, slots=True)
class SourceLine:
    """Source line, counted from 1; `file` as passed to the compiler."""

    file: str
    line: int


@dataclass(frozen=True, slots=True)
class Relocation:
    """Relocation: the 8-byte address of `symbol` + `addend` goes to `offset` of a constant bank or the globals."""

    offset: int
    symbol: str
    addend: int


@dataclass(frozen=True, slots=True)
class Kernel:
    """Kernel: one entry function of a cubin.

    name            as in the symbol table (mangled for C++ linkage)
    arch            "sm_90"
    registers       32-bit registers a thread, as the compiler reports them (not rounded)
    shared_bytes    static shared memory a block, without the 1 KB that the driver reserves from sm_90 on
    local_bytes     stack frame a thread
    parameters      in order; parameter_base is their place in constant bank 0
    barriers        named barriers used
    max_threads     __launch_bounds__, or None
    code            16 bytes an instruction, device functions after the kernel's own code
    functions       offset in `code` of each function in it
    constants       constant bank -> initial bytes; bank 0 holds launch block and parameters
    relocations     addresses to be filled into constant bank 4
    lines           source line of each instruction, None where the compiler gave none
    cluster         size in blocks of the clusters that the kernel demands (__cluster_dims__), else (1, 1, 1)
    branch_targets  offset of an indirect branch -> its target offsets, where the assembler lists them
    externs         functions it calls that are not in the cubin: the driver's
    symbol          its number in the cubin's symbol table; 0 where that is not known
    linked          offset in `code` of functions that were compiled by themselves (nvcc -rdc=true), in order
    data_addresses  offset of an instruction whose number is half of a variable's address -> where bank 4 has it
    block           size of the blocks that the kernel demands (.reqntid), or None
    relocated       whether the linker or loader fills in parts of its code; not known of hand-made ones
    """

    name: str
    arch: str
    registers: int
    shared_bytes: int
    local_bytes: int
    parameters: tuple[Parameter, ...]
    parameter_base: int
    barriers: int
    max_threads: int | None
    code: bytes
    functions: Mapping[str, int]
    constants: Mapping[int, bytes]
    relocations: tuple[Relocation, ...]
    lines: tuple[SourceLine | None, ...]
    cluster: tuple[int, int, int] = (1, 1, 1)
    branch_targets: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    externs: tuple[str, ...] = ()
    symbol: int = 0
    linked: Mapping[str, int] = field(default_factory=dict)
    data_addresses: Mapping[int, int] = field(default_factory=dict)
    relocated: bool = True
    block: tuple[int, int, int] | None = None

    def __repr__(self) -> str:
        return f"<Kernel {self.name} for {self.arch}: {len(self.code) // 16} instructions, {self.registers} registers>"

    @property
    def places(self) -> dict[str, int]:
        """Code addresses of all functions that it names; those that are not provided have the last one."""
        addresses = {name: CODE_BASE + 16 * n for n, name in enumerate(FUNCTIONS)}
        return {name: addresses.get(name, CODE_BASE + 16 * len(FUNCTIONS)) for name in self.externs} | dict(
            self.functions
        )

    @property
    def cluster_blocks(self) -> int:
        return self.cluster[0] * self.cluster[1] * self.cluster[2]

    @property
    def parameter_bytes(self) -> int:
        return max((p.offset + p.size for p in self.parameters), default=0)


@dataclass(frozen=True, slots=True)
class Variable:
    """Variable: a `__device__` or `__constant__` variable: offset in the module's image, and size in bytes."""

    offset: int
    size: int


@dataclass(frozen=True, slots=True)
class Cubin:
    """Cubin: a binary for one architecture.

    `globals_image` holds the initial bytes of all `__device__` variables, `globals` their offsets in it, and
    `relocations` the addresses to be filled into it; `constants` are the offsets of `__constant__` variables
    in bank 3; `sources` maps file names to their text if known (compiled here), for listings;
    `folder` is that of the file that the user named: its line table may name sources there, and no others.
    `made_by` is the compiler and its version, where it is none of NVIDIA's.
    """

    arch: str
    kernels: Mapping[str, Kernel]
    globals_image: bytes
    globals: Mapping[str, Variable]
    data: bytes
    sources: Mapping[str, str]
    constants: Mapping[str, Variable] = field(default_factory=dict)
    relocations: tuple[Relocation, ...] = ()
    folder: Path | None = None
    made_by: tuple[str, str] | None = None

    def __repr__(self) -> str:
        return f"<Cubin for {self.arch}: {len(self.kernels)} kernels, {len(self.data):,} bytes>"
