"""The cell magic %%warplens: what a cell gives, where its launch comes from, errors as one message."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

import warplens as wl
from warplens.cli.cell_magic import CellError, CellRuns

SOURCE = """__global__ void twice(float* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= 2;
}
"""
BLOCK = """// /// warplens
// [twice]
// grid = 8
// block = 128
// args = ["random f32[1024]", "1024"]
// ///
"""
LAUNCH = "--launch \"grid = 8, block = 128, args = ['x = random f32[n]', 'n'], set = {n = 1024}\""


class Shell:
    """Stands in for IPython's shell: it keeps what is registered."""

    def __init__(self) -> None:
        self.magics: dict[str, Any] = {}

    def register_magic_function(self, function: Any, magic_kind: str, magic_name: str) -> None:
        assert magic_kind == "cell"
        self.magics[magic_name] = function


@pytest.fixture(scope="module")
def magic() -> Any:
    shell = Shell()
    wl.load_ipython_extension(shell)
    return shell.magics["warplens"]


def test_a_cell_with_a_launch_block_is_explained(magic: Any) -> None:
    run = magic("--gpu h200", BLOCK + SOURCE)
    assert isinstance(run, wl.Run)
    assert (run.file, run.title, run.launch.grid, run.launch.block) == ("cell.cu", "twice", (8, 1, 1), (128, 1, 1))
    assert run.prediction is not None
    assert run.prediction.gpu == "h200"
    assert {i.source.file for i in run.kernel.program.instructions if i.source} == {"cell.cu"}
    assert "<iframe srcdoc=" in run._repr_html_()


@pytest.mark.parametrize(
    "line", [f"--gpu none {LAUNCH}", "--gpu none --grid 8 --block 128 --arg random:f32[n] --arg n --set n=1024"]
)
def test_the_launch_may_be_in_the_first_line(magic: Any, line: str) -> None:
    run = magic(line, SOURCE)
    assert (run.launch.blocks, run.launch.threads_per_block, run.prediction) == (8, 128, None)
    assert run["smsp__sass_inst_executed_op_global_st.sum"] == 32


def test_several_kernels_are_one_page(magic: Any) -> None:
    runs = magic("--gpu none", BLOCK.replace("// ///\n", "") + "// [half]\n" + BLOCK.partition("[twice]\n")[2] + SOURCE
                 + SOURCE.replace("twice", "half"))  # fmt: skip
    assert isinstance(runs, CellRuns)
    assert [run.title for run in runs] == ["twice", "half"]
    assert runs._repr_html_().count("<iframe") == 1
    assert repr(runs).count("\n") == 1


@pytest.mark.parametrize(
    ("line", "source", "message"),
    [
        ("", SOURCE.replace("*= 2", "*= two"), r'cell.cu\(3\).*"two" is undefined'),
        ("--gpu nothing", SOURCE, "nothing"),
        ("--gpux", SOURCE, "No such option"),
        ("--launch 'grid 8'", SOURCE, "write it as"),
        ("--launch 'grids = 8'", SOURCE, "no key 'grids' is known; possible are grid, block"),
        ("--launch 'grid = 8' --grid 9", SOURCE, "both give grid"),
        ("--launch 'grid = 8", SOURCE, "No closing quotation"),
        ("--gpu none", SOURCE, "cell.cu does not say how twice is started"),
        ("--gpu none", BLOCK.replace("f32[1024]", "f32[1000]") + SOURCE, "out-of-bounds global"),
    ],
)
def test_errors_are_one_message(magic: Any, line: str, source: str, message: str) -> None:
    with pytest.raises(CellError, match=f"(?s){message}") as refused:
        magic(line, source)
    assert refused.value._render_traceback_() == [f"error: {refused.value}"]


def test_the_options_are_listed(magic: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert magic("--help", "") is None
    assert "--launch KEYS" in capsys.readouterr().out


def test_ipython_is_not_imported() -> None:
    code = (
        "import sys, warplens; from types import SimpleNamespace as Shell\n"
        "warplens.load_ipython_extension(Shell(register_magic_function=lambda *given: None))\n"
        "assert 'IPython' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_ipython_runs_the_cell() -> None:
    testing = pytest.importorskip("IPython.testing.globalipapp")
    shell = testing.get_ipython() or testing.start_ipython()
    shell.run_line_magic("load_ext", "warplens")
    assert shell.run_cell_magic("warplens", f"--gpu none {LAUNCH}", SOURCE).title == "twice"
