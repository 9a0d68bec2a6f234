"""Which NaN comes out of two or three: what an H200 made of all triples of ten numbers (driver 580.159.04, 2026-11-21).

Kept as check sums of the 1,000 results of each instruction.
"""

from __future__ import annotations

from itertools import product
from typing import Any
from zlib import crc32

import numpy as np
import pytest

NUMBERS = [
    0x7FF8000000000011, 0x7FF0000000000022, 0xFFF8000000000033, 0xFFF4000000000044, 0x3FF8000000000000,
    0x7FF0000000000000, 0xFFF0000000000000, 0, 0xBFF0000000000001, 0x7FFF123456789ABC,
]  # fmt: skip
C, B, A = (list(column) for column in zip(*product(NUMBERS, repeat=3), strict=True))


@pytest.mark.parametrize(
    ("opcode", "operands", "measured"),
    [
        ("DADD", (A, B), "9f992404"),
        ("DADD.RZ", (A, B), "9f992404"),
        ("DMUL", (A, B), "453188a0"),
        ("DFMA", (A, B, C), "b36016f6"),
    ],
)
def test_the_one_that_survives_on_an_h200(engine: Any, opcode: str, operands: Any, measured: str) -> None:
    results = np.array(engine.value(opcode, *operands), np.uint64)
    assert f"{crc32(results.tobytes()):08x}" == measured
