"""Navigation: which pages the site has, and which of them its sidebar lists below which."""

from __future__ import annotations

import re
import tomllib
from fnmatch import fnmatchcase
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDERS = ("benchmarks", "docs", "measurements", "src/warplens/labs", "tests")
LINK = re.compile(r"\]\(([^)#\s]+)\.md(?:#[^)\s]*)?\)")
LINKS = "links"

Headings = dict[str, list[str]]


def pages() -> list[str]:
    """Every Markdown page of the repository, without its suffix; of folders that begin with "_" none."""
    found = [*ROOT.glob("*.md"), *(page for folder in FOLDERS for page in (ROOT / folder).rglob("*.md"))]
    names = (page.relative_to(ROOT) for page in found)
    return sorted(str(name.with_suffix("")) for name in names if not any(part.startswith("_") for part in name.parts))


def navigation() -> dict[str, Headings]:
    """By page, then by heading: the pages listed there, each page in one place only."""
    asked = {
        page: {heading: [entry.rpartition("=")[2] for entry in names] for heading, names in headings.items()}
        for page, headings in written().items()
    }
    known = set(pages())
    placed = {name for headings in asked.values() for names in headings.values() for name in names}
    placed.add("README")
    found: dict[tuple[str, str], list[str]] = {}

    def meant(page: str, entry: str) -> list[str]:
        """The pages of an entry; those of links and patterns only if nothing else has them."""
        if entry in known:
            return [entry]
        candidates = linked(page) if entry == LINKS else matching(entry)
        free = [name for name in candidates if name in known and name not in placed]
        placed.update(free)
        return free

    entries = [
        (page, entry) for page, headings in asked.items() for names in headings.values() for entry in names
    ]  # fmt: skip
    for page, entry in sorted(entries, key=lambda each: each[1] != LINKS):  # links first: patterns have what is left
        found[page, entry] = meant(page, entry)
    return {
        page: {heading: [name for entry in names for name in found[page, entry]] for heading, names in headings.items()}
        for page, headings in asked.items()
    }


def titles() -> dict[str, str]:
    """By page: the title that the sidebar has for it, where that is not the page's own."""
    entries = [entry for headings in written().values() for names in headings.values() for entry in names]
    return {name: title for title, _, name in (entry.rpartition("=") for entry in entries) if title}


def written() -> dict[str, Headings]:
    """The entries of navigation.toml."""
    return tomllib.loads((Path(__file__).parent / "navigation.toml").read_text(encoding="utf-8"))


def matching(pattern: str) -> list[str]:
    """Pages in the folder of a pattern: its * does not stand for a slash."""
    return [name for name in pages() if fnmatchcase(name, pattern) and name.count("/") == pattern.count("/")]


def linked(page: str) -> list[str]:
    """The pages that a page links to, each once."""
    folder = (ROOT / page).parent
    text = (ROOT / f"{page}.md").read_text(encoding="utf-8")
    targets = (folder / f"{target}.md" for target in LINK.findall(text) if "://" not in target)
    names = [str(target.resolve().relative_to(ROOT).with_suffix("")) for target in targets if target.is_file()]
    return list(dict.fromkeys(names))
