"""`warplens suggest`: what it prints, writes and refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from warplens.cli.main import main

KERNELS = """// /// warplens
// n = 4096
// [scale]
// grid = "n / 128"
// block = 128
// args = ["random f32[n]", "zeros f32[n]", "n"]
//
// [hidden]
// grid = "n / 128"
// block = 128
// args = ["random f32[n]", "zeros f32[n]", "n"]
// ///
extern "C" __global__ void scale(const float* x, float* y, int n) {
  __shared__ float tile[32][32];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float* all = &tile[0][0];
  all[threadIdx.x] = x[i];
  __syncthreads();
  for (int k = 0; k < 64; ++k) all[threadIdx.x] += tile[threadIdx.x % 32][threadIdx.x / 32 + k % 8];
  y[i] = all[threadIdx.x];
}
#define KERNEL(name) extern "C" __global__ void name(const float* x, float* y, int n) { y[n - 1] = x[n - 1]; }
KERNEL(hidden)
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "kernels.cu"
    path.write_text(KERNELS)
    return path


def run(capfd: pytest.CaptureFixture[str], *words: object) -> tuple[int, str, str]:
    code = main(["suggest", *map(str, words)])
    out, err = capfd.readouterr()
    return code, out, err


@pytest.mark.long
def test_a_kernel_that_a_macro_makes(capfd: pytest.CaptureFixture[str], file: Path) -> None:
    code, out, _ = run(capfd, file, "--kernel", "hidden", "--gpu", "h200")
    assert code == 0
    assert "no change was found that makes it faster by 5 % or more" in " ".join(out.split())
    assert "no definition of a kernel hidden: the macro KERNEL in line" in " ".join(out.split())


def test_nothing_to_apply_writes_nothing(capfd: pytest.CaptureFixture[str], file: Path) -> None:
    code, _, err = run(capfd, file, "--kernel", "hidden", "--gpu", "h200", "--apply")
    assert code == 0
    assert "nothing to apply" in err
    assert not file.with_suffix(".suggested.cu").exists()


def test_a_shared_array_that_is_used_as_a_pointer_is_not_padded(
    capfd: pytest.CaptureFixture[str], file: Path
) -> None:  # fmt: skip
    code, out, _ = run(capfd, file, "--kernel", "scale", "--gpu", "h200", "--json")
    (kernel,) = json.loads(out)["kernels"]
    assert code == 0
    assert kernel["title"] == "scale"
    reasons = " ".join(found["reason"] for found in [*kernel["refused"], *kernel["rejected"]])
    assert "tile" in reasons or "bank_conflicts" not in {found["fault"] for found in kernel["findings"]}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--output", "a.cu"), "--output and --in-place belong to --apply"),
        (("--apply", "--in-place", "--output", "a.cu"), "--output and --in-place exclude each other: choose one"),
        (("--apply",), "--apply changes one kernel; choose it with --kernel: scale, hidden"),
        (("--kernel", "scale", "--gpu", "none"), "suggest predicts the time of each change: name a GPU with --gpu"),
        (("--kernel", "scale", "--scratch", "z"), "--scratch: no argument is called z; there are x, y, n"),
        (("--kernel", "scal"), "scale"),
    ],
)
def test_wrong_usage(
    capfd: pytest.CaptureFixture[str], file: Path, words: tuple[str, ...], message: str
) -> None:  # fmt: skip
    code, out, err = run(capfd, file, *words)
    assert (code, out) == (2, "")
    assert message in " ".join(err.split())


def test_the_original_is_changed_only_where_that_is_asked_for(
    capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:  # fmt: skip
    tiled = Path(__file__).parents[2] / "src/warplens/labs/transpose/3_tiled.cu"
    path = tmp_path / "transpose.cu"
    path.write_text(tiled.read_text())
    launch = ("--grid", "8,8", "--block", "32,8", "--arg", "random:f32[65536]", "--arg", "zeros:f32[65536]",
              "--arg", "256", "--arg", "256", "--gpu", "h200")  # fmt: skip
    code, out, _ = run(capfd, path, *launch, "--apply", "--brief")
    assert code == 0
    assert path.read_text() == tiled.read_text()
    assert "tile[32][33]" in path.with_suffix(".suggested.cu").read_text()
    assert "outputs equal bit for bit" in out
