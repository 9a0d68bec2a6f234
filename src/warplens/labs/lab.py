"""Lab: its folder, the contents of lab.toml, and its rungs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from warplens.errors import UsageError
from warplens.labs.columns import metrics_in
from warplens.labs.kernel_rung import KernelRung
from warplens.labs.python_rung import PythonRung
from warplens.labs.rung import Rung
from warplens.launchspec.lab_toml import LabFile, RungEntry, read_lab_file


@dataclass(frozen=True)
class Lab:
    """Lab.  key: the folder's name."""

    folder: Path
    file: LabFile
    rungs: tuple[Rung, ...]

    @classmethod
    def of(cls, folder: Path) -> Lab:
        file = read_lab_file(folder)
        return cls(folder, file, tuple(_rung(folder, file, entry) for entry in file.rungs.values()))

    @property
    def key(self) -> str:
        return self.folder.resolve().name

    def chosen(self, titles: Sequence[str]) -> tuple[Rung, ...]:
        """The rungs named by title, number or file; all if none is named.  UsageError for an unknown one."""
        if not titles:
            return self.rungs
        found: dict[str, Rung] = {}
        for title in titles:
            same = [r for r in self.rungs if title in (r.entry.title, r.entry.file, str(r.entry.number))]
            if not same:
                known = ", ".join(rung.entry.title for rung in self.rungs)
                raise UsageError(f"{self.key} has no rung {title!r}; there are: {known}")
            found |= {rung.entry.title: rung for rung in same}
        return tuple(found.values())

    def metrics_of(self, entry: RungEntry) -> tuple[str, ...]:
        """The metrics used by the table and the expected counts of a rung."""
        shown = [name for text in self.file.columns.values() for name in metrics_in(text)]
        return tuple(dict.fromkeys([*shown, *entry.counts]))


def _rung(folder: Path, file: LabFile, entry: RungEntry) -> Rung:
    made: Rung = (PythonRung if entry.file.endswith(".py") else KernelRung)(folder, file, entry)
    return made
