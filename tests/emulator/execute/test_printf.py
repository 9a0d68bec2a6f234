"""printf in kernels: every conversion as C's own does it, and the order of what is printed."""

from __future__ import annotations

import ctypes
import itertools
import math
import struct
from typing import Any

import numpy as np
import pytest

from helpers.kernel_launches import module, written
from warplens.emulator.execute import printf
from warplens.emulator.execute.syscalls import PRINTED_BYTES
from warplens.errors import KernelFault

pytestmark = pytest.mark.usefixtures("every_thread_works")


def in_c(text: str, *values: Any) -> str:
    """The C library's."""
    buffer = ctypes.create_string_buffer(4096)
    ctypes.CDLL(None).snprintf(buffer, ctypes.c_size_t(4096), text.encode(), *values)
    return buffer.value.decode()


def here(text: str, content: bytes) -> tuple[str, int]:
    memory = text.encode() + b"\0"
    memory += bytes(-len(memory) % 8)
    start = len(memory)
    memory += content
    return printf.text(0, start, lambda at, size: memory[at : at + size])


@pytest.mark.parametrize("flags", ["", "-", "0", "+", " ", "#", "+0", "-#", "#0", "+-", " 0"])
def test_conversions(flags: str) -> None:
    sizes = ["", "1", "9", "25", ".0", ".3", "12.5", "1.", "30.12"]
    for size, length in itertools.product(sizes, ["", "l", "ll", "h", "hh"]):
        wide = length in ("l", "ll")
        for value in (0, 1, -1, 42, -123456, 2**31 - 1, -(2**31), 2**62 if wide else 77777):
            argument = (ctypes.c_longlong if wide else ctypes.c_int)(value)
            for kind in "diouxX":
                text = f"<%{flags}{size}{length}{kind}>"
                assert here(text, bytes(argument)) == (in_c(text, argument), 1), (text, value)
    for size, kind in itertools.product(sizes, "eEfFgGaA"):
        for real in (0.0, -0.0, 1.0, -2.5, 1e-7, 123456789.125, 1e300, math.pi, math.inf, -math.inf, 5e-324):
            text = f"<%{flags}{size}{kind}>"
            if kind in "aA" and (real == 5e-324 or "#" in flags):
                continue  # C leaves the leading digit open
            assert here(text, struct.pack("<d", real))[0] == in_c(text, ctypes.c_double(real)), (text, real)


def test_text_and_stars() -> None:
    assert here("%d %f %d %lld", struct.pack("<i4xdi4xq", 1, 2.5, 3, -4)) == ("1 2.500000 3 -4", 4)
    assert here("%*d|%-*d|%.*f", struct.pack("<iiiii4xd", 5, 1, 4, 2, 1, 0.25)) == ("    1|2   |0.2", 6)
    assert here("100%", b"") == ("100%", 0)


SOURCE = r"""
__device__ char word[] = "global";
extern "C" __global__ void says(const int *a, int *o, double d) {
  char local[4] = {'a', 'b', (char)('c' + threadIdx.x), 0};
  __shared__ char shared[8];
  if (threadIdx.x == 0) { shared[0] = 'S'; shared[1] = 0; }
  __syncthreads();
  int n = 0;
  if (a[threadIdx.x] >= 0)
    n = printf("%d.%02d %s %s %s %.3f %c%u %llx\n", blockIdx.x, threadIdx.x, word, local, shared, d, 'x', ~0u,
               0x123456789abcull);
  o[threadIdx.x + blockIdx.x * blockDim.x] = n;
  if (a[threadIdx.x] == 9) printf("nine\n");
}
extern "C" __global__ void floods() { printf("%95d\n", blockIdx.x); }
extern "C" __global__ void then_fails(int *p, int k) { printf("before\n"); if (blockIdx.x == 1) p[k] = 1; }
"""


@pytest.mark.parametrize("threads", [1, 2])
def test_lines_come_by_block_and_lane(arch: str, threads: int) -> None:
    a = np.array([0, -1, 9, 0], np.int32)
    o = np.full(200, -1, np.int32)
    run = written(SOURCE, "says", arch).launch(50, 4, a, o, 2.0625, threads=threads)
    lines = []
    for block in range(50):
        for lane in (0, 2, 3):
            lines.append(f"{block}.{lane:02d} global ab{chr(99 + lane)} S 2.062 x4294967295 123456789abc")
        lines.append("nine")
    assert run.printed.splitlines() == lines
    assert o.reshape(50, 4).tolist() == [[9, 0, 9, 9]] * 50


@pytest.mark.parametrize(("first", "provenance"), [(-1, "exact"), (1, "modelled")])
def test_counts_with_calls_of_the_driver_are_modelled(first: int, provenance: str) -> None:
    run = written(SOURCE, "says").launch(2, 4, np.array([-1, first, -1, -1], np.int32), np.zeros(8, np.int32), 1.0)
    assert run.trace.driver_calls == (("vprintf",) if run.printed else ())
    for name in ("smsp__inst_executed.sum", "smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ld.sum"):
        assert run.metrics[name].provenance == provenance


