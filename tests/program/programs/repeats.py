"""Fills, copies and launches in a random order that repeats itself; prints what memory holds now and then."""

import ctypes
import random
import sys
import zlib

import numpy as np
from cuda.bindings import driver, nvrtc

SOURCE = rb"""
extern "C" __global__ void histogram(const unsigned* x, unsigned* bins, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&bins[x[i] & 63], 1u);
}
extern "C" __global__ void mix(const unsigned* x, unsigned* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[(i * 7 + 1) % n] * 3 + i;
}
extern "C" __global__ void grow(unsigned* x, const unsigned* bins, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] += bins[i & 63];
}
"""
N = 1 << 10
choose = random.Random(5)


def checked(answer):
    if int(answer[0]):
        sys.exit(f"failed: {answer[0]}")
    return answer[1] if len(answer) == 2 else answer[1:]


checked(driver.cuInit(0))
checked(driver.cuCtxSetCurrent(checked(driver.cuDevicePrimaryCtxRetain(checked(driver.cuDeviceGet(0))))))
program = checked(nvrtc.nvrtcCreateProgram(SOURCE, b"repeats.cu", 0, [], []))
checked(nvrtc.nvrtcCompileProgram(program, 1, [b"-arch=sm_90"]))
code = b" " * checked(nvrtc.nvrtcGetCUBINSize(program))
checked(nvrtc.nvrtcGetCUBIN(program, code))
module = checked(driver.cuModuleLoadData(code))
kernels = {name: checked(driver.cuModuleGetFunction(module, name)) for name in (b"histogram", b"mix", b"grow")}
blocks = [int(checked(driver.cuMemAlloc(4 * N))) for _ in range(3)]
host = np.arange(N, dtype=np.uint32)


def fill(at, value):
    checked(driver.cuMemsetD32(blocks[at], value, N))


def fill_part(at):
    checked(driver.cuMemsetD8(blocks[at] + 16, 9, 100))


def put(at):
    checked(driver.cuMemcpyHtoD(blocks[at], host.ctypes.data, host.nbytes))


def move(at, other):
    checked(driver.cuMemcpyDtoD(blocks[at], blocks[other], 4 * N))


def launch(name, at, other):
    values = (blocks[at], blocks[other], N), (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int)
    checked(driver.cuLaunchKernel(kernels[name], N // 256, 1, 1, 256, 1, 1, 0, 0, values, 0))


steps = [(fill, 0, 0), (fill, 1, 5), (fill, 2, 0), (fill_part, 1), (put, 0), (move, 1, 0), (move, 2, 1)]
steps += [(launch, name, at, other) for name in kernels for at, other in ((0, 1), (1, 2), (2, 0), (0, 2))]
rounds = [choose.choices(steps, k=8) for _ in range(4)]
for number in range(60):
    for function, *arguments in choose.choice(rounds):
        function(*arguments)
    for block in range(3):
        if choose.random() < 0.4:
            found = np.zeros(N, np.uint32)
            checked(driver.cuMemcpyDtoH(found.ctypes.data, blocks[block], found.nbytes))
            print(number, block, zlib.crc32(found.tobytes()))
    if choose.random() < 0.1:
        which = choose.randrange(3)
        checked(driver.cuMemFree(blocks[which]))
        blocks[which] = int(checked(driver.cuMemAlloc(4 * N)))
        fill(which, 3)
