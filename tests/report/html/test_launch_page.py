"""The page: self-contained, well-formed, and with the same numbers as the terminal."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest

from helpers.report_runs import subject_of
from warplens.report.html.launch_page import charts, page

VOID = {"meta", "br", "path", "rect", "circle"}


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
