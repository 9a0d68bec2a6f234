"""The lists of launches that predicted times are validated on, and the files that belong to each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import launches
from configurations import Configuration, configurations

import warplens as wl

KERNELS = Path(__file__).parents[2] / "tests" / "kernels"


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
    "_guests": launches.GUESTS, "_visitors": launches.VISITORS, "_travellers": launches.TRAVELLERS,
    "_newcomers": launches.NEWCOMERS, "_wanderers": launches.WANDERERS, "_settlers": launches.SETTLERS,
    "_long": launches.LONG,
}  # fmt: skip
LISTS = (List("", ""), *(List(suffix.replace("_", "--"), suffix) for suffix in FILES))


def asked(words: list[str]) -> List:
    """The list whose option is among the words; else the first."""
    return next((one for one in LISTS[1:] if one.option in words), LISTS[0])


def kernels(words: list[str]) -> Iterator[tuple[Configuration, wl.Kernel]]:
    """The launches of the list that the first word asks for, those whose names begin with one of the others if there
    are any; each with its kernel."""
    chosen = asked(words[:1])
    only = tuple(word for word in words if word != chosen.option)
    modules: dict[str, wl.Module] = {}
    for wanted in chosen.launches():
        if only and not wanted.name.startswith(only):
            continue
        if wanted.file not in modules:
            modules[wanted.file] = wl.compile(KERNELS / f"{wanted.file}.cu")
        yield wanted, modules[wanted.file][wanted.kernel]
