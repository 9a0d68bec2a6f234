"""Markdown: the verdicts as a comment on a pull request or a summary of a job."""

from __future__ import annotations

from collections.abc import Iterator

from warplens.control_characters import visible
from warplens.regression.verdict import KernelVerdict, Verdict
from warplens.report.regression_views.check_view import CheckView, amount, broken_text

NAME = "markdown"
MOST = 50  # kernels with a section: GitHub takes comments of 65,536 characters


def text(view: CheckView) -> str:
    listed = [k for k in view.kernels if k.verdict is not Verdict.UNCHANGED or k.broken]
    lines = [f"### warplens: {_outcome(view)}", "", f"{view.summary}.", ""]
    lines += [f"- **{Verdict.ERROR}** {_plain(problem)}" for problem in view.problems]
    if listed:
        lines += ["| | kernel | what | where |", "|---|---|---|---|"]
        lines += [row for kernel in listed[:MOST] for row in _rows(view, kernel)]
    if len(listed) > MOST:
        lines += ["", f"{len(listed) - MOST} kernels more."]
    tools = ", ".join(f"{name} {version}" for name, version in (view.tools or {}).items())
    lines += ["", f"<sub>{tools}; counts need no GPU and are the same on every machine.</sub>"]
    return visible("\n".join(lines) + "\n")


def _outcome(view: CheckView) -> str:
    return "passed" if not view.exit_code else f"failed (exit code {view.exit_code})"


def _rows(view: CheckView, kernel: KernelVerdict) -> Iterator[str]:
    place = view.place(kernel)
    head = f"{kernel.verdict}", f"{_code(kernel.key.name)} {kernel.key.arch}"
    where = f"{_cell(place.file)}:{place.line}"
    if kernel.note or not (kernel.broken or kernel.changes):
        yield _row(*head, _cell(kernel.note), where)
    for broken in kernel.broken:
        place = view.at(kernel, broken)
        code = f" {_code(broken.at.text)}" if broken.at and broken.at.text else ""
        yield _row(*head, _cell(broken_text(broken)), f"{_cell(place.file)}:{place.line}{code}")
    if kernel.changes and not kernel.broken:
        changes = "<br>".join(f"{_cell(c.name)}: {amount(c.before)} → {amount(c.after)}" for c in kernel.changes)
        yield _row(*head, changes, where)


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def _cell(words: str) -> str:
    """Text that does not end its cell."""
    return _plain(words).replace("|", "\\|")


def _code(words: str) -> str:
    """Code: in it only the ends of the cell and of the code mean something."""
    return f"`{' '.join(words.split()).replace('`', chr(39))}`".replace("|", "\\|")


def _plain(words: str) -> str:
    return " ".join(words.replace("&", "&amp;").replace("<", "&lt;").split())
