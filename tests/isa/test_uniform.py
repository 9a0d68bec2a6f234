"""The uniform datapath has the vector operations under a U in front."""

from __future__ import annotations

import numpy as np
import pytest

import warplens as wl
from warplens.isa import find


@pytest.mark.parametrize("opcode", ["UI2F.U32.RP", "UFADD", "UFMUL", "UMUFU.RCP"])
def test_same_meaning(opcode: str) -> None:
    uniform, vector = find(opcode), find(opcode[1:])
    assert uniform is not None
    assert vector is not None
    assert uniform[0].body is vector[0].body


@pytest.mark.parametrize("opcode", ["UTMALDG", "UBLKCP", "USETMAXREG", "FROB", "U"])
def test_others_have_none(opcode: str) -> None:
    assert find(opcode) is None


def test_remainder_by_a_uniform_divisor_on_sm_120() -> None:
    source = """extern "C" __global__ void f(const unsigned* x, unsigned* y, unsigned d) {
      y[threadIdx.x] = x[threadIdx.x] % d + (blockIdx.x + 1000000007u) / d; }"""
    x, y = np.arange(64, dtype=np.uint32) * 123456789, np.zeros(64, np.uint32)
    wl.compile(source=source, arch="sm_120")["f"].launch(1, 64, x, y, 97)
    assert (y == x % 97 + 1000000007 // 97).all()
