"""Kinds of memory: registered, of pools, arrays, virtual memory, the heap of kernels."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from helpers.whole_program import built, run, write_kernels

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="`warplens run` works on Linux alone")
KERNELS = """
extern "C" __global__ void count(int* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] += i;
}
extern "C" __global__ void build(int** list) {
    list[threadIdx.x] = (int*)malloc(4);
    *list[threadIdx.x] = threadIdx.x;
}
extern "C" __global__ void walk(int** list, int* sum) {
    atomicAdd(sum, *list[threadIdx.x]);
    free(list[threadIdx.x]);
}
__device__ __noinline__ int deep(int n, int* above) {
    int own[16];
    for (int k = 0; k < 16; k++) own[k] = above[k] + 1;
    return n ? deep(n - 1, own) + own[n & 15] : own[0];
}
extern "C" __global__ void descend(int n, int* found) {
    int first[16] = {0};
    *found = deep(n, first);
}
"""


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("memory")
    write_kernels(folder, KERNELS)
    return built("memory.c", folder, "-lcudart", "-lcuda")


def test_kinds_of_memory(capfd: pytest.CaptureFixture[str], tmp_path: Path, memory: Path) -> None:
    ran = run(capfd, tmp_path, memory)
    assert ran.out.splitlines() == [
        "used 1 reserved 2 reused 1",
        "array 124 164 beyond cudaErrorInvalidValue",
        "mapped 1048575 1048575 unmapped cudaErrorInvalidValue leaked 0",
        "per thread 1 1, copied 2 6",
        "null cudaErrorInvalidValue",
        "ipc 801",
        "again cudaErrorHostMemoryAlreadyRegistered same pointer 1",
        "registered 100 2047 2047 1 twice cudaErrorHostMemoryNotRegistered",
        "cudaDeviceSynchronize(): cudaErrorIllegalAddress",
    ], ran.err
    assert ran.document["missing"] == ["cudaIpcGetMemHandle"]
    (fault,) = ran.document["faults"]
    assert "out-of-bounds global read of 4 bytes" in fault


def test_what_a_kernel_allocates_outlives_its_launch(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, memory: Path
) -> None:
    ran = run(capfd, tmp_path, memory, "heap")
    assert ran.out.splitlines() == ["heap 2016", "freed twice cudaErrorAssert"], ran.err
    assert "free of" in ran.document["faults"][0]


def test_the_stack_of_kernels_is_as_deep_as_the_program_asks(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, memory: Path
) -> None:
    ran = run(capfd, tmp_path, memory, "stack")
    deep = sum(range(1, 302))
    assert ran.out.splitlines() == ["limit 1024", f"deep {deep}", "too deep cudaErrorIllegalAddress"], ran.err
    assert "out-of-bounds local" in ran.document["faults"][0]
