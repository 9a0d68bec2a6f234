"""A program of the runtime API, for the tests of whole programs."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

import warplens as wl
from helpers.whole_program import built

KERNELS = """
__constant__ float factor;
extern "C" __global__ void scale(const float* from, float* to, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] += factor * from[i];
}
extern "C" __global__ void endless(volatile int* x) { while (!*x) {} }
extern "C" __global__ void stray(int* x) { x[1000000 + threadIdx.x] = 1; }
extern "C" __global__ void racy(int* x) {
    __shared__ int s[64];
    s[threadIdx.x] = x[threadIdx.x];
    x[threadIdx.x] = s[63 - threadIdx.x];
}
"""
LZ4, CUBIN = 0x2000, 2


def only_literals(data: bytes) -> bytes:
    """As an LZ4 block."""
    count, tail = divmod(len(data) - 15, 255)
    return b"\xf0" + b"\xff" * count + bytes([tail]) + data


@pytest.fixture(scope="session")
def registered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("registered")
    code = wl.compile(source=KERNELS, arch="sm_90", options=["-lineinfo"]).cubin.data
    packed = only_literals(code)
    sizes = struct.pack("<HHIQIIIIQQQQ", CUBIN, 0x101, 64, len(packed), len(packed), 0, 0, 90, 0, LZ4, 0, len(code))
    inside = sizes + packed
    (folder / "kernels.fatbin").write_bytes(struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(inside)) + inside)
    return built("registered.c", folder, "-lcudart")
