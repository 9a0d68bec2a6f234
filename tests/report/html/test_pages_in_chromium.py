"""Pages in a real browser: no error, no fault of accessibility, and each control does what it says."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from helpers.chromium import NARROW, WIDE, violations
from helpers.made_up_predictions import predicted
from helpers.report_runs import RUNS, subject_of
from warplens.commands.target import targets
from warplens.report.html import launch_page

SIZES = [(WIDE, "light"), pytest.param(NARROW, "dark", marks=pytest.mark.long)]


@pytest.fixture
def opened(browser: Any, tmp_path: Path) -> Iterator[Any]:
    """Opens the text of a page; at the end there must have been no error in it."""
    errors: list[str] = []
    contexts = []

    def open_page(text: str, size: dict[str, int] = WIDE, scheme: str = "light") -> Any:
        file = tmp_path / "page.html"
        file.write_text(text, encoding="utf-8")
        contexts.append(browser.new_context(viewport=size, color_scheme=scheme, bypass_csp=True))
        page = contexts[-1].new_page()
        page.set_default_timeout(10_000)
        page.on(
            "console", lambda message: errors.append(message.text) if message.type in ("error", "warning") else None
        )
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on(
            "request",
            lambda made: None if made.url.startswith(("file:", "data:", "blob:")) else errors.append(made.url),
        )
        page.goto(file.as_uri())
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert errors == []


@pytest.fixture(scope="module")
def text() -> str:
    return launch_page.page([predicted("nccopy"), subject_of("matmul")])


@pytest.mark.parametrize(("size", "scheme"), SIZES)
def test_accessible_and_no_wider_than_the_window(opened: Any, size: dict[str, int], scheme: str) -> None:
    page = opened(launch_page.page([predicted("nccopy")]), size, scheme)
    assert page.evaluate("document.documentElement.scrollWidth") == size["width"]
    assert violations(page) == []


@pytest.mark.parametrize("size", [WIDE, NARROW])
def test_provenance_stays_within_its_figure(opened: Any, size: dict[str, int]) -> None:
    page = opened(launch_page.page([predicted("nccopy", calibrated="")]), size)
    assert "uncalibrated" in page.inner_text(".figures")
    assert page.evaluate(
        "[...document.querySelectorAll('.figures .badge')].every(badge =>"
        " badge.getBoundingClientRect().right <= badge.closest('.figures > div').getBoundingClientRect().right)"
    )


def test_theme_is_that_of_the_system_until_one_is_chosen(opened: Any, text: str) -> None:
    page = opened(text, WIDE, "dark")
    colour = "getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(colour)
    page.click("#theme")
    assert page.inner_text("#theme") == "Theme: light"
    assert page.evaluate(colour) != dark
    page.click("#theme")
    assert page.evaluate(colour) == dark


def test_a_line_marks_its_instructions_and_they_their_line(opened: Any, text: str) -> None:
    page = opened(text)
    page.click("#k1-listing .source td.c:has-text('in[(2 * i)')")
    on = page.locator("#k1-listing .sass tr.on")
    assert on.count() > 10
    page.locator("#k1-listing .sass tr:has-text('LDG.E')").first.click()
    assert "in[(2 * i)" in page.inner_text("#k1-listing .source tr.on")
    assert "LDG.E" in page.inner_text("#k1-code .detail")
    assert page.locator("#k1-listing tr.from").count() >= 1
    assert page.locator("#k1-listing tr.uses").count() >= 1


def test_heat_follows_the_choice_and_numbers_stand_beside_it(opened: Any, text: str) -> None:
    page = opened(text)
    page.select_option("#k1-code .heat", "sectors")
    hot = page.locator("#k1-listing .sass td[class*='h5']")
    assert [cell.inner_text() for cell in hot.all()] == ["8,192"]
    assert page.locator("#k1-listing .source thead th:visible").all_inner_texts() == ["Line", "Sectors", "Source"]
    page.click("#k1-code .counts")
    assert "Executed" in page.locator("#k1-listing .source thead th:visible").all_inner_texts()


def test_search_steps_through_hits(opened: Any, text: str) -> None:
    page = opened(text)
    page.fill("#k1-code .find", "imad")
    page.wait_for_selector("#k1-code .count:has-text('1 of')")
    hits = page.locator("#k1-listing tr.hit").count()
    page.press("#k1-code .find", "Enter")
    assert page.inner_text("#k1-code .count") == f"2 of {hits}"
    page.fill("#k1-code .find", "no such thing")
    page.wait_for_selector("#k1-code .count:has-text('not found')")


def test_folding_columns_and_keys(opened: Any, text: str) -> None:
    page = opened(text)
    rows = "#k2-listing .sass tr:not(.fold):visible"
    before = page.locator(rows).count()
    page.locator("#k2-listing .sass .fold button").first.click()
    assert page.locator(rows).count() < before
    page.click("#k2-code .foldall")
    assert page.locator(rows).count() == 1  # the heading
    page.click("#k2-code .foldall")
    assert page.locator(rows).count() == before
    page.click("#k2-code .column:has-text('Control')")
    assert not page.is_visible("#k2-listing .sass th:has-text('Control code')")
    pane = page.locator("#k2-listing .pane").last
    pane.press("j")
    pane.press("j")
    assert page.inner_text("#k2-listing tr.at td.n") == "0010"
    pane.press("f")
    assert page.locator("#k2-listing .sass .fold button").first.get_attribute("aria-expanded") == "false"


def test_a_finding_leads_to_its_line(opened: Any, text: str) -> None:
    page = opened(text)
    page.locator("#k1-findings a").first.click()
    assert "in[(2 * i) % n]" in page.inner_text("#k1-listing .source tr.at")


def test_metrics_are_filtered(opened: Any, text: str) -> None:
    page = opened(text)
    page.click("#k1-metrics summary")
    page.fill("#k1-metrics .filter", "dram read")
    page.wait_for_selector("#k1-metrics .count:has-text(' of ')")
    assert page.locator("#k1-metrics tbody tr:visible th").all_inner_texts()[0].startswith("dram__bytes_read")


def test_of_a_long_listing_only_what_is_in_view_is_laid_out(opened: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the same controls."""
    monkeypatch.setattr(launch_page, "LIVE_ROWS", 10)
    page = opened(launch_page.page([subject_of("matmul")]))
    body = subject_of("matmul").program.body
    assert page.get_attribute("#k1-listing .sass", "aria-rowcount") is not None
    page.fill("#k1-code .find", f"{body[-1].offset:04x}")
    page.wait_for_selector("#k1-code .count:has-text('1 of')")
    assert page.inner_text("#k1-listing tr.at td.n") == f"{body[-1].offset:04x}"
    page.click("#k1-code .foldall")
    assert page.locator("#k1-listing .sass tbody tr:not(.fold):not([aria-hidden])").count() == 0


