"""Copies from shared to tensor memory (tcgen05.cp), by shape: which lanes get which rows, by the PTX ISA."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.kernel_launches import written
from helpers.tensor_memory_sources import COMMON, load

SHAPES = {
    "128x256b": [[row] for row in range(128)],
    "4x256b": [[32 * row] for row in range(4)],
    "128x128b": [[row] for row in range(128)],
    "64x128b.warpx2::02_13": [[row, row + 64] for row in range(64)],
    "64x128b.warpx2::01_23": [[row // 32 * 64 + row % 32 + k for k in (0, 32)] for row in range(64)],
    "32x128b.warpx4": [[row + k for k in (0, 32, 64, 96)] for row in range(32)],
}
"""The lanes of each row."""

CASES = "".join(
    f"""case {number}: asm volatile("tcgen05.cp.cta_group::1.{shape} [%0], %1;" :: "r"(t), "l"(source)); break;"""
    for number, shape in enumerate(SHAPES)
)
SOURCE = f"""{COMMON} {load("load_8", "32x32b", 8)}
extern "C" __global__ void copied(int which, const uint4* in, unsigned long long fields, unsigned* out) {{
  __shared__ __align__(1024) uint4 memory[512];
  __shared__ unsigned address;
  __shared__ __align__(8) unsigned long long barrier;
  for (int i = threadIdx.x; i < 512; i += 128) memory[i] = in[i];
  if (threadIdx.x < 32) allocate(&address, 32);
  const unsigned bar = shared_address(&barrier);
  if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 1;" :: "r"(bar));
  asm volatile("fence.proxy.async;" ::: "memory");
  __syncthreads();
  const unsigned t = address;
  const unsigned long long source = fields + (shared_address(memory) >> 4);
  if (threadIdx.x == 0) {{
    switch (which) {{ {CASES} }}
    asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" :: "r"(bar));
  }}
  asm volatile("{{.reg .pred q; L: mbarrier.try_wait.parity.shared.b64 q, [%0], 0; @!q bra L;}}" :: "r"(bar));
  load_8(out + threadIdx.x * 8, t + (threadIdx.x / 32 * 32 << 16));
  __syncthreads();
  if (threadIdx.x < 32) release(t, 32);
}}"""


@pytest.mark.parametrize("swizzle", [0, 6])
def test_copies(swizzle: int) -> None:
    """Rows of 16 bytes in groups of 8, without swizzle, and with one of 32 bytes."""
    kernel = written(SOURCE, "copied", "sm_100a")
    given = np.random.default_rng(2).integers(0, 1 << 32, (512, 4), dtype=np.uint64).astype(np.uint32)
    fields = (2048 >> 4 << 16 | 128 >> 4 << 32) if swizzle == 0 else 256 >> 4 << 32 | swizzle << 61
    for number, (shape, lanes) in enumerate(SHAPES.items()):
        out, expected = np.zeros((128, 8), np.uint32), np.zeros((128, 8), np.uint32)
        kernel.launch(1, 128, number, given, np.uint64(fields), out)
        for row, places in enumerate(lanes):
            for chunk in range(2 if "256b" in shape else 1):
                at = row + 128 * chunk if swizzle == 0 else 2 * row + (chunk ^ row // 4 % 2)
                expected[places, 4 * chunk : 4 * chunk + 4] = given[at]
        assert (out == expected).all(), shape
