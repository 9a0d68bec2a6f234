"""Products of a pair of blocks (cta_group::2): each has half of A, half of B, and the rows of D of its half of A."""

from __future__ import annotations

import numpy as np
import pytest

import warplens as wl
from helpers.kernel_launches import written
from helpers.tensor_memory_sources import load
from helpers.tensor_product_launches import FORMATS, placed, small_numbers

TIERS = ()
COLUMNS, DEPTH = 64, 16
SOURCE = f"""
__device__ unsigned shared_address(const void* p) {{ return (unsigned)__cvta_generic_to_shared(p); }}
{load("load_8", "32x32b", 8)}
__device__ void paired(const uint4* in, unsigned long long a, unsigned long long b, unsigned form, unsigned* out) {{
  extern __shared__ __align__(1024) uint4 memory[];
  __shared__ unsigned address;
  __shared__ __align__(8) unsigned long long barrier;
  unsigned rank;
  asm("mov.u32 %0, %cluster_ctarank;" : "=r"(rank));
  for (int i = threadIdx.x; i < 4096; i += 128) memory[i] = in[rank * 4096 + i];
  if (threadIdx.x < 32) {{
    asm volatile("tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [%0], 64;"
                 :: "r"(shared_address(&address)) : "memory");
    asm volatile("tcgen05.relinquish_alloc_permit.cta_group::2.sync.aligned;");
  }}
  const unsigned bar = shared_address(&barrier), base = shared_address(memory) >> 4;
  if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 1;" :: "r"(bar));
  asm volatile("fence.proxy.async;" ::: "memory");
  asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
  const unsigned t = address;
  if (threadIdx.x == 0 && rank == 0) {{
    asm volatile("tcgen05.mma.cta_group::2.kind::f16 [%0], %1, %2, %3, 0;"
                 :: "r"(t), "l"(a + base), "l"(b + base + 2048), "r"(form) : "memory");
    asm volatile("tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%0], %1;"
                 :: "r"(bar), "h"((short)3));
  }}
  asm volatile("{{.reg .pred q; L: mbarrier.try_wait.parity.shared.b64 q, [%0], 0; @!q bra L;}}" :: "r"(bar));
  #pragma unroll 1
  for (int k = 0; k < {COLUMNS}; k += 8)
    load_8(out + (rank * 128 + threadIdx.x) * {COLUMNS} + k, t + (threadIdx.x / 32 * 32 << 16) + k);
  asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
  if (threadIdx.x < 32) asm volatile("tcgen05.dealloc.cta_group::2.sync.aligned.b32 %0, 64;" :: "r"(t));
}}
extern "C" __global__ void __cluster_dims__(2) pair(const uint4* in, unsigned long long a, unsigned long long b,
                                                    unsigned form, unsigned* out) {{ paired(in, a, b, form, out); }}
extern "C" __global__ void alone(const uint4* in, unsigned long long a, unsigned long long b, unsigned form,
                                 unsigned* out) {{ paired(in, a, b, form, out); }}
"""


@pytest.mark.parametrize("rows", [256, 128])
def test_each_block_has_its_half(rows: int) -> None:
    rng = np.random.default_rng(1)
    a, b = small_numbers(rng, rows, DEPTH), small_numbers(rng, COLUMNS, DEPTH)
    halves = [[placed(part, FORMATS["f16"]) for part in np.split(matrix, 2)] for matrix in (a, b)]
    content = np.concatenate([part[rank].content for rank in range(2) for part in halves])
    form = 1 << 4 | COLUMNS // 8 << 17 | rows // 16 << 24
    out = np.zeros((2, 128, COLUMNS), np.float32)
    kernel = written(SOURCE, "pair", "sm_100a")
    fields = [np.uint64(part[0].descriptor) for part in halves]
    kernel.launch(2, 128, content, *fields, np.uint32(form), out.view(np.uint32), shared=65536)
    found = out.reshape(256, COLUMNS)
    if rows == 128:  # 64 lanes hold the first half of the columns, 64 the second
        share = COLUMNS // 2
        found = out.reshape(2, 2, 64, COLUMNS)[..., :share].transpose(0, 2, 1, 3).reshape(128, COLUMNS)
    assert (found == a @ b.T).all()


def test_a_pair_needs_a_cluster() -> None:
    out, content = np.zeros((2, 128, COLUMNS), np.uint32), np.zeros(131072, np.uint8)
    kernel = written(SOURCE, "alone", "sm_100a")
    with pytest.raises(wl.KernelFault, match=r"cta_group::2, and the other block of the pair has not started"):
        kernel.launch(1, 128, content, np.uint64(0), np.uint64(0), np.uint32(0), out, shared=65536)
