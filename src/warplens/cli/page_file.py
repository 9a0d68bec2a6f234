"""The file of --html: it is checked before anything runs, and written in one piece."""

from __future__ import annotations

import click

from warplens.errors import UsageError
from warplens.system.atomic_write import check_place


def check_page(html: str | None, as_json: bool = False) -> None:
    """UsageError where the file has no name or cannot be written, or where --json is asked for as well."""
    if html == "":
        raise UsageError("--html: the name of a file is missing: write --html report.html")
    if html and as_json:
        raise UsageError("--json and --html exclude each other: choose one")
    if html:
        check_place(html)


def write_page(html: str, text: str, quiet: bool = False) -> None:
    """quiet: what is said of it goes to stderr"""
    from warplens.run import write_text

    write_text(html, text)
    click.echo(f"written to {html}", err=quiet)
