"""What an SM holds of a launch."""

from __future__ import annotations

from typing import Any


def quantities(run: Any) -> dict[str, int]:
    held, launch = run.occupancy, run.launch
    threads = held.blocks * launch.threads_per_block
    return {
        "blocks": held.blocks,
        "resident threads": threads,
        "registers a thread": held.registers,
        "registers taken": threads * held.registers,
        "shared bytes taken": held.blocks * launch.shared,
    }
