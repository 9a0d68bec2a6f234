"""`warplens diff`: files, cubins and revisions of git; what changed, in which order."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import warplens as wl
from warplens.cli.main import main

SOURCE = """#include "scale.cuh"
extern "C" __global__ void copy(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] * SCALE;
}

extern "C" __global__ void fill(float* out) { out[threadIdx.x] = 3; }

// /// warplens
// [copy]
// grid = 4
// block = 256
// args = ["random f32[1024]", "zeros f32[1024]", 1024]
// [fill]
// grid = 1
// block = 32
// args = ["zeros f32[32]"]
// ///
"""
SLOWER = "\n" + SOURCE.replace("out[i] = in[i]", "out[i] = in[i % n]")
Diff = Callable[..., tuple[int, str]]


@pytest.fixture
def diff(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Diff:
    """Runs the verb in a folder of its own: exit code, and what is printed."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WARPLENS_THREADS", "1")
    Path("scale.cuh").write_text("#define SCALE 2\n")
    Path("old.cu").write_text(SOURCE)
    Path("new.cu").write_text(SLOWER)

    def run(*arguments: str) -> tuple[int, str]:
        code = main(["diff", *arguments])
        captured = capsys.readouterr()
        return code, captured.out + captured.err

    return run


def test_machine_code_then_counts_then_lines(diff: Diff) -> None:
    code, output = diff("old.cu", "new.cu")
    assert code == 0
    order = ["CHANGED  copy", "Machine code: ", "@@ block ", "Counts\n", "smsp__inst_executed.sum: ",
             "Counts by source line", "UNCHANGED  fill", "1 UNCHANGED, 1 CHANGED"]  # fmt: skip
    places = [output.index(part) for part in order]
    assert places == sorted(places)
    assert "line 4 -> 5: if (i < n) out[i] = in[i % n] * SCALE;" in output
    assert "+ IABS " in output
    assert "Predicted time" not in output
    assert diff("old.cu", "new.cu", "--exit-code", "--static")[0] == 1
    assert diff("old.cu", "old.cu", "--exit-code")[0] == 0


def test_an_unchanged_kernel_is_not_run(diff: Diff, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("warplens.kernel.execute", lambda *_, **__: pytest.fail("a kernel was run"))
    renamed = SOURCE.replace("int i ", "int index ").replace("(i ", "(index ").replace("[i]", "[index]")
    Path("new.cu").write_text(f"// a comment\n{renamed}")
    assert "2 UNCHANGED" in diff("old.cu", "new.cu")[1]


def test_json_follows_its_schema(diff: Diff) -> None:
    schema: dict[str, Any] = json.loads(files("warplens.report.json").joinpath("diff_schema.json").read_text())
    code, output = diff("old.cu", "new.cu", "--json")
    document = json.loads(output)
    jsonschema.validate(document, schema)
    copy, fill = document["kernels"]
    assert (code, copy["difference"], fill["difference"]) == (0, "CHANGED", "UNCHANGED")
    assert copy["counts"]["smsp__inst_executed.sum"]["new"] > copy["counts"]["smsp__inst_executed.sum"]["old"]
    (line,) = [line for line in copy["lines"] if "out[i]" in line["text"]]
    assert (line["old"], line["new"]) == (4, 5)
    assert "smsp__inst_executed.sum" in line["counts"]


@pytest.mark.long
def test_the_predicted_time_where_a_gpu_is_named(diff: Diff) -> None:
    output = diff("old.cu", "new.cu", "--gpu", "h200")[1]
    assert "Predicted time on h200: " in output


def test_kernels_that_come_and_go(diff: Diff) -> None:
    Path("new.cu").write_text(SOURCE.replace("fill", "set"))
    output = diff("old.cu", "new.cu")[1]
    assert "NEW  set" in output
    assert "GONE  fill" in output


def test_cubins_and_a_launch_of_the_flags(diff: Diff) -> None:
    for name in ("old", "new"):
        Path(f"{name}.cubin").write_bytes(wl.compile(f"{name}.cu").cubin.data)
    assert "not launched: " in diff("old.cubin", "new.cubin")[1]
    flags = ["-k", "copy", "--grid", "4", "--block", "256"]
    args = [f"--arg={word}" for word in ("random:f32[n]", "zeros:f32[n]", "n")]
    output = diff("old.cubin", "new.cubin", *flags, *args, "--set", "n=1024")[1]
    assert "smsp__inst_executed.sum: " in output


def test_revisions_of_git(diff: Diff) -> None:
    def git(*words: str) -> None:
        subprocess.run(["git", "-c", "user.name=n", "-c", "user.email=e", *words], check=True, capture_output=True)

    git("init", "-q")
    Path("k.cu").write_text(SOURCE)
    git("add", "-A")
    git("commit", "-qm", "one")
    Path("scale.cuh").write_text("#define SCALE 2.5\n")
    git("commit", "-qam", "two")
    code, output = diff("--rev", "HEAD~1", "HEAD", "k.cu", "--static")
    assert (code, "CHANGED  copy" in output) == (0, True), "the header of each revision is taken"
    assert output.startswith("HEAD~1:k.cu -> HEAD:k.cu\n")
    assert "FMUL" in output
    assert "2 UNCHANGED" in diff("HEAD:k.cu", "k.cu")[1]
    assert "HEAD has no file gone.cu" in diff("HEAD:gone.cu", "k.cu")[1]
    assert "git knows no revision 'nowhere'" in diff("nowhere:k.cu", "k.cu")[1]
    assert "git knows no revision '--exec=x'" in diff("--", "--exec=x:k.cu", "k.cu")[1]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("old.cu",), "diff takes OLD and NEW"), (("--rev", "a", "b", "x", "y"), "--rev takes one file"),
        (("old.cu", "gone.cu"), "no such file: gone.cu"), (("old.cu", "new.cu", "-k", "cpy"), "no kernel 'cpy'"),
        (("old.cu", "old.cu", "--gpu", "h300"), "error: no GPU 'h300' is known"),
    ],
)  # fmt: skip
def test_wrong_usage(diff: Diff, arguments: tuple[str, ...], says: str) -> None:
    code, output = diff(*arguments)
    assert (code, says in output) == (2, True), output


def test_a_kernel_that_faults_in_one_version(diff: Diff) -> None:
    Path("new.cu").write_text(SOURCE.replace("out[i] = in[i]", "out[i + n] = in[i]"))
    code, output = diff("old.cu", "new.cu")
    assert (code, "out-of-bounds global write" in output, "UNCHANGED  fill" in output) == (3, True, True)
