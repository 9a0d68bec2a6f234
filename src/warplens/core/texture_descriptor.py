"""Texture descriptor: one row of numbers a texture or surface object, as the executor reads it.

A row is the same in the program's library (program/shim/memory_kinds/texture.h), which writes it, and here.  The
object's handle is the row's number in the table; row 0 is no object.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

TextureTable = NDArray[np.int64]


class Field(IntEnum):
    """Field of a descriptor.

    KIND          0: no object, else a Resource
    NUMBER        of the allocation with the texels in the launch's memory, -1 if there is none (filled at launch)
    CHANNELS      1, 2 or 4 of BITS each, of ChannelKind CHANNEL_KIND
    WIDTH ...     of level 0, in texels; 1 where the dimension is not there;  LAYERS: of a cubemap its faces too
    NORMALIZED    whether coordinates run from 0 to 1;  LINEAR: whether texels are interpolated
    AS_FLOAT      whether integers are read as fractions of their largest one
    ADDRESS_X ... AddressMode of each dimension;  BORDER: four floats as words
    LEVELS        of a mipmap;  LEVEL_LINEAR, BIAS, LEAST, MOST: how one is chosen, floats as words
    LEVEL         address, bytes from row to row, and from slice or layer to the next; of each level
    """

    KIND = 0
    NUMBER = 1
    CHANNELS = 2
    BITS = 3
    CHANNEL_KIND = 4
    WIDTH = 5
    HEIGHT = 6
    DEPTH = 7
    LAYERS = 8
    NORMALIZED = 9
    LINEAR = 10
    AS_FLOAT = 11
    ADDRESS_X = 12
    ADDRESS_Y = 13
    ADDRESS_Z = 14
    LEVELS = 15
    LEVEL_LINEAR = 16
    BIAS = 17
    LEAST = 18
    MOST = 19
    BORDER = 20
    LEVEL = 24


LEVEL_FIELDS, MOST_LEVELS = 3, 16
FIELDS = Field.LEVEL + LEVEL_FIELDS * MOST_LEVELS


class Resource(IntEnum):
    """Resource: what a texture or surface object refers to."""

    ARRAY = 1
    LINEAR = 2  # linear memory: only fetched by the number of a texel
    PITCHED = 3  # rows in linear memory


class ChannelKind(IntEnum):
    """Channel kind, as of cudaChannelFormatKind."""

    SIGNED = 0
    UNSIGNED = 1
    FLOAT = 2


class AddressMode(IntEnum):
    """Address mode, as of cudaTextureAddressMode: what lies beyond the edges."""

    WRAP = 0
    CLAMP = 1
    MIRROR = 2
    BORDER = 3


def no_textures() -> TextureTable:
    return np.zeros((0, FIELDS), np.int64)
