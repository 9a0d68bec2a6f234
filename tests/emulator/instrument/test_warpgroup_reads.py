"""What a warpgroup's product reads of shared memory is checked: races, uninitialized reads, bounds."""

from __future__ import annotations

import numpy as np
import pytest

import warplens as wl
from helpers.kernel_launches import written

TIERS = ()
SOURCE = """
__device__ void multiply(float* out, const uint4* memory, unsigned long long fields) {
  float d[4] = {0, 0, 0, 0};
  unsigned long long at = fields + ((unsigned)__cvta_generic_to_shared(memory) >> 4);
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0, %1, %2, %3}, %4, %5, 1, 1, 1, 0, 0;"
    : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "l"(at), "l"(at + 128));
  asm volatile("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;" ::: "memory");
  for (int i = 0; i < 4; i++) out[threadIdx.x * 4 + i] = d[i];
}
extern "C" __global__ void __launch_bounds__(128) product(
    float* out, unsigned long long fields, int stored, int waits) {
  extern __shared__ __align__(1024) uint4 memory[];
  if (threadIdx.x < stored) memory[threadIdx.x] = make_uint4(0x3f803f80, 0x3f803f80, 0x3f803f80, 0x3f803f80);
  if (threadIdx.x < 16) memory[128 + threadIdx.x] = make_uint4(0x3f803f80, 0x3f803f80, 0x3f803f80, 0x3f803f80);
  asm volatile("fence.proxy.async;" ::: "memory");
  if (waits) __syncthreads();
  multiply(out, memory, fields);
}
"""
FIELDS = 8 << 16 | 16 << 32  # core matrices along K 128 bytes apart, along M and N 256
BYTES = 128 * 16 + 16 * 16


def launched(fields: int = FIELDS, stored: int = 128, waits: int = 1, check: tuple[str, ...] = ()) -> wl.Run:
    out = np.zeros(512, np.float32)
    run = written(SOURCE, "product", "sm_90a").launch(
        1, 128, out, np.uint64(fields), np.int32(stored), np.int32(waits), shared=BYTES, check=check
    )
    assert check or (out == 16).all()
    return run


def test_a_product_is_clean() -> None:
    assert launched().hazards == ()
    assert not launched(check=("races", "init")).hazards


def test_a_missing_barrier_is_a_race() -> None:
    (hazard, *_) = launched(waits=0, check=("races",)).hazards
    assert hazard.check == "races"
    assert "HGMMA" in str(hazard)


def test_what_no_thread_has_written_is_found() -> None:
    hazards = launched(stored=100, check=("init",)).hazards
    assert {hazard.check for hazard in hazards} == {"init"}


def test_a_matrix_beyond_shared_memory_is_a_fault() -> None:
    with pytest.raises(wl.KernelFault, match=r"out-of-bounds shared read of 16 bytes at 0x\w+(.|\n)*HGMMA"):
        launched(8 << 16 | 32 << 32)
