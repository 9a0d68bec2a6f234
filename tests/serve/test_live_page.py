"""The page in a browser: an edit brings counts and prediction, and errors mark their line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from helpers.chromium import NARROW, WIDE, violations
from warplens.serve.http_server import PageServer

ENDED = "#status:has-text('after'):not(:has-text('counts')):not(:has-text('prediction'))"
SIZES = [(WIDE, "light"), pytest.param(NARROW, "dark", marks=pytest.mark.long)]


@pytest.fixture
def opened(browser: Any, server: PageServer) -> Iterator[Any]:
    """Opens the page; at the end there must have been no error in it, and no request to another server."""
    errors: list[str] = []
    contexts = []

    def open_page(size: dict[str, int] = WIDE, scheme: str = "light") -> Any:
        contexts.append(browser.new_context(viewport=size, color_scheme=scheme))
        page = contexts[-1].new_page()
        page.set_default_timeout(60_000)
        page.on("console", lambda said: errors.append(said.text) if said.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: errors.append(str(error)))
        own = server.url.partition("?")[0], "data:", "blob:"
        page.on("request", lambda made: None if made.url.startswith(own) else errors.append(made.url))
        page.goto(server.url)
        wait(page)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert errors == []


def wait(page: Any, failed: bool = False) -> None:
    """Until the page has all results of its kernels, or their error."""
    page.wait_for_selector(ENDED)
    assert page.is_visible("#problem") == failed, page.inner_text("#problem")


def edit(page: Any, old: str, new: str, failed: bool = False) -> None:
    page.fill("#source", page.input_value("#source").replace(old, new))
    page.wait_for_selector("#status:has-text('edited')")
    wait(page, failed)


@pytest.mark.parametrize(("size", "scheme"), SIZES)
def test_accessible_and_no_wider_than_the_window(opened: Any, size: dict[str, int], scheme: str) -> None:
    page = opened(size, scheme)
    assert page.evaluate("document.documentElement.scrollWidth") == size["width"]
    assert page.is_visible("#panels .pane tr[data-line]")
    assert violations(page) == []


def test_an_edit_is_counted_and_compared_with_the_state_before(opened: Any) -> None:
    page = opened()
    edit(page, "x[i]", "x[(2 * i) & (n - 1)]")
    row = page.locator("#changes tbody tr:has-text('Sectors')").first
    assert row.locator("td").all_inner_texts() == ["1,024", "1,536", "× 1.5", "exact"]
    assert "sectors wasted" in page.inner_text("#panels h2")
    page.locator("#panels tr[data-line]:has-text('LDG')").first.click()
    assert page.inner_text("#editor .gutter .seen").endswith("12")
    page.locator("#panels .pane").press("Home")
    page.locator("#panels .pane").press("k")
    assert page.locator("#panels tr.at").count() == 1


def test_a_fault_marks_its_line_and_is_gone_after_the_next_edit(opened: Any) -> None:
    page = opened()
    edit(page, "y[i]", "y[i + n]", failed=True)
    assert "out-of-bounds global write" in page.inner_text("#problem")
    assert page.inner_text("#editor .gutter .wrong").endswith("12")
    assert page.is_visible("#panels .stale")
    assert violations(page) == []
    edit(page, "y[i + n]", "y[i]")
    assert not page.is_visible("#problem")
    assert page.locator("#editor .gutter .wrong").count() == 0


def test_rungs_are_climbed_and_the_report_is_saved(opened: Any) -> None:
    page = opened()
    page.select_option("#gpu", "none")
    page.select_option("#lab", "wide")
    page.wait_for_selector("#file:has-text('wide/')")
    wait(page)
    first = page.input_value("#rung")
    page.click("#up")
    page.wait_for_function("first => document.getElementById('rung').value !== first", arg=first)
    page.wait_for_selector("#changes:visible")
    wait(page)
    with page.expect_download() as saved:
        page.click("#report")
    assert Path(saved.value.path()).read_text().startswith("<!doctype html>")


def test_keys_of_the_editor(opened: Any) -> None:
    page = opened()
    page.focus("#source")
    page.keyboard.press("Control+Home")
    page.keyboard.press("Tab")
    assert page.input_value("#source").startswith("  //")
    page.keyboard.press("Shift+Tab")
    assert page.input_value("#source").startswith("//")
    page.keyboard.press("Escape")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") != "source"
    wait(page)
