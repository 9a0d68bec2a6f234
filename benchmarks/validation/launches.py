"""The launches of a list in the words of docs/launch.md (launches.toml, practice.toml ...), by name.

for case in cases():
    run = case.target("h200").run()
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from configurations import Configuration

from warplens.commands.target import Flags, Target, targets

NAMES = (
    "launches", "practice", "field", "ladders", "guests", "visitors", "travellers", "newcomers", "wanderers",
    "settlers", "long",
)  # fmt: skip
LIST, PRACTICE, FIELD, LADDERS, GUESTS, VISITORS, TRAVELLERS, NEWCOMERS, WANDERERS, SETTLERS, LONG = (
    Path(__file__).with_name(f"{name}.toml") for name in NAMES
)
KERNELS = Path(__file__).parents[2] / "tests" / "kernels"


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


def cases(path: Path = LIST) -> Iterator[Case]:
    with path.open("rb") as file:
        tables = tomllib.load(file)
    for title, table in tables.items():
        for size in table["sizes"]:
            yield _case(title, table, size)


def _case(title: str, table: Mapping[str, object], size: Mapping[str, int]) -> Case:
    settings = tuple(f"{name}={value}" for name, value in size.items())
    args = table["args"]
    assert isinstance(args, list)
    flags = Flags(
        kernel=title, grid=str(table["grid"]), block=str(table["block"]), args=tuple(args), settings=settings,
        shared=str(table["shared"]) if "shared" in table else None,
    )  # fmt: skip
    return Case(f"{title}/{','.join(settings)}", str(table.get("lesson", "")), KERNELS / str(table["file"]), flags)


def configurations(path: Path = LIST) -> Iterator[Configuration]:
    """The same, as those of the first list are written."""
    for case in cases(path):
        target = case.target()
        launch = target.launch
        yield Configuration(
            case.name, case.file.stem, target.kernel.name, launch.grid, launch.block, partial(_made, target),
            launch.shared, f"{case.lesson} {case.name.partition('/')[2]}" if case.lesson else "", restore=True,
        )  # fmt: skip


def _made(target: Target) -> list[Any]:
    return [a.copy() if isinstance(a, np.ndarray) else a for a in target.values()]
