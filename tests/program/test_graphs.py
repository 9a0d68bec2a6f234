"""Graphs: captured and made of nodes, updated, timed, refused as a GPU refuses."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from helpers.whole_program import built, run, write_kernels

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="`warplens run` works on Linux alone")
KERNELS = """
extern "C" __global__ void add(const float* x, float* y, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] += x[i];
}
extern "C" __global__ void scale(float* x, float factor, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) x[i] *= factor;
}
extern "C" __device__ void cudaGraphSetConditional(unsigned long long handle, unsigned value);
extern "C" __global__ void again(unsigned long long handle, int* words) {
    words[1] += words[0];
    cudaGraphSetConditional(handle, --words[0] > 0);
}
"""


@pytest.fixture(scope="module")
def graphs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("graphs")
    write_kernels(folder, KERNELS)
    return built("graphs.c", folder, "-lcudart")


@pytest.mark.long
def test_captured_streams_are_launched_and_updated(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, graphs: Path
) -> None:
    ran = run(capfd, tmp_path, graphs, "capture")
    assert ran.out.splitlines() == [
        "types 0 2 0 1 3 roots 2 edges 4",
        "before the launch 1 calls 0",
        "after three 8 calls 3",
        "updated 4",
        "other topology cudaErrorGraphExecUpdateFailure result 2",
    ], ran.err
    assert ran.kernel("add")["launches"] == 4
    assert ran.document["missing"] == []


def test_nodes_run_in_the_order_of_their_edges(capfd: pytest.CaptureFixture[str], tmp_path: Path, graphs: Path) -> None:
    ran = run(capfd, tmp_path, graphs, "nodes")
    assert ran.out.splitlines() == [
        "types 1 2 0 4 5 3 7 roots 1 edges 6",
        "nodes 3 calls 10",
        "same kernel 1 factor 3",
        "changed 8",
        "cycle cudaErrorInvalidValue",
    ], ran.err


def test_what_a_capture_forbids_and_a_graph_keeps(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, graphs: Path
) -> None:
    ran = run(capfd, tmp_path, graphs, "refused")
    assert ran.out.splitlines() == [
        "default cudaErrorStreamCaptureUnsupported",
        "wait cudaErrorStreamCaptureUnsupported status 2 end cudaErrorStreamCaptureInvalidated graph 0",
        "malloc cudaErrorStreamCaptureUnsupported end cudaErrorStreamCaptureInvalidated",
        "other stream cudaErrorStreamCaptureUnmatched unjoined cudaErrorStreamCaptureUnjoined",
        "legacy cudaErrorStreamCaptureImplicit then cudaErrorStreamCaptureInvalidated",
        "not capturing cudaErrorIllegalState",
        "destroyed with the graph 0 with what was made of it 1",
    ], ran.err


def test_branches_of_a_graph_run_side_by_side(capfd: pytest.CaptureFixture[str], tmp_path: Path, graphs: Path) -> None:
    ran = run(capfd, tmp_path, graphs)
    branches, chain = map(float, ran.out.split())
    launched, sooner = 1.9, 1.28 + 0.75  # by the host; a node right behind another (machine/h200.toml)
    kernel = ran.kernel("scale")
    each = (kernel["time_us"] - 2 * kernel["cold_time_us"] / 6) / 4  # the first two begin with an empty L2
    assert (kernel["launches"], kernel["warm"]) == (6, 4)
    assert branches == pytest.approx(each + launched, abs=0.05)
    assert chain == pytest.approx(2 * each - sooner + launched, abs=0.05)


def test_fills_follow_kernels_as_kernels_do(capfd: pytest.CaptureFixture[str], tmp_path: Path, graphs: Path) -> None:
    """Each further node of a chain: as on an H100, measurements/h100/graph_nodes.csv (f, fk: 100 nodes less 20)."""
    ran = run(capfd, tmp_path, graphs, "fills")
    small, small_and_kernel, large, large_and_kernel = map(float, ran.out.split())
    assert small == pytest.approx((95.01 - 20.16) / 80, abs=0.3)
    assert small_and_kernel == pytest.approx((149.76 - 31.20) / 40, abs=0.5)
    assert large == pytest.approx((101.60 - 22.85) / 80, abs=0.3)
    assert large_and_kernel == pytest.approx((101.34 - 22.59) / 40, abs=0.4)


def test_conditional_nodes(capfd: pytest.CaptureFixture[str], tmp_path: Path, graphs: Path) -> None:
    ran = run(capfd, tmp_path, graphs, "conditions")
    each = "type 13 left 0 sum 10 else 8 case 12"
    assert ran.out.splitlines() == [each, each, "unknown cudaErrorInvalidValue"], ran.err
    assert ran.kernel("again")["launches"] == 8
