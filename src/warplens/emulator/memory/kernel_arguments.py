"""Kernel arguments: converts a user's values: numbers to parameter bytes, arrays to device buffers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warplens.compiler.parameter_type import ParameterType
from warplens.core.cubin import Kernel, Parameter
from warplens.core.tensor_map import BYTES
from warplens.emulator.memory.argument_conversion import check_elements, number_bytes
from warplens.emulator.memory.buffer_pool import address
from warplens.emulator.memory.device_memory import DeviceMemory
from warplens.errors import UsageError
from warplens.launchspec.array_view import ArrayView, RestoredArray
from warplens.launchspec.mapped_array import MappedArray
from warplens.launchspec.pitched_array import Pitched

POINTER = 8, "an array", "a pointer"
TENSOR_MAP = BYTES, "a tensor map", f"a CUtensorMap of {BYTES}"
"""Bytes of a parameter for an array, what is given, and what the kernel should take."""


@dataclass(frozen=True)
class PassedArguments:
    """Passed arguments: the parameter block, and each array with the number of its allocation."""

    block: bytes
    arrays: tuple[tuple[NDArray[Any], int], ...]


def pass_arguments(
    kernel: Kernel, title: str, args: Sequence[Any], labels: Sequence[str], memory: DeviceMemory,
    types: Sequence[ParameterType] = (),
) -> PassedArguments:  # fmt: skip
    """Allocates the arrays; one that is passed twice is one buffer.  Numbers are converted to the types of the
    parameters, where known.  UsageError for an argument that does not fit, or would lose value."""
    expected = kernel.parameters
    if len(args) != len(expected):
        sizes = ", ".join(f"{p.size} bytes" for p in expected)
        raise UsageError(f"{title} takes {len(expected)} arguments ({sizes}), not {len(args)}")
    block = bytearray(kernel.parameter_bytes)
    arrays: list[tuple[NDArray[Any], int]] = []
    known: dict[tuple[int, int], int] = {}
    declared = [kind or ParameterType() for kind, _ in zip_longest(types[: len(args)], args)]
    for parameter, given, kind in zip(expected, args, declared, strict=True):
        label = f"argument {parameter.ordinal + 1}"
        said = labels[parameter.ordinal] if parameter.ordinal < len(labels) else ""
        if said:
            label += f" ({said})"
        shown = f"{label} ({kind.name})" if kind.name and not said else label
        value = given.storage if isinstance(given, Pitched | MappedArray | ArrayView | RestoredArray) else given
        if isinstance(value, np.ndarray) and value.ndim > 0:
            _check_array(value, parameter, TENSOR_MAP if isinstance(given, MappedArray) else POINTER, shown)
            if not isinstance(given, MappedArray | ArrayView):
                check_elements(given.dtype, kind, shown)
            identity = (address(value), value.nbytes)
            if identity not in known:
                arrays.append((value, len(memory.allocations)))
                known[identity] = memory.allocate(label, value, identity[0], isinstance(given, RestoredArray))
            start = known[identity] + (given.offset if isinstance(given, ArrayView) else 0)
            data = start.to_bytes(8, "little")
            if isinstance(given, MappedArray):
                data = replace(given.layout, address=start + given.layout.address).encode()
        else:
            data = number_bytes(value, parameter.size, kind, shown)
        block[parameter.offset : parameter.offset + parameter.size] = data
    return PassedArguments(bytes(block), tuple(arrays))


def _check_array(value: NDArray[Any], parameter: Parameter, form: tuple[int, str, str], label: str) -> None:
    size, given, wanted = form
    if parameter.size != size:
        raise UsageError(f"{label} is {given}, but the kernel takes {parameter.size} bytes there, not {wanted}")
    if value.dtype.hasobject:
        raise UsageError(f"{label} holds Python objects; arrays of numbers are possible")
    if not value.flags.c_contiguous:
        raise UsageError(f"{label} is not contiguous; pass np.ascontiguousarray(...) of it")
