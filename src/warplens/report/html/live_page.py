"""Live page: the page of `warplens serve`, with an editor beside the results that the server sends."""

from __future__ import annotations

from warplens.report.html.page_shell import asset, picture_rules, render

CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; style-src-attr 'unsafe-inline'; connect-src 'self'; "
    "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""Results have inline style attributes (widths of bars); scripts come from the server's own addresses alone."""


def page() -> str:
    return render("live.html.j2")


def style() -> str:
    return asset("page.css") + asset("live.css") + picture_rules()


def scripts() -> dict[str, str]:
    """By the names under which the page loads them."""
    return {name: asset(name) for name in ("source_editor.js", "live.js")}
