"""Order and time: which counts of a kernel depend on them, and how each is labelled."""

from __future__ import annotations

import numpy as np
import pytest

import warplens as wl
from warplens.emulator.analysis.order_dependence import ATOMIC, CLOCK, NOTHING, SLEEP, STRONG, found

SOURCE = """
extern "C" __global__ void plain(int* x, int* y) {  // atomics whose results nobody reads
  __shared__ int s[32];
  int t = threadIdx.x;
  if (t < 32) s[t] = 0;
  __syncthreads();
  atomicAdd(&s[x[t] & 31], 1);
  __syncthreads();
  if (t < 32 && s[t] > 1) atomicAdd(&y[s[t]], t);
}
extern "C" __global__ void kept(int* x, int* y) {  // a result that is only stored
  y[threadIdx.x] = atomicAdd(x, 1);
}
extern "C" __global__ void ticket(int* x, int* y) {  // a place in a queue
  y[1 + 3 * (atomicAdd(x, 1) & 255)] = threadIdx.x;
}
extern "C" __global__ void through_memory(int* x, int* y) {  // a place in a queue that goes through shared memory
  __shared__ int s[128];
  s[threadIdx.x] = atomicAdd(x, 1) & 127;
  __syncthreads();
  y[s[threadIdx.x ^ 64] * 3] = 1;
}
extern "C" __global__ void last_block(int* x, int* y) {
  __shared__ bool last;
  if (threadIdx.x == 0) last = atomicAdd(x, 1) == gridDim.x - 1;
  __syncthreads();
  if (last) y[threadIdx.x] = 1;
}
extern "C" __global__ void swapped(int* x, int* y) {  // a loop of compare-and-swap
  int old = y[0], seen;
  do { seen = old; old = atomicCAS(y, seen, seen + (seen ^ x[threadIdx.x]) + 1); } while (old != seen);
}
extern "C" __global__ void spin(volatile int* x, int* y) {
  if (threadIdx.x == 0 && blockIdx.x == 0) x[0] = 1;
  while (x[0] == 0) {}
  y[threadIdx.x] = 1;
}
extern "C" __global__ void clocked(int* x, int* y) {
  if (clock64() % 7 == 3) y[threadIdx.x] = 1;
}
extern "C" __global__ void timed(int* x, long long* y) {  // a time that is only stored
  long long begin = clock64();
  int a = x[threadIdx.x];
  y[threadIdx.x] = clock64() - begin + a;
}
extern "C" __global__ void reused(int* x, int* y) {  // the result is dead before the branch
  int t = threadIdx.x;
  y[t] = atomicAdd(x, 1);
  for (int i = 0; i < (t & 7); ++i) y[128 + t * 8 + i] = i * t;
}
extern "C" __global__ void in_steps(volatile int* x, int* y) {  // the last warp of a sum: nothing is decided by it
  int t = threadIdx.x;
  volatile int* d = x + blockIdx.x * 64;
  if (t < 32) {
    for (int s = 32; s > 0; s /= 2) {
      int sum = d[t] + d[t + s];
      __syncwarp();
      d[t] = sum;
      __syncwarp();
    }
  }
  if (t == 0) y[blockIdx.x] = d[0];
}
extern "C" __global__ void first_of_warp(int* x, int* y) {  // a result that reaches a branch through a shuffle
  int t = threadIdx.x;
  if (t < 32) {
    int place = t ? 0 : atomicAdd(x, 1);
    __syncwarp();
    if (__shfl_sync(~0u, place, 0) & 1) y[t] = t;
  }
}
extern "C" __global__ void naps(int* x, int* y) {
  if (threadIdx.x & 1) __nanosleep(100);
  y[threadIdx.x] = 1;
}
"""
WANTED = {
    "plain": (NOTHING, NOTHING), "kept": (NOTHING, NOTHING), "reused": (NOTHING, NOTHING), "timed": (NOTHING, NOTHING),
    "ticket": (NOTHING, {ATOMIC}), "through_memory": (NOTHING, {ATOMIC}), "last_block": ({ATOMIC}, NOTHING),
    "swapped": ({ATOMIC}, NOTHING), "spin": ({STRONG}, NOTHING), "clocked": ({CLOCK}, NOTHING),
    "naps": ({SLEEP}, NOTHING), "in_steps": (NOTHING, NOTHING), "first_of_warp": ({ATOMIC}, NOTHING),
}  # fmt: skip
INSTRUCTIONS, SECTORS = "smsp__inst_executed.sum", "smsp__sass_sectors_mem_global.sum"
MIX = "sass__inst_executed_per_opcode"


