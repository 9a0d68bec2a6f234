"""Bottleneck: what the time of a launch is made of: the cause, with its figures.

report/limit_text.py makes a sentence of it.  Percentages are from 0 to 100.
"""

from __future__ import annotations

from typing import NamedTuple

from warplens.core.memory_opcodes import Action


class LaunchOverhead(NamedTuple):
    launch_us: float
    time_us: float


class BlockChain(NamedTuple):
    """Each block waits for the one before, in so much of the time."""

    time_percent: float


class BlockLaunchRate(NamedTuple):
    """peak: blocks a cycle."""

    blocks: int
    peak: float


class BankConflicts(NamedTuple):
    """Wavefronts of shared memory, and those that bank conflicts add, where they are many."""

    added: float
    wavefronts: float


class BusyUnit(NamedTuple):
    """Fields of prediction.Unit."""

    name: str
    achieved: float
    peak: float
    unit: str
    conflicts: BankConflicts | None


class MemoryLatency(NamedTuple):
    """level: "DRAM", "L2" or "L1";  loads, load_bytes: in flight of a thread, 0 where it waits for something else."""

    level: str
    loads: int
    load_bytes: int


class GlobalWait(NamedTuple):
    """Warps wait for "atomic" operations, "reduction" or "store" instructions to global memory."""

    action: Action


class InFlightAtExit(NamedTuple):
    """Warps end while their stores or atomics are in flight to L2."""

    stores: bool
    atomics: bool
    time_percent: float


class AtomicBacklog(NamedTuple):
    """L2 is still doing atomics on few words, one after the other, when all warps have ended."""

    time_percent: float


class FullQueue(NamedTuple):
    """A full queue of the load/store unit, and what most of its entries are: "loads", "stores", "atomics" of global
    memory, or a resource as in VariableLatency.

    narrow   the loads, or stores, move few bytes per instruction
    """

    entries: str
    narrow: bool
    time_percent: float
    conflicts: BankConflicts | None


class VariableLatency(NamedTuple):
    """Warps wait for instructions of variable latency that use these resources: "shared memory", "shuffles" ..."""

    resources: tuple[str, ...]
    time_percent: float
    conflicts: BankConflicts | None


class StallWait(NamedTuple):
    """Warps wait for another stall reason, in Nsight Compute's terms."""

    reason: str
    time_percent: float
    conflicts: BankConflicts | None


Cause = (
    LaunchOverhead | BlockChain | BlockLaunchRate | BusyUnit | MemoryLatency | GlobalWait | InFlightAtExit
    | AtomicBacklog | FullQueue | VariableLatency | StallWait
)  # fmt: skip


class Bottleneck(NamedTuple):
    """idle_sms: of `sms`, those that `blocks` leave without a block; the cause is that of the others."""

    cause: Cause
    blocks: int = 0
    idle_sms: int = 0
    sms: int = 0
