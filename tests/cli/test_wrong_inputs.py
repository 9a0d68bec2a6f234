"""Wrong inputs: each ends with one clear sentence and the right exit code, never with a traceback."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import warplens as wl
from warplens.cli.main import main
from warplens.errors import WarplensError

ROOT = Path(__file__).parents[2]
COPY = str(ROOT / "examples" / "copy.cu")
CUBIN = ROOT / "tests" / "data" / "kernels.sm_90.cubin"
SMALL = ("-k", "nccopy", "--set", "n=4096")
RUN = ("explain", str(CUBIN), "-k", "ccopy", "--grid", "1", "--block", "32")
GOOD = ("--arg", "zeros f32[32]", "--arg", "zeros f32[32]", "--arg", "32")

KERNEL = 'extern "C" __global__ void k(float* x, int n) { if (threadIdx.x < n) x[threadIdx.x] = n; }\n'


def block(text: str) -> str:
    """A source with this launch block."""
    return "// /// warplens\n" + "".join(f"// {line}\n" for line in text.splitlines()) + "// ///\n" + KERNEL


COMMANDS: dict[str, tuple[tuple[str, ...], str]] = {
    "grid of nothing": ((*RUN, "--grid", "0", *GOOD), "every size must be at least 1"),
    "grid of NaN": ((*RUN, "--grid", "nan", *GOOD), "--grid: .*'nan'"),
    "grid of infinity": ((*RUN, "--grid", "1e999", *GOOD), "--grid: "),
    "grid that is huge": ((*RUN, "--grid", "10**12", *GOOD), "takes 1 to 2147483647"),
    "grid of four sizes": ((*RUN, "--grid", "1,1,1,1", *GOOD), "has 4 sizes"),
    "grid that divides by zero": ((*RUN, "--grid", "1 / 0", *GOOD), "--grid: "),
    "grid in another script": ((*RUN, "--grid", "１２x", *GOOD), "--grid: "),
    "grid in y": ((*RUN, "--grid", "1,70000", *GOOD), "y = 70000"),
    "block of a fraction": ((*RUN, "--block", "33.5", *GOOD), "a whole number is wanted"),
    "empty block": ((*RUN, "--block", "", *GOOD), "--block: "),
    "shared memory below zero": ((*RUN, "--shared", "-1", *GOOD), "--shared: "),
    "much shared memory": ((*RUN, "--shared", "1 << 20", *GOOD), "up to .* dynamic are possible"),
    "cluster of 64": ((*RUN, "--cluster", "64", *GOOD), "too large; at most 16"),
    "cooperative grid that is too large": ((*RUN, "--grid", "99999", "--cooperative", *GOOD), "resident at once"),
    "no arguments": (RUN, "takes 3 arguments"),
    "too many arguments": ((*RUN, *GOOD, "--arg", "1"), "takes 3 arguments .* and 4 are given"),
    "empty argument": ((*RUN, *GOOD[:4], "--arg", ""), "argument 3"),
    "array of a size below zero": ((*RUN, "--arg", "zeros f32[-1]", *GOOD[2:]), "the size '-1' is -1"),
    "array of NaN elements": ((*RUN, "--arg", "zeros f32[nan]", *GOOD[2:]), "argument 1"),
    "array of all memory": ((*RUN, "--arg", "zeros f32[1 << 60]", *GOOD[2:]), "largest array possible is 64 GiB"),
    "array of an unknown type": ((*RUN, "--arg", "zeros f33[1]", *GOOD[2:]), "no type 'f33'"),
    "file that is not there": ((*RUN, "--arg", "file gone.npy", *GOOD[2:]), "there is no file gone.npy"),
    "file that is a folder": ((*RUN, "--arg", "file /tmp f32[4]", *GOOD[2:]), "there is no file /tmp"),
    "brackets without end": ((*RUN, "--arg", "zeros f32[" + "(" * 500, *GOOD[2:]), "argument 1"),
    "setting without a value": (("explain", COPY, "--set", "n"), "--set: "),
    "setting of an unknown name": (("explain", COPY, "--set", "m=3"), "has no name 'm'"),
    "setting that makes no array": (("explain", COPY, "-k", "nccopy", "--set", "n=0"), "grid: .*at least 1"),
    "no threads": ((*RUN, "--threads", "0", *GOOD), "--threads"),
    "sample of two": ((*RUN, "--sample", "2", *GOOD), "--sample"),
    "sample that is a word": ((*RUN, "--sample", "many", *GOOD), "--sample"),
    "no lines": ((*RUN, "--lines", "0", *GOOD), "--lines"),
    "unknown check": ((*RUN, "--check", "leaks", *GOOD), "leaks"),
    "unknown metric": ((*RUN, "--metrics", "sm__nothing.sum", *GOOD), "sm__nothing"),
    "metric that is no expression": ((*RUN, "--metrics", "regex:(", *GOOD), "no regular expression"),
    "unknown cause": (("explain", COPY, *SMALL, "--gpu", "h200", "--what-if", "magic"), "--what-if: no 'magic'"),
    "cause without a GPU": (("explain", COPY, *SMALL, "--gpu", "none", "--what-if", "full_occupancy"), "needs a GPU"),
    "GPU twice": (("explain", COPY, *SMALL, "--gpu", "h200,h200"), "twice"),
    "GPU without a name": (("explain", COPY, *SMALL, "--gpu", ","), "no GPU ''"),
    "GPU with a path": (("explain", COPY, *SMALL, "--gpu", "../../etc/passwd"), "no GPU '../../etc/passwd'"),
    "architecture that is none": (("explain", COPY, *SMALL, "--arch", "avx512"), "avx512"),
    "architecture of another GPU": (("explain", COPY, *SMALL, "--arch", "sm_80", "--gpu", "h200"), "sm_80"),
    "compiler option that is none": (("explain", COPY, *SMALL, "--option=--frob"), "frob"),
    "page for a folder": (("explain", COPY, *SMALL, "--html", "/tmp"), "cannot write /tmp"),
    "page for nobody": (("explain", COPY, *SMALL, "--html", ""), "--html: the name of a file is missing"),
    "lab that is none": (("lab", "alchemy"), "alchemy"),
    "one kernel to compare": (("compare", COPY, "ccopy"), "ccopy is no file; .* are FILE A B: .* has ccopy, nccopy"),
    "budget that is none": (("compare", COPY, "ccopy", "nccopy", "--fail-on", "fast"), "fast"),
    "counters that are not there": (("validate", COPY, *SMALL, "--against", "gone.csv"), "gone.csv"),
    "name with a zero byte": (("explain", "a\0b.cu"), "a.*b.cu"),
    "name that is too long": (("explain", "x" * 5000 + ".cu"), "cannot read|File name too long"),
    "name in another script": (("explain", "קובץ.cu"), "no such file: קובץ.cu"),
    "folder": (("explain", str(ROOT)), "is a directory"),
    "registers below zero": (("occupancy", "--registers", "-1", "--block", "32"), "--registers"),
}  # fmt: skip

FILES: dict[str, tuple[str, bytes, str]] = {
    "empty source": ("k.cu", b"", "no kernels"),
    "empty cubin": ("k.cubin", b"", "."),
    "cubin cut in the header": ("k.cubin", CUBIN.read_bytes()[:40], "."),
    "cubin cut in the middle": ("k.cubin", CUBIN.read_bytes()[: CUBIN.stat().st_size // 2], "."),
    "cubin cut at its end": ("k.cubin", CUBIN.read_bytes()[:-100], "."),
    "program without kernels": ("app", Path(sys.executable).resolve().read_bytes()[:1 << 16], "."),
    "picture": ("k.cubin", b"\x89PNG\r\n\x1a\n" + bytes(100), "."),
    "cubin with the name of a source": ("k.cu", CUBIN.read_bytes(), "bytes of 0"),
    "source in UTF-16": ("k.cu", KERNEL.encode("utf-16"), "bytes of 0"),
    "ptx that is none": ("k.ptx", b".version 99.9\n.target sm_90\nnonsense", "ptxas|PTX"),
    "host code alone": ("k.cu", b"int main() { return 0; }", "."),
    "block that is not closed": ("k.cu", b"// /// warplens\n// [k]\n" + KERNEL.encode(), "not closed"),
    "two blocks": ("k.cu", (block("[k]") * 2).encode(), "a second launch block"),
    "block that is no TOML": ("k.cu", block("[k\ngrid = = 1").encode(), "is not TOML"),
    "key that is unknown": ("k.cu", block("[k]\ngrit = 1").encode(), "unknown key 'grit'"),
    "grid that is a date": ("k.cu", block("[k]\ngrid = 2026-01-01").encode(), "grid is a date"),
    "grid that is NaN": ("k.cu", block("[k]\ngrid = nan\nblock = 1").encode(), "grid is a fraction"),
    "grid of an empty list": ("k.cu", block("[k]\ngrid = []\nblock = 1").encode(), "grid is a list"),
    "arguments that are a text": (
        "k.cu", block('[k]\ngrid = 1\nblock = 1\nargs = "n"').encode(), "args must be a list"
    ),
    "argument of the wrong type": (
        "k.cu", block('[k]\ngrid = 1\nblock = 1\nargs = ["zeros f64[1]", 1]').encode(), r"the kernel takes float\*"
    ),
    "number that would be changed": (
        "k.cu", block('[k]\ngrid = 1\nblock = 1\nargs = ["zeros f32[1]", 1.5]').encode(), "the kernel takes int there"
    ),
    "name that needs itself": ("k.cu", block('n = "n + 1"\n[k]\ngrid = "n"\nblock = 1').encode(), "'n'"),
    "kernel that is not there": ("k.cu", block("[other]\ngrid = 1\nblock = 1").encode(), "no kernel 'other'"),
    "numbers that explode": ("k.cu", block('n = "9**9**9**9"\n[k]\ngrid = "n"\nblock = 1').encode(), "n: "),
    "text that is no array": (
        "k.cu", block('[k]\ngrid = 1\nblock = 1\nargs = ["file k.npy", 1]').encode(), "k.npy"
    ),
}  # fmt: skip


def refused(capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], says: str, code: int = 2) -> None:
    """One sentence on stderr, besides how the command is used; nothing on stdout."""
    assert main(arguments) == code
    out, said = capsys.readouterr()
    assert out == ""
    assert "Traceback" not in said
    sentences = [line for line in said.splitlines() if line and not line.startswith(("Usage:", "Try '"))]
    assert re.match("error: |Error: ", sentences[0])
    assert re.search(says, said), said
    assert len(sentences) == 1 or "launch block" in said or "refused" in said, said


@pytest.mark.parametrize("name", COMMANDS)
def test_command(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    arguments, says = COMMANDS[name]
    refused(capsys, arguments, says)


@pytest.mark.parametrize("name", FILES)
def test_file(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, content, says = FILES[name]
    (tmp_path / path).write_bytes(content)
    (tmp_path / "k.npy").write_bytes(b"\x93NUMPY\x01\0 and then nothing")
    refused(capsys, ("explain", str(tmp_path / path)), says)


@pytest.mark.parametrize(
    ("variable", "value", "code", "says"),
    [
        ("WARPLENS_GPU", "voodoo", 2, "no GPU 'voodoo'"), ("WARPLENS_GPU", "h200,a100", 2, "no GPU 'h200,a100'"),
        ("WARPLENS_THREADS", "many", 2, "WARPLENS_THREADS"), ("WARPLENS_THREADS", "0", 2, "WARPLENS_THREADS"),
        ("WARPLENS_CACHE", "/dev/null/x", 0, ""), ("COLUMNS", "none", 0, ""),
    ],
)  # fmt: skip
def test_environment(
    variable: str, value: str, code: int, says: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(variable, value)
    assert main((*RUN, *GOOD, *(() if says else ("--gpu", "none")))) == code  # no time is asked for
    said = capsys.readouterr().err
    assert "Traceback" not in said
    assert says in said


@pytest.mark.every(4)
@pytest.mark.parametrize("behind", ["| true", "| head -c 100", "> /dev/full", "< /dev/null > /dev/null"])
def test_streams(behind: str) -> None:
    line = shlex.join([sys.executable, "-m", "warplens", "gpus"])
    ended = subprocess.run(["bash", "-c", f"{line} {behind}"], capture_output=True, text=True, check=False)
    assert "Traceback" not in ended.stderr
    assert ended.returncode == (2 if "full" in behind else 0)
    assert len(ended.stderr.splitlines()) == ("full" in behind)


def test_a_file_without_permission(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "k.cu"
    path.write_text(KERNEL)
    path.chmod(0)
    if os.access(path, os.R_OK):  # the administrator reads everything
        path.unlink()
        path.symlink_to(path)
    refused(capsys, ("explain", str(path)), "cannot read .*k.cu|Too many levels")


READ_ONLY = np.zeros(32, np.float32)
READ_ONLY.flags.writeable = False
X = np.zeros(32, np.float32)
ARRAYS: dict[str, tuple[Callable[[Any], Any], str]] = {
    "list": (lambda k: k.launch(1, 32, [0.0] * 32, 1), "argument 1 .*is a list"),
    "text": (lambda k: k.launch(1, 32, "x", 1), "argument 1 .*is a str"),
    "objects": (lambda k: k.launch(1, 32, np.array([None] * 32), 1), "holds Python objects"),
    "every second element": (lambda k: k.launch(1, 32, np.zeros(64, np.float32)[::2], 1), "not contiguous"),
    "transposed": (lambda k: k.launch(1, 32, np.zeros((4, 8), np.float32).T, 1), "not contiguous"),
    "other byte order": (lambda k: k.launch(1, 32, np.zeros(32, ">f4"), 1), "another byte order"),
    "wider elements": (lambda k: k.launch(1, 32, np.zeros(32), 1), "is an array of float64"),
    "texts": (lambda k: k.launch(1, 32, np.array(["a"] * 32), 1), "is an array of <U1"),
    "complex number": (lambda k: k.launch(1, 32, X, 1j), "argument 2 .*pass a number"),
    "NaN for an int": (lambda k: k.launch(1, 32, X, float("nan")), "write a whole number"),
    "array for a number": (lambda k: k.launch(1, 32, X, np.ones(1)), "argument 2 .*is an array"),
    "no argument": (lambda k: k.launch(1, 32), "takes 2 arguments"),
    "grid of NaN": (lambda k: k.launch(float("nan"), 32, X, 1), "grid = nan"),
    "grid of nothing": (lambda k: k.launch((), 32, X, 1), r"grid = \(\)"),
    "grid that is None": (lambda k: k.launch(None, 32, X, 1), "grid = None"),
    "block that is a text": (lambda k: k.launch(1, "32", X, 1), "block = '32'"),
    "shared memory that is a fraction": (lambda k: k.launch(1, 32, X, 1, shared=0.5), "shared = 0.5"),
    "shared memory below zero": (lambda k: k.launch(1, 32, X, 1, shared=-1), "shared = -1"),
    "unknown GPU": (lambda k: k.launch(1, 32, X, 1, gpu="h300"), "no GPU 'h300'"),
    "unknown check": (lambda k: k.launch(1, 32, X, 1, check=("leaks",)), "leaks"),
    "sample of one": (lambda k: k.launch(9, 32, X, 1, sample=1), "a sample of 1"),
    "no threads": (lambda k: k.launch(1, 32, X, 1, threads=0), "threads = 0"),
    "budget below zero": (lambda k: k.launch(1, 32, X, 1, budget=-5), "budget = -5"),
    "unknown cause": (lambda k: k.launch(1, 32, X, 1).predict("h200", what_if=("magic",)), "magic"),
    "time on another architecture": (lambda k: k.launch(1, 32, X, 1).predict("a100"), "sm_80"),
    "block that is not there": (lambda k: k.launch(1, 32, X, 1).steps((7,)), "there is no block 7"),
    "report of another kind": (lambda k: k.launch(1, 32, X, 1).report("x.pdf"), "x.pdf"),
    "variable that is not there": (lambda k: k.variables["none"], "no variable 'none'"),
    "pitched line": (lambda _: wl.pitched(np.zeros(4)), "cannot be pitched"),
    "bytes that are no cubin": (lambda _: wl.load(b"no cubin"), "cubin"),
    "no source": (lambda _: wl.compile(), "takes either a path or source="),
    "kernel that is not there": (lambda _: wl.load(CUBIN)["none"], "no kernel 'none'"),
}  # fmt: skip


@pytest.mark.parametrize("name", ARRAYS)
def test_python(name: str) -> None:
    attempt, says = ARRAYS[name]
    kernel = wl.compile(source=KERNEL, arch="sm_90")["k"]
    with pytest.raises(WarplensError, match=says) as error:
        attempt(kernel)
    assert "\n" not in str(error.value)


def test_an_array_that_is_read_only_stays_as_it_is() -> None:
    wl.compile(source=KERNEL, arch="sm_90")["k"].launch(1, 32, READ_ONLY, 5)
    assert not READ_ONLY.any()
