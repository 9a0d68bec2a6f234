"""The buffers and arrays of a random program, and the atomic operations on them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from random_programs.tree import Program

Array = NDArray[Any]
IN_BYTES = 1024
VECTOR_WORDS = 8  # of a thread's own part, written by StoreVector
CELLS = 4  # of each atomic operation
TABLE = tuple((n * 0x9E3779B9 ^ n << 7) & 0xFFFFFFFF for n in range(16))  # in constant memory
PROMOTED = {"i8": "i32", "i16": "i32", "u8": "u32", "u16": "u32"}


def promoted(element: str) -> str:
    return PROMOTED.get(element, element)


@dataclass(frozen=True)
class Operation:
    """text: the CUDA function; ufunc: commutes, so that threads may come in any order; start: what a cell holds."""

    text: str
    ufunc: Any
    start: int = 0
    signed: bool = False


WITHOUT_RESULT = {
    "add": Operation("atomicAdd", np.add),
    "min": Operation("atomicMin", np.minimum, -1),
    "max": Operation("atomicMax", np.maximum),
    "and": Operation("atomicAnd", np.bitwise_and, -1),
    "or": Operation("atomicOr", np.bitwise_or),
    "xor": Operation("atomicXor", np.bitwise_xor),
    "smin": Operation("atomicMin", np.minimum, signed=True),
    "smax": Operation("atomicMax", np.maximum, signed=True),
}
CELL_ARRAYS = {"cells": "u32", "shared_cells": "u32", "cells64": "u64"}


@dataclass(frozen=True)
class Exchange:
    """args: how many the CUDA function takes beside the address; meaning: of the old value and these."""

    text: str
    args: int
    meaning: Callable[..., Array]


WITH_RESULT = {
    "add": Exchange("atomicAdd", 1, np.add),
    "min": Exchange("atomicMin", 1, np.minimum),
    "max": Exchange("atomicMax", 1, np.maximum),
    "and": Exchange("atomicAnd", 1, np.bitwise_and),
    "or": Exchange("atomicOr", 1, np.bitwise_or),
    "xor": Exchange("atomicXor", 1, np.bitwise_xor),
    "exchange": Exchange("atomicExch", 1, lambda old, new: new),
    "compare": Exchange("atomicCAS", 2, lambda old, same, new: np.where(old == same, new, old)),
    "inc": Exchange("atomicInc", 1, lambda old, most: np.where(old >= most, old * 0, old + np.uint32(1))),
    "dec": Exchange(
        "atomicDec", 1, lambda old, most: np.where((old == 0) | (old > most), most, old - np.uint32(1))
    ),
}  # fmt: skip
FETCHES = {
    "u32": tuple(WITH_RESULT),
    "i32": ("add", "min", "max", "and", "or", "xor", "exchange", "compare"),
    "u64": ("add", "min", "max", "and", "or", "xor", "exchange", "compare"),
}


@dataclass(frozen=True)
class Buffers:
    """The arguments of a launch, in the order of the kernel's parameters; the last three are numbers."""

    source: Array
    own: Array
    vectors: Array
    out: Array
    cells: Array
    cells64: Array
    pu: np.uint32
    pl: np.int64
    pf: np.float32

    def args(self) -> tuple[Any, ...]:
        return tuple(vars(self).values())

    def results(self) -> dict[str, Array]:
        return {name: vars(self)[name] for name in ("own", "vectors", "out", "cells", "cells64")}


def awkward_words(rng: np.random.Generator, count: int) -> Array:
    """All magnitudes, ends of ranges, floats of all kinds."""
    words = rng.integers(0, 1 << 32, count, dtype=np.uint32)
    kind = rng.integers(0, 8, count)
    corners = np.array(
        [0, 1, 0xFFFFFFFF, 0x80000000, 0x7FFFFFFF, 0x3F800000, 0xBF800000, 0x7F800000, 0xFF800000, 0x7FC00000,
         0x00800000, 0x007FFFFF, 0x7F7FFFFF, 0x4F000000, 0x4F800000, 0x3F000000, 31, 32], np.uint32,
    )  # fmt: skip
    floats = (rng.standard_normal(count) * 10.0 ** rng.integers(-4, 5, count)).astype(np.float32).view(np.uint32)
    small = words >> rng.integers(0, 32, count).astype(np.uint32)
    return np.select([kind < 2, kind < 4, kind < 5], [floats, small, corners[words % corners.size]], words)


def start_cells(dtype: Any) -> Array:
    return np.repeat([op.start for op in WITHOUT_RESULT.values()], CELLS).astype(np.int64).astype(dtype)


def fresh_buffers(program: Program) -> Buffers:
    """The same for the same seed."""
    rng = np.random.default_rng(program.seed)
    threads = program.threads * program.blocks
    element, count = program.elements["own"]
    size = int(element[1:]) // 8
    pu, low, high, pf = awkward_words(rng, 4)
    return Buffers(
        source=awkward_words(rng, IN_BYTES // 4).view(np.uint8),
        own=awkward_words(rng, -(-threads * count * size // 4)).view(f"{element[0]}{size}"),
        vectors=np.zeros(threads * VECTOR_WORDS, np.uint32),
        out=np.zeros(threads * program.slots, np.uint32),
        cells=start_cells(np.uint32),
        cells64=start_cells(np.uint64),
        pu=pu,
        pl=np.array([low, high]).view(np.int64)[0],
        pf=pf.view(np.float32),
    )