@pytest.mark.parametrize("name", WANTED)
def test_what_counts_depend_on(name: str, arch: str) -> None:
    assert found(wl.compile(source=SOURCE, arch=arch)[name].program)[:2] == WANTED[name]


def launched(name: str, blocks: int = 4, threads: int = 64, sample: int | None = None) -> wl.Run:
    kernel = wl.compile(source=SOURCE, arch="sm_90")[name]
    x, y = np.zeros(4096, np.int32), np.zeros(4096, np.int32)
    return kernel.launch((blocks,), (threads,), x, y, sample=sample)


@pytest.mark.parametrize(
    ("name", "instructions", "sectors"),
    [
        ("plain", "exact", "exact"), ("kept", "exact", "exact"), ("ticket", "exact", "modelled"),
        ("swapped", "modelled", "modelled"), ("spin", "modelled", "modelled"), ("clocked", "modelled", "modelled"),
        ("last_block", "modelled", "modelled"), ("naps", "modelled", "modelled"),
    ],
)  # fmt: skip
def test_labels(name: str, instructions: str, sectors: str) -> None:
    run = launched(name)
    labels = {of: run.metrics[of].provenance for of in (INSTRUCTIONS, MIX, SECTORS)}
    assert labels == {INSTRUCTIONS: instructions, MIX: instructions, SECTORS: sectors}
    assert (run.subject.provenance, run.subject.memory_provenance) == (instructions, sectors)
    assert any("modelled: a" in note for note in run.subject.notes) == (sectors == "modelled")


def test_one_warp_alone_has_one_order() -> None:
    assert launched("swapped", 1, 32).metrics[INSTRUCTIONS].provenance == "exact"
    assert launched("clocked", 1, 32).metrics[INSTRUCTIONS].provenance == "modelled"


def test_all_of_a_sample_is_sampled() -> None:
    run = launched("ticket", 64, sample=8)
    assert {run.metrics[of].provenance for of in (INSTRUCTIONS, MIX, SECTORS)} == {"sampled"}


WAITING = """
__device__ bool is_over(unsigned barrier) {
  int over;
  asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0; selp.s32 %0, 1, 0, p; }"
               : "=r"(over) : "r"(barrier) : "memory");
  return over;
}
__device__ unsigned all_arrive(unsigned long long* place) {
  unsigned barrier = unsigned(__cvta_generic_to_shared(place));
  if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 64;" :: "r"(barrier) : "memory");
  __syncthreads();
  asm volatile("{ .reg .b64 t; mbarrier.arrive.shared.b64 t, [%0]; }" :: "r"(barrier) : "memory");
  return barrier;
}
extern "C" __global__ void waits(int* x, int* y) {
  __shared__ unsigned long long place;
  __shared__ int s[64];
  s[threadIdx.x] = x[threadIdx.x];
  unsigned barrier = all_arrive(&place);
  while (!is_over(barrier)) {}
  y[threadIdx.x] = s[threadIdx.x ^ 1];
}
extern "C" __global__ void counts_tries(int* x, int* y) {  // how often it has waited is an address, and a branch
  __shared__ unsigned long long place;
  unsigned barrier = all_arrive(&place);
  int tries = x[0];
  while (!is_over(barrier)) ++tries;
  y[tries] = 1;
  if (tries & 1) x[threadIdx.x] = __popc(x[threadIdx.x + 64]);
}
"""
SHARED_LOADS = "smsp__sass_inst_executed_op_shared_ld.sum"
LOADS, STORES = (f"smsp__sass_inst_executed_op_global_{kind}.sum" for kind in ("ld", "st"))


@pytest.mark.parametrize(
    ("name", "labels"),
    [
        ("waits", {INSTRUCTIONS: "modelled", MIX: "modelled", SHARED_LOADS: "exact", LOADS: "exact", STORES: "exact",
                   SECTORS: "exact"}),
        ("counts_tries", {INSTRUCTIONS: "modelled", SHARED_LOADS: "exact", LOADS: "modelled", STORES: "modelled",
                          SECTORS: "modelled"}),
    ],
)  # fmt: skip
def test_what_lies_behind_a_wait_is_exact(name: str, labels: dict[str, str]) -> None:
    kernel = wl.compile(source=WAITING, arch="sm_90")[name]
    run = kernel.launch(1, 64, np.zeros(4096, np.int32), np.zeros(4096, np.int32))
    assert {of: run.metrics[of].provenance for of in labels} == labels
    assert run.subject.provenance == "modelled"
    assert "code that waits" in run.subject.dependent
