"""Metrics that a user asks for, by the rules of Nsight Compute's --metrics.

smsp__inst_executed.sum     this one
smsp__inst_executed         all that are made of it: .sum, .avg ...
regex:op_(ld|st)            all whose name has a match; ^...$ for the whole name
"""

from __future__ import annotations

import difflib
import fnmatch
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from warplens.core.metric import Metric
from warplens.errors import UsageError
from warplens.report.definitions import Definition, definitions

REGEX = "regex:"
NOT_HERE = ("group:", "breakdown:", "pmsampling:")


def asked(words: Sequence[str], predicted: bool = True, flag: str = "--metrics") -> list[str]:
    """The names that the words mean, in their order, each once; a word may hold several, separated by commas.

    flag        where they were given
    predicted   whether the time is predicted.  UsageError for a word that names no metric, or one that only a
                prediction has where there is none.
    """
    defined = {found.name: found for found in definitions()}
    names = []
    for word in (part.strip() for text in words for part in text.split(",")):
        meant = list(matching(word, defined, flag))
        here = [name for name in meant if predicted or not defined[name].predicted]
        if not here:
            raise UsageError(
                f"{flag}: {meant[0]} is predicted, and no time is: name a GPU of the code's architecture with --gpu"
            )
        names += here
    return list(dict.fromkeys(names))


def matching(word: str, known: Iterable[str], flag: str) -> Iterator[str]:
    """The known names that one word means.  UsageError if there are none."""
    names = list(known)
    if word.startswith(NOT_HERE):
        raise UsageError(f"{flag}: {word.partition(':')[0]}: is not supported; name the metrics, or use {REGEX}")
    if word.startswith(REGEX):
        pattern = expression(word.removeprefix(REGEX))
        found = [name for name in names if pattern.search(name)]
    elif word in names:
        found = [word]
    else:
        parts = [name for name in names if name.startswith(f"{word}.")]
        found = [name for name in parts if "." not in name.removeprefix(f"{word}.")] or parts
    if not found:
        close = difflib.get_close_matches(word, names, 3, 0.6)
        hint = f"did you mean {', '.join(close)}?" if close else "`warplens metrics` lists all"
        raise UsageError(f"{flag}: no metric {word!r} is known; {hint}")
    yield from found


def known(pattern: str) -> list[Definition]:
    """The metrics that a pattern means: regex:EXPRESSION, a pattern with * or ?, or a part of the name.

    UsageError if there are none.
    """
    if pattern.startswith(REGEX):
        found = expression(pattern.removeprefix(REGEX)).search
    elif any(letter in pattern for letter in "*?["):
        found = re.compile(fnmatch.translate(pattern), re.IGNORECASE).match
    else:
        found = re.compile(re.escape(pattern), re.IGNORECASE).search
    if meant := [definition for definition in definitions() if found(definition.name)]:
        return meant
    close = difflib.get_close_matches(pattern, [definition.name for definition in definitions()], 3, 0.4)
    hint = f"did you mean {', '.join(close)}?" if close else "`warplens metrics` lists all"
    raise UsageError(f"no metric has {pattern!r} in its name; {hint}")


def expression(text: str) -> re.Pattern[str]:
    """UsageError if it is no regular expression."""
    try:
        return re.compile(text)
    except re.error as error:
        raise UsageError(f"{text!r} is no regular expression: {error}") from None


def picked(names: Sequence[str] | None, metrics: Mapping[str, Metric]) -> dict[str, Metric | None]:
    """The metrics of a launch by these names, None for one that it has not; all of them without names."""
    if names is None:
        return dict(sorted(metrics.items()))
    return {name: metrics.get(name) for name in names}
