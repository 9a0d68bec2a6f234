"""The page: self-contained, well-formed, and with the same numbers as the terminal."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from helpers.made_up_predictions import predicted
from helpers.report_runs import RUNS, subject_of
from warplens.commands.target import targets
from warplens.report.html.launch_page import page, view
from warplens.report.html.occupancy_curves import charts
from warplens.report.html.page_shell import asset
from warplens.report.json.document import document

VOID = {"meta", "br", "path", "rect", "circle", "col", "input"}


class Reader(HTMLParser):
    """Checks that tags nest, and gathers addresses and text."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.addresses: list[str] = []
        self.words: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.addresses += [value or "" for name, value in attrs if name in ("src", "href")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def read(text: str) -> Reader:
    reader = Reader()
    reader.feed(text)
    reader.close()
    assert reader.open == []
    return reader


@pytest.mark.parametrize("names", [["ccopy"], ["nccopy", "transpose"], ["odd", "matmul", "foreign"]])
def test_is_one_page_that_needs_nothing_else(names: list[str]) -> None:
    text = page([subject_of(name) for name in names])
    reader = read(text)
    assert all(address.startswith("#") for address in reader.addresses)
    assert "@import" not in text
    assert "url(" not in text


def test_shows_the_numbers_of_the_run() -> None:
    words = read(page([subject_of("nccopy")])).words
    subject = subject_of("nccopy")
    assert f"{subject['smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ld.sum']:,}" in words
    assert any("50 % of sectors wasted" in word for word in words)


def test_source_is_escaped() -> None:
    text = page([subject_of("nccopy")])
    assert "if (i &lt; n) out[i] = in[(2 * i) % n];" in text


def test_the_point_lies_on_its_curve() -> None:
    subject = subject_of("matmul")
    for chart in charts(subject):
        height, last = 0.0, 0.0
        start, *steps = chart.path[1:].split("H")
        height = float(start.split()[1])
        for step in steps:
            x, _, y = step.partition("V")
            if last <= chart.x < float(x):
                break
            last, height = float(x), float(y) if y else height
        assert chart.y == height


def test_what_the_kernel_printed_is_shown_as_it_is() -> None:
    text = page([subject_of("prints")])
    assert "block 1, &lt;lane&gt; 24\n</pre>" in text
    assert "Printed by the Kernel" not in page([subject_of("ccopy")])


def test_all_metrics_have_the_values_of_the_document() -> None:
    subject = predicted("nccopy")
    told = document(subject)["metrics"]
    rows = {row.name: row for row in view(subject).metrics}
    assert rows.keys() == told.keys()
    for name, row in rows.items():
        assert row.provenance == told[name]["provenance"]
        assert float(row.value.replace(",", "")) == pytest.approx(told[name]["value"], rel=1e-5)


def test_contents_lead_to_the_parts_of_the_page() -> None:
    text = page([predicted("nccopy"), subject_of("matmul")])
    links = set(re.findall(r'href="#([^"]+)"', text))
    assert {"k1-verdict", "k1-light", "k1-memory", "k2-code"} <= links
    assert links <= set(re.findall(r'id="([^"]+)"', text))


def test_names_and_source_of_any_kind_are_escaped() -> None:
    subject = subject_of("nccopy")
    (name,) = subject.sources
    evil = "</td></script><script>alert(1)</script><!-- ½ 核 \u202e -->"
    text = page([replace(subject, title=evil, file=evil, sources={name: "\n".join([evil] * 60)})])
    assert "<script>alert" not in text
    assert "&lt;script&gt;alert(1)" in text
    read(text)


def test_a_million_lines_of_output_are_cut() -> None:
    subject = subject_of("prints")
    text = page([replace(subject, trace=replace(subject.trace, printed="line\n" * 1_000_000))])
    assert len(text) < 2_000_000
    assert "4,900,000 more characters are left out" in text


def test_size_of_style_and_script() -> None:
    assert len(asset("page.js")) < 30_000
    assert len(asset("page.css")) < 40_000


def test_access_pictures_stand_on_the_page_of_a_run() -> None:
    (target,) = targets(*RUNS["nccopy"])
    text = page([target.run().page_subject])
    assert "Typical request of LDG.E" in text
    assert "50 % of the bytes moved are asked for" in text
    assert "16 of 32 bytes never used" in text
    read(text)
