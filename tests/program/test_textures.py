"""Texture and surface objects of whole programs."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import jsonschema
import pytest

from helpers.whole_program import built, run, write_kernels
from warplens.cli.main import main
from warplens.report.json.document import schema

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="`warplens run` works on Linux alone")
KERNELS = """
extern "C" __global__ void sample(cudaTextureObject_t t, float* out, float x) {
    int i = threadIdx.x;
    out[i] = tex2D<float>(t, i % 8 + x, i / 8 + 0.5f);
}
extern "C" __global__ void number(cudaTextureObject_t t, float* out, float x) {
    out[threadIdx.x] = tex1Dfetch<float>(t, threadIdx.x + (int)x);
}
extern "C" __global__ void level(cudaTextureObject_t t, float* out, float x) {
    int i = threadIdx.x;
    out[i] = tex2DLod<float>(t, (i % 8 + 0.5f) / 8, (i / 8 + 0.5f) / 4, x);
}
extern "C" __global__ void write(cudaSurfaceObject_t s, float* out, float x) {
    int i = threadIdx.x;
    surf2Dwrite(x * i, s, i % 8 * 4, i / 8);
}
"""


@pytest.fixture(scope="module")
def textures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("textures")
    write_kernels(folder, KERNELS)
    return built("textures.c", folder, "-lcudart", "-lcuda")


def test_objects_of_both_apis(capfd: pytest.CaptureFixture[str], tmp_path: Path, textures: Path) -> None:
    file = tmp_path / "sample.npz"
    ran = run(capfd, tmp_path, textures, options=("--save-launch", "sample:1", str(file)))
    assert ran.out.splitlines() == [
        "rows 32 width 131072",
        "linear 0 0.75 8.75 30.75",
        "described 1 4 1",
        "point 0 1 9 31",
        "changed 0 1 100 31",
        "written 0 7 63 217",
        "read again 0 7 63 217",
        "numbered 0 1 100 0",
        "pitched 0 1 100 31",
        "pitch 512",
        "misaligned cudaErrorInvalidValue",
        "level 2 cudaErrorInvalidValue",
        "level 1 1000 1000 1000 1007",
        "level 0 0 1 100 31",
        "fractions 45",
        "flags 0 mode 3 border 0.5",
        "filter cudaErrorInvalidFilterSetting",
        "srgb cudaErrorNotSupported",
        "view cudaErrorNotSupported",
        "unknown cudaErrorInvalidValue",
        "destroyed cudaErrorLaunchFailure",
    ], ran.err
    assert ran.document["missing"] == ["textures in sRGB", "views of textures"]
    (fault,) = ran.document["faults"]
    assert "no texture or surface object, or its memory has been freed" in fault
    assert main(["explain", "--from", str(file), "--json"]) == 0
    document = json.loads(capfd.readouterr().out)
    jsonschema.validate(document, schema())
    kinds = {one["memory"]["memory_type"] for one in document["instructions"] if one["memory"]}
    assert kinds == {"Texture", "Global", "Constant"}
    metrics = {name: (metric["value"], metric["provenance"]) for name, metric in document["metrics"].items()}
    assert metrics["smsp__inst_executed_op_texture.sum"] == (1, "exact")
    assert metrics["l1tex__t_requests_pipe_tex_mem_texture.sum"] == (8, "modelled")
    assert metrics["l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"] == (0, "exact")
