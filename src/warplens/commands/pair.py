"""The two kernels that `warplens compare` is asked about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from warplens.commands.explain import Explained
from warplens.commands.saved_launches import saved_launches
from warplens.commands.target import Flags, targets
from warplens.errors import UsageError
from warplens.program.saved_launch import is_saved_launch


def two_targets(words: Sequence[str], flags: Flags) -> tuple[Explained, Explained]:
    """FILE A B, FILE:A FILE:B, two files of one kernel each (or with --kernel), a file of two, or two saved launches.

    UsageError.
    """

    def split(word: str) -> tuple[str, str | None]:
        """At the first colon behind the name of a file: kernels may have colons too."""
        places = [at for at, letter in enumerate(word) if letter == ":" and Path(word[:at]).is_file()]
        return (word[: places[0]], word[places[0] + 1 :]) if places and not Path(word).is_file() else (word, None)

    if len(words) == 2 and all(map(is_saved_launch, words)):
        (first,), (second,) = ([same[0] for same in saved_launches(word, flags)] for word in words)
        return first, second
    if len(words) == 2 and Path(words[0]).is_file() and split(words[1])[1] is None and not Path(words[1]).exists():
        titles = ", ".join(target.title for target in targets(words[0], flags))
        raise UsageError(f"{words[1]} is no file; two kernels of one file are FILE A B: {words[0]} has {titles}")
    if len(words) == 3:
        named: list[tuple[str, str | None]] = [(words[0], words[1]), (words[0], words[2])]
    else:
        named = [split(word) for word in words]
    found = [t for file, kernel in named for t in targets(file, replace(flags, kernel=kernel or flags.kernel))]
    if len(words) > 3 or len(found) != 2 or (len(named) == 2 and found[0].file != named[0][0]):
        titles = ", ".join(f"{t.file}:{t.title}" for t in found)
        raise UsageError(f"compare takes two kernels, as FILE A B or FILE:A FILE:B; named are {titles or 'none'}")
    return found[0], found[1]
