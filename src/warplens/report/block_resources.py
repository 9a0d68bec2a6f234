"""What a block takes of a multiprocessor."""

from __future__ import annotations

from typing import NamedTuple


class BlockResources(NamedTuple):
    """Registers a thread, threads, bytes of static and dynamic shared memory, barriers: what occupancy() takes."""

    registers: int
    threads: int
    shared_static: int = 0
    shared_dynamic: int = 0
    barriers: int = 0
