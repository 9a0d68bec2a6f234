"""Sweep space: the parameters of each launch, and copies of the arguments for it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from warplens.errors import UsageError
from warplens.launchspec.mapped_array import MappedArray
from warplens.launchspec.pitched_array import Pitched

PARAMETERS = ("block", "grid", "shared", "gpu")


@dataclass(frozen=True)
class SweepSpace:
    """Sweep space: the launches of a sweep: each parameter is a value, a list of values or a function of the block."""

    grid: Any
    block: Any
    args: Sequence[Any]
    shared: Any
    gpu: str | Sequence[str] | None

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """The parameters of each launch; the grid and the shared memory as numbers."""
        lists = [value if isinstance(value, list) else [value] for value in (self.block, self.grid, self.shared)]
        gpus = [self.gpu] if self.gpu is None or isinstance(self.gpu, str) else list(self.gpu)
        for name, values in zip(PARAMETERS, (*lists, gpus), strict=True):
            if not values:
                raise UsageError(f"{name} = []: a list with at least one value is possible")
        for block, grid, shared, gpu in product(*lists, gpus):
            found = block, of_block(grid, block), of_block(shared, block), gpu
            yield dict(zip(PARAMETERS, found, strict=True))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def arguments(self, block: Any) -> list[Any]:
        """The arguments for a block, with arrays of their own; one that is passed twice stays one buffer."""
        copies: dict[object, Any] = {}
        return [copied(of_block(value, block), copies) for value in self.args]


def of_block(value: Any, block: Any) -> Any:
    """What a function of the block gives; other values as they are."""
    return value(block) if callable(value) else value


def copied(value: Any, copies: dict[object, Any]) -> Any:
    """A copy of an array, of Pitched and of MappedArray; numbers as they are."""
    if isinstance(value, Pitched | MappedArray):
        if id(value) not in copies:
            copies[id(value)] = value.copy()
        return copies[id(value)]
    if not isinstance(value, np.ndarray) or not value.ndim or not value.flags.c_contiguous:  # refused by launch()
        return value
    memory = value.ctypes.data, value.nbytes
    if memory not in copies:
        copies[memory] = value.reshape(-1).copy()
    return copies[memory].view(value.dtype).reshape(value.shape)
