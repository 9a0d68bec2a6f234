"""Validation lists: a folder each, with kernels, launches, reference results, predictions and measurements.

for case in LISTS["settlers"].cases():
    run = case.target("h200").run()
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

import warplens as wl
from warplens.commands.target import Flags, Target, targets

FOLDER = Path(__file__).parent
KERNELS = FOLDER.parent / "kernels"
ORDER = (
    "first", "second", "practice", "field", "ladders", "guests", "visitors", "travellers", "newcomers", "wanderers",
    "settlers", "long", "everyday", "odd", "strangers",
)  # fmt: skip
"""Those whose times were predicted, one after the other; then those whose counters only were compared."""
TITLE = re.compile(r"^// \[(\w+)\]$", re.MULTILINE)


@dataclass(frozen=True)
class Case:
    """name: "ccopy/n=65536";  lesson: what its variants have in common, "" where it has none"""

    name: str
    lesson: str
    file: Path
    flags: Flags

    def target(self, gpu: str = "h200") -> Target:
        (found,) = targets(str(self.file), replace(self.flags, gpu=gpu))
        return found


@dataclass(frozen=True)
class Configuration:
    """One launch, and its kernel.

    file       the stem of its name
    arguments  makes the arrays and numbers
    family     variants of one job at one size, which a prediction has to put in order
    restore    whether the kernel changes what it reads
    """

    name: str
    file: str
    kernel: str
    grid: tuple[int, ...]
    block: tuple[int, ...]
    arguments: Callable[[], list[Any]]
    shared: int = 0
    family: str = ""
    restore: bool = False


@dataclass(frozen=True)
class List:
    """Launches are in launches.toml, in the words of docs/launch.md, or in launch blocks of the kernels; those of the
    first list are in Python."""

    folder: Path

    @property
    def name(self) -> str:
        return self.folder.name

    @property
    def predicted(self) -> bool:
        """Whether its times are predicted, and not only its counters compared."""
        return (self.folder / "h200" / "predictions.csv").is_file()

    def cases(self) -> tuple[Case, ...]:
        return _cases(self)

    def read_cases(self) -> Iterator[Case]:
        launches = self.folder / "launches.toml"
        if not launches.is_file():
            for file in sorted(self.folder.glob("*.cu")):
                for title in TITLE.findall(file.read_text(encoding="utf-8")):
                    yield Case(title, "", file, Flags(kernel=title))
            return
        for title, table in tomllib.loads(launches.read_text(encoding="utf-8")).items():
            for size in table["sizes"]:
                yield self._case(title, table, size)

    def first_cases(self) -> dict[str, Case]:
        """The first launch of each kernel, by kernel."""
        return {str(case.flags.kernel): case for case in reversed(self.cases())}

    def configurations(self) -> Iterator[Configuration]:
        if (self.folder / "launches.py").is_file():
            yield from import_module(f"validation.{self.name}.launches").configurations()
            return
        for case in self.cases():
            target = case.target()
            launch = target.launch
            yield Configuration(
                case.name, case.file.stem, target.kernel.name, launch.grid, launch.block, partial(_made, target),
                launch.shared, f"{case.lesson} {case.name.partition('/')[2]}" if case.lesson else "", restore=True,
            )  # fmt: skip

    def file(self, name: str) -> Path:
        """Of the list itself, or of tests/kernels."""
        own = self.folder / name
        return own if own.is_file() else KERNELS / name

    def _case(self, title: str, table: Mapping[str, Any], size: Mapping[str, int]) -> Case:
        settings = tuple(f"{name}={value}" for name, value in size.items())
        flags = Flags(
            kernel=title, grid=str(table["grid"]), block=str(table["block"]), args=tuple(table["args"]),
            settings=settings, shared=str(table["shared"]) if "shared" in table else None,
        )  # fmt: skip
        name = f"{title}/{','.join(settings)}"
        return Case(name, str(table.get("lesson", "")), self.file(str(table["file"])), flags)


@cache
def _cases(one: List) -> tuple[Case, ...]:
    """Once a process: some tests are made of each list's."""
    return tuple(one.read_cases())


LISTS = {name: List(FOLDER / name) for name in ORDER}


def _made(target: Target) -> list[Any]:
    return [a.copy() if isinstance(a, np.ndarray) else a for a in target.values()]


def asked(words: list[str]) -> List:
    """The list whose option, as "--settlers", is among the words; else the first."""
    return next((found for name, found in LISTS.items() if f"--{name}" in words), LISTS["first"])


def kernels(words: list[str]) -> Iterator[tuple[Configuration, wl.Kernel]]:
    """The launches of the list that the first word asks for, those whose names begin with one of the others if there
    are any; each with its kernel."""
    chosen = asked(words[:1])
    only = tuple(word for word in words if word != f"--{chosen.name}")
    compiled = cache(lambda file: wl.compile(chosen.file(f"{file}.cu")))
    for wanted in chosen.configurations():
        if not only or wanted.name.startswith(only):
            yield wanted, compiled(wanted.file)[wanted.kernel]
