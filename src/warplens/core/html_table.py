"""HTML table: rows of text as a notebook shows them."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape


def html_table(headings: Sequence[str], rows: Sequence[Sequence[object]], caption: str = "") -> str:
    """A table with headings and an optional caption; all text is escaped."""
    title = f"<caption>{escape(caption)}</caption>" if caption else ""
    head = "".join(f"<th>{escape(heading)}</th>" for heading in headings)
    body = "".join(f"<tr>{''.join(f'<td>{escape(str(cell))}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table>{title}<tr>{head}</tr>{body}</table>"


def three_digits(amount: float) -> str:
    """Three significant digits, and whole numbers from 100 on."""
    return f"{amount:,.0f}" if amount >= 99.95 else f"{amount:.3g}"
