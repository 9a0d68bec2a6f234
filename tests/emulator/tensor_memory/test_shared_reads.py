"""What a product in tensor memory reads of shared memory is checked: races and uninitialized reads."""

from __future__ import annotations

import numpy as np
import pytest

import warplens as wl
from helpers.kernel_launches import written
from helpers.tensor_memory_sources import COMMON

TIERS = ()
SOURCE = f"""{COMMON}
extern "C" __global__ void product(
    unsigned form, unsigned long long fields, int stored, int waits, int fenced, int early) {{
  extern __shared__ __align__(1024) uint4 memory[];
  __shared__ unsigned address;
  __shared__ __align__(8) unsigned long long barrier;
  const unsigned bar = shared_address(&barrier);
  if (threadIdx.x < 32) allocate(&address, 32);
  if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 1;" :: "r"(bar));
  __syncthreads();
  const unsigned t = address;
  for (int i = threadIdx.x; i < stored; i += 128) memory[i] = make_uint4(0, 0, 0, 0);
  if (fenced) asm volatile("fence.proxy.async;" ::: "memory");
  if (waits) __syncthreads();
  if (threadIdx.x == 0) {{
    const unsigned long long at = fields + (shared_address(memory) >> 4);
    asm volatile("tcgen05.mma.cta_group::1.kind::f16 [%0], %1, %2, %3, 0;"
                 :: "r"(t), "l"(at), "l"(at + 256), "r"(form) : "memory");
    asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" :: "r"(bar));
  }}
  if (early && threadIdx.x == 32) memory[0] = make_uint4(1, 1, 1, 1);
  asm volatile("{{.reg .pred q; L: mbarrier.try_wait.parity.shared.b64 q, [%0], 0; @!q bra L;}}" :: "r"(bar));
  __syncthreads();
  if (threadIdx.x < 32) release(t, 32);
}}"""
FORM = 1 << 4 | 16 // 8 << 17 | 128 // 16 << 24  # 128 rows, 16 columns, of halves
FIELDS = 128 >> 4 << 16 | 256 >> 4 << 32  # core matrices along K 128 bytes apart, along M and N 256
CHUNKS = 256 + 32  # of 16 bytes: A and B


def launched(
    transposed: bool = False, stored: int = CHUNKS, waits: int = 1, fenced: int = 1, early: int = 0,
    check: tuple[str, ...] = (),
) -> wl.Run:  # fmt: skip
    form = FORM | (3 << 15 if transposed else 0)
    return written(SOURCE, "product", "sm_100a").launch(
        1, 128, np.uint32(form), np.uint64(FIELDS), stored, waits, fenced, early, shared=16 * CHUNKS, check=check
    )


@pytest.mark.parametrize("transposed", [False, True])
def test_a_product_is_clean(transposed: bool) -> None:
    assert launched(transposed, check=("races", "init")).hazards == ()


def test_a_missing_barrier_is_a_race() -> None:
    hazards = launched(waits=0, check=("races",)).hazards
    assert hazards
    assert all("UTCHMMA" in str(hazard) for hazard in hazards)


@pytest.mark.parametrize("transposed", [False, True])
def test_what_nobody_has_written_is_read(transposed: bool) -> None:
    hazards = launched(transposed, stored=CHUNKS - 1, check=("init",)).hazards
    assert [hazard.check for hazard in hazards] == ["init"]
    assert "UTCHMMA" in str(hazards[0])


def test_a_product_of_what_no_fence_has_followed() -> None:
    found = {hazard.message for hazard in launched(fenced=0, check=("races", "init")).hazards}
    assert found
    assert all("a tcgen05.mma reads byte" in text and "no fence.proxy.async" in text for text in found)


def test_a_write_of_what_a_product_still_reads() -> None:
    (hazard,) = launched(early=1, check=("races", "init")).hazards
    assert "that a tcgen05.mma may still read: no wait for its tcgen05.commit, " in hazard.message
