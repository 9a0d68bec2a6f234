"""Texture objects: the descriptors of a program's texture and surface objects, by handle."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from warplens.core.texture_descriptor import FIELDS, TextureTable, no_textures


class TextureObjects:
    """Texture objects: handles count from 1 and are not given twice (shim/memory_kinds/texture.c)."""

    def __init__(self) -> None:
        self._rows = no_textures()
        self._count = 0

    def put(self, handle: int, descriptor: Sequence[int]) -> None:
        """ValueError for a descriptor of another size."""
        if handle >= len(self._rows):
            more = np.zeros((2 * handle + 16, FIELDS), np.int64)
            more[: self._count] = self._rows[: self._count]
            self._rows = more
        self._rows[handle] = descriptor
        self._count = max(self._count, handle + 1)

    @property
    def table(self) -> TextureTable:
        return self._rows[: self._count]
