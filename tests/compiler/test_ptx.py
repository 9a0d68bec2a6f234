"""PTX is assembled, and runs as the same code from CUDA C++ does."""

from __future__ import annotations

import re
from importlib.metadata import version

import numpy as np
import pytest
from cuda.bindings import nvrtc

import warplens
from warplens.cli.main import main
from warplens.compiler import ptx
from warplens.errors import CompileError, UsageError

SOURCE = """extern "C" __global__ void scale(float* y, const float* x, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + i % 3;
}
"""
START = ["--grid", "8", "--block", "128", "--arg", "zeros:f32[1000]", "--arg", "random:f32[1000]", "--arg", "2.0",
         "--arg", "1000"]  # fmt: skip


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    """For compute_75, as programs carry it for later GPUs."""
    written = tmp_path_factory.mktemp("source") / "scale.cu"
    written.write_text(SOURCE)
    _, program = nvrtc.nvrtcCreateProgram(SOURCE.encode(), str(written).encode(), 0, [], [])
    nvrtc.nvrtcCompileProgram(program, 2, [b"-arch=compute_75", b"-lineinfo"])
    _, size = nvrtc.nvrtcGetPTXSize(program)
    made = bytearray(size)
    nvrtc.nvrtcGetPTX(program, made)
    return made.rstrip(b"\0").decode()


@pytest.fixture
def file(text, tmp_path):
    """Beside the source that its line table names."""
    text = re.sub(r'"[^"]*scale\.cu"', f'"{tmp_path}/scale.cu"', text)
    (tmp_path / "scale.cu").write_text(SOURCE)
    path = tmp_path / "scale.ptx"
    path.write_text(text)
    return path


@pytest.mark.parametrize("arch", ["sm_75", "sm_90", "sm_120"])
def test_ptx_gives_what_its_source_gives(file, arch):
    def run(module):
        y, x = np.zeros(1000, np.float32), np.linspace(-1, 1, 1000, dtype=np.float32)
        done = module["scale"].launch(8, 128, y, x, np.float32(2.5), np.int32(1000))
        return y, done["smsp__inst_executed.sum"]

    (ours, executed), (theirs, _) = (
        run(warplens.compile(file, arch=arch)), run(warplens.compile(source=SOURCE, arch=arch))
    )  # fmt: skip
    assert (ours == theirs).all()
    assert executed > 0


def test_ptx_is_explained_with_the_lines_of_its_source(file, capsys):
    assert main(["explain", str(file), "--gpu", "h200", *START]) == 0
    said = capsys.readouterr().out
    assert f"ptxas {version(ptx.PACKAGE)}" in " ".join(said.split())
    assert "if (i < n) y[i] = a * x[i]" in said


def test_what_is_no_ptx_or_for_another_gpu_is_said(file, text, capsys):
    with pytest.raises(UsageError, match="sm_10"):
        warplens.compile(file, arch="sm_10")
    file.write_text(text.replace("ld.global", "ld.golbal"))
    with pytest.raises(CompileError, match=r"scale.ptx, line \d+; error +: Unknown modifier '.golbal'"):
        warplens.compile(file)
    file.write_text("hello")
    assert main(["explain", str(file)]) == 2
    assert "ptxas refused" in capsys.readouterr().err
    file.write_text(text.replace("sm_75", "sm_120"))
    with pytest.raises(CompileError, match=r"SM version specified by \.target is higher"):
        warplens.compile(file, arch="sm_90")


def test_without_ptxas_its_package_is_named(monkeypatch):
    monkeypatch.setattr("warplens.compiler.ptx.program_of", lambda package, name: None)
    with pytest.raises(CompileError, match=r"pip install .nvidia-cuda-nvcc"):
        ptx.assemble("", "x.ptx", "sm_90")


def test_code_for_what_only_sm_90_has_is_assembled_for_it(text):
    own = text.replace(".target sm_75", ".target sm_90a")
    assert own != text
    assert warplens.compile(source=own)["scale"].arch == "sm_90"
    with pytest.raises(CompileError, match="--arch names the architecture"):
        warplens.compile(source=own, arch="sm_80")


def test_a_target_with_its_own_can_be_asked_for():
    assert warplens.compile(source=SOURCE, arch="sm_90a")["scale"].arch == "sm_90"
    with pytest.raises(UsageError, match="sm_100f"):
        warplens.compile(source=SOURCE, arch="sm_90b")


def test_ptx_that_is_too_new_says_what_helps(text):
    version = text.split(".version ")[1].split()[0]
    with pytest.raises(CompileError, match="newer than ptxas here"):
        warplens.compile(source=text.replace(f".version {version}", ".version 19.9"))


def test_what_is_kept_depends_on_the_options(text):
    """ptxas optimises unless it is told not to: the same PTX, another cubin."""
    plain, unoptimised = (ptx.assemble(text, "scale.ptx", "sm_90", options) for options in ((), ("--opt-level=0",)))
    assert plain != unoptimised
    assert ptx.assemble(text, "scale.ptx", "sm_90", ()) == plain
