"""How many blocks an SM of the textbook's device holds, which has 1,536 threads, 8 blocks, 16,384 registers
and 16,384 bytes of shared memory; each block takes its part for as long as it runs."""

from __future__ import annotations

from warplens.counters.occupancy import occupancy
from warplens.machine import machine


def quantities(*, block: int, registers: int, dynamic: int) -> dict[str, int]:
    held = occupancy(machine("textbook"), registers, block, 0, dynamic)
    threads = held.blocks * block
    return {
        "blocks": held.blocks,
        "resident threads": threads,
        "registers a thread": registers,
        "registers taken": threads * registers,
        "shared bytes taken": held.blocks * dynamic,
    }