def test_what_is_beyond_the_buffer_is_counted() -> None:
    run = written(SOURCE, "floods").launch(400, 32)
    kept, rest = run.printed[:PRINTED_BYTES], run.printed[PRINTED_BYTES:]
    lines = kept.splitlines()
    assert lines[:32] == ["0".rjust(95)] * 32
    left = 32 * 400 - -(-PRINTED_BYTES // 96)
    assert f"[{left:,} more printed beyond the first {PRINTED_BYTES:,} bytes]" in rest


def test_output_before_a_fault() -> None:
    with pytest.raises(KernelFault) as caught:
        written(SOURCE, "then_fails").launch(3, 2, np.zeros(4, np.int32), 1000)
    assert caught.value.printed == "before\n" * 4


def test_pf(arch: str) -> None:
    a = np.array([5, -7, 97, 0, -2], np.int32)
    run = module("k21_printf_assert_trap.cu", arch)["pf"].launch(1, 5, a, 3)
    assert run.printed == "bad 1 -7.000000\nbad 4 -2.000000\n"
    assert a.tolist() == [3, 3, 97, 3, 3]
    for value in (99, 98):
        with pytest.raises(KernelFault, match=r"trapped at .*BPT") as caught:
            module("k21_printf_assert_trap.cu", arch)["pf"].launch(1, 5, np.array([-1, 1, value, 1, 1], np.int32), 3)
        assert caught.value.printed == "bad 0 -1.000000\n"


def test_as(arch: str) -> None:
    a = np.array([5, 7, 0, 1, -2], np.int32)
    with pytest.raises(KernelFault) as caught:
        module("k21_printf_assert_trap.cu", arch)["as"].launch(1, 5, a)
    message = str(caught.value)
    assert message.startswith("assertion `a[threadIdx.x]>0` failed: k21.cu:5, as\n  at ")
    assert "block (0,0,0), thread (2,0,0)" in message
    assert a.tolist() == [5, 7, 0, 1, -2]
    assert caught.value.printed.splitlines() == [
        f"k21.cu:5: as: block: [0,0,0], thread: [{i},0,0] Assertion `a[threadIdx.x]>0` failed." for i in (2, 4)
    ]
    a[:] = 4
    module("k21_printf_assert_trap.cu", arch)["as"].launch(1, 5, a)
    assert a.tolist() == [1] * 5


def test_assert_as_people_write_it() -> None:
    source = """
    #include <cassert>
    #include <stdio.h>
    __global__ void positive(const int *a) { int i = blockIdx.x * blockDim.x + threadIdx.x; assert(a[i] > 0); }
    """
    with pytest.raises(KernelFault) as caught:
        written(source, "positive").launch((2, 3), (2, 2), np.array([1, 1, 1, 0], np.int32))
    assert "failed: source.cu:4, void positive(const int *)" in str(caught.value)
    assert "block (1,0,0), thread (1,0,0)" in str(caught.value)
    assert "thread: [1,1,0] Assertion `a[i] > 0` failed." in caught.value.printed


def test_mal(arch: str) -> None:
    mal = module("k21_printf_assert_trap.cu", arch)["mal"]
    a = np.zeros(128, np.uint64)
    mal.launch(1, 64, a)
    assert len(set(a[:64].tolist())) == 64  # no two threads share memory
    assert (np.diff(np.sort(a[:64])) >= 64).all()
    a[70] = 5
    with pytest.raises(KernelFault, match="free of 0x5, which malloc did not give") as caught:
        mal.launch(1, 64, a)
    assert "thread (6,0,0)" in str(caught.value)


LIST = """
struct Node { int value; Node *next; };
extern "C" __global__ void list(int *o, int n, int turns) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, s = 0;
  for (int t = 0; t < turns; t++) {
    Node *head = 0;
    for (int k = 0; k < n; k++) {
      Node *node = (Node *)malloc(sizeof(Node));
      if (!node) { o[i] = -1; return; }
      node->value = i + k + t; node->next = head; head = node;
    }
    while (head) { Node *next = head->next; s += head->value; free(head); head = next; }
  }
  o[i] = s;
}
extern "C" __global__ void greedy(int *o) {
  int n = 0;
  while (malloc(1 << 16)) n++;
  o[threadIdx.x] = n;
}
extern "C" __global__ void twice(int *o) { int *p = (int *)malloc(4); free(p); free(p); }
"""


@pytest.mark.parametrize("threads", [1, 2])
def test_lists_on_the_heap(threads: int) -> None:
    o = np.zeros(3 * 40, np.int32)
    written(LIST, "list").launch(3, 40, o, 5, 3, threads=threads)
    assert o.tolist() == [3 * 5 * i + 3 * 10 + 5 * 3 for i in range(120)]


def test_a_full_heap_gives_null() -> None:
    o = np.zeros(32, np.int32)
    written(LIST, "greedy").launch(1, 32, o)
    assert o.tolist() == [4] * 32


def test_free_twice() -> None:
    with pytest.raises(KernelFault, match="which is free already"):
        written(LIST, "twice").launch(1, 1, np.zeros(1, np.int32))


@pytest.mark.parametrize("text", ["", "a", 63 * "b", 64 * "c", 65 * "d", 200 * "e"])
def test_a_string_ends_at_its_first_zero(text: str) -> None:
    memory = text.encode() + b"\0" + 300 * b"x"
    assert printf.string(0, lambda at, size: memory[at : at + size]) == text
