"""Chromium for tests of pages, one a worker, and what makes a page accessible."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from importlib.resources import files
from typing import Any

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking")
WIDE, NARROW = {"width": 1280, "height": 900}, {"width": 400, "height": 900}


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    if CHROMIUM is None:
        if os.environ.get("CI"):
            pytest.fail("CI has no Chromium: .ci/run installs it")
        pytest.skip("no Chromium is installed")
    driver = pytest.importorskip("playwright.sync_api", reason="Playwright of requirements-dev.lock is not installed")
    with driver.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        yield chromium
        chromium.close()


def violations(page: Any) -> list[str]:
    """Of axe-core's rules, which take long on long listings: the first rows stand for all."""
    page.evaluate(files("axe_playwright_python").joinpath("axe.min.js").read_text("utf-8"))
    found = page.evaluate("axe.run({exclude: ['.code tbody tr:nth-child(n + 8)']})")["violations"]
    return [f"{fault['id']}: {fault['nodes'][0]['html'][:200]}" for fault in found]
