"""Kernel name: what the NAME and regex:EXPR of --kernel and --kernel-name mean, as Nsight Compute has them."""

from __future__ import annotations

import re

from warplens.errors import UsageError

REGEX = "regex:"


def base_name(name: str) -> str:
    """ "scale" of "app::scale<float, 4>" and of "app::scale(float*)"."""
    return re.sub(r"\(.*\)$", "", name).partition("<")[0].rpartition("::")[2]


def expression_of(word: str, flag: str) -> re.Pattern[str] | None:
    """The expression of regex:EXPR; None for a name.  UsageError if it is none."""
    if not word.startswith(REGEX):
        return None
    try:
        return re.compile(word.removeprefix(REGEX))
    except re.error as error:
        raise UsageError(f"{flag}: {word!r} is not a regular expression: {error}") from None


def found_in(expression: re.Pattern[str], name: str) -> bool:
    """Whether the expression is found in the name, or in its base name."""
    return bool(expression.search(name) or expression.search(base_name(name)))
