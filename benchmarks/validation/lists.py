"""The lists of launches that predicted times are validated on, and the files that belong to each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import launches
from configurations import Configuration, configurations


@dataclass(frozen=True)
class List:
    """option   that asks for it on a command line;  suffix: of its files of predictions and of measured times"""

    option: str
    suffix: str

    def launches(self) -> Iterator[Configuration]:
        if self.suffix == "":
            return configurations()
        return launches.configurations(FILES[self.suffix])


FILES = {
    "_more": launches.LIST, "_practice": launches.PRACTICE, "_field": launches.FIELD, "_ladders": launches.LADDERS,
    "_guests": launches.GUESTS,
}  # fmt: skip
LISTS = (List("", ""), *(List(suffix.replace("_", "--"), suffix) for suffix in FILES))


def asked(words: list[str]) -> List:
    """The list whose option is among the words; else the first."""
    return next((one for one in LISTS[1:] if one.option in words), LISTS[0])
