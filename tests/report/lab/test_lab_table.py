"""The table of a lab fits the terminal without cutting a number or a heading's word."""

import io
from dataclasses import replace

import pytest

from warplens.core.metric import Metric
from warplens.report.lab.lab_table import LabRow, LabTable, Predicted, lessons, show
from warplens.report.terminal.console_layout import console

COLUMNS = ("Warp instructions", "Requests", "Load efficiency %", "Store efficiency %", "Sectors a request")

TEACHES = "Lanes beside each other read words beside each other"


def row(title: str) -> LabRow:
    cells = tuple(Metric(10**7 + place, "", "exact") for place, _ in enumerate(COLUMNS))
    time = Predicted("h200", 123.4, 100.0, 150.0, "", True)
    return LabRow(title, f"{title}.cu", TEACHES, (), cells, {"h200": time}, "", None, 0.98)


@pytest.mark.parametrize("width", range(60, 101, 5))
def test_no_number_and_no_word_is_cut(width, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(width))
    rows = (row("1_neighboured"), row("13_streaming"))
    sheet = LabTable("lab", "A lab", "F", "small", COLUMNS, ("h200",), "DRAM", rows, (), ())
    out = io.StringIO()
    page = console(out)
    page.width = width
    show(sheet, page)
    text = out.getvalue()
    assert max(map(len, text.splitlines())) <= width
    words = text.split()
    assert "Lanes beside each other" in text
    for place, _ in enumerate(COLUMNS):
        assert words.count(f"{10**7 + place:,}") == 2
    assert words.count("98") == 2  # per cent
    headings = "Warp instructions Requests Load Store efficiency Sectors request Predicted of DRAM"
    assert not {*headings.split()} - {*words}


def test_what_a_sweep_shows_is_told_once():
    rows = tuple(replace(row(f"2_stride_0{n}"), teaches="More sectors") for n in (1, 2, 3))
    sheet = LabTable("lab", "A lab", "F", "small", COLUMNS, ("h200",), "DRAM", (row("1_plain"), *rows), (), ())
    assert lessons(sheet) == {"1_plain": [TEACHES], "2_stride_01 to 03": ["More sectors"]}
    limited = replace(rows[0], predicted={"h200": replace(rows[0].predicted["h200"], limit="DRAM")})
    assert lessons(replace(sheet, rows=(limited,))) == {"2_stride_01": ["More sectors", "Modelled limit: DRAM"]}
