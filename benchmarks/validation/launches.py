"""The launches of launches.toml, by name.

    for case in cases():
        run = case.target("h200").run()
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from warplens.target import Flags, Target, targets

LIST = Path(__file__).with_name("launches.toml")
KERNELS = Path(__file__).parents[2] / "tests" / "kernels"


@dataclass(frozen=True)
class Case:
    """name: "ccopy/n=65536";  lesson: what its variants have in common, "" where it has none"""

    name: str
    lesson: str
    file: Path
    flags: Flags

    def target(self, gpu: str = "h200") -> Target:
        from dataclasses import replace

        (found,) = targets(str(self.file), replace(self.flags, gpu=gpu))
        return found


def cases() -> Iterator[Case]:
    with LIST.open("rb") as file:
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
