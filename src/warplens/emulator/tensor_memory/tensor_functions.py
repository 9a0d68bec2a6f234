"""Tensor functions: the host addresses of the code for tensor memory, by number (WorkerEnv.tensor_code)."""

from __future__ import annotations

import math
from enum import IntEnum
from functools import cache

import numpy as np
from numpy.typing import NDArray

from warplens.emulator.tensor_memory import tensor_cells, tensor_copies, tensor_multiply
from warplens.emulator.tensor_memory.element_formats import POWERS, powers_of_two
from warplens.emulator.tensor_memory.product_shape import K_MOST, N_MOST, ProductForm
from warplens.emulator.tensor_memory.tensor_cells import COLUMNS, LANES, CellForm
from warplens.emulator.tensor_memory.tensor_copies import CopyForm
from warplens.emulator.tensor_memory.tensor_multiply import BlockMemory, Given, Scratch

TENSOR_BYTES = 4 * LANES * COLUMNS
OF_A, OF_B = (LANES, K_MOST), (K_MOST, N_MOST)
SCRATCH = ((POWERS,), OF_A, OF_A, OF_B, OF_B, *[(N_MOST,)] * 4)
"""Extents of the arrays of doubles that a product uses (tensor_multiply.Scratch), which follow each other."""


class TensorFunction(IntEnum):
    ALLOCATE = 0
    LOAD = 1
    STORE = 2
    MULTIPLY = 3
    COPY = 4


def tensor_scratch() -> NDArray[np.float64]:
    """The arrays of SCRATCH."""
    powers = powers_of_two()
    return np.concatenate([powers, np.zeros(sum(math.prod(extents) for extents in SCRATCH[1:]))])


@cache
def tensor_functions() -> tuple[int, ...]:
    cells = np.zeros((1, 1), np.uint32)
    access = CellForm(0, 1, 0), cells, cells, 0, 0, 0
    doubles = [np.zeros((1,) * len(extents)) for extents in SCRATCH]
    shared = np.zeros(1, np.uint8)
    block = BlockMemory(cells, shared)
    product = ProductForm(*[0] * 5), Given(*[0] * 14), block, block, Scratch(*doubles)
    made = {
        TensorFunction.ALLOCATE: tensor_cells.allocate.address(cells, 0, 0),
        TensorFunction.LOAD: tensor_cells.load.address(*access),
        TensorFunction.STORE: tensor_cells.store.address(*access),
        TensorFunction.MULTIPLY: tensor_multiply.multiply.address(*product),
        TensorFunction.COPY: tensor_copies.copy.address(CopyForm(0, 0, 0), cells, shared, 0, 0, 0, 0),
    }
    return tuple(made[function] for function in TensorFunction)
