"""Small programs and traces written by hand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields

import numpy as np

from warplens.core.counts import ReachedSectors, Trace
from warplens.core.cubin import Kernel, SourceLine
from warplens.core.launch import Launch
from warplens.core.program import Block, Control, Instruction, Program, Register

ARRAYS = [
    "executed",
    "threads",
    "threads_on",
    "divergent",
    "parted",
    "replays",
    "replayed",
    "requests",
    "sectors",
    "tags",
    "wavefronts",
    "ideal",
    "copy_ideal",
    "copy_sectors",
    "bytes",
    "generic_bytes",
]
CONTROL = Control(stall=1, yield_hint=False, write_barrier=None, read_barrier=None, wait_mask=0)


def program(listing: str, arch: str = "sm_90", lines: tuple[int | None, ...] = ()) -> Program:
    """One instruction a line, "@!P0 LDS.128 R4,[R16]"; `lines`: source lines of "k.cu", if any."""
    rows = [row.split() for row in listing.strip().splitlines()]
    places = [SourceLine("k.cu", line) if line else None for line in lines] or [None] * len(rows)
    made = tuple(instruction(index, row, place) for index, (row, place) in enumerate(zip(rows, places, strict=True)))
    return Program("k", arch, made, (Block(0, len(made) - 1, ()),), ())


def instruction(index: int, row: list[str], source: SourceLine | None = None) -> Instruction:
    guard = None
    if row[0].startswith("@"):
        name = row.pop(0)
        number = -1 if name.endswith("T") else int(name[-1])
        guard = Register("P", number, invert="!" in name)
    return Instruction(16 * index, row[0], guard, (), " ".join(row[1:]), CONTROL, 0, source)


def trace(launch: Launch, rows: list[Mapping[str, int]], blocks_run: int | None = None) -> Trace:
    """One row an instruction; what it leaves out is 0."""
    columns = {name: np.array([row.get(name, 0) for row in rows], dtype=np.int64) for name in ARRAYS}
    return Trace(launch, **columns, blocks_run=launch.blocks if blocks_run is None else blocks_run, seconds=0.1)


def reached(**columns: list[int]) -> ReachedSectors:
    """What it leaves out is 0."""
    nothing = np.zeros(len(next(iter(columns.values()))), np.int64)
    names = (field.name for field in fields(ReachedSectors))
    return ReachedSectors(**{name: np.array(columns.get(name, nothing), np.int64) for name in names})


def kernel(arch: str = "sm_90", registers: int = 16, shared_bytes: int = 0) -> Kernel:
    return Kernel("k", arch, registers, shared_bytes, 0, (), 0x210, 0, None, b"", {}, {}, (), ())
