"""Suggest of a whole program: what is changed and proven, what is not, and what is written.

nvcc and its host compiler have stand-ins: the kernels are compiled by NVRTC, the host's code is a C program that
launches them.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.resources import files
from pathlib import Path

import jsonschema
import pytest

import warplens as wl
from helpers.whole_program import built, write_kernels
from warplens.cli.main import main
from warplens.commands.suggestion import program_sources, suggest_program
from warplens.commands.suggestion.suggest_program import ProgramRequest, SuggestedProgram
from warplens.commands.suggestion.version_evaluator import SuggestRequest
from warplens.core.run_options import RunOptions
from warplens.errors import UsageError
from warplens.report.json import suggestion_document
from warplens.report.terminal import program_suggestion_report
from warplens.transform import Change, Edit, KernelSource, LaunchFacts, Transform

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="`warplens run` works on Linux alone")
SEARCH = import_module("warplens.advice.search")  # the package has a function of this name
MAIN = """#include "tile.h"
extern "C" __global__ void transpose(const float* in, float* out, int n) {
  __shared__ float tile[32][32];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int k = 0; k < 32; k += 8) tile[threadIdx.y + k][threadIdx.x] = in[(y + k) * n + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
  for (int k = 0; k < 32; k += 8) out[(y + k) * n + x] = tile[threadIdx.x][threadIdx.y + k];
}
int main(int count, char** words) { /* as transposes.c */ }
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """With the program, and stand-ins for nvcc."""

    def machine_code(source: str, texts: Mapping[str, bytes], arch: str, options: Sequence[str]) -> bytes:
        code = texts[source].decode().partition("\n")[2].partition("int main")[0]
        return wl.compile(source="\n" + code, arch=arch, options=["-lineinfo"]).cubin.data

    @contextmanager
    def changed_program(
        sources: Sequence[str], texts: Mapping[str, bytes], arch: str, options: Sequence[str]
    ) -> Iterator[Path]:
        place = tmp_path / "built"
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        write_kernels(place, texts[str(tmp_path / "main.cu")].decode().partition("\n")[2].partition("int main")[0])
        yield built("transposes.c", place, "-lcudart")

    def project_files(sources: Sequence[str], arch: str, options: Sequence[str]) -> dict[str, list[str]]:
        return {str(tmp_path / "main.cu"): [str(tmp_path / name) for name in ("main.cu", "tile.h")]}

    for stand_in in (machine_code, changed_program, project_files):
        monkeypatch.setattr(program_sources, stand_in.__name__, stand_in)
    (tmp_path / "main.cu").write_bytes(MAIN.replace("\n", "\r\n").encode())
    (tmp_path / "tile.h").write_text("// nothing\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def suggested(*words: str, expect: str = "") -> SuggestedProgram:
    def quiet(what: str, done: int, of: int) -> None:
        pass

    asked = ProgramRequest(["main.cu", *words], SuggestRequest(RunOptions()), "h200", expect=expect)
    return suggest_program.suggest_program(asked, quiet)


def only_padding(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few transforms: each candidate takes time."""
    from warplens.transform.access.pad_shared_rows import pad_shared_rows

    monkeypatch.setattr(SEARCH, "transforms", lambda: (pad_shared_rows,))


def test_the_heaviest_kernel_is_changed_and_the_program_runs_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    only_padding(monkeypatch)
    done = suggested("one", expect="PASS after 1")
    view = done.view
    (kernel,) = view.kernels
    assert (kernel.kernel, kernel.launches, kernel.reason) == ("transpose", 2, "")
    assert kernel.suggestion is not None
    (change,) = kernel.suggestion.changes
    assert change.transform == "pad_shared_rows"
    assert change.outputs == "equal bit for bit; on the program's launches of other sizes equal bit for bit"
    assert view.after_us < view.before_us
    assert view.output == "the changed program prints the same, and contains 'PASS after 1'"
    assert "+  __shared__ float tile[32][33];" in view.diff
    assert done.changed == {
        str(folder / "main.cu"): MAIN.replace("tile[32][32]", "tile[32][33]").replace("\n", "\r\n").encode()
    }
    assert "transpose" in capfd.readouterr().out + program_suggestion_report.brief(view)
    schema = json.loads(files("warplens.report.json").joinpath("suggestion_schema.json").read_text(encoding="utf-8"))
    for brief in (True, False):
        document = json.loads(suggestion_document.program_text(view, brief))
        if not brief:
            jsonschema.validate(document, schema)
        assert document["program"]["kernels"][0]["launches"] == 2


def wrong_on_small_matrices(kernel: KernelSource, launch: LaunchFacts) -> Iterator[Change]:
    at = kernel.data.index(b"out[(y + k)")
    yield Change("", "a guess", 1, (Edit(at, at, "if (n > 64) "),))


@pytest.mark.long
def test_a_change_that_is_wrong_for_launches_of_other_sizes_is_dropped(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SEARCH, "NOISE", -1.0)
    monkeypatch.setattr(SEARCH, "transforms", lambda: (Transform("guess", (), wrong_on_small_matrices),))
    done = suggested()
    (kernel,) = done.view.kernels
    assert kernel.suggestion is not None
    assert not done.changed
    reasons = [rejected.reason for rejected in kernel.suggestion.rejected]
    assert any(reason.startswith("on the program's launches of other sizes out[") for reason in reasons)


@pytest.mark.long
def test_what_the_program_itself_finds_wrong_is_dropped(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Here the saved launches cannot show it: the changed program is another than what was compared."""
    only_padding(monkeypatch)
    genuine = program_sources.changed_program

    @contextmanager
    def spoiled(sources: Sequence[str], texts: Mapping[str, bytes], *more: object) -> Iterator[Path]:
        name = str(folder / "main.cu")
        broken = texts[name].replace(b"[threadIdx.x][threadIdx.y + k]", b"[threadIdx.x][threadIdx.y]")
        with genuine(sources, {**texts, name: broken} if b"[33]" in broken else texts, *more) as made:  # type: ignore[arg-type]
            yield made

    monkeypatch.setattr(program_sources, "changed_program", spoiled)
    done = suggested()
    (kernel,) = done.view.kernels
    assert kernel.suggestion is not None
    assert not kernel.suggestion.changes
    (rejected,) = kernel.suggestion.rejected
    assert rejected.reason == (
        "in the whole program: it prints 'FAIL after # arguments' instead of 'PASS after # arguments'"
    )


def test_a_program_that_does_not_end_as_expected_proves_nothing(folder: Path) -> None:
    with pytest.raises(UsageError, match="nothing can be proven with this program: its output does not contain 'OK'"):
        suggested(expect="OK")


@pytest.mark.long
def test_changed_files_are_written_beside_or_in_place(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    only_padding(monkeypatch)
    words = ["suggest", "main.cu", "--gpu", "h200", "--apply"]
    assert main([*words, "--brief", "--", "one"]) == 0
    assert b"tile[32][33]" in (folder / "main.suggested.cu").read_bytes()
    assert b"tile[32][32]" in (folder / "main.cu").read_bytes()
    out = capfd.readouterr().out
    assert "main.cu one on NVIDIA H200 SXM: kernels" in out
    assert "written to " in out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("main.cu", "--run", "--grid", "3"), "--grid: of a kernel with a launch block"),
        (("main.cu", "--gpu", "none"), "name a GPU with --gpu"),
        (("main.cu", "--measure"), "--measure times kernels with a launch block"),
        (("./app", "--size"), "--size"),
        (("./app", "--", "--size"), "./app is none: give the program's .cu files"),
        (("main.cu", "--gpu", "h200", "--nvcc=-rdc=true"), "-rdc=true links device code of several"),
        (("main.cu", "--gpu", "h200", "--apply", "--output", "none/a.cu"), "none"),
    ],
)  # fmt: skip
def test_wrong_words(capfd: pytest.CaptureFixture[str], folder: Path, words: tuple[str, ...], message: str) -> None:
    assert main(["suggest", *words]) == 2
    assert message in " ".join(capfd.readouterr().err.split())
