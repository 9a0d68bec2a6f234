""".nv.info: attributes of each kernel that the assembler recorded.

A section is a row of records: format (1 byte), attribute (1 byte), and either a 16-bit value or, for `SIZED`,
a 16-bit length and that many bytes.  Names are those that `cuobjdump --dump-elf` prints (EIATTR_...).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import IntEnum

from warplens.core.cubin import Parameter

SIZED = 4


class Attribute(IntEnum):
    MAX_THREADS = 0x05
    PARAM_CBANK = 0x0A
    EXTERNS = 0x0F
    REQNTID = 0x10
    FRAME_SIZE = 0x11
    MIN_STACK_SIZE = 0x12
    KPARAM_INFO = 0x17
    REGCOUNT = 0x2F
    INDIRECT_BRANCH_TARGETS = 0x34
    CLUSTER = 0x3D
    KPARAM_INFO_V2 = 0x45
    NUM_BARRIERS = 0x4C


UNKNOWN = 0xFFFFFFFF  # stack of a kernel whose functions call themselves, as the linker says it
RECURSIVE_STACK = 16384  # bytes for these: sixteen times the driver's default


@dataclass(frozen=True, slots=True)
class FunctionAttributes:
    """From the module's .nv.info, for one function symbol: registers a thread and stack bytes a thread."""

    registers: int = 0
    stack: int = 0


@dataclass(frozen=True, slots=True)
class KernelAttributes:
    """From the kernel's own .nv.info.<kernel>; `barriers` is None where the assembler recorded none."""

    parameters: tuple[Parameter, ...]
    parameter_base: int
    max_threads: int | None
    barriers: int | None
    cluster: tuple[int, int, int]
    branch_targets: Mapping[int, tuple[int, ...]]
    externs: tuple[int, ...] = ()  # numbers of symbols
    block: tuple[int, int, int] | None = None


def records(section: bytes) -> Iterator[tuple[int, bytes]]:
    """(attribute, value) of each record; the value of an unsized one is its 2 bytes."""
    at = 0
    while at + 4 <= len(section):
        layout, attribute, value = struct.unpack_from("<BBH", section, at)
        end = at + 4 + (value if layout == SIZED else 0)
        yield attribute, section[at + 4 : end] if layout == SIZED else section[at + 2 : at + 4]
        at = end


def function_attributes(section: bytes) -> dict[int, FunctionAttributes]:
    """By symbol number.  The stack is the frame, or more where the functions it calls need more."""
    registers: dict[int, int] = {}
    stack: dict[int, int] = {}
    for attribute, value in records(section):
        if attribute == Attribute.REGCOUNT:
            symbol, count = struct.unpack("<II", value)
            registers[symbol] = count
        elif attribute in (Attribute.FRAME_SIZE, Attribute.MIN_STACK_SIZE):
            symbol, size = struct.unpack("<II", value)
            stack[symbol] = max(RECURSIVE_STACK if size == UNKNOWN else size, stack.get(symbol, 0))
    return {
        symbol: FunctionAttributes(registers.get(symbol, 0), stack.get(symbol, 0))
        for symbol in registers.keys() | stack.keys()
    }


def kernel_attributes(section: bytes) -> KernelAttributes:
    parameters: list[Parameter] = []
    base = 0
    max_threads: int | None = None
    barriers: int | None = None
    cluster: tuple[int, int, int] = (1, 1, 1)
    branch_targets: dict[int, tuple[int, ...]] = {}
    externs: tuple[int, ...] = ()
    block: tuple[int, int, int] | None = None
    for attribute, value in records(section):
        if attribute == Attribute.KPARAM_INFO:
            # the upper 14 bits of the last word are the size, the rest describes banks long gone
            _, ordinal, offset, packed = struct.unpack("<IHHI", value)
            parameters.append(Parameter(ordinal, offset, packed >> 18))
        elif attribute == Attribute.KPARAM_INFO_V2:  # in kernels with more than 4 KB of parameters
            _, ordinal, offset, packed = struct.unpack("<IHHI", value)
            size = packed & 0xFFFF  # above it, flags from sm_100 on
            parameters.append(Parameter(ordinal, offset, size))
        elif attribute == Attribute.PARAM_CBANK:
            _, base, _ = struct.unpack("<IHH", value)
        elif attribute == Attribute.MAX_THREADS:
            x, y, z = struct.unpack("<III", value)
            max_threads = x * y * z
        elif attribute == Attribute.REQNTID:
            x, y, z = struct.unpack("<III", value)
            block = x, y, z
        elif attribute == Attribute.CLUSTER:
            x, y, z = struct.unpack("<III", value)
            cluster = x, y, z
        elif attribute == Attribute.EXTERNS:
            externs = struct.unpack(f"<{len(value) // 4}I", value)
        elif attribute == Attribute.NUM_BARRIERS:
            barriers = value[0]
        elif attribute == Attribute.INDIRECT_BRANCH_TARGETS:
            branch_targets.update(_branch_targets(value))
    parameters.sort(key=lambda parameter: parameter.ordinal)
    return KernelAttributes(tuple(parameters), base, max_threads, barriers, cluster, branch_targets, externs, block)


def _branch_targets(value: bytes) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Entries of: offset of the branch, a word of flags, how many targets, and the targets."""
    at = 0
    while at < len(value):
        branch, _, count = struct.unpack_from("<III", value, at)
        yield branch, struct.unpack_from(f"<{count}I", value, at + 12)
        at += 12 + 4 * count
