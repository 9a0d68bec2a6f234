"""The table of memory opcodes is complete: it has every operation with an address, and nothing but operations."""

from __future__ import annotations

from warplens.core.memory_opcodes import BULK, DEVICE_WIDE, MBARRIERS, MEMORY, TENSOR_MEMORY, TO_CLUSTER, opcodes
from warplens.core.program import Address
from warplens.isa import operations

WITH_HANDLE = ("texture", "surface")  # spaces that are reached by a handle and coordinates
NO_ACCESS = {"QSPC", "UBLKPF", "UTMAPF", "UTMACCTL", "UTCBAR"}  # the space of an address, prefetches, tcgen05.commit


def test_the_table_has_every_operation_with_an_address() -> None:
    addressed = {base for base, ops in operations().items() if any(s.kind is Address for o in ops for s in o.sources)}
    listed = {base for base, op in MEMORY.items() if op.space not in ("constant", *WITH_HANDLE)}
    tensor_memory = TENSOR_MEMORY & operations().keys()  # UTCSHIFT is not executed
    assert addressed == listed | MBARRIERS | BULK | TO_CLUSTER | tensor_memory | NO_ACCESS


def test_every_listed_opcode_is_an_operation() -> None:
    assert set(MEMORY) <= set(operations())


def test_opcodes_by_space_and_action() -> None:
    assert opcodes(DEVICE_WIDE, ("atomic",)) == {"ATOMG", "ATOM"}
    assert opcodes(("shared",), ("store",)) == {"STS", "STSM"}
