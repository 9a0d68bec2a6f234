"""Link check: every internal link and image of a built site leads to a file, and every anchor to an element.

    python docs/site/links.py build/docs    ends with 1 if one does not
"""

from __future__ import annotations

import sys
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

TARGETS = {"a": "href", "area": "href", "img": "src", "link": "href", "script": "src", "source": "src"}


class Page(HTMLParser):
    """Page: its links in order, and its anchors."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors = {""}
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self.anchors |= {values.get("id") or "", (values.get("name") or "") if tag == "a" else ""}
        if target := values.get(TARGETS.get(tag, "")):
            self.links.append(target)


@cache
def page(path: Path) -> Page:
    return Page(path.read_text(encoding="utf-8"))


def broken(site: Path) -> list[str]:
    """ "docs/run.html: programs.html#tmie", for each link that leads nowhere."""
    found = []
    for path in sorted(site.rglob("*.html")):
        for link in page(path).links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            anchor = unquote(parts.fragment)
            if not target.exists() or (target.suffix == ".html" and anchor not in page(target).anchors):
                found.append(f"{path.relative_to(site)}: {link}")
    return found


if __name__ == "__main__":
    wrong = broken(Path(sys.argv[1]).resolve())
    print(*wrong, sep="\n", end="\n" * bool(wrong))
    sys.exit(bool(wrong))
