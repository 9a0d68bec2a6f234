"""Doubles rounded in a direction, through the compiler and the executor, against exact arithmetic."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import warplens as wl
from helpers.exact_floats import DOUBLE, add, fma, mul

WAYS = {"rd": "RM", "ru": "RP", "rz": "RZ"}
N = 2048


def operands(rng: np.random.Generator) -> np.ndarray:
    awkward = [0.0, -0.0, 1.0, -1.0, 1e308, -1e308, 1e-300, 5e-324, 3.0]
    values = rng.standard_normal(N) * 2.0 ** rng.integers(-60, 60, N)
    values[:64] = rng.choice(awkward, 64)
    return values


def small_ones(rng: np.random.Generator) -> np.ndarray:
    """Numbers whose products and sums, or the errors of these, are denormal, and a few that have no end or are none."""
    values = rng.choice([1.0, -1.0], N) * (1 + rng.integers(0, 8, N) / 8 + rng.integers(0, 3, N) * 2.0**-52)
    with np.errstate(under="ignore"):
        values *= 2.0 ** rng.choice([-1074, -1070, -1022, -1021, -960, -540, -530, -500, -57, -1, 0, 1, 1023], N)
    return np.where(rng.random(N) < 0.1, rng.choice([np.inf, -np.inf, np.nan, 0.0], N), values)


@pytest.mark.every(3)
@pytest.mark.parametrize("numbers", [operands, small_ones])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("operation", ["dadd", "dmul", "fma"])
def test_bit_equal(operation: str, way: str, numbers: Callable[[np.random.Generator], np.ndarray]) -> None:
    call = f"__{operation}_{way}(a[i], b[i]{', c[i]' if operation == 'fma' else ''})"
    source = f"""extern "C" __global__ void f(const double* a, const double* b, const double* c, double* o) {{
      int i = blockIdx.x * 32 + threadIdx.x; o[i] = {call}; }}"""
    rng = np.random.default_rng(9)
    a, b, c = numbers(rng), numbers(rng), numbers(rng)
    out = np.zeros(N)
    wl.compile(source=source)["f"].launch(N // 32, 32, a, b, c, out)
    reference = {
        "dadd": lambda x, y, z: add(DOUBLE, x, y, WAYS[way]),
        "dmul": lambda x, y, z: mul(DOUBLE, x, y, WAYS[way]),
        "fma": lambda x, y, z: fma(DOUBLE, x, y, z, WAYS[way]),
    }[operation]
    for x, y, z, got in zip(*(v.view(np.uint64).tolist() for v in (a, b, c, out)), strict=True):
        assert got == reference(x, y, z), (x, y, z)
