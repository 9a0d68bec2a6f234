"""Findings of asynchronous operations in words: proxy fences, groups that are not waited for, swizzles, mbarriers."""

from __future__ import annotations

from warplens.core.hazard import Check, Party, Severity
from warplens.core.program import Instruction
from warplens.emulator.instrument.findings import FindingKind, FindingRecord
from warplens.emulator.instrument.shared_access import READ, WRITTEN

ASYNCHRONOUS = frozenset(
    {
        FindingKind.UNFENCED,
        FindingKind.READ_PENDING,
        FindingKind.OTHER_SWIZZLE,
        FindingKind.TWO_INITS,
        FindingKind.MBARRIER_STORED,
        FindingKind.NO_MBARRIER,
        FindingKind.PART_OF_A_WARPGROUP,
        FindingKind.SWIZZLE_PLACE,
        FindingKind.BULK_PENDING,
    }
)
SWIZZLES = {1: "no swizzle", 2: "a 32-byte swizzle", 3: "a 64-byte swizzle", 4: "a 128-byte swizzle"}
WAITS = {
    "a wgmma": "wgmma.wait_group", "a tcgen05.mma": "wait for its tcgen05.commit",
    "a bulk copy": "cp.async.bulk.wait_group",
}  # fmt: skip
SHARED_BYTE = 0xFFFF_FFFF
MBARRIER_ACTIONS = {"EXCH": "initialization", "PHASECHK": "wait", "ARRIVE": "arrival"}


def action_of(instruction: Instruction, shared: bool) -> str:
    """What an asynchronous operation does in shared or in global memory; "" for other instructions."""
    base = instruction.base
    if base == "SYNCS":
        return next((act for word, act in MBARRIER_ACTIONS.items() if word in instruction.modifiers), "use")
    if base.endswith("GMMA"):
        return "read"
    if base == "USETMAXREG":
        return "setmaxnreg"
    if base == "UTMALDG" or instruction.opcode.startswith("UBLKCP.S"):
        return "write" if shared else "read"
    if base in ("UTMASTG", "UBLKCP"):
        return "read" if shared else "write"
    if base in ("UTMAREDG", "UBLKRED"):
        return "read" if shared else "atomic"
    return ""


def format_asynchronous(entry: FindingRecord, parties: tuple[Party, ...]) -> tuple[Check, Severity, str]:
    """Check, severity and message of one of ASYNCHRONOUS."""
    kind, byte = FindingKind(entry.kind), f"byte {entry.value & SHARED_BYTE:#x}"
    if kind is FindingKind.UNFENCED:
        what = f"{_reader(parties[1])} reads {byte} of shared memory after an ordinary write"
        return "races", "error", f"{what} with no fence.proxy.async between: it may read what was there before"
    if kind is FindingKind.READ_PENDING:
        wait = WAITS[_reader(parties[0])]
        what = f"{parties[1].act} of {byte} of shared memory that {_reader(parties[0])} may still read"
        return "races", "error", f"{what}: no {wait}, with a barrier after it, comes before"
    if kind is FindingKind.BULK_PENDING:
        what = f"{parties[1].act} of {byte} of shared memory to which a bulk copy may still write"
        return "races", "error", f"{what}: no wait at its mbarrier comes before"
    if kind is FindingKind.OTHER_SWIZZLE:
        written, read = (entry.value >> first & 0xFF for first in (WRITTEN, READ))
        what = f"{byte} of shared memory is read with {SWIZZLES[read]}, but was written with {SWIZZLES[written]}"
        if written == 1:
            return "races", "warning", f"{what}: right only if the tensor was stored swizzled"
        return "races", "error", what
    if kind is FindingKind.SWIZZLE_PLACE:
        layout = entry.value >> WRITTEN
        what = f"a box with {SWIZZLES[layout]} lies at {byte} of shared memory, no multiple of {64 << layout:,}"
        return "races", "note", f"{what}: bits of the address, not rows of the box, say which chunks are exchanged"
    if kind is FindingKind.TWO_INITS:
        return "barriers", "warning", f"the mbarrier at {byte} of shared memory is initialized again without inval"
    if kind is FindingKind.MBARRIER_STORED:
        what = f"{parties[1].act} of {byte} of shared memory, where an mbarrier lies that was not invalidated"
        return "barriers", "note", what
    if kind is FindingKind.PART_OF_A_WARPGROUP:
        what = "wgmma" if parties[-1].at.base.endswith("GMMA") else "setmaxnreg"
        return "barriers", "error", f"{what} not executed alike by all warps of a warpgroup: not by warp {entry.value}"
    if len(parties) == 2:
        return "barriers", "error", f"{byte} of shared memory, written before by something else, is used as an mbarrier"
    return "barriers", "error", f"the mbarrier at {byte} of shared memory was never initialized"


def _reader(party: Party) -> str:
    base = party.at.base
    return "a wgmma" if base.endswith("GMMA") else "a tcgen05.mma" if base.startswith("UTC") else "a bulk copy"