def test_without_source_or_with_one_that_is_html(opened: Any) -> None:
    subject = subject_of("nccopy")
    (name,) = subject.sources
    evil = "</td></script><script>document.title = 'taken'</script><img src=x onerror=alert(1)> 核函数 \u202e"
    page = opened(launch_page.page([
        replace(subject, sources={}), replace(subject, title=evil, file=evil, sources={name: "\n".join([evil] * 60)}),
    ]))  # fmt: skip
    assert page.title().endswith("· warplens")
    assert page.is_visible("#k1-code .warn:has-text('is not known')")
    assert page.locator("#k2-listing img").count() == 0


def test_the_timeline_is_drawn_zoomed_and_saved(opened: Any) -> None:
    (target,) = targets(*RUNS["transpose"])
    page = opened(launch_page.page([target.run().timed().page_subject]))
    canvas = page.locator("#k1-timeline canvas")
    canvas.scroll_into_view_if_needed()
    canvas.hover(position={"x": 400, "y": 5})
    told = page.inner_text("#k1-timeline .at")
    assert told.startswith("Block 0, warp ")
    page.click("#k1-timeline .nearer")
    canvas.press("ArrowRight")
    with page.expect_download() as saved:
        page.click("#k1-timeline .save")
    assert saved.value.suggested_filename == "transpose.trace.json"
    assert '"traceEvents":[' in Path(saved.value.path()).read_text()
    page.click("#k1-timeline summary")
    assert page.is_visible("#k1-timeline th:has-text('long_scoreboard')")
