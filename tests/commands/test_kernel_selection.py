"""--kernel and -k: names, names without template arguments, regular expressions, several of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import warplens as wl
from helpers.source_files import source_file
from warplens.cli.main import main
from warplens.commands.target import Flags, targets
from warplens.errors import KernelFault, UsageError

SOURCE = """
// /// warplens
// [other]
// grid = 1
// block = 32
// args = ["zeros f32[32]"]
// ///
namespace app { template <class T> __global__ void scale(T* x, int n) {
    if (n < 0) { if (threadIdx.x < 32) __syncthreads(); else asm volatile("bar.sync 1, 64;"); }
    x[threadIdx.x] *= 2; } }
template __global__ void app::scale<float>(float*, int);
template __global__ void app::scale<int>(int*, int);
extern "C" __global__ void other(float* x) { x[0] = 1; }
extern "C" __global__ void another(float* x) { x[0] = 1; }
"""


@pytest.fixture(params=["source", "cubin"])
def file(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    source = source_file(SOURCE)
    if request.param == "source":
        return str(source)
    cubin = tmp_path / "k.cubin"
    cubin.write_bytes(wl.compile(source, arch="sm_90").cubin.data)
    return str(cubin)


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (("other",), {"other"}), (("scale<float>",), {"scale<float>"}), (("app::scale<int>",), {"app::scale<int>"}),
        (("scale",), {"scale<float>", "scale<int>"}), (("app::scale",), {"scale<float>", "scale<int>"}),
        (("regex:^sc",), {"scale<float>", "scale<int>"}), (("regex:e$",), {"scale<float>", "scale<int>"}),
        (("regex:<f",), {"scale<float>"}), (("other", "another", "regex:^other$"), {"other", "another"}),
    ],
)  # fmt: skip
def test_words_mean(file: str, words: tuple[str, ...], found: set[str]) -> None:
    names = [target.title for target in targets(file, Flags(kernel=words))]
    assert len(names) == len(found)
    assert set(names) == found


def test_tables_of_the_launch_block_come_first() -> None:
    assert [t.title for t in targets(str(source_file(SOURCE)), Flags(kernel="regex:other"))] == ["other"]


@pytest.mark.parametrize(
    ("word", "says"),
    [
        ("regex:none", "no kernel matches 'regex:none' in .*; there are: "),
        ("regex:(", "--kernel: 'regex:\\(' is not a regular expression: "),
        ("nothing", "no kernel 'nothing' in .*; there are: .*scale<"),
        ("scale<flot>", "no kernel 'scale<flot>' in .*[tT]here are: .*scale<"),
        ("app::scale<flot>", "no kernel 'app::scale<flot>' in .*[tT]here are: .*scale<"),
        ("copy<<", "no kernel 'copy<<' in .*there are: .*scale<"), ("::", "no kernel '::' in "),
    ],
)  # fmt: skip
def test_a_word_that_means_none(file: str, word: str, says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sass", file, "--static", "-k", word]) == 2
    said = capsys.readouterr().err
    assert len(said.splitlines()) == 1
    with pytest.raises(UsageError, match=says):
        targets(file, Flags(kernel=(word,)))


def test_several_kernels_are_all_listed(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sass", file, "--static", "-k", "other", "--kernel", "regex:float"]) == 0
    printed = capsys.readouterr().out
    assert "other, sm_90" in printed
    assert "scale<float>, sm_90" in printed


def test_names_are_those_of_cpp() -> None:
    module = wl.compile(source=SOURCE, arch="sm_90")
    assert set(module) == {"scale<float>", "scale<int>", "other", "another"}
    x = np.zeros(64, np.float32)
    with pytest.raises(UsageError, match=r"^app::scale<float>: invalid launch configuration: "):
        module["scale<float>"].launch(1, 2048, x, 1)
    with pytest.raises(UsageError, match=r"^app::scale<float>: invalid launch configuration: "):
        module["scale<float>"].in_clusters(64)
    with pytest.raises(KernelFault, match=r"^app::scale<float> hangs"):
        module["scale<float>"].launch(1, 64, x, -1)


def test_overloads_and_namesakes_are_told_apart() -> None:
    source = """
namespace a { __global__ void f(int* x) { x[0] = 1; } }
namespace b { __global__ void f(int* x) { x[0] = 2; } }
__global__ void f(int* x) { x[0] = 3; }
__global__ void over(int* x) { x[0] = 4; }
__global__ void over(const float* y, int* x) { x[0] = 5; }
"""
    module = wl.compile(source=source, arch="sm_90")
    assert set(module) == {"a::f", "b::f", "f", "over(int*)", "over(float const*, int*)"}

    def stored(name: str) -> int:
        x = np.zeros(1, np.int32)
        module[name].launch(1, 1, *[np.zeros(1, np.float32)] * ("float" in name), x)
        return int(x[0])

    assert {name: stored(name) for name in module} == {
        "a::f": 1, "b::f": 2, "f": 3, "over(int*)": 4, "over(float const*, int*)": 5,
    }  # fmt: skip
    assert (stored("::f"), stored("over(int *)")) == (3, 4)


def test_a_name_means_all_its_overloads(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "k.cu").write_text("__global__ void k(int* x) { *x = 1; } __global__ void k(float* x) { *x = 1; }")
    assert main(["sass", str(tmp_path / "k.cu"), "--static", "-k", "k"]) == 0
    printed = capsys.readouterr().out
    assert "k(int*), sm_90" in printed
    assert "k(float*), sm_90" in printed
