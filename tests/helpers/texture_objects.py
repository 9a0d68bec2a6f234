"""Texture and surface objects for tests of the executor, and launches with them."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warplens.core.counts import Trace
from warplens.core.launch import Launch
from warplens.core.texture_descriptor import FIELDS, AddressMode, ChannelKind, Field, Resource
from warplens.emulator import DeviceMemory, LaunchRequest, run
from warplens.kernel import LaunchableKernel

KINDS = {"i": ChannelKind.SIGNED, "u": ChannelKind.UNSIGNED, "f": ChannelKind.FLOAT}
CLAMP = (AddressMode.CLAMP, AddressMode.CLAMP, AddressMode.CLAMP)


def word(x: float) -> int:
    return int(np.float32(x).view(np.uint32))


def descriptor(
    texels: NDArray[Any], address: int, layered: bool = False, modes: Sequence[int] = CLAMP,
    border: Sequence[float] = (0, 0, 0, 0), **fields: int,
) -> list[int]:  # fmt: skip
    """Of texels [z or layer,] y, x, channel; fields by name in lower case."""
    *outer, height, width, channels = texels.shape
    depth = outer[0] if outer else 1
    made = dict.fromkeys(range(FIELDS), 0)
    made |= {
        Field.KIND: Resource.ARRAY, Field.CHANNELS: channels, Field.BITS: 8 * texels.itemsize,
        Field.CHANNEL_KIND: KINDS[texels.dtype.kind], Field.WIDTH: width, Field.HEIGHT: height,
        Field.DEPTH: 1 if layered else depth, Field.LAYERS: depth if layered else 1, Field.LEVELS: 1,
        Field.LEVEL: address, Field.LEVEL + 1: texels.strides[-3], Field.LEVEL + 2: texels.strides[-3] * height,
    }  # fmt: skip
    made |= {Field.ADDRESS_X + n: mode for n, mode in enumerate(modes)}
    made |= {Field.BORDER + n: word(part) for n, part in enumerate(border)}
    made |= {Field[name.upper()]: value for name, value in fields.items()}
    return [made[n] for n in range(FIELDS)]


def launched(
    kernel: LaunchableKernel, texels: NDArray[Any], out: NDArray[Any], inputs: Mapping[str, NDArray[Any]] | None = None,
    threads: int = 32, second: Mapping[str, Any] | None = None, **fields: Any,
) -> Trace:  # fmt: skip
    """Runs kernel(object, out, inputs ...) in one block; `texels` and `out` are what they are after it.

    second   fields in which another object, 2, of the same texels differs
    """
    memory = DeviceMemory()
    arrays = [texels, out, *(inputs or {}).values()]
    places = [memory.allocate(f"array {n}", array) for n, array in enumerate(arrays)]
    rows = [descriptor(texels, places[0], **{**fields, **more}) for more in ({}, second or {})]
    memory.textures = np.array([[0] * FIELDS, *rows], np.int64)
    parameters = struct.pack(f"<{len(arrays)}Q", 1, *places[1:])
    launch = Launch((1, 1, 1), (threads, 1, 1))
    counted = run(LaunchRequest(kernel.kernel, kernel.program, launch, parameters, memory), threads=1)
    for number, array in enumerate(arrays[:2]):
        memory.copy_back(number, array)
    memory.release()
    return counted
