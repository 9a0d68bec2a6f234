"""Deadlock report: where each warp of a hung block waits, and for which threads."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from ctypes import string_at
from dataclasses import dataclass

from warplens.core.program import Immediate, Instruction, Program
from warplens.emulator.analysis.kernel_features import shared_start
from warplens.emulator.execute.fault_report import place
from warplens.emulator.state.structs import (
    ALL_THREADS,
    FULL_WARP,
    INSTRUCTION,
    MBARRIERS_KEPT,
    WAIT_SLOTS,
    WARPGROUP_WARPS,
    WARPSYNC,
    BlockState,
    Fault,
    FaultKind,
    MbarrierChange,
    WarpState,
)
from warplens.isa.barrier import LEFT, MISSING, MOST, MOST_BYTES, PHASE, THREADS

ALL_LANES = 0xFFFF_FFFF
MAX_PLACES = 12  # in the report; a block has at most 32 warps, most of which wait at the same place
PHASE_WAIT = "TRYWAIT"  # modifier of an instruction that waits for a phase of an mbarrier
REGISTER_WAIT = "USETMAXREG"
PRODUCT_WAIT = "WARPGROUP"
FIELDS = (THREADS, MOST), (MISSING, MOST), (LEFT, MOST_BYTES)  # of an mbarrier's word: lowest bit and bits
CHANGES = {
    MbarrierChange.INITIALIZED: "initialized", MbarrierChange.ARRIVED: "last arrival, or expected bytes,",
    MbarrierChange.COPIED: "bytes last arrived",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Wait:
    """Wait: lanes of a warp waiting at an instruction, and the reason as text."""

    warp: int
    lanes: int
    at: int
    what: str


def waits(block: BlockState, warps: Sequence[WarpState]) -> Iterator[Wait]:
    for warp in warps:
        for n in range(warp.parked):
            what = _barrier(block, warp.parked_at[n])
            yield Wait(warp.index, warp.parked_mask[n], (warp.parked_pc[n] & INSTRUCTION) - 1, what)
        for slot in range(WAIT_SLOTS):
            groups: dict[tuple[int, int], int] = {}
            for lane in _lanes(warp.barriers.waiting[slot]):
                key = (warp.resume_pc[lane] & INSTRUCTION) - 1, warp.barriers.need[lane]
                groups[key] = groups.get(key, 0) | 1 << lane
            for (at, need), lanes in groups.items():
                there = lanes if slot == FULL_WARP else warp.barriers.waiting[slot]
                missing = need & ~there & ~warp.exited & 0xFFFFFFFF
                word = "to reconverge with" if slot < WARPSYNC else "for"
                yield Wait(warp.index, lanes, at, f"{word} {format_lanes(missing or need)} of the warp")


def _barrier(block: BlockState, number: int) -> str:
    need = block.need[number]
    wanted = block.live if need == ALL_THREADS else need
    return f"at barrier {number}, where {block.arrived[number]} of {wanted} threads are"


def format_waits(block: BlockState, warps: Sequence[WarpState], program: Program) -> str:
    """One line for each place and reason, with the warps that wait there."""
    alike: dict[tuple[int, int, str], list[int]] = {}
    for wait in waits(block, warps):
        alike.setdefault((wait.at, wait.lanes, wait.what), []).append(wait.warp)
    lines = []
    for (at, lanes, what), numbers in list(alike.items())[:MAX_PLACES]:
        lanes_text = f"{_named(numbers)}, {format_lanes(lanes)}"
        lines.append(f"  {lanes_text}: {what}, {place(program, program.instructions[at])}")
    if len(alike) > MAX_PLACES:
        lines.append(f"  and {len(alike) - MAX_PLACES} other places")
    return "\n".join(lines)


def format_hang(fault: Fault, block: BlockState, warps: Sequence[WarpState], program: Program) -> str:
    """Where the warps of a hung block wait; of one that spins why, if it waits for an mbarrier, for
    registers, or for the other warps of its warpgroup."""
    if fault.kind == FaultKind.DEADLOCK:
        return format_waits(block, warps, program)
    at = program.instructions[min(fault.instruction, len(program.instructions) - 1)]
    if PHASE_WAIT in at.modifiers:
        why = f"a phase of an mbarrier is never over: {_mbarrier(block, warps, warps[fault.warp], program)}"
    elif at.base == REGISTER_WAIT:
        why = f"no warp gives back registers that others wait for: {_registers(block, warps, at, program)}"
    elif at.base == PRODUCT_WAIT:
        why = f"a wgmma is not executed by all warps of its warpgroup: {_products(warps, warps[fault.warp], program)}"
    else:
        return ""
    others = format_waits(block, warps, program)
    return f"{why}\n{others}" if others else why


def _mbarrier(block: BlockState, warps: Sequence[WarpState], warp: WarpState, program: Program) -> str:
    """What is missing at the mbarrier that a warp waits for, who else does, and what last changed it."""
    address = warp.mbarrier
    offset = (address & 0xFF_FFFF) - shared_start(program)
    waiting = _spinning(warps, program, lambda one, at: PHASE_WAIT in at.modifiers and one.mbarrier == address)
    lines = [
        f"waited for by {_named(numbers)} at {place(program, program.instructions[index])}"
        for index, numbers in waiting.items()
    ]
    if offset < 0 or address >> 24 not in (0, block.rank):
        return "\n  ".join(["it is in another block", *lines])
    word = int.from_bytes(string_at(block.shared + offset, 8), "little")
    begun = _changed_at(block, address, MbarrierChange.INITIALIZED)
    head = _missing(word) if begun is not None else "it was never initialized"
    lines.append(f"the mbarrier is at byte {offset:#x} of shared memory; its phase has parity {word >> PHASE}")
    for change, what in CHANGES.items():
        index = _changed_at(block, address, change)
        if index is not None:
            lines.append(f"{what} at {place(program, program.instructions[index])}")
    return "".join([head, *(f"\n  {line}" for line in lines)])


def _changed_at(block: BlockState, address: int, change: MbarrierChange) -> int | None:
    """The instruction that last changed an mbarrier so, if it is known."""
    kept = (address >> 3) % MBARRIERS_KEPT + MBARRIERS_KEPT * change
    return int(block.mbarriers_changed_at[kept]) if block.mbarriers[kept] == address else None


def _missing(word: int) -> str:
    """ "4 of 64 arrivals and 2,048 bytes missing"."""
    threads, arrivals, bytes = (-(word >> first) & most for first, most in FIELDS)
    surplus = MOST_BYTES + 1 - bytes
    missing = [f"{arrivals:,} of {threads:,} arrivals"] * bool(arrivals)
    if 0 < bytes < surplus:
        missing.append(f"{bytes:,} bytes")
    parts = [f"{' and '.join(missing)} missing"] * bool(missing)
    if bytes >= surplus:
        parts.append(f"{surplus:,} more bytes have arrived than were expected")
    return ", ".join(parts) or "it is in another phase"


def _registers(block: BlockState, warps: Sequence[WarpState], at: Instruction, program: Program) -> str:
    """Who waits for how many registers, and where the kernel gives some back."""
    wanted = next(operand.bits for operand in at.operands if isinstance(operand, Immediate))
    waiting = _spinning(warps, program, lambda _, other: other.base == REGISTER_WAIT)
    lines = [
        f"waited for by {_named(numbers)} at {place(program, program.instructions[index])}"
        for index, numbers in waiting.items()
    ]
    given = [i for i in program.instructions if i.base == at.base and "DEALLOC" in i.modifiers]
    lines += [f"registers are given back at {place(program, one)}" for one in given]
    back = [warp.index for warp in warps if warp.returned_registers > 0]
    who = f"{_named(back)} gave back some" if back else "no warp gave back any"
    head = f"{wanted} registers a thread are wanted, {block.spare_registers} are free, {who}"
    return "".join([head, *(f"\n  {line}" for line in lines)])


def _products(warps: Sequence[WarpState], warp: WarpState, program: Program) -> str:
    """Which warps of a warpgroup are behind with their products, and who waits for them."""
    first = warp.index & -WARPGROUP_WARPS
    group = warps[first : first + WARPGROUP_WARPS]
    late = [one for one in group if one.product_groups < warp.product_groups and one.exited != ALL_LANES]
    waiting = _spinning(group, program, lambda _, at: at.base == PRODUCT_WAIT)
    lines = [
        f"waited for by {_named(numbers)} at {place(program, program.instructions[index])}"
        for index, numbers in waiting.items()
    ]
    done = f"{_named([one.index for one in late])} committed {min(one.product_groups for one in late)}"
    head = f"{done} of the {warp.product_groups} groups of {_named([warp.index])}"
    return "\n  ".join([head, *lines])


def _spinning(
    warps: Sequence[WarpState], program: Program, waits: Callable[[WarpState, Instruction], bool]
) -> dict[int, list[int]]:
    """Warps with lanes that try again and again, by the instruction."""
    found: dict[int, list[int]] = {}
    for warp in warps:
        for index in sorted({warp.stack.pc[n] & INSTRUCTION for n in range(warp.stack.count)}):
            if index < len(program.instructions) and waits(warp, program.instructions[index]):
                found.setdefault(index, []).append(warp.index)
    return found


def _named(warps: Sequence[int]) -> str:
    return f"warp{'s' * (len(warps) > 1)} {_ranges(warps)}"


def format_lanes(mask: int) -> str:
    """ "lanes 0-15", "lane 3"."""
    if mask & 0xFFFFFFFF == 0xFFFFFFFF:
        return "all lanes"
    numbers = list(_lanes(mask))
    return f"lane{'s' if len(numbers) != 1 else ''} {_ranges(numbers)}"


def _lanes(mask: int) -> Iterator[int]:
    return (lane for lane in range(32) if mask >> lane & 1)


def _ranges(numbers: Sequence[int]) -> str:
    """[0, 1, 2, 5] -> "0-2, 5"."""
    parts: list[list[int]] = []
    for number in sorted(numbers):
        if parts and number == parts[-1][1] + 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    return ", ".join(f"{a}-{b}" if a != b else str(a) for a, b in parts)
