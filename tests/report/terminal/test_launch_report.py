"""The report in the terminal: width, colour, what stands in it."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest

from helpers.made_up_predictions import predicted
from helpers.report_runs import subject_of
from warplens.counters.occupancy import occupancy as resident
from warplens.machine import machine
from warplens.report import tables
from warplens.report.block_resources import BlockResources
from warplens.report.terminal import console_layout, launch_report, occupancy_report, prediction_report


def shown(name: str, width: int, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("COLUMNS", str(width))
    out = io.StringIO()
    launch_report.show(subject_of(name), console_layout.console(out), 10)
    return out.getvalue()


@pytest.mark.parametrize("name", ["ccopy", "nccopy", "transpose", "odd", "matmul"])
@pytest.mark.parametrize(("columns", "width"), [(60, 60), (80, 80), (100, 100), (140, 140), (200, 140)])
def test_fits_the_terminal(name: str, columns: int, width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    assert max(map(len, shown(name, columns, monkeypatch).split("\n"))) <= width


@pytest.mark.parametrize("name", ["ccopy", "nccopy", "transpose", "odd", "matmul"])
@pytest.mark.parametrize("width", [60, 80, 100, 140])
@pytest.mark.parametrize("times", [1, 10**6])
def test_nothing_but_code_and_source_is_cut(name: str, width: int, times: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """And these not where there is room for them."""
    subject = predicted(name)
    trace = subject.trace
    counts = {key: getattr(trace, key) * times for key in ("executed", "requests", "sectors", "wavefronts", "ideal")}
    monkeypatch.setenv("COLUMNS", str(width))
    out = io.StringIO()
    launch_report.show(replace(subject, trace=replace(trace, **counts)), console_layout.console(out), 10)
    whole = {line.strip() for text in subject.sources.values() for line in text.split("\n")}
    whole |= {launch_report.instruction(row, console_layout.number)[0][1] for row in tables.hottest(subject, 10)}
    for cut in (line.split("…")[0] for line in out.getvalue().split("\n") if "…" in line):
        text = cut.split(maxsplit=1)[1]  # behind the line's number or the offset
        assert any(known.startswith(text) for known in whole), cut
        assert len(text) > (60 if width == 140 else 5)


@pytest.mark.parametrize("width", [80, 100, 140])
def test_numbers_are_whole_at_any_width(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    text = shown("nccopy", width, monkeypatch)
    (load,) = [line.split() for line in text.split("\n") if line.startswith("Global Load")]
    assert load[-6:-1] == ["8,192", "8.00", "4,096", "4,096", "50"]


@pytest.mark.parametrize("name", ["transpose", "odd", "matmul"])
@pytest.mark.parametrize("width", [60, 80, 100, 140])
@pytest.mark.parametrize("times", [1, 1000, 10**6, 10**9])
def test_no_number_of_the_memory_tables_is_cut(
    name: str, width: int, times: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    subject = subject_of(name)
    trace = subject.trace
    counts = {key: getattr(trace, key) * times for key in ("executed", "requests", "sectors", "wavefronts", "ideal")}
    large = replace(subject, trace=replace(trace, **counts))
    monkeypatch.setenv("COLUMNS", str(width))
    out = io.StringIO()
    console = console_layout.console(out)
    for section in (launch_report.sectors, launch_report.wavefronts):
        if shown := section(large, width):
            console.print(shown)
    lines = out.getvalue().split("\n")
    assert len([line for line in lines if line.startswith(("Global", "Shared L", "Shared S"))]) > 1
    assert max(map(len, lines)) <= width
    assert "…" not in out.getvalue()


@pytest.mark.parametrize(
    ("amount", "text"),
    [(0, "0"), (99_999, "99,999"), (16_777_216, "16.8 M"), (131_072, "131 k"), (1_533_280_000, "1.53 G")],
)
def test_short_numbers(amount: int, text: str) -> None:
    assert console_layout.short(amount) == text


def test_no_colour_where_there_is_no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "\x1b" not in shown("nccopy", 100, monkeypatch)


def test_every_section_says_where_its_numbers_come_from(monkeypatch: pytest.MonkeyPatch) -> None:
    text = shown("transpose", 100, monkeypatch)
    memory = ["Global and Local Memory", "Shared Memory: Bank Conflicts"]
    for title in (
        "Occupancy",
        "Instruction Mix",
        *memory,
        "Divergence",
        "Hottest Source Lines",
        "Hottest Instructions",
    ):
        assert f"\n{title}  exact\n" in text


def test_atomics_say_that_a_gpu_may_read_more(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "Global Reduction*" in shown("odd", 100, monkeypatch)
    assert "* modelled" in shown("odd", 100, monkeypatch)
    assert "* modelled" not in shown("ccopy", 100, monkeypatch)


def test_names_the_gpu_and_who_chose_it(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "NVIDIA H200 SXM (named by --gpu)" in shown("ccopy", 100, monkeypatch)


def test_says_when_the_code_is_for_another_chip(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "machine code is for sm_80, the limits are those of the NVIDIA H200 SXM" in shown(
        "foreign", 100, monkeypatch
    )
    assert "machine code is for" not in shown("ccopy", 100, monkeypatch)


@pytest.mark.parametrize(
    "block", [BlockResources(32, 256, 2048), BlockResources(8, 128), BlockResources(72, 1000), BlockResources(255, 32)]
)
def test_the_chart_is_as_high_as_the_curve(block: BlockResources) -> None:
    out = io.StringIO()
    gpu = machine("h200")
    occupancy_report.show("the block", gpu, block, console_layout.console(out))
    here = resident(gpu, *block)
    text = out.getvalue()
    assert max(map(len, text.split("\n"))) <= 100
    assert text.count("▲") == 3
    assert f"{here.warps} of 64 per SM" in text if here.blocks else "does not fit" in text


def test_chart_of_a_known_curve() -> None:
    curve = ((0, 64), (1, 32), (2, 0), (3, 64))
    lines = str(occupancy_report.chart(curve, 2, 64)).split("\n")
    wide = occupancy_report.COLUMNS // 4
    assert lines[0] == "  64 ┤" + "█" * wide + " " * 2 * wide + "█" * wide
    assert lines[5] == "     │" + "█" * 2 * wide + " " * wide + "█" * wide
    assert lines[7].index("▲") == 6 + 2 * wide


def test_what_the_kernel_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    text = shown("prints", 100, monkeypatch)
    assert "Printed by the Kernel\nblock 0, <lane> 0\n" in text
    assert "block 1, <lane> 14\n... 10 more lines: --json\n" in text
    notes = " ".join(text.split())
    assert "the kernel reads a clock, which counts instructions here" in notes
    assert "the instructions inside of vprintf are the driver's and not counted" in notes
    assert "Printed" not in shown("ccopy", 100, monkeypatch)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("file", [Terminal(), io.StringIO()])
def test_colour_where_the_standard_output_is_a_terminal(file: io.StringIO, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setattr(console_layout.sys, "stdout", file)
    console_layout.console().print("words", style="red")
    assert ("\x1b[" in file.getvalue()) == file.isatty()


def test_bars_are_cut_and_never_wrapped() -> None:
    prediction = predicted("ccopy").prediction
    assert prediction
    out = console_layout.console(file := io.StringIO())
    out.width = 44
    out.print(prediction_report.speed_of_light(prediction, bars=True))
    lines = file.getvalue().splitlines()
    assert sum("█" in line or "─" in line for line in lines) == len(prediction.units)
