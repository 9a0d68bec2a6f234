"""Code that keeps indices as lines over the warp counts and computes what code that keeps 32 numbers does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import warplens as wl
from warplens.core.launch import Launch
from warplens.emulator.execute import grid, setup

TIERS = ("whole",)
SOURCE = r"""
extern "C" {
__global__ void offset(const int *a, int *b, int n, int by) {  // rows that begin anywhere, tails, bytes before the row
  int i = blockIdx.x * blockDim.x + threadIdx.x + by;
  if (i >= 0 && i < n) b[i] = a[i] + i;
}
__global__ void tiles(const float *a, float *b, int n) {  // rows of tiles, broadcasts, shared memory both ways
  __shared__ float s[32][33];
  int x = threadIdx.x, y = threadIdx.y, i = blockIdx.x * blockDim.x + x, j = blockIdx.y * blockDim.y + y;
  s[y][x] = a[j * n + i];
  __syncthreads();
  b[j * n + i] = s[y][x] + s[y][0] + s[0][x] + a[j * n];
}
__global__ void widths(const char *c, const short *h, const double *d, const float4 *q, int *o, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    o[i] = c[i] + h[i] + (int)d[i] + (int)q[i].w + c[0] + (int)q[1].z;
}
__global__ void parted(const int *a, int *b, int n) {  // lanes part, meet, and go on as a whole
  int i = blockIdx.x * blockDim.x + threadIdx.x, t = 0;
  for (int k = 0; k < n; k++) {
    if (a[i] & (1 << (k & 7))) t += a[k]; else t ^= k;
    if (t > 1000) break;
  }
  b[i] = t;
}
__global__ void halved(const int *a, int *b) {  // guarded accesses of fewer and fewer lanes
  __shared__ int s[256];
  int t = threadIdx.x;
  s[t] = a[blockIdx.x * blockDim.x + t];
  for (int k = blockDim.x / 2; k > 0; k /= 2) {
    __syncthreads();
    if (t < k) s[t] += s[t + k];
  }
  if (t == 0) b[blockIdx.x] = s[0];
}
__global__ void backwards(const int *a, int *b, int n) {  // steps below zero
  int i = threadIdx.x;
  b[i] = a[n - 1 - i] + a[(blockDim.x - 1 - i) * 3];
}
__global__ void wraps(const int *a, int *b, unsigned start) {  // an index that leaves 32 bits inside a warp
  unsigned i = start + threadIdx.x;
  b[threadIdx.x] = a[i & 15] + (int)((unsigned long long)i >> 31) + (int)(((long long)(int)i) >> 40);
}
__global__ void far(const int *a, int *b, unsigned start) {
  unsigned i = start + threadIdx.x;
  b[threadIdx.x] = i < 64 ? a[i] : a[i - 0xffffff00u];
}
}
"""

NUMBERS = np.random.default_rng(1)


def integers(n: int) -> Any:
    return NUMBERS.integers(0, 256, n, dtype=np.int32)


CASES: dict[str, tuple[str, Any, Any, Callable[[], list[Any]]]] = {
    **{
        f"offset {by}": ("offset", 5, 96, lambda by=by: [integers(512), np.zeros(512, np.int32), 300, by])
        for by in (0, 1, 8, -5, -200)
    },
    **{
        f"tiles {x}x{y}": (
            "tiles", (2, 3), (x, y), lambda x=x, y=y: [
                NUMBERS.random(6 * x * y * 4, np.float32), np.zeros(6 * x * y * 4, np.float32), 2 * x
            ],
        )
        for x, y in ((32, 4), (16, 16), (16, 1), (8, 8), (4, 16), (64, 2), (12, 5), (1, 32), (2, 3))
    },
    "widths": ("widths", 3, 64, lambda: [
        NUMBERS.integers(-9, 9, 700, dtype=np.int8), NUMBERS.integers(-9, 9, 700, dtype=np.int16),
        NUMBERS.random(700) * 50, NUMBERS.random(2800, np.float32) * 50, np.zeros(700, np.int32), 700,
    ]),
    "parted": ("parted", 4, 100, lambda: [integers(400), np.zeros(400, np.int32), 60]),
    "halved": ("halved", 6, 256, lambda: [integers(1536), np.zeros(6, np.int32)]),
    "halved 40": ("halved", 6, 40, lambda: [integers(240), np.zeros(6, np.int32)]),
    "backwards": ("backwards", 1, 70, lambda: [integers(256), np.zeros(70, np.int32), 70]),
    "wraps": ("wraps", 1, 64, lambda: [integers(16), np.zeros(64, np.int32), np.uint32(0xFFFFFFF0)]),
    "wraps sign": ("wraps", 1, 64, lambda: [integers(16), np.zeros(64, np.int32), np.uint32(0x7FFFFFF0)]),
    "far": ("far", 1, 64, lambda: [integers(512), np.zeros(64, np.int32), np.uint32(0xFFFFFFF0)]),
}  # fmt: skip


@pytest.mark.every(3)
@pytest.mark.parametrize("case", CASES)
def test_as_with_32_numbers(case: str, arch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    name, blocks, threads, arguments = CASES[case]
    given = arguments()
    outcomes = []
    for tile in (setup.tile_of, lambda launch: 0):
        monkeypatch.setattr(grid, "tile_of", tile)
        used = [a.copy() if isinstance(a, np.ndarray) else a for a in given]
        run = wl.compile(source=SOURCE, arch=arch)[name].launch(blocks, threads, *used)
        outcomes.append((used, run.trace))
    (lines, counted), (numbers, plain) = outcomes
    for a, b in zip(lines, numbers, strict=True):
        np.testing.assert_array_equal(a, b)
    for column in ("executed", "threads", "threads_on", "divergent", "requests", "sectors", "tags", "wavefronts",
                   "ideal", "bytes"):  # fmt: skip
        np.testing.assert_array_equal(getattr(counted, column), getattr(plain, column), err_msg=column)


def test_tiles() -> None:
    def tile(*block: int) -> int:
        return setup.tile_of(Launch(grid=(1, 1, 1), block=(*block, 1, 1)[:3]))

    assert [tile(32), tile(100), tile(64, 3), tile(16, 2), tile(16, 3), tile(8, 8), tile(48, 2), tile(5, 5)] == [
        32, 32, 32, 16, 16, 8, 0, 0,
    ]  # fmt: skip
