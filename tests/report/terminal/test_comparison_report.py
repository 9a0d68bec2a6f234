"""The comparison in words, tables and JSON; the two verbs on the command line."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from functools import cache
from pathlib import Path

import jsonschema
import numpy as np
import pytest

import warplens as wl
from warplens.cli.main import main
from warplens.counters.comparison import Comparison, LineShare, MetricRow, Share, compare
from warplens.report.json.document import schema
from warplens.report.launch_view import LaunchView
from warplens.report.terminal.comparison_report import (
    amount,
    causes,
    conflicts,
    document,
    instructions,
    more,
    show,
    side,
    verdict,
)
from warplens.report.terminal.console_layout import console

ROOT = Path(__file__).parents[3]
COPY = str(ROOT / "examples" / "copy.cu")
SMALL = ("--set", "n=4096")


@cache
def run(kernel: str, n: int = 4096) -> wl.Run:
    x = np.ones(n, np.float32)
    return wl.compile(COPY)[kernel].launch((n // 128,), (128,), x, np.zeros_like(x), np.int32(n))


def compared(first: str, second: str) -> tuple[Comparison, LaunchView, LaunchView]:
    one, other = run(first).subject, run(second).subject
    return compare(side(one), side(other)), one, other


def test_verdict() -> None:
    """32 * 32 threads of 16 and 38 instructions (counted in the listing); 8 sectors a load in place of 4."""
    comparison, _, _ = compared("ccopy", "nccopy")
    assert verdict(comparison) == (
        "nccopy executes 2.38 times the instructions of ccopy (remainder by a variable) and moves 1.5 times the sectors"
    )


def test_verdict_the_other_way_round() -> None:
    comparison, _, _ = compared("nccopy", "ccopy")
    assert "0.421 times the instructions of nccopy (no remainder by a variable)" in verdict(comparison)


def test_nothing_differs() -> None:
    comparison, _, _ = compared("ccopy", "ccopy")
    assert verdict(comparison) == "ccopy executes as many instructions as ccopy"
    assert causes(comparison) == []


@pytest.mark.parametrize("ratio", [0.991, 1.009, 0.989, 1.011])
def test_a_hundredth_of_the_instructions_is_news(ratio: float) -> None:
    comparison, _, _ = compared("ccopy", "ccopy")
    row = replace(comparison.row("smsp__inst_executed.sum"), second=ratio * 1000, first=1000)
    told = instructions(replace(comparison, rows=(row,)))
    assert ("as many" in told) == (abs(ratio - 1) < 0.01)


def test_causes_add_up() -> None:
    comparison, _, _ = compared("ccopy", "nccopy")
    line = next(n for n, text in enumerate(Path(COPY).read_text().split("\n"), 1) if "% n]" in text)
    assert causes(comparison) == [
        f"21 of 22 extra instructions per warp: remainder by a variable, copy.cu:{line}",
        f"1 of 22 extra instructions per warp: other instructions, copy.cu:{line}",
    ]
    for shares in (comparison.classes, comparison.idioms, comparison.lines, comparison.causes):
        assert sum(share.difference for share in shares) == 22


def test_causes_of_what_is_spared() -> None:
    comparison, _, _ = compared("nccopy", "ccopy")
    assert causes(comparison)[0].startswith("21 of 22 spared instructions per warp: remainder by a variable")


def test_causes_that_cancel_out_are_signed() -> None:
    lines = (None, None)
    found = replace(
        compared("ccopy", "nccopy")[0],
        classes=(Share("integer", 10, 12),),
        causes=(LineShare(lines, "unrolled", 0, 5), LineShare(lines, "", 8, 5)),
    )
    assert causes(found) == [
        "+5 instructions per warp: unrolled, no source line",
        "−3 instructions per warp: other instructions, no source line",
    ]


@pytest.mark.parametrize(
    ("first", "second", "words"),
    [
        (2, 3, "moves 1.5 times the sectors"),
        (0, 0, ""),
        (1000, 1001, ""),
        (0, 12345, "moves 12,345 sectors where there were none"),
        (12345, 0, "moves no sectors instead of 12,345"),
        (1, 2048, "moves 2,048 times the sectors"),
    ],
)
def test_more(first: int, second: int, words: str) -> None:
    assert more("moves", "sectors", MetricRow("", "", first, second)) == words


def test_amount() -> None:
    assert [amount(n) for n in (21.0, 21.5, 21.04, 1234567.8)] == ["21", "21.5", "21", "1,234,568"]


@pytest.mark.parametrize("everything", [False, True])
@pytest.mark.parametrize("width", [80, 100])
def test_fits_the_page(width: int, everything: bool) -> None:
    file = io.StringIO()
    out = console(file)
    out.width = width
    show(*compared("ccopy", "nccopy"), out, everything)
    text = file.getvalue()
    assert max(len(line) for line in text.splitlines()) <= width
    assert "2.375" in text
    assert "needs a prediction: --gpu NAME" in text


def test_all_lists_only_what_differs() -> None:
    file = io.StringIO()
    show(*compared("ccopy", "nccopy"), console(file), True)
    table = file.getvalue().split("Decomposition")[0]
    assert "launch__grid_size" not in table
    assert "smsp__sass_sectors_mem_global" in table


def test_document() -> None:
    comparison, _, _ = compared("ccopy", "nccopy")
    content = json.loads(document(comparison, run("ccopy").json(), run("nccopy").json()))
    for half in ("first", "second"):
        jsonschema.validate(content[half], schema())
    found = content["comparison"]
    instructions = found["metrics"]["smsp__inst_executed.sum"]
    assert instructions["ratio"] == instructions["second"] / instructions["first"] == 2.375
    assert found["metrics"]["derived__memory_l2_theoretical_sectors_global_excessive"]["ratio"] is None
    assert found["time"] == {"instructions": 2.375, "occupancy": 1, "cycles_per_instruction": None}
    assert found["decomposition"] is None
    assert found["causes"][0]["idiom"] == "remainder by a variable"
    assert found["causes"][0]["difference"] == 21


@pytest.mark.every(3)
@pytest.mark.parametrize(
    "words",
    [
        (COPY,),
        (COPY, "ccopy", "nccopy"),
        (f"{COPY}:ccopy", f"{COPY}:nccopy"),
    ],
)
def test_ways_to_name_two_kernels(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", *words, *SMALL]) == 0
    assert capsys.readouterr().out.startswith("nccopy executes 2.38 times the instructions of ccopy")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((f"{COPY}:ccopy",), "compare takes two kernels"),
        ((COPY, COPY), "compare takes two kernels"),
        ((COPY, "ccopy", "nothing"), "no kernel 'nothing'"),
        (("none.cu", COPY), "no such file: none.cu"),
        ((COPY, "--fail-on", "much"), "no budget"),
        ((COPY, "--fail-on", "much > 1", *SMALL), "--fail-on: no metric 'much'"),
    ],
)
def test_wrong_usage(words: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", *words]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("budget", "code"),
    [("smsp__inst_executed.sum > 1.05", 1), ("smsp__inst_executed.sum > 3", 0), ("launch__grid_size != 1", 0)],
)
def test_budgets_decide_the_exit_code(budget: str, code: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", COPY, *SMALL, "--fail-on", budget]) == code
    assert ("budget exceeded" in capsys.readouterr().err) is bool(code)


def test_json_is_one_document(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", COPY, *SMALL, "--json"]) == 0
    assert set(json.loads(capsys.readouterr().out)) == {"version", "first", "second", "comparison"}


def test_sass_verb(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sass", COPY, "--kernel", "nccopy", *SMALL]) == 0
    launched = capsys.readouterr().out
    assert "remainder by a variable" in launched
    assert "8 sectors" in launched
    assert main(["sass", COPY, "--kernel", "nccopy", "--static"]) == 0
    assert " sectors" not in capsys.readouterr().out


def test_sass_json_takes_one_kernel(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sass", COPY, "--static", "--json"]) == 2
    assert "choose one with --kernel: ccopy, nccopy" in capsys.readouterr().err
    assert main(["sass", COPY, "--static", "--json", "--kernel", "ccopy"]) == 0
    assert json.loads(capsys.readouterr().out)["kernel"] == "ccopy"


def test_a_sample_says_how_much_of_the_grid_was_run() -> None:
    x = np.ones(4096, np.float32)
    sampled = wl.compile(COPY)["ccopy"].launch((32,), (128,), x, np.zeros_like(x), np.int32(4096), sample=8)
    assert sampled.subject.part == "8 of 32 blocks were run; counts are scaled"
    assert run("ccopy").subject.part == ""


def test_bank_conflicts_that_one_kernel_has() -> None:
    """Columns of 32 floats in shared memory: 31 conflicts a warp; with a column more none."""
    source = """
    template <int PITCH> __global__ void column(float* out) {
      __shared__ float tile[32 * PITCH];
      tile[threadIdx.x * PITCH] = threadIdx.x;
      __syncwarp();
      out[threadIdx.x] = tile[threadIdx.x * PITCH];
    }
    template __global__ void column<32>(float*);
    template __global__ void column<33>(float*);
    """
    module = wl.compile(source=source)
    runs = [module[f"column<{pitch}>"].launch(1, 32, np.zeros(32, np.float32)).subject for pitch in (33, 32)]
    found = compare(*map(side, runs))
    assert conflicts(found) == "has 62 bank conflicts where there were none"
    assert conflicts(compare(*map(side, runs[::-1]))) == "has no bank conflicts instead of 62"
