"""The first sentence of a report."""

from __future__ import annotations

import numpy as np
import pytest

from warplens import compile
from warplens.report.launch_view import LaunchView
from warplens.report.verdict import of_all, per, share, verdict

TOLD = [
    ("nccopy", "nccopy: half of the sectors that its global loads move are needless (8 a request where 4 would do), "
               "mostly in line 40"),
    # 32 lanes of a column meet in one bank: 31 of 32 passes are conflicts
    ("transpose", "transpose: 97 % of the wavefronts of its shared loads are bank conflicts "
                  "(32 a request where 1 would do), mostly in line 37"),
    ("one_block", "ccopy: its 1 block keeps at most 1 of the 132 multiprocessors of the NVIDIA H200 SXM busy"),
]  # fmt: skip


@pytest.mark.parametrize(("subject", "sentence"), TOLD, indirect=["subject"])
def test_tells_the_heaviest_fact(subject: LaunchView, sentence: str) -> None:
    assert verdict(subject) == sentence


@pytest.mark.parametrize("subject", ["odd"], indirect=True)
def test_tells_of_lanes_that_part(subject: LaunchView) -> None:
    assert "of the 32 threads of a warp do something" in verdict(subject)
    assert "the others idle mostly in line" in verdict(subject)
    assert "two ways" in verdict(subject)


@pytest.mark.parametrize("subject", ["ccopy"], indirect=True)
def test_calls_a_clean_kernel_clean(subject: LaunchView) -> None:
    assert verdict(subject).startswith("ccopy: every access is perfectly packed; a warp executes")


@pytest.mark.parametrize(
    ("part", "words"), [(0.5, "half of"), (1 / 3, "a third of"), (0.87, "87 % of"), (0.52, "52 % of")]
)
def test_speaks_of_fractions(part: float, words: str) -> None:
    assert of_all(part) == words


@pytest.mark.parametrize(
    ("part", "words"), [(0, "0 %"), (0.004, "0.4 %"), (0.9991, "99.9 %"), (1, "100 %"), (0.256, "26 %")]
)
def test_a_share_is_never_rounded_to_nothing_or_all(part: float, words: str) -> None:
    assert share(part) == words


@pytest.mark.parametrize(("amount", "words"), [(4.0, "4"), (8.5, "8.5"), (1024.0, "1,024")])
def test_amounts_are_short(amount: float, words: str) -> None:
    assert per(amount) == words


FAULTS = """
__global__ void %s(const unsigned char* c, const float* x, const int* k, float* y, int* bins, unsigned char* d) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  %s
}
"""
PAIRS = [
    ("atomicAdd(&bins[k[i] & 3], 1);", "8 lanes of a warp meet on each word of its atomics, which are done one after "
     "the other, mostly in line 4; sum up in the warp or the block first", "atomicAdd(&bins[i], 1);"),
    ("float v = x[i]; for (int n = 0; n < 9; n++) v = v * 0.999 + 0.5; y[i] = v;", "of its instructions compute in "
     "double precision with floats, or convert them, mostly in line 4; a literal is a float with an f",
     "float v = x[i]; for (int n = 0; n < 9; n++) v = v * 0.999f + 0.5f; y[i] = v;"),
    ("d[i] = c[i] ^ 1;", "its global accesses move 1 byte a thread, mostly in line 4; vectors of 4 or more bytes "
     "(uchar4, half2) need fewer instructions", "y[i] = x[i];"),
    ("y[i] = x[(i * 8) % (gridDim.x * 256)];", "mostly in line 4", "y[i] = x[i];"),
    ("if (i % 2) y[i] = sinf(x[i]); else y[i] = cosf(x[i]);", "mostly in line 4", "y[i] = sinf(x[i]);"),
]  # fmt: skip


@pytest.mark.parametrize(("flawed", "sentence", "mended"), PAIRS)
def test_a_fault_is_told_with_its_line_and_silent_where_it_is_mended(flawed: str, sentence: str, mended: str) -> None:
    n = 132 * 256
    numbers = np.arange(n) % 4
    for body, told in ((flawed, True), (mended, False)):
        kernel = compile(source=FAULTS % ("f", body))["f"]
        kinds = (np.uint8, np.float32, np.int32, np.float32, np.int32, np.uint8)
        run = kernel.launch(132, 256, *(numbers.astype(kind) for kind in kinds))
        assert (sentence in verdict(run.subject)) is told


LANES = """
__global__ void alone(const float* x, float* y) {
  float t = 0;
  if (threadIdx.x % 32 == 0)
    for (int j = 0; j < 64; j++) t += x[(blockIdx.x * 64 + j) % 1024];
  y[blockIdx.x] = t;
}
__global__ void unsafe(const float* x, float* y) {
  __shared__ float s[64];
  s[threadIdx.x] = x[threadIdx.x];
  y[threadIdx.x] = s[63 - threadIdx.x];
}
"""


def told(name: str, grid: int, threads: int, **options: object) -> str:
    kernel = compile(source=LANES, arch="sm_90")[name]
    run = kernel.launch(grid, threads, np.zeros(1024, np.float32), np.zeros(1024, np.float32), **options)
    return verdict(run.subject)


def test_the_line_is_told_in_which_lanes_are_idle() -> None:
    assert "the others idle mostly in line 5" in told("alone", 512, 64)


def test_small_blocks_are_the_cause_and_not_the_shared_memory_of_the_system() -> None:
    kernel = compile(source="__global__ void k(float* y) { y[blockIdx.x * 32 + threadIdx.x] = 1; }", arch="sm_90")["k"]
    sentence = verdict(kernel.launch(32 * 132, 32, np.zeros(32 * 32 * 132, np.float32)).subject)
    assert sentence.endswith("limited by blocks a multiprocessor; larger blocks hold more")


def test_what_is_wrong_is_told_before_what_is_slow() -> None:
    sentence = told("unsafe", 1, 64, check="races")
    assert sentence.startswith(("unsafe: lines 10 and 11: ", "unsafe: lines 11 and 10: "))
    assert "no barrier between" in sentence
    assert told("unsafe", 1, 64).startswith("unsafe: its 1 block keeps at most 1")


ARRAY = """
__global__ void table(const float* x, float* y, const int* k) {
  float a[64];
  for (int j = 0; j < 64; j++) a[j] = x[j];
  float t = 0;
  for (int j = 0; j < 64; j++) t += a[%s & 63];
  y[threadIdx.x] = t;
}
"""


def test_an_array_in_local_memory_is_named() -> None:
    def sentence(index: str) -> str:
        kernel = compile(source=ARRAY % index, arch="sm_90")["table"]
        x, y, k = np.zeros(64, np.float32), np.zeros(64, np.float32), np.zeros(64, np.int32)
        return verdict(kernel.launch(1, 64, x, y, k).subject)

    assert "local memory: the array a, which line 6 indexes by a variable, mostly in line" in sentence("(k[j] + j)")
    assert "local memory" not in sentence("j")
