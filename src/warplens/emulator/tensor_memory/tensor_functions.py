"""Tensor functions: the host addresses of the code for tensor memory, by number (WorkerEnv.tensor_code)."""

from __future__ import annotations

from enum import IntEnum
from functools import cache

import numpy as np

from warplens.emulator.tensor_memory import tensor_cells
from warplens.emulator.tensor_memory.tensor_cells import COLUMNS, LANES, CellForm

TENSOR_BYTES = 4 * LANES * COLUMNS


class TensorFunction(IntEnum):
    ALLOCATE = 0
    LOAD = 1
    STORE = 2


@cache
def tensor_functions() -> tuple[int, ...]:
    cells = np.zeros((1, 1), np.uint32)
    access = CellForm(0, 1, 0), cells, cells, 0, 0, 0
    made = {
        TensorFunction.ALLOCATE: tensor_cells.allocate.address(cells, 0, 0),
        TensorFunction.LOAD: tensor_cells.load.address(*access),
        TensorFunction.STORE: tensor_cells.store.address(*access),
    }
    return tuple(made[function] for function in TensorFunction)
