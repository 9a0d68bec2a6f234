"""cuda.tile tensor maps: those that a kernel finds behind its parameters, where the driver writes them at a launch.

From sm_90 on tileiras lets kernels use TMA by itself.  Beside the machine code the cubin has an object file for the
host (section .nv.host): a function per kernel that is called whenever arguments change, and makes each tensor map of
the arrays' addresses, sizes and strides.  It is linked and called here as there.  Read off cubins of tileiras 13.5.37.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from functools import partial
from io import BytesIO

from elftools.elf.elffile import ELFFile

from warplens.core.cubin import Kernel, Parameter
from warplens.core.tensor_map import ALIGNMENT, BYTES, TensorMap, decode
from warplens.errors import UnsupportedInstruction
from warplens.llvm.host_target import load

SECTION, TABLE = ".nv.host", "__CUDA_TILEIR_CALLBACKS"
VERSION, ENTRY_BYTES = 2, 64  # the first and fifth 64 bits of the table; those of each function follow at the sixth
FUNCTIONS, COUNT, NAME, CHANGED = 5, 6, 0, 5  # places in the table, and in an entry
CALLBACK = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
DRIVER_FUNCTIONS = 64  # more than a table of the driver's functions has; none is called for a tensor map


def map_parameters(kernel: Kernel) -> tuple[Parameter, ...]:
    """A parameter for each tensor map.  UnsupportedInstruction where something else stands behind the arguments."""
    base, known = kernel.parameter_base, kernel.parameter_bytes
    extra = len(kernel.constants.get(0, b"")) - base - known
    if extra <= 0:
        return ()
    start = -(-(base + known) // ALIGNMENT) * ALIGNMENT - base
    count, left = divmod(extra - (start - known), BYTES)
    if left:
        raise _unknown(kernel, f"{extra} bytes behind its arguments")
    first = len(kernel.parameters)
    return tuple(Parameter(first + n, start + n * BYTES, BYTES) for n in range(count))


def tensor_maps(cubin: bytes, kernel: Kernel, maps: Sequence[Parameter], arguments: bytes) -> Iterator[TensorMap]:
    """The tensor maps that the kernel's host function makes of the arguments."""
    section = ELFFile(BytesIO(cubin)).get_section_by_name(SECTION)
    if section is None:
        raise _unknown(kernel, f"no section {SECTION}")
    linked = load([section.data()], [TABLE])
    function = CALLBACK(_host_function(kernel, linked.addresses[TABLE]))
    called: list[int] = []
    refuse = ctypes.CFUNCTYPE(ctypes.c_int)(partial(_refuse, called))
    driver = (ctypes.c_void_p * DRIVER_FUNCTIONS)(*[ctypes.cast(refuse, ctypes.c_void_p).value] * DRIVER_FUNCTIONS)
    block = (ctypes.c_uint8 * (maps[-1].offset + BYTES)).from_buffer_copy(
        arguments.ljust(maps[-1].offset + BYTES, b"\0")
    )
    status = function(ctypes.addressof(driver), None, None, ctypes.addressof(block))
    if status or called:
        raise _unknown(kernel, f"its host function ends with {status}")
    made = bytes(block)
    return (decode(made[p.offset : p.offset + p.size]) for p in maps)


def _refuse(called: list[int]) -> int:
    """In place of the driver's functions, of which tensor maps need none."""
    called.append(1)
    return 1


def _host_function(kernel: Kernel, table: int) -> int:
    words = (ctypes.c_uint64 * (FUNCTIONS + 2)).from_address(table)
    if words[0] != VERSION or words[4] != ENTRY_BYTES:
        raise _unknown(kernel, f"host functions of version {words[0]}")
    for n in range(words[COUNT] & 0xFFFF_FFFF):
        entry = (ctypes.c_uint64 * (ENTRY_BYTES // 8)).from_address(words[FUNCTIONS] + n * ENTRY_BYTES)
        if ctypes.string_at(entry[NAME]).decode() == kernel.name and entry[CHANGED]:
            return int(entry[CHANGED])
    raise _unknown(kernel, "no host function")


def _unknown(kernel: Kernel, what: str) -> UnsupportedInstruction:
    return UnsupportedInstruction(
        f"{kernel.name} ({kernel.arch}) has {what}: how its tensor maps are made is known of tileiras 13.5 alone; "
        "allow_tma=False in ct.load and ct.store, or a GPU before sm_90, does without them"
    )
