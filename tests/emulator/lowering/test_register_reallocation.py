"""Register reallocation (setmaxnreg): registers that the warps of a block hand to each other."""

from __future__ import annotations

import re

import numpy as np
import pytest
from numpy.typing import NDArray

import warplens as wl
from helpers.kernel_launches import written

SOURCE = """
extern "C" __global__ void __launch_bounds__(384, 1) given(int* out) {
  if (threadIdx.x < 128) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    out[threadIdx.x] = 2;
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    out[threadIdx.x] = 1;
  }
}
extern "C" __global__ void __launch_bounds__(384, 1) grows(int* out) {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
  out[threadIdx.x] = 1;
  asm volatile("setmaxnreg.dec.sync.aligned.u32 104;");
}
extern "C" __global__ void __launch_bounds__(384, 1) hangs(int* out) {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 240;");
  out[threadIdx.x] = 1;
}
"""


def launched(name: str) -> NDArray[np.int32]:
    out = np.zeros(384, np.int32)
    written(SOURCE, name, "sm_90a").launch(1, 384, out)
    return out


def test_a_warp_waits_for_registers_that_others_give_back() -> None:
    assert launched("given").tolist() == [2] * 128 + [1] * 256


def test_registers_given_back_twice_are_a_fault() -> None:
    with pytest.raises(wl.KernelFault, match=r"names 104 registers.*the warp has, 40\n  at .*USETMAXREG") as found:
        launched("grows")
    assert re.search(r"\n  the kernel's other setmaxnreg: .*DEALLOC\.CTAPOOL 0x28$", str(found.value))


def test_registers_that_nobody_gives_back_hang() -> None:
    with pytest.raises(wl.KernelFault, match=r"no warp gives back registers .*: 240 registers a thread are wanted"):
        launched("hangs")
