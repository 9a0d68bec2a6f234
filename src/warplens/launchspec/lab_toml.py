"""lab.toml reader: a lab's problem, its rungs and their launches.

    title = "Copies"
    [names]
    n = 16777216
    [launch]
    grid = "n / 128"
    [1_plain]
    teaches = "..."

[launch] applies to every rung, and a rung's table replaces single keys of it.  docs/labs.md lists all keys.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from warplens.errors import UsageError
from warplens.launchspec.expression import Names, Number
from warplens.launchspec.launch_block import KERNEL_KEYS, KernelEntry, LaunchFile, Reader

NAME = "lab.toml"
RUNG = re.compile(r"(\d+)[a-z]?_\w+")
RUNG_KEYS = (
    "file", "set", "sweep", "teaches", "published", "counts", "code", "work", "truth", "result", "quantities",
)  # fmt: skip
TABLES = ("names", "small", "launch", "work", "columns")
WORK = ("bytes", "flops")


@dataclass(frozen=True, slots=True)
class RungEntry:
    """Rung entry: one rung, as written.

    title, file   "2_tiled" and "2_tiled.cu";  launch: its launch, with the names that it sets
    teaches       one-line lesson;  published: quoted figures with their GPU
    counts        metric -> expression over the lab's names that it must equal
    code          opcode, idiom or "loops" -> required number in the machine code
    work          "bytes" and "flops" -> expression: minimum work
    truth, result   functions of truth.py;  quantities: that of quantities.py, if there is such a file
    """

    title: str
    file: str
    launch: KernelEntry
    teaches: str
    published: tuple[str, ...]
    counts: Mapping[str, str]
    code: Mapping[str, str]
    work: Mapping[str, str]
    truth: str
    result: str
    quantities: str

    @property
    def number(self) -> int:
        found = RUNG.fullmatch(self.title)
        assert found
        return int(found[1])


@dataclass(frozen=True, slots=True)
class LabFile:
    """Lab file: one lab.toml.

    launches   names of the full size and the launch of every rung
    small      names of the size that CI runs;  sample: blocks to run at full size, None for all
    columns    heading -> metric or expression over {metrics} and names;  pictures: their tables, as written
    """

    path: Path
    title: str
    lesson: str
    small: Mapping[str, Number]
    sample: int | None
    launches: LaunchFile
    columns: Mapping[str, str]
    rungs: Mapping[str, RungEntry]
    pictures: tuple[Mapping[str, Any], ...]

    def settings(self, rung: RungEntry, size: Names | None) -> dict[str, Number]:
        """Replacements of the lab's names for a rung: `size`, or the small one for None.

        Names that the rung sets keep its values, unless the user gives others.
        """
        if size is not None:
            return dict(size)
        return {name: value for name, value in self.small.items() if name not in rung.launch.sets}

    def names(self, rung: RungEntry, size: Names | None) -> dict[str, Number]:
        """All names of a rung, evaluated."""
        return self.launches.values({**rung.launch.sets, **self.settings(rung, size)})


def read_lab_file(folder: Path) -> LabFile:
    """Reads lab.toml.  UsageError with file and line for missing or invalid entries."""
    path = folder / NAME
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise UsageError(f"{folder} is no lab: it has no {NAME} that can be read") from None
    return _Lab(path, Reader(str(path), 0, text.split("\n"), NAME)).read()


def launches_beside(file: Path) -> LaunchFile | None:
    """The launches of a rung by the lab.toml in its folder; None if there is none, or it lacks the rung."""
    if not (file.parent / NAME).is_file():
        return None
    lab = read_lab_file(file.parent)
    kernels = {title: rung.launch for title, rung in lab.rungs.items() if rung.file == file.name}
    return replace(lab.launches, kernels=kernels) if kernels else None


@dataclass(frozen=True, slots=True)
class _Lab:
    path: Path
    reader: Reader

    def read(self) -> LabFile:
        top = self.reader.toml()
        for table in TABLES:
            if not isinstance(top.setdefault(table, {}), dict):
                self.reader.refuse(table, f"{table} must be a table: [{table}]")
        for key in top.keys() - {"title", "lesson", "sample", "pictures", *TABLES}:
            if not isinstance(top[key], dict) or not RUNG.fullmatch(key):
                self.reader.refuse(key, f"'{key}' is no key of a lab and no rung; rungs are tables such as [1_naive]")
        rungs = [rung for title in top if RUNG.fullmatch(title) for rung in self._rungs(title, top)]
        if not rungs:
            self.reader.refuse("title", "the lab has no rung; rungs are tables such as [1_naive]")
        rungs.sort(key=lambda rung: rung.number)
        names = {name: self.reader.name(name, value) for name, value in top["names"].items()}
        kernels = {rung.title: rung.launch for rung in rungs}
        return LabFile(
            path=self.path,
            title=self._text("title", top.get("title"), None),
            lesson=str(top.get("lesson", "")),
            small=self._numbers(top["small"], "small", names),
            sample=top.get("sample"),
            launches=LaunchFile(str(self.path), 1, names, kernels, "the lab"),
            columns={heading: self._text(heading, text, "columns") for heading, text in top["columns"].items()},
            rungs={rung.title: rung for rung in rungs},
            pictures=tuple(top.get("pictures", ())),
        )

    def _rungs(self, title: str, top: Mapping[str, Any]) -> Iterator[RungEntry]:
        """The rung of a table, or one for each value that it sweeps."""
        table = top[title]
        sets = self._numbers(table.get("set", {}), title, top["names"])
        swept = table.get("sweep", {})
        if not isinstance(swept, dict) or not all(isinstance(values, list) for values in swept.values()):
            self.reader.refuse("sweep", f"[{title}] sweep must be such as {{ stride = [1, 2, 4] }}", title)
        if len(swept) > 1:
            self.reader.refuse("sweep", f"[{title}] sweeps {len(swept)} names; one is possible", title)
        if not swept:
            yield self._rung(title, title, table, top, sets)
        for name, values in swept.items():
            for value in values:
                own = self._numbers({name: value}, title, top["names"])
                yield self._rung(title, f"{title}_{value:02}", table, top, {**sets, **own})

    def _rung(
        self, table_title: str, title: str, table: Mapping[str, Any], top: Mapping[str, Any], sets: dict[str, Number]
    ) -> RungEntry:
        own = {key: value for key, value in table.items() if key not in RUNG_KEYS}
        if wrong := own.keys() - set(KERNEL_KEYS):
            known = ", ".join((*RUNG_KEYS, *KERNEL_KEYS))
            key = min(wrong)
            self.reader.refuse(key, f"[{table_title}] has the unknown key '{key}'; known are {known}", table_title)
        file = self._text("file", table.get("file", self._file_of(table_title)), table_title)
        if not (self.path.parent / file).is_file():
            self.reader.refuse("file", f"[{table_title}] there is no file {file} beside {NAME}", table_title)
        work = {**top["work"], **table.get("work", {})}
        if wrong_work := work.keys() - set(WORK):
            self.reader.refuse(min(wrong_work), f"work is told in {' and '.join(WORK)}, not in {min(wrong_work)}")
        entry = self.reader.entry(table_title, {**top["launch"], **own})
        filled = {"{" + name + "}": str(value) for name, value in sets.items()}
        return RungEntry(
            title=title,
            file=file,
            launch=replace(
                entry, title=title, sets=sets, name=_filled(entry.name, filled),
                options=tuple(_filled(option, filled) for option in entry.options),
            ),
            teaches=self._text("teaches", table.get("teaches"), table_title),
            published=tuple(map(str, table.get("published", ()))),
            counts={metric: str(value) for metric, value in table.get("counts", {}).items()},
            code={word: str(value) for word, value in table.get("code", {}).items()},
            work={key: str(value) for key, value in work.items()},
            truth=table.get("truth", "truth"),
            result=table.get("result", "result"),
            quantities=table.get("quantities", "quantities"),
        )  # fmt: skip

    def _file_of(self, title: str) -> str:
        """File of a rung: CUDA, or Python if it is no kernel."""
        return f"{title}.py" if (self.path.parent / f"{title}.py").is_file() else f"{title}.cu"

    def _text(self, key: str, value: object, table: str | None) -> str:
        if not isinstance(value, str) or not value:
            where = f"[{table}] " if table else ""
            self.reader.refuse(key, f"{where}{key} is missing or no text", table)
        return value

    def _numbers(self, table: object, title: str, names: Mapping[str, Any]) -> dict[str, Number]:
        """Replaced names, with plain numbers."""
        if not isinstance(table, dict):
            self.reader.refuse(title, f"[{title}] replaces names by a table such as {{ n = 1024 }}", title)
        for name, value in table.items():
            if name not in names:
                known = ", ".join(names) or "none"
                self.reader.refuse(name, f"[{title}] there is no name '{name}' to replace; [names] has {known}", title)
            if isinstance(value, bool) or not isinstance(value, int | float):
                self.reader.refuse(name, f"[{title}] {name} must be a number", title)
        return dict(table)


def _filled(text: str, values: Mapping[str, str]) -> str:
    """ "-DWIDTH={width}" with the number that the rung sets."""
    for place, value in values.items():
        text = text.replace(place, value)
    return text
