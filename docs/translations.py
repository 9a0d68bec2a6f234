"""Translations: which sections of a page are of an older English text than that of today.

    python docs/translations.py README.zh.md ...   after translating: the sections are of today's text

README.zh.md is of README.md, docs/zh/X of docs/X.  Each section of a translation begins with
`<!-- translated: DIGEST HEADING -->`: of which text, and of which section.  The digest is of the English section
without what its commands print, which docs/regenerate.py puts into both.  A section that is behind has a note.
"""

from __future__ import annotations

import hashlib
import re
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
LANGUAGE = "zh"
NOTE = "> 本节的英文原文已经更新，译文尚未跟上；以[英文版]({})为准。\n"
MARK = re.compile(r"^<!-- translated: (?P<digest>\w+) (?P<heading>.+) -->\n(?:> 本节的英文原文.*\n)?", re.MULTILINE)
HEADING = re.compile(r"^#{1,2} (.+)$", re.MULTILINE)
CODE = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
OUTPUT = re.compile(r"(<!-- begin: .+? -->\n).*?(<!-- end -->)", re.DOTALL)
DIGITS = 8


def original(page: Path) -> Path | None:
    """The English page of a translation; None for another page."""
    if page.name == f"README.{LANGUAGE}.md":
        return page.with_name("README.md")
    translated = ROOT / "docs" / LANGUAGE
    return ROOT / "docs" / page.relative_to(translated) if page.is_relative_to(translated) else None


def digests(english: str) -> dict[str, str]:
    """By heading, in the order of the page: the digest of the section."""
    text = OUTPUT.sub(r"\1\2", english)
    hidden = CODE.sub(lambda code: re.sub(r"[^\n]", " ", code[0]), text)  # of the same length; a # in it is no heading
    headings = list(HEADING.finditer(hidden))
    ends = [*(heading.start() for heading in headings[1:]), len(text)]
    return {
        heading[1]: hashlib.sha256(text[heading.start() : end].strip().encode()).hexdigest()[:DIGITS]
        for heading, end in zip(headings, ends, strict=True)
    }


def behind(translation: str, english: str) -> list[str]:
    """The headings of sections that are of an older text, or are not translated."""
    known = {mark["heading"]: mark["digest"] for mark in MARK.finditer(translation)}
    return [heading for heading, digest in digests(english).items() if known.get(heading) != digest]


def with_notes(translation: str, english: str, link: str) -> str:
    """The translation with a note in each section that is behind, and in no other.  ValueError for a section that the
    English page has not."""
    today = digests(english)
    if gone := [mark["heading"] for mark in MARK.finditer(translation) if mark["heading"] not in today]:
        raise ValueError(f"{link} has no section {gone[0]!r}")

    def marked(mark: re.Match[str]) -> str:
        note = "" if mark["digest"] == today[mark["heading"]] else NOTE.format(link)
        return f"<!-- translated: {mark['digest']} {mark['heading']} -->\n{note}"

    return MARK.sub(marked, translation)


def main() -> None:
    for name in sys.argv[1:]:
        page = Path(name).resolve()
        english = original(page)
        assert english is not None, f"{name} is no translation"
        today = digests(english.read_text(encoding="utf-8"))
        page.write_text(
            MARK.sub(
                lambda mark, today=today: f"<!-- translated: {today[mark['heading']]} {mark['heading']} -->\n",
                page.read_text(encoding="utf-8"),
            ),
            encoding="utf-8",
        )


if __name__ == "__main__":
    main()
