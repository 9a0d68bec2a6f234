"""A matrix product as kernels for sm_100 form it: TMA, tensor memory, warps with different tasks, two stages."""

from __future__ import annotations

import numpy as np

import warplens as wl
from helpers.kernel_launches import written
from helpers.tensor_memory_sources import COMMON, load

TILE, STEP = 128, 64  # rows and columns of a block's part of the result; along K, 128 bytes
STAGE = TILE * STEP * 2  # bytes of a matrix
FORM = 1 << 4 | TILE // 8 << 17 | TILE // 16 << 24  # of halves into floats
SOURCE = f"""{COMMON} {load("load_8", "32x32b", 8)}
struct __align__(64) TensorMap {{ unsigned long long words[16]; }};
__device__ void wait(unsigned barrier, unsigned phase) {{
  asm volatile("{{.reg .pred p; W: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1; @!p bra W;}}"
               :: "r"(barrier), "r"(phase) : "memory");
}}
__device__ void fetch(unsigned to, const TensorMap& map, int x, int y, unsigned barrier) {{
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], "
               "[%1, {{%2, %3}}], [%4];" :: "r"(to), "l"(&map), "r"(x), "r"(y), "r"(barrier) : "memory");
}}
extern "C" __global__ void __launch_bounds__(128) gemm(
    const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b, int steps, float* out) {{
  extern __shared__ __align__(1024) unsigned char stages[];
  __shared__ __align__(8) unsigned long long full[2], free_[2], done;
  __shared__ unsigned address;
  const unsigned memory = shared_address(stages), f = shared_address(full), e = shared_address(free_);
  const int warp = threadIdx.x / 32;
  if (warp == 0) {{
    allocate(&address, {TILE});
    asm volatile("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;");
  }}
  if (threadIdx.x == 32) {{
    for (int k = 0; k < 2; k++) {{
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(f + 8 * k));
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(e + 8 * k));
    }}
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(shared_address(&done)));
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  }}
  asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
  __syncthreads();
  asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
  const unsigned t = address;
  if (threadIdx.x == 64) {{
    for (int k = 0; k < steps; k++) {{
      const int stage = k % 2;
      wait(e + 8 * stage, k / 2 % 2 ^ 1);
      asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], {2 * STAGE};" :: "r"(f + 8 * stage) : "memory");
      fetch(memory + stage * {2 * STAGE}, a, k * {STEP}, blockIdx.y * {TILE}, f + 8 * stage);
      fetch(memory + stage * {2 * STAGE} + {STAGE}, b, k * {STEP}, blockIdx.x * {TILE}, f + 8 * stage);
    }}
  }} else if (threadIdx.x == 96) {{
    for (int k = 0; k < steps; k++) {{
      const int stage = k % 2;
      wait(f + 8 * stage, k / 2 % 2);
      const unsigned long long fields = 1ull << 46 | 2ull << 61 | 1024ull >> 4 << 32;
      const unsigned long long left = fields | (memory + stage * {2 * STAGE}) >> 4;
      for (int part = 0; part < {STEP // 16}; part++)
        asm volatile("{{.reg .pred q; setp.ne.b32 q, %4, 0; tcgen05.mma.cta_group::1.kind::f16 [%0], %1, %2, %3, q;}}"
          :: "r"(t), "l"(left + 2 * part), "l"(left + {STAGE // 16} + 2 * part), "r"({FORM}), "r"(k + part) : "memory");
      asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" :: "r"(e + 8 * stage));
    }}
    asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];"
                 :: "r"(shared_address(&done)));
  }}
  __syncwarp();
  wait(shared_address(&done), 0);
  asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
  float* row = out + (blockIdx.y * {TILE} + threadIdx.x) * gridDim.x * {TILE} + blockIdx.x * {TILE};
  #pragma unroll 1
  for (int k = 0; k < {TILE}; k += 8) {{
    unsigned r[8];
    load_8(r, t + (warp * 32 << 16) + k);
    for (int i = 0; i < 8; i++) row[k + i] = __uint_as_float(r[i]);
  }}
  __syncthreads();
  if (warp == 0) release(t, {TILE});
}}"""


def test_product_of_tiles_fetched_by_tma() -> None:
    """Equal to NumPy's, since sums of small whole numbers are exact in any order."""
    rng = np.random.default_rng(4)
    a, b = (rng.integers(-3, 4, (rows, 320)).astype(np.float16) for rows in (256, 128))
    out = np.zeros((256, 128), np.float32)
    left, right = (wl.tensor_map(matrix, (TILE, STEP), swizzle=128) for matrix in (a, b))
    run = written(SOURCE, "gemm", "sm_100a").launch((1, 2), 128, left, right, 320 // STEP, out, shared=4 * STAGE)
    assert (out == a.astype(np.float32) @ b.astype(np.float32).T).all()
    assert run["sm__inst_executed_pipe_tc.sum"] == 2 * 320 // 16
