"""Translations: sections that are behind the English text are found, and have a note; all pages are whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from helpers.programs import module_of

translations = module_of("docs/translations.py", "translations")
ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.zh.md", *sorted((ROOT / "docs" / "zh").rglob("*.md"))]

ENGLISH = """# A page

Text.

```sh
# no heading
```

## Counts

<!-- begin: count -->
| 1 |
<!-- end -->
"""


def translated(english: str) -> str:
    """A translation of today's text."""
    today = translations.digests(english)
    return "".join(f"<!-- translated: {digest} {name} -->\n# 页\n" for name, digest in today.items())


def test_what_a_command_prints_is_no_change_of_the_text() -> None:
    assert list(translations.digests(ENGLISH)) == ["A page", "Counts"]
    assert translations.digests(ENGLISH.replace("| 1 |", "| 2 |")) == translations.digests(ENGLISH)


def test_a_section_that_is_behind_has_a_note_until_it_is_translated() -> None:
    page, changed = translated(ENGLISH), ENGLISH.replace("begin: count", "begin: count all")
    assert translations.behind(page, ENGLISH) == []
    assert translations.with_notes(page, ENGLISH, "page.md") == page
    assert translations.behind(page, changed) == ["Counts"]
    noted = translations.with_notes(page, changed, "page.md")
    assert noted.count("[英文版](page.md)") == 1
    assert noted.index("Counts") < noted.index("[英文版]")
    assert translations.with_notes(noted, changed, "page.md") == noted
    assert translations.with_notes(noted, ENGLISH, "page.md") == page


def test_sections_that_are_missing_or_too_many() -> None:
    longer = f"{ENGLISH}\n## New\n"
    assert translations.behind(translated(ENGLISH), longer) == ["New"]
    with pytest.raises(ValueError, match="no section 'New'"):
        translations.with_notes(translated(longer), ENGLISH, "page.md")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_notes_of_a_page_are_right(page: Path) -> None:
    english, text = translations.original(page), page.read_text(encoding="utf-8")
    link = "README.md" if page.parent == ROOT else f"../../{english.relative_to(ROOT / 'docs')}"
    assert translations.with_notes(text, english.read_text(encoding="utf-8"), link) == text
