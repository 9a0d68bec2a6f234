"""Deadlock report: where each warp of a hung block waits, and for which threads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from ctypes import string_at
from dataclasses import dataclass

from warplens.core.program import Program
from warplens.emulator.execute.fault_report import place
from warplens.emulator.state.abi import shared_base
from warplens.emulator.state.structs import (
    ALL_THREADS,
    FULL_WARP,
    INSTRUCTION,
    MBARRIERS_KEPT,
    WAIT_SLOTS,
    WARPSYNC,
    BlockState,
    WarpState,
)
from warplens.isa.barrier import LEFT, MISSING, MOST, MOST_BYTES

MAX_PLACES = 12  # in the report; a block has at most 32 warps, most of which wait at the same place


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
        lanes_text = f"warp{'s' if len(numbers) > 1 else ''} {_ranges(numbers)}, {format_lanes(lanes)}"
        lines.append(f"  {lanes_text}: {what}, {place(program, program.instructions[at])}")
    if len(alike) > MAX_PLACES:
        lines.append(f"  and {len(alike) - MAX_PLACES} other places")
    return "\n".join(lines)


def format_mbarrier(block: BlockState, warp: WarpState, program: Program) -> str:
    """What is missing at the mbarrier that a warp waits for, and what last changed it; "" if it is not known."""
    address, kept = warp.mbarrier, (warp.mbarrier >> 3) % MBARRIERS_KEPT
    offset = (address & 0xFF_FFFF) - shared_base(program.arch)
    if offset < 0 or block.mbarriers[kept] != address or address >> 24 not in (0, block.rank):
        return ""
    word = int.from_bytes(string_at(block.shared + offset, 8), "little")
    arrivals, bytes = -(word >> MISSING) & MOST, -(word >> LEFT) & MOST_BYTES
    wanting = [f"{arrivals} arrival{'s' * (arrivals != 1)}"] * bool(arrivals) + [f"{bytes:,} bytes"] * bool(bytes)
    last = place(program, program.instructions[block.mbarriers_changed_at[kept]])
    missing = f"{' and '.join(wanting)} missing" if wanting else "it is in another phase"
    return f"{missing}\n  it was last changed at {last}"


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
