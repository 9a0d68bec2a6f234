"""Products of Triton for sm_100, in tensor memory, equal to NumPy's; where Triton is installed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import warplens as wl
from helpers.tensor_product_launches import FORMATS

RANDOM = np.random.default_rng(8)


@pytest.fixture(scope="module")
def products() -> Any:
    pytest.importorskip("triton")
    from helpers import triton_products

    return triton_products


def opcodes(run: wl.Run) -> set[str]:
    return {instruction.base for instruction in run.kernel.program.instructions}


@pytest.mark.parametrize("rows", [64, 128])
def test_a_product_of_a_product(products: Any, rows: int) -> None:
    a, b = (RANDOM.integers(-2, 3, shape).astype(np.float16) for shape in ((rows, 64), (64, 64)))
    c = np.zeros((rows, 64), np.float32)
    run = wl.triton(products.chained, gpu="b200")[(1,)](a, b, c, M=rows, N=64, K=64)
    assert (c == (a.astype(np.float32) @ b / 2) @ b).all()
    assert {"UTCHMMA", "LDTM", "STTM"} <= opcodes(run)


def test_scaled_floats_of_4_bits(products: Any) -> None:
    rows = 128
    drawn = [RANDOM.integers(-3, 4, (rows, 128)).astype(np.float64) for _ in range(2)]
    words = [FORMATS["mxf4"].encode(x).astype(np.uint8) for x in drawn]
    packed = [np.ascontiguousarray(x[:, ::2] | x[:, 1::2] << 4) for x in words]
    powers = [RANDOM.integers(0, 3, (rows, 4)).astype(np.uint8) for _ in range(2)]
    c = np.zeros((rows, rows), np.float32)
    given = [part for pair in zip(packed, (p + 127 for p in powers), strict=True) for part in pair]
    run = wl.triton(products.scaled, gpu="b200")[(1,)](*given, c, M=rows, N=rows, K=128)
    left, right = (x * np.repeat(2.0**p, 32, axis=1) for x, p in zip(drawn, powers, strict=True))
    assert (c == left @ right.T).all()
    assert "UTCOMMA" in opcodes(run)
