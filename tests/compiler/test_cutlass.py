"""Kernels of CuTe, where nvidia-cutlass is installed (it is no dependency of the tests)."""

from pathlib import Path

import numpy as np
import pytest

import warplens as wl

ROOT = Path(__file__).parent.parent.parent


def test_a_cute_product_is_that_of_numpy() -> None:
    pytest.importorskip("cutlass_library")
    n = 64
    a, b = np.random.default_rng(1).standard_normal((2, n, n), np.float32)
    c = np.zeros((n, n), np.float32)
    kernel = wl.compile(ROOT / "examples" / "cute_sgemm.cu")["sgemm"]
    kernel.launch((n // 64, n // 64), 256, a, b, c, np.int32(n))
    assert np.allclose(c, a @ b.T, atol=1e-4)
