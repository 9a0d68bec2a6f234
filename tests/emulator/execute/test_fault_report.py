"""What a kernel can do wrong: one sentence that says where, who and by how much, and arrays as they then are."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from typing import Any

import numpy as np
import pytest

from helpers.kernel_launches import written
from warplens.errors import KernelFault

pytestmark = pytest.mark.usefixtures("every_thread_works")

SOURCE = """
extern "C" __global__ void at(int *p, long long k, int who) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  p[i] = 7;
  if (i == who) p[k] = 1;
}
extern "C" __global__ void reads(const int *p, int *o, long long k, int who) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  o[i] = i == who ? p[k] : 1;
}
extern "C" __global__ void wide(const char *p, int4 *o, int shift) {
  o[threadIdx.x] = *(const int4 *)(p + 16 * threadIdx.x + shift);
}
extern "C" __global__ void spread(int *p, int step) { p[threadIdx.x] = 7; p[threadIdx.x * step] = 8; }
extern "C" __global__ void adds(int *p, long long k) { atomicAdd(p + k, 1); }
extern "C" __global__ void shared(int *o, int k) {
  extern __shared__ int s[];
  s[threadIdx.x] = 1;
  o[threadIdx.x] = s[k];
}
extern "C" __global__ void misaligned_shared(int *o, int k) {
  extern __shared__ int s[];
  o[threadIdx.x] = *(int *)((char *)s + k);
}
extern "C" __global__ void waits(int *o, int n) {
  o[threadIdx.x] = 2;
  if (threadIdx.x < n) asm volatile("barrier.sync 1, 64;");
}
extern "C" __global__ void endless(volatile int *o) { while (o[0] == 0) o[1] = 3; }
extern "C" __global__ void traps(int *o, int k) {
  o[threadIdx.x] = 9;
  if (threadIdx.x == k) __trap();
}
"""
LINES = {text: n for n, text in enumerate(SOURCE.splitlines(), 1)}


def line(part: str) -> str:
    (found,) = (n for text, n in LINES.items() if part in text)
    return f"source.cu:{found},"


def fault(name: str, grid: int, block: int, *args: Any, **how: Any) -> str:
    """The message."""
    with pytest.raises(KernelFault) as caught:
        written(SOURCE, name).launch(grid, block, *args, **how)
    assert caught.value.exit_code == 3
    return str(caught.value)


def says(message: str, *parts: str) -> None:
    for part in parts:
        assert part in message, message


@pytest.mark.parametrize(
    ("k", "distance"),
    [
        (100, "0 bytes past the end of argument 1"),
        (103, "12 bytes past the end of argument 1"),
        (-1, "4 bytes before argument 1"),
        (-25, "100 bytes before argument 1"),
        (1 << 40, "bytes past the end of argument"),
        (-(1 << 40), "bytes before argument 1"),
    ],
)
def test_out_of_bounds(k: int, distance: str) -> None:
    p = np.arange(100, dtype=np.int32)
    message = fault("at", 2, 50, p, k, 71)
    says(message, "out-of-bounds global write of 4 bytes at 0x", distance, "(400 bytes)", " at ", "STG")
    says(message, line("if (i == who) p[k]"), "block (1,0,0), thread (21,0,0)")
    message = fault("reads", 2, 50, p, np.zeros(100, np.int32), k, 71)
    says(message, "out-of-bounds global", distance, line("i == who ? p[k]"), "block (1,0,0), thread (21,0,0)")


def test_behind_one_buffer_is_not_in_the_next() -> None:
    says(fault("reads", 1, 32, np.zeros(100, np.int32), np.zeros(32, np.int32), 100, 3), "0 bytes past the end of")


@pytest.mark.parametrize("k", [0, 1, -1, 5000])
def test_null_pointer(k: int) -> None:
    """-1 wraps to the last word of the address space, where nothing lies either."""
    says(fault("reads", 1, 32, None, np.zeros(32, np.int32), k, 3), "out-of-bounds global", "thread (3,0,0)")


def test_no_buffers_at_all() -> None:
    says(fault("at", 1, 32, None, 0, 0), "the kernel has no buffers")


def test_empty_array() -> None:
    message = fault("reads", 1, 32, np.zeros(0, np.int32), np.zeros(32, np.int32), 0, 3)
    says(message, "out-of-bounds global", "argument 1 (0 bytes)")


@pytest.mark.parametrize("shift", [1, 4, 8])
def test_misaligned(shift: int) -> None:
    message = fault("wide", 1, 32, np.zeros(1024, np.uint8), np.zeros((32, 4), np.int32), shift)
    says(message, "misaligned global ", "not a multiple of 16", "32 lanes")
    says(message, line("*(const int4 *)"), "thread (0,0,0)")


@pytest.mark.parametrize("k", [40, -3])
def test_atomic(k: int) -> None:
    message = fault("adds", 1, 7, np.zeros(10, np.int32), k)
    says(message, "out-of-bounds global atomic of 4 bytes", line("atomicAdd"))


@pytest.mark.parametrize("k", [32, 1000, -1, 1 << 28])
def test_shared_out_of_bounds(k: int) -> None:
    message = fault("shared", 1, 32, np.zeros(32, np.int32), k, shared=128)
    says(message, "out-of-bounds shared read of 4 bytes", "outside the shared memory", line("o[threadIdx.x] = s[k]"))


def test_shared_misaligned() -> None:
    message = fault("misaligned_shared", 1, 32, np.zeros(32, np.int32), 2, shared=128)
    says(message, "misaligned shared ")


def test_deadlock() -> None:
    message = fault("waits", 3, 64, np.zeros(64, np.int32), 32)
    says(message, "waits hangs", "block (0,0,0)", "barrier")


def test_enough_threads_at_the_barrier_do_not_hang() -> None:
    o = np.zeros(96, np.int32)
    written(SOURCE, "waits").launch(1, 96, o, 64)
    assert (o == 2).all()


def test_endless_loop() -> None:
    started = time.monotonic()
    message = fault("endless", 2, 40, np.zeros(2, np.int32), budget=200_000)
    says(message, "200,000 instructions", "endless loop?", "source.cu:", "thread (0,0,0)")
    assert re.search(r"block \([01],0,0\)", message)  # both spin, and take turns
    assert time.monotonic() - started < 60


def test_trap() -> None:
    message = fault("traps", 2, 64, np.zeros(64, np.int32), 37)
    says(message, "trap", line("__trap()"), "block (0,0,0), thread (37,0,0)")


def test_trap_tells_its_place() -> None:
    assert re.search(r"source\.cu:\d+, traps at 0x[0-9a-f]+: BPT", fault("traps", 1, 32, np.zeros(64, np.int32), 0))


def test_the_first_fault_in_block_order_whatever_the_number_of_threads() -> None:
    told = set()
    for threads in (1, 2, 3, 1, 2, 3):
        p = np.zeros(100_000, np.int32)
        told.add((fault("at", 100, 1000, p, 100_000, 63_999, threads=threads), p.tobytes()))
    ((message, _),) = told
    says(message, "block (63,0,0), thread (999,0,0)")
    assert (p[:64_000] == 7).all()  # what was written before it
    assert (p[64_000:] == 0).all()  # blocks behind that of the fault have not run


def test_arrays_are_as_they_were_at_the_fault() -> None:
    o = np.zeros(64, np.int32)
    fault("traps", 1, 64, o, 40)
    np.testing.assert_array_equal(o, np.full(64, 9))
    p = np.arange(100, dtype=np.int32)
    fault("at", 2, 50, p, 1000, 20)  # by the first warp of the first block: no other has run
    np.testing.assert_array_equal(p, np.concatenate([np.full(32, 7), np.arange(32, 100)]))
    p[:] = 0
    fault("spread", 1, 32, p, 4)  # the instruction at fault stores nothing, also not of the lanes that are right
    np.testing.assert_array_equal(p, np.repeat([7, 0], [32, 68]))
    fault("reads", 1, 32, np.zeros(4, np.int32), only_read := np.arange(32, dtype=np.int32), 4, 3)
    np.testing.assert_array_equal(only_read, np.arange(32))


def test_read_only_arrays_stay() -> None:
    o = np.zeros(64, np.int32)
    o.flags.writeable = False
    fault("traps", 1, 64, o, 40)
    assert (o == 0).all()


ENDLESS = """
import sys, numpy as np, warplens as wl
kernel = wl.compile(source=sys.argv[1])["endless"]
kernel.launch(1, 32, np.ones(2, np.int32))  # compiled and translated before the clock starts
print("ready", flush=True)
kernel.launch(int(sys.argv[2]), 1024, np.zeros(2, np.int32), budget=10**15)
"""


@pytest.mark.every(2)
@pytest.mark.parametrize("blocks", [1, 50])
def test_interrupt(blocks: int) -> None:
    """Ctrl-C ends an endless kernel within a second, with a KeyboardInterrupt and nothing else."""
    child = subprocess.Popen(
        [sys.executable, "-c", ENDLESS, SOURCE, str(blocks)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=dict(os.environ),
    )  # fmt: skip
    try:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        time.sleep(0.5)
        assert child.poll() is None
        started = time.monotonic()
        child.send_signal(signal.SIGINT)
        _, errors = child.communicate(timeout=30)
    finally:
        child.kill()
    assert time.monotonic() - started < 2  # one is what is promised; the rest is for busy machines
    assert child.returncode in (-signal.SIGINT, 130, 1)
    assert errors.rstrip().endswith("KeyboardInterrupt")
    assert "Exception in thread" not in errors
    assert "Fatal" not in errors


@pytest.mark.parametrize(("offset", "inside"), [(0, True), (16, False)])
def test_shared_memory_ends_at_a_multiple_of_16_bytes(offset: int, inside: bool) -> None:
    """nvcc reads a float3 at the end by one load of 16 bytes (dxtc2 of HeCBench)."""
    source = """extern "C" __global__ void wide(float4* o, int offset) {
        extern __shared__ char s[];
        o[threadIdx.x] = *(float4*)(s + offset);
    }"""
    launch = written(source, "wide").launch
    if inside:
        launch(1, 1, np.zeros(4, np.float32), np.int32(offset), shared=12)
    else:
        with pytest.raises(KernelFault, match="outside the shared memory of the block"):
            launch(1, 1, np.zeros(4, np.float32), np.int32(offset), shared=12)
