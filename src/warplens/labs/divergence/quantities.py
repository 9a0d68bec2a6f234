"""Where lanes of a warp part, from the steps of the warps that ran."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from warplens.emulator import BlockEntry, LaneAccess, Step

PLACES = {
    (False, False): "inside",
    (True, False): "at the right edge",
    (False, True): "at the lower edge",
    (True, True): "in the corner",
}


def warps(run: Any) -> dict[str, int]:
    return {"warps": run.launch.blocks * run.launch.warps_per_block}


def tests(run: Any) -> dict[str, int]:
    """A bounds check decides for each thread whether it takes part."""
    steps = run.steps(range(run.launch.blocks))
    parted, stored = diverging(steps), at_work(steps)
    threads = run.launch.blocks * run.launch.threads_per_block
    taking_part = sum(mask.bit_count() for mask in stored.values())
    return {
        **warps(run),
        "diverging warps": len(parted),
        "warps with work": len(stored),
        "threads off": threads - taking_part,
    }


def edges(run: Any, *, width: int, height: int) -> dict[str, int]:
    """The tests of a picture, and how many warps part inside of it and where it ends within a block."""
    columns, lines, _ = run.launch.grid
    right = columns - 1 if width % run.launch.block[0] else columns
    lower = lines - 1 if height % run.launch.block[1] else lines
    parted = diverging(run.steps(range(run.launch.blocks)))
    found = tests(run)
    for block in range(run.launch.blocks):
        place = PLACES[block % columns == right, block // columns == lower]
        warps = [(block, warp) for warp in range(run.launch.warps_per_block)]
        found[f"warps {place}"] = found.get(f"warps {place}", 0) + len(warps)
        found[f"diverging {place}"] = found.get(f"diverging {place}", 0) + sum(warp in parted for warp in warps)
    return found


def rounds(run: Any) -> dict[str, int]:
    """Of one block's sum: a round begins with a barrier."""
    program = run.kernel.program
    barriers = {
        number
        for number, block in enumerate(program.blocks)
        if any(instruction.base == "BAR" for instruction in program.instructions[block.first : block.last + 1])
    }
    seen: dict[int, int] = defaultdict(int)
    adding: dict[int, dict[int, int]] = defaultdict(dict)
    for step in run.steps([0]):
        if isinstance(step, BlockEntry):
            seen[step.warp] += step.code in barriers
        elif step.lanes and seen[step.warp] and program.instructions[step.instruction].base == "STS":
            adding[seen[step.warp]][step.warp] = step.lanes
    full = (1 << 32) - 1
    return {
        **warps(run),
        "rounds": len(adding),
        "additions": sum(mask.bit_count() for lanes in adding.values() for mask in lanes.values()),
        "diverging rounds": sum(any(mask != full for mask in lanes.values()) for lanes in adding.values()),
        "warps that add": sum(map(len, adding.values())),
        "diverging warp-rounds": sum(mask != full for lanes in adding.values() for mask in lanes.values()),
    }


def diverging(steps: Iterable[Step]) -> set[tuple[int, int]]:
    """(block, warp) of those in which something is executed by some lanes and not by all that the warp began with."""
    began: dict[tuple[int, int], int] = {}
    parted = set()
    for step in steps:
        warp = step.block, step.warp
        if step.lanes and began.setdefault(warp, step.lanes) != step.lanes:
            parted.add(warp)
    return parted


def at_work(steps: Iterable[Step]) -> dict[tuple[int, int], int]:
    """The lanes that reach memory, of each warp of which any does."""
    found: dict[tuple[int, int], int] = {}
    for step in steps:
        if isinstance(step, LaneAccess) and step.lanes:
            found[step.block, step.warp] = step.lanes
    return found
