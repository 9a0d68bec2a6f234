"""Several GPUs: `warplens run --gpus N`."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from helpers.whole_program import PROGRAMS, built, run, write_kernels

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="`warplens run` works on Linux alone")
KERNELS = """
__device__ int factor;
extern "C" __global__ void fill(int* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = factor;
}
"""


def test_each_gpu_has_its_variables_and_its_time(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    write_kernels(tmp_path, KERNELS)
    ran = run(capfd, tmp_path, built("devices.c", tmp_path, "-lcudart"), options=("--gpus", "2"))
    *lines, microseconds = ran.out.splitlines()
    assert lines == [
        "devices 2 third cudaErrorInvalidDevice",
        "of device 0: 10",
        "of device 1: 11",
        "peer 1 again cudaErrorPeerAccessAlreadyEnabled off cudaErrorPeerAccessNotEnabled",
        "copied 11 bus 0000:02:00.0 is 1 current 0",
    ], ran.err
    kernel = ran.kernel("fill")
    assert kernel["launches"] == 4
    waited, launched = 2.3, 3.4  # by the host, after it has recorded the event: it launches on both GPUs
    host = waited + 2 * launched
    assert float(microseconds) == pytest.approx(kernel["time_us"] / 4 + host, rel=0.1)  # not after the other GPU's


def test_nvml_lists_them(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    ran = run(capfd, tmp_path, sys.executable, PROGRAMS / "nvml.py", options=("--gpus", "2"))
    before, first, second, power, serial = ran.out.splitlines()
    assert before == "before 1"
    assert first.startswith("NVIDIA H200 SXM 40 ")
    assert first.endswith(" True")
    assert first != second  # by their last digits
    assert power == serial == "Not Supported"
