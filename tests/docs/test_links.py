"""Documentation: relative links lead to files and headings, source paths exist, a mechanism page has one screen."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ("benchmarks", "docs", "measurements", "src", "tests")
PAGES = [*sorted(ROOT.glob("*.md")), *sorted(page for folder in FOLDERS for page in (ROOT / folder).rglob("*.md"))]
MECHANISMS = sorted((ROOT / "docs" / "mechanisms").glob("*.md"))
WITH_PATHS = [ROOT / "docs" / "architecture.md", ROOT / "docs" / "model.md", *MECHANISMS]
FENCED, INLINE = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE), re.compile(r"`[^`\n]*`")
LINK = re.compile(r"(?<!!)\[(?:[^\[\]]|\[[^\]]*\])*\]\(([^)\s]+)\)")
SOURCES = ROOT / "src" / "warplens"
LONGEST = 5_000  # characters of a mechanism page


def named(page: Path) -> str:
    return str(page.relative_to(ROOT))


@cache
def anchors(page: Path) -> frozenset[str]:
    """The anchors that GitHub makes of a page's headings."""
    found: list[str] = []
    for heading in re.findall(r"^#+ (.*)$", FENCED.sub("", page.read_text()), re.MULTILINE):
        text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").strip().lower()
        slug = re.sub(r"[^\w\- ]", "", text).replace(" ", "-")
        found.append(f"{slug}-{found.count(slug)}" if slug in found else slug)
    return frozenset(found)


def broken(page: Path) -> list[str]:
    wrong = []
    for link in LINK.findall(INLINE.sub("`", FENCED.sub("", page.read_text()))):
        path, _, anchor = link.partition("#")
        if "://" in link or link.startswith("mailto:"):
            continue
        target = page.parent / path if path else page
        if not target.exists() or (anchor and target.suffix == ".md" and anchor not in anchors(target)):
            wrong.append(link)
    return wrong


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_relative_links_lead_to_files_and_headings(page: Path) -> None:
    assert broken(page) == []


def test_a_broken_link_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "# A `b` c, d\n[good](#a-b-c-d) [bad](#a-b) [no file](none.md) `[code](none.md)` [out](https://x.y)"
    )
    assert broken(page) == ["#a-b", "none.md"]


@pytest.mark.parametrize("page", WITH_PATHS, ids=named)
def test_source_paths_exist(page: Path) -> None:
    """Paths in backticks: from the root, or within src/warplens; a bare file name is in the folder named before it."""
    missing, folder = [], ROOT
    for path in re.findall(r"`([\w/]+\.(?:py|toml|cu)|[\w/]+/)`", FENCED.sub("", page.read_text())):
        places = [ROOT / path, SOURCES / path, SOURCES / "model" / path]
        if "/" not in path:
            places = [folder / path, ROOT / path, *SOURCES.rglob(path), *(ROOT / "tests").rglob(path)]
        found = [place for place in places if place.exists()]
        if not found:
            missing.append(path)
        elif "/" in path:
            folder = found[0].parent
    assert missing == []


@pytest.mark.parametrize("page", MECHANISMS, ids=named)
def test_a_mechanism_page_is_short(page: Path) -> None:
    assert len(page.read_text()) <= LONGEST
