"""Descriptors of a launch: the numbers of the allocations with the texels."""

from __future__ import annotations

import numpy as np

from warplens.core.texture_descriptor import FIELDS, Field
from warplens.emulator.texture.texture_binding import bound


def test_each_texture_gets_the_allocation_that_holds_its_first_texel() -> None:
    table = np.zeros((5, FIELDS), np.int64)
    table[:, Field.LEVEL] = [0x1000, 0x5010, 0x1FFF, 0x2000, 0x3000]
    found = bound(table, [(0x5000, 0x100), (0x1000, 0x1000), (0x3000, 1)])
    assert found[:, Field.NUMBER].tolist() == [1, 0, 1, -1, 2]
    assert not table[:, Field.NUMBER].any()


def test_without_allocations_there_is_none() -> None:
    assert bound(np.zeros((2, FIELDS), np.int64), [])[:, Field.NUMBER].tolist() == [-1, -1]
