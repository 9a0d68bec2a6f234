"""Texture binding: the descriptors of a launch with the numbers of their allocations, and the machine code for them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from warplens.core.texture_descriptor import FIELDS, Field, TextureTable
from warplens.emulator.texture.fetch_request import ROWS, Fetch, HostMemory
from warplens.emulator.texture.surface_address import ROWS as SURFACE_ROWS
from warplens.emulator.texture.surface_address import AccessForm, locate
from warplens.emulator.texture.texel_reads import RANGE_WORDS
from warplens.emulator.texture.texture_fetch import fetch

LANES = 32


def bound(table: TextureTable, allocations: Sequence[tuple[int, int]]) -> TextureTable:
    """The table with NUMBER set, for allocations of these addresses and sizes."""
    made = table.copy()
    made[:, Field.NUMBER] = -1
    if allocations:
        starts, sizes = np.array(allocations, np.int64).T
        order, texels = np.argsort(starts, kind="stable"), table[:, Field.LEVEL]
        found = order[np.maximum(np.searchsorted(starts[order], texels, side="right") - 1, 0)]
        inside = (texels >= starts[found]) & (texels < starts[found] + sizes[found])
        made[inside, Field.NUMBER] = found[inside]
    return made


@cache
def fetch_code() -> int:
    """Host address of the code of texture_fetch.fetch."""
    empty: NDArray[np.int64] = np.zeros((1, RANGE_WORDS), np.int64)
    memory = HostMemory(np.zeros(1, np.uint8), np.zeros(1, np.uint16), np.zeros(1, np.uint32))
    table, request = np.zeros((1, FIELDS), np.int64), np.zeros((ROWS, LANES), np.uint32)
    return int(fetch.address(Fetch(0, 0, 0, 0, 0), 0, request, table, empty, memory))


@cache
def surface_code() -> int:
    """Host address of the code of surface_address.locate."""
    table, request = np.zeros((1, FIELDS), np.int64), np.zeros((SURFACE_ROWS, LANES), np.uint32)
    return int(locate.address(AccessForm(0, 0, 0, 0, 0), 0, request, table))
