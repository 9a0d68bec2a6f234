"""The page of a lab: its lesson, its table with a report behind each rung, its pictures."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from warplens.cli.main import main
from warplens.labs.lab_catalog import find, names
from warplens.labs.lesson import lesson, pictures, sources
from warplens.report.html.lab_page import prose

SMALL = ("--size", "small")


@pytest.mark.long
@pytest.mark.parametrize(
    ("lab", "sentence", "heading", "rungs", "sweeps", "folded", "roofline"),
    [
        ("banks", "Shared memory has 32 banks of 4 bytes", "Patterns", 13, 1, 6, False),
        pytest.param(  # 40 s; strides and offsets are folded
            "coalescing", "A warp executes a load for its 32 lanes at the same time.", "Strides", 70, 2, 60, True,
            marks=pytest.mark.long,
        ),
    ],
)  # fmt: skip
def test_the_page_has_the_lesson_the_pictures_and_a_report_for_each_rung(
    tmp_path: Path, lab: str, sentence: str, heading: str, rungs: int, sweeps: int, folded: int, roofline: bool
) -> None:
    path = tmp_path / "lab.html"
    assert main(["lab", lab, *SMALL, "--html", str(path)]) == 0
    page = path.read_text()
    assert sentence in page
    assert f"<h2>{heading}</h2>" in page
    assert page.count('class="picture"') == len(pictures(find(lab))) + roofline
    linked = set(re.findall(r'href="(lab_rungs/[^"]+)"', page))
    assert len(linked) == rungs
    assert {str(file.relative_to(tmp_path)) for file in (tmp_path / "lab_rungs").iterdir()} == linked
    assert page.count('<tr class="sweep"') == sweeps
    assert page.count('<tr data-of="') == folded


def test_a_lab_without_readme_has_its_title_and_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["new", "lab", "mine"]) == 0
    (tmp_path / "mine" / "README.md").unlink()
    assert main(["lab", "./mine", "--size", "n=4096", "--html", "mine.html"]) == 0
    page = Path("mine.html").read_text()
    assert "<h1>mine: what this lab shows</h1>" in page
    assert page.count('class="picture"') == 1  # the roofline of its two rungs


def test_a_folder_that_cannot_be_made_is_told_before_anything_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "lab_rungs").write_text("")
    assert main(["lab", "coalescing", *SMALL, "--html", str(tmp_path / "lab.html")]) == 2
    assert f"cannot write {tmp_path}/lab_rungs: File exists" in capsys.readouterr().err


@pytest.mark.parametrize("name", names())
def test_every_picture_and_table_of_a_lesson_is_there(name: str) -> None:
    lab = find(name)
    parts = lesson(lab)
    assert [part.kind for part in parts].count("table") == 1
    assert {part.text for part in parts if part.kind == "picture"} <= pictures(lab).keys()
    assert all(sources(lab).values())


def test_links_lead_to_reports_or_out_of_the_page_or_nowhere() -> None:
    text = "[a](1_a.cu) [b](../../docs/b.md) [c](https://example.com/c)\n\n<script>alert(1)</script>"
    found = prose(text, {"1_a.cu": "x_rungs/1_a.html"})
    assert '<a href="x_rungs/1_a.html">a</a> b <a href="https://example.com/c">c</a>' in found
    assert "<script>" not in found


@pytest.mark.long
def test_a_page_is_written_without_the_source_folder(tmp_path: Path) -> None:
    """Everything that the page shows is in the page."""
    lab = tmp_path / "pitched"
    shutil.copytree(find("pitched").folder, lab)
    assert main(["lab", str(lab), *SMALL, "--html", str(tmp_path / "page.html")]) == 0
    addresses = re.findall(r'(?:src|href)="([^"]+)"', (tmp_path / "page.html").read_text())
    assert all(a.startswith(("#", "page_rungs/", "https://")) for a in addresses)
