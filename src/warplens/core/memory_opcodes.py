"""Memory opcodes: the address space and the action of every opcode that accesses memory.

The one table used by counters, the emulator's analyses, the model and the detection of work queues.  Opcodes are base
opcodes ("LDG" of "LDG.E.128"); LDGSTS is listed with the space that it reads.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

MemorySpace = Literal["global", "local", "shared", "generic", "constant", "texture", "surface"]
Action = Literal["load", "store", "atomic", "reduction", "copy"]


class MemoryOpcode(NamedTuple):
    """space    "generic" is resolved to global, local or shared at run time, lane by lane
    action   "copy" is global to shared (LDGSTS); "reduction" is an atomic that returns nothing
    """

    space: MemorySpace
    action: Action


_OPCODES: dict[tuple[MemorySpace, Action], str] = {
    ("global", "load"): "LDG",
    ("global", "store"): "STG",
    ("global", "atomic"): "ATOMG",
    ("global", "reduction"): "RED REDG",
    ("global", "copy"): "LDGSTS",
    ("local", "load"): "LDL",
    ("local", "store"): "STL",
    ("shared", "load"): "LDS LDSM",
    ("shared", "store"): "STS STSM",
    ("shared", "atomic"): "ATOMS",
    ("generic", "load"): "LD",
    ("generic", "store"): "ST",
    ("generic", "atomic"): "ATOM",
    ("constant", "load"): "LDC LDCU ULDC",
    ("texture", "load"): "TEX TLD TLD4 TXD",
    ("surface", "load"): "SULD",
    ("surface", "store"): "SUST",
    ("surface", "reduction"): "SURED",
}

MEMORY: Mapping[str, MemoryOpcode] = {
    base: MemoryOpcode(space, action) for (space, action), bases in _OPCODES.items() for base in bases.split()
}
MBARRIERS = frozenset({"SYNCS", "ARRIVES"})  # barriers in shared memory (mbarrier); Nsight Compute counts no access
# isa/bulk_copy.py: copies of a warp, and asynchronous stores to the blocks of a cluster; counted by themselves.
BULK = frozenset({"UBLKCP", "UBLKRED", "UTMALDG", "UTMASTG", "UTMAREDG"})
TO_CLUSTER = frozenset({"STAS", "REDAS"})
# isa/tensor_memory.py and tensor_product.py: what accesses the tensor memory of sm_100.
TENSOR_MEMORY = frozenset({"LDTM", "STTM", "UTCHMMA", "UTCQMMA", "UTCIMMA", "UTCOMMA", "UTCCP", "UTCSHIFT"})
EVERY_SPACE: tuple[MemorySpace, ...] = ("global", "local", "shared", "generic", "constant", "texture", "surface")
EVERY_ACTION: tuple[Action, ...] = ("load", "store", "atomic", "reduction", "copy")
IN_GLOBAL_MEMORY = frozenset({"texture", "surface"})  # spaces whose content is global memory
DEVICE_WIDE: tuple[MemorySpace, ...] = ("global", "generic")  # spaces shared with other blocks


def opcodes(spaces: tuple[MemorySpace, ...], actions: tuple[Action, ...]) -> frozenset[str]:
    """Base opcodes with one of these actions in one of these spaces."""
    return frozenset(base for base, (space, action) in MEMORY.items() if space in spaces and action in actions)
