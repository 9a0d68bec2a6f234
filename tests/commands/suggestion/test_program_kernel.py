"""Program kernel: what the memory of a saved launch is compared as."""

from __future__ import annotations

import struct
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from warplens.commands.suggestion.program_kernel import LaunchMemory
from warplens.core.cubin import Parameter
from warplens.program.saved_launch import SavedLaunch
from warplens.transform import KernelSource

SOURCE = "__global__ void f(DATA_TYPE* x, {} y) {{ x[0] = y[0]; }}"
PLACES = (4096, 8192)


@pytest.mark.parametrize(
    ("symbol", "kind", "expected"),
    [
        ("_Z1fPfS_", "DATA_TYPE*", ("<f4", "<f4")),  # float f(float*, float*)
        ("_Z1fPdPh", "unsigned char*", ("<f8", "u1")),
        ("f", "float*", ("u1", "<f4")),
    ],
)
def test_floats_are_known_by_the_symbol_where_the_source_has_another_name(
    symbol: str, kind: str, expected: tuple[str, ...]
) -> None:
    parameters = tuple(Parameter(n, 8 * n, 8) for n in range(2))
    allocations = [
        {"address": place, "size": 64, "slack": 0, "name": "", "touched": True} for place in PLACES
    ]  # fmt: skip
    kernel = SimpleNamespace(name=symbol, parameters=parameters)
    saved: Any = SimpleNamespace(
        kernel=SimpleNamespace(kernel=kernel, parameters=parameters), header={"allocations": allocations},
        arrays={"parameters": np.frombuffer(struct.pack("<QQ", *PLACES), np.uint8)},
    )  # fmt: skip
    memory = LaunchMemory(cast(SavedLaunch, saved), KernelSource(SOURCE.format(kind), "f").parameters)
    assert tuple(found.dtype for found in memory.outputs({})) == tuple(map(np.dtype, expected))
