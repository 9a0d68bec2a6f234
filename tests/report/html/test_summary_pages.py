"""Pages of comparisons, suggestions and programs: the words and numbers of their other reports, one file each."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from helpers.made_up_predictions import predicted
from helpers.report_runs import COPY, subject_of
from report.html.test_launch_page import read
from warplens.cli.main import main
from warplens.core.launch import Launch
from warplens.counters.comparison import compare
from warplens.machine import machine
from warplens.report.html import comparison_page, program_page, suggestion_page
from warplens.report.program_view import LaunchGroup, ProgramView, Transfer
from warplens.report.suggestion_view import (
    ChangeView,
    FindingView,
    ProgramKernelView,
    ProgramSuggestionView,
    RejectedView,
    SuggestionView,
)
from warplens.report.terminal import comparison_report, program_suggestion_report
from warplens.report.terminal.console_layout import console
from warplens.report.timeline import Timeline, Track, Work


def words(text: str) -> str:
    reader = read(text)
    assert all(address.startswith("#") for address in reader.addresses)
    return " ".join(" ".join(reader.words).split())


def test_a_comparison_has_the_verdict_the_factors_and_both_launches() -> None:
    first, second = subject_of("ccopy"), predicted("nccopy")
    found = compare(comparison_report.side(first), comparison_report.side(second))
    text = words(comparison_page.page(found, first, second))
    assert comparison_report.verdict(found) in text
    assert "remainder by a variable 0 21 +21" in text
    assert "90 % interval 72.5 µs - 1.23 ms" in text
    assert "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum 4,096 8,192 × 2" in text
    assert text.count("Source and SASS exact") == 2


def suggestion() -> SuggestionView:
    counts = {"smsp__inst_executed.sum": (400.0, 200.0)}
    change = ChangeView("pad <rows>", "pad_shared_row", 32, 80.0, 40.0, "equal bit for bit", "", counts)
    finding = FindingView("bank_conflicts", "bank conflicts & more", 37, 0.5, True)
    return SuggestionView(
        "k<1>", "NVIDIA H200 SXM", 80.0, 70.0, 90.0, 40.0, "", [finding], [change],
        [RejectedView("unroll by 4", 34, "no measurable gain")], [RejectedView("tile", 0, "not possible")],
        "grid n / 2", "--- a/k.cu\n+++ b/k.cu\n@@ -1 +1 @@\n-float a<b;\n+float a<c;", 0.05, 0.1,
    )  # fmt: skip


def test_a_suggestion_has_its_changes_with_the_difference_of_the_source() -> None:
    page = suggestion_page.page([suggestion()], [subject_of("nccopy")])
    text = words(page)
    assert "pad <rows> (line 32): 80.0 µs → 40.0 µs (50 % less)" in text
    assert "smsp__inst_executed.sum 400 → 200" in text
    assert '<span class="del">-float a&lt;b;</span><span class="add">+float a&lt;c;</span>' in page
    assert "unroll by 4 34 no measurable gain" in text
    assert "The launch changes: grid n / 2" in text
    assert "at most 50 % less time without it bank_conflicts" in text


def suggested_program() -> ProgramSuggestionView:
    changed = ProgramKernelView("k<1>", 3, 240.0, 120.0, suggestion())
    other = ProgramKernelView("init", 1, 60.0, 60.0, None, "its definition is in none of the program's files")
    return ProgramSuggestionView(
        "main.cu 5", "NVIDIA H200 SXM", 300.0, 180.0, 0, "the changed program prints the same", [changed, other],
        ["pageable transfers: 1"], suggestion().diff,
    )  # fmt: skip


def test_a_suggested_program_has_its_kernels_and_the_difference_of_its_files_once() -> None:
    page = suggestion_page.program_page(suggested_program(), [subject_of("nccopy")])
    text = words(page)
    assert "main.cu 5 on NVIDIA H200 SXM: kernels 300 µs predicted, 180 µs after 1 change (40 % less)" in text
    assert "Exit code 0; the changed program prints the same." in text
    assert "k<1> 3 240 µs 80 % 120 µs 50 %" in text
    assert "init: not changed: its definition is in none of the program's files" in text
    assert page.count("-float a&lt;b;") == 1


def test_the_same_in_a_terminal_and_in_few_sentences() -> None:
    out = io.StringIO()
    program_suggestion_report.show(suggested_program(), console(out))
    shown = " ".join(out.getvalue().split())
    assert shown.count("-float a<b;") == 1
    assert shown.count("Times are predicted") == 1
    assert "pageable transfers: 1" in shown
    brief = program_suggestion_report.brief(suggested_program()).split("\n")
    assert len(brief) <= program_suggestion_report.MOST_SENTENCES
    assert brief[-1].startswith("Times are predicted")


def program() -> ProgramView:
    timeline = Timeline()
    track = timeline.number_of_track(Track(1, 0))
    timeline.add(track, timeline.number_of_work(Work("kernel", "scale")), 0, 60_000)
    timeline.add(track, timeline.number_of_work(Work("copy", "host to device")), 60_000, 20_000, 4096)
    subject = predicted("nccopy")
    launch = Launch((8, 1, 1), (64, 1, 1))
    group = LaunchGroup("scale", launch, 4, 1, 0, 0, 60.0, 50.0, 70.0, limit="DRAM", first=subject)
    return ProgramView(
        "./app <1>", machine("h200"), groups=[group], transfers={"host to device": Transfer(1, 4096, 20.0)},
        timeline=timeline, missing=["cuSome"],
    )  # fmt: skip


def test_a_program_has_its_kernels_streams_and_copies() -> None:
    text = words(program_page.page(program()))
    assert "./app <1>: 4 launches on the NVIDIA H200 SXM, 60.0 µs predicted" in text
    assert "scale 8 64 4 60.0 µs 100 % 15.0 µs 12.5-17.5 µs DRAM" in text
    assert "the GPU is busy 100 % of 80.0 µs" in text
    assert "host to device 1 4.10 KB 20.0 µs" in text
    assert "not provided, answered with error 801: cuSome" in text
    assert "nccopy: uncoalesced global loads" in text
    read(program_page.page(ProgramView("true", machine("h200"))))


def test_compare_writes_a_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "pair.html"
    asked = ["compare", COPY, "ccopy", "nccopy", "--set", "n=4096", "--gpu", "none", "--html", str(file)]
    assert main(asked) == 0
    assert capsys.readouterr().out == f"written to {file}\n"
    assert "nccopy executes 2.38 times the instructions of ccopy" in words(file.read_text())
    assert main([*asked, "--json"]) == 2
    assert "--json and --html exclude each other" in capsys.readouterr().err
