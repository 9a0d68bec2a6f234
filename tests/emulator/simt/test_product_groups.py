"""Warpgroups: a wait for products by one warp is one for the products of all four."""

from __future__ import annotations

import numpy as np
import pytest

import warplens as wl
from helpers.kernel_launches import written

# A producer warp fills a stage of shared memory after the other, four warps multiply; the first of them releases the
# stage for all.  Each of the stages has another value, so a warp that reads a stage too late has other results.  The
# warp `late` is behind the others by more than a time slice in each round.
SOURCE = """
__device__ unsigned at(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ void wait(unsigned barrier, int parity) {
  asm volatile("{ .reg .pred over;\\n again: mbarrier.try_wait.parity.shared::cta.b64 over, [%0], %1;\\n"
               "@!over bra again; }" :: "r"(barrier), "r"(parity) : "memory");
}
__device__ void arrive(unsigned barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" :: "r"(barrier) : "memory");
}
extern "C" __global__ void __launch_bounds__(160) pipeline(float* out, int late, int spins, int rounds) {
  __shared__ __align__(1024) uint4 memory[2][144];
  __shared__ unsigned long long full[2], empty[2];
  int warp = __shfl_sync(~0u, threadIdx.x / 32, 0);
  if (threadIdx.x == 0)
    for (int i = 0; i < 2; i++) {
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 32;" :: "r"(at(&full[i])) : "memory");
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(at(&empty[i])) : "memory");
    }
  __syncthreads();
  if (warp == 4) {
    for (int round = 0; round < rounds; round++) {
      int stage = round & 1;
      wait(at(&empty[stage]), round >> 1 & 1 ^ 1);
      unsigned value = 0x3f80 + 0x80 * round;  // 2 to the power of the round, as bf16
#pragma unroll 1
      for (int i = threadIdx.x & 31; i < 144; i += 32) {
        unsigned word = i < 128 ? value << 16 | value : 0x3f803f80;
        memory[stage][i] = make_uint4(word, word, word, word);
      }
      asm volatile("fence.proxy.async;" ::: "memory");
      arrive(at(&full[stage]));
    }
    return;
  }
  float d[4] = {0, 0, 0, 0};
  unsigned noise = threadIdx.x;
  for (int round = 0; round < rounds; round++) {
    int stage = round & 1;
    if (warp == late)
#pragma unroll 1
      for (int i = 0; i < spins; i++) noise = noise * 1664525 + 1013904223;
    wait(at(&full[stage]), round >> 1 & 1);
    unsigned long long a = 8ull << 16 | 16ull << 32 | at(memory[stage]) >> 4, b = a + 128;
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0, %1, %2, %3}, %4, %5, 1, 1, 1, 0, 0;"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "l"(a), "l"(b));
    asm volatile("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;" ::: "memory");
    if (threadIdx.x == 0) arrive(at(&empty[stage]));
  }
  out[threadIdx.x] = d[0] + d[1] + d[2] + d[3] + (noise == 12345);
}
// The last warp waits at a barrier for those whose products it is missing from.
extern "C" __global__ void __launch_bounds__(128) three_warps(float* out) {
  __shared__ __align__(1024) uint4 memory[144];
  float d[4] = {0, 0, 0, 0};
  unsigned long long a = 8ull << 16 | 16ull << 32 | at(memory) >> 4;
  if (__shfl_sync(~0u, threadIdx.x / 32, 0) < 3) {
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0, %1, %2, %3}, %4, %5, 1, 1, 1, 0, 0;"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "l"(a), "l"(a + 128));
    asm volatile("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;" ::: "memory");
  }
  __syncthreads();
  out[threadIdx.x] = d[0];
}
// ptxas ends the group of both branches by a product of nothing.
extern "C" __global__ void __launch_bounds__(128) either(float* out, int second) {
  __shared__ __align__(1024) uint4 memory[2][144];
  for (int i = threadIdx.x; i < 288; i += 128) {
    unsigned word = i < 144 ? 0x3f803f80 : 0x40004000;
    memory[0][i] = make_uint4(word, word, word, word);
  }
  asm volatile("fence.proxy.async;" ::: "memory");
  __syncthreads();
  float d[4] = {0, 0, 0, 0};
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  for (int i = 0; i < 2; i++) {
    unsigned long long a = 8ull << 16 | 16ull << 32 | at(memory[i]) >> 4;
    if (second == i)
      asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0, %1, %2, %3}, %4, %5, 1, 1, 1, 0, 0;"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "l"(a), "l"(a + 128));
  }
  asm volatile("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;" ::: "memory");
  out[threadIdx.x] = d[0];
}
"""
ROUNDS = 8
SLICES = 1 << 17  # rounds of a loop in which a warp uses up several time slices


def multiplied(late: int, spins: int) -> wl.Run:
    out = np.zeros(160, np.float32)
    run = written(SOURCE, "pipeline", "sm_90a").launch(1, 160, out, np.int32(late), np.int32(spins), np.int32(ROUNDS))
    assert (out[:128] == 16 * 4 * (2**ROUNDS - 1)).all()
    return run


@pytest.mark.parametrize("late", [0, 3])
def test_a_warp_behind_its_warpgroup_misses_no_stage(late: int) -> None:
    run = multiplied(late, SLICES)
    assert run["sm__inst_executed_pipe_tensor_op_gmma.sum"] == 4 * ROUNDS
    program = written(SOURCE, "pipeline", "sm_90a").program
    waits = [i.index for i in program.instructions if i.opcode.startswith("WARPGROUP.DEPBAR")]
    assert [run.trace.executed[index] for index in waits] == [4 * ROUNDS]  # however often a warp looks


def test_waits_are_no_instructions_of_the_longest_warp() -> None:
    assert multiplied(0, 0).trace.longest is None


def test_a_product_that_a_warp_never_issues_hangs() -> None:
    with pytest.raises(wl.KernelFault) as hang:
        written(SOURCE, "three_warps", "sm_90a").launch(1, 128, np.zeros(128, np.float32), budget=1 << 22)
    first, second, *_ = str(hang.value).splitlines()
    assert first.endswith(
        "a wgmma is not executed by all warps of its warpgroup: warp 3 committed 0 of the 1 groups of warp 0"
    )
    assert second.startswith("  waited for by warps 0-2 at ")
    assert "warp 3, all lanes: at barrier 0, where 32 of 128 threads are" in str(hang.value)


@pytest.mark.parametrize("second", [0, 1])
def test_a_group_of_products_in_two_branches(second: int) -> None:
    kernel, out = written(SOURCE, "either", "sm_90a"), np.zeros(128, np.float32)
    assert any(i.text.startswith("RZ,gdesc[URZ]") for i in kernel.program.instructions)
    assert not kernel.launch(1, 128, out, np.int32(second), check=("races", "barriers")).hazards
    assert (out == 16 * (4 if second else 1)).all()
