"""A user's values as a kernel takes them: numbers as bytes, arrays as device buffers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warplens.emulator.memory import DeviceMemory
from warplens.emulator.spare import address
from warplens.errors import UsageError
from warplens.kernel import Kernel, Parameter


@dataclass(frozen=True)
class Passed:
    """The parameter block, and each array with the number of its allocation."""

    block: bytes
    arrays: tuple[tuple[NDArray[Any], int], ...]


def pass_arguments(
    kernel: Kernel, title: str, args: Sequence[Any], labels: Sequence[str], memory: DeviceMemory
) -> Passed:
    """Allocates the arrays; one that is passed twice is one buffer.  UsageError for an argument that does not fit."""
    expected = kernel.parameters
    if len(args) != len(expected):
        sizes = ", ".join(f"{p.size} bytes" for p in expected)
        raise UsageError(f"{title} takes {len(expected)} arguments ({sizes}), not {len(args)}")
    block = bytearray(kernel.parameter_bytes)
    arrays: list[tuple[NDArray[Any], int]] = []
    known: dict[tuple[int, int], int] = {}
    for parameter, value in zip(expected, args, strict=True):
        label = f"argument {parameter.ordinal + 1}"
        if parameter.ordinal < len(labels) and labels[parameter.ordinal]:
            label += f" ({labels[parameter.ordinal]})"
        if isinstance(value, np.ndarray) and value.ndim > 0:
            _check_array(value, parameter, label)
            identity = (address(value), value.nbytes)
            if identity not in known:
                arrays.append((value, len(memory.allocations)))
                known[identity] = memory.allocate(label, value, identity[0])
            data = known[identity].to_bytes(8, "little")
        else:
            data = _scalar(value, parameter, label)
        block[parameter.offset : parameter.offset + parameter.size] = data
    return Passed(bytes(block), tuple(arrays))


def _check_array(value: NDArray[Any], parameter: Parameter, label: str) -> None:
    if parameter.size != 8:
        raise UsageError(f"{label} is an array, but the kernel takes {parameter.size} bytes there, not a pointer")
    if value.dtype.hasobject:
        raise UsageError(f"{label} holds Python objects; arrays of numbers are possible")
    if not value.flags.c_contiguous:
        raise UsageError(f"{label} is not contiguous; pass np.ascontiguousarray(...) of it")


def _scalar(value: Any, parameter: Parameter, label: str) -> bytes:
    """A number, structure or null pointer in the bytes of its parameter."""
    size = parameter.size
    if value is None:
        return bytes(size)
    if isinstance(value, bytes | np.generic | np.ndarray):
        data = bytes(value) if isinstance(value, bytes) else value.tobytes()
        if len(data) != size:
            kind = "bytes" if isinstance(value, bytes) else str(value.dtype)
            raise UsageError(f"{label} is {kind} with {len(data)} bytes, but the kernel takes {size} bytes there")
        return data
    if isinstance(value, bool | int):
        if not -(1 << (8 * size - 1)) <= value < 1 << (8 * size):
            raise UsageError(f"{label} = {value} does not fit into {size} bytes")
        return (int(value) & ((1 << (8 * size)) - 1)).to_bytes(size, "little")
    if isinstance(value, float) and size in (2, 4, 8):
        return np.array(value, f"f{size}").tobytes()
    raise UsageError(f"{label} is a {type(value).__name__}; arrays, numbers, bytes and None are possible")
