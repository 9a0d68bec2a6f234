"""Stream priorities: what is queued in a stream of high priority goes before what has not begun."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from helpers.whole_program import built, run, write_kernels

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="`warplens run` works on Linux alone")
KERNEL = """extern "C" __global__ void busy(float* x) {
    float a = threadIdx.x;
    for (int i = 0; i < 2000; i++) a = a * 0.5f + 1;
    x[blockIdx.x * blockDim.x + threadIdx.x] = a;
}"""


@pytest.mark.parametrize(("priority", "low", "high"), [(0, 7, 8), (-1, 8, 5)])
def test_four_kernels_of_each_of_two_streams(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, priority: int, low: int, high: int
) -> None:
    """Without a priority they end in the order in which they were queued.  With it, all but the first of the low one
    wait for those of the high one."""
    write_kernels(tmp_path, KERNEL)
    ran = run(capfd, tmp_path, built("priorities.c", tmp_path, "-lcudart"), str(priority))
    each = ran.kernel("busy")["time_us"] / ran.kernel("busy")["launches"] / 1000
    ends = [float(word) for word in ran.out.split()]
    assert ends == pytest.approx([low * each, high * each], rel=0.06), ran.err
