"""GitHub annotations: workflow commands, which GitHub shows beside the source lines of a pull request.

`::error file=F,line=N,title=T::MESSAGE`; in messages %, CR and LF are escaped, in properties also : and comma.
"""

from __future__ import annotations

from collections.abc import Iterator

from warplens.control_characters import visible
from warplens.core.cubin import SourceLine
from warplens.regression.verdict import Verdict
from warplens.report.check import plain_text
from warplens.report.regression_views.check_view import CheckView, attributed, broken_text

NAME = "github"
TOLD = (Verdict.GONE, Verdict.NOT_COMPARABLE, Verdict.ERROR)


def text(view: CheckView) -> str:
    """The annotations, then the plain text: GitHub leaves the commands out of the log."""
    return "".join(f"{line}\n" for line in _commands(view)) + plain_text.text(view)


def _commands(view: CheckView) -> Iterator[str]:
    for problem in view.problems:
        yield f"::error title=warplens::{_message(problem)}"
    for kernel in view.kernels:
        title = f"warplens: {kernel.key.name or kernel.key.file} {kernel.verdict}"
        if kernel.verdict in TOLD:
            yield _command("error", view.place(kernel), title, kernel.note)
        for broken in kernel.broken:
            level = "error" if broken.fails else "notice"
            words = f"{broken_text(broken)}\n{attributed(broken)}".rstrip()
            yield _command(level, view.at(kernel, broken), title, words)


def _command(level: str, place: SourceLine, title: str, words: str) -> str:
    return f"::{level} file={_property(place.file)},line={place.line},title={_property(title)}::{_message(words)}"


def _message(words: str) -> str:
    return visible(words.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A"))


def _property(words: str) -> str:
    return _message(words).replace(":", "%3A").replace(",", "%2C")
