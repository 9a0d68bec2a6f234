"""Which elements a kernel loads, and on which channels of the textbook's DRAM they lie."""

from __future__ import annotations

from typing import Any

from warplens.emulator import LaneAccess
from warplens.machine import machine
from warplens.machine.dram_banks import place, spread


def phases(run: Any) -> dict[str, int]:
    """Of M, by phase and block row: the loaded elements in rising order; the channels that all blocks keep busy."""
    channels = machine("textbook").channels
    assert channels
    buffer = run.again.memory.allocations[0]
    loads: dict[tuple[int, int], set[int]] = {}
    for block in range(run.launch.blocks):
        phase = 0
        for step in run.steps([block]):
            inside = isinstance(step, LaneAccess) and step.space == "global"
            if inside and all(buffer.address <= a < buffer.address + buffer.size for a in step.reached.values()):
                elements = {(address - buffer.address) // 4 for address in step.reached.values()}
                loads.setdefault((phase, block // run.launch.grid[0]), set()).update(elements)
                phase += 1
    found = {
        f"phase {phase}, block row {row}, load {order}": element
        for (phase, row), elements in loads.items()
        for order, element in enumerate(sorted(elements))
    }
    for phase in {phase for phase, _ in loads}:
        bytes_ = [4 * element for (of, _), elements in loads.items() if of == phase for element in elements]
        found[f"channels busy in phase {phase}"] = len({place(byte, channels).channel for byte in bytes_})
    busy = spread((4 * e for (of, _), elements in loads.items() if of == 0 for e in elements), channels)
    return found | {"channels busy": found["channels busy in phase 0"], "use of channels": int(100 * busy.use)}


def nothing(run: Any) -> dict[str, int]:
    return {}
