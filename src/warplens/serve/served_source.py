"""Served source: the file or lab that the page begins with, and the rungs that it can open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from warplens.api import read_source
from warplens.commands.kernel_selection import is_source
from warplens.errors import UsageError
from warplens.labs.lab import Lab
from warplens.labs.lab_catalog import FOLDER, find, names
from warplens.launchspec.lab_toml import NAME
from warplens.serve.kernel_request import KernelRequest
from warplens.serve.starter_kernel import STARTER, STARTER_FILE


@dataclass(frozen=True, slots=True)
class OpenedSource:
    """What the editor shows.  file: as the user knows it;  rungs: of the lab;  teaches: the rung's lesson"""

    file: str
    source: str
    lab: str = ""
    rung: str = ""
    rungs: Sequence[str] = ()
    teaches: str = ""


@dataclass(frozen=True, slots=True)
class ServedSource:
    """Served source.  file: whose text the page begins with;  lab: the folder in its place, by the lab's name"""

    file: Path
    lab: str = ""
    lab_folder: Path | None = None

    @classmethod
    def of(cls, word: str | None) -> ServedSource:
        """A .cu file or a lab by its name or folder; None: a starter kernel.  UsageError."""
        if word is None:
            return cls(Path(STARTER_FILE))
        if word in names() or (Path(word) / NAME).is_file():
            lab = find(word)
            return cls(Path(STARTER_FILE), lab.key, lab.folder.resolve())
        if not is_source(word):
            raise UsageError(f"{word} is neither a source file (.cu) nor a lab; the labs are {', '.join(names())}")
        read_source(Path(word))
        return cls(Path(word))

    @property
    def folders(self) -> tuple[str, ...]:
        """Those whose files kernels may read."""
        found = [self.file.parent.resolve(), FOLDER, *([self.lab_folder] if self.lab_folder else [])]
        return tuple(map(str, found))

    @property
    def labs(self) -> list[tuple[str, str]]:
        """Name and title of each lab with kernels."""
        found = {name: find(name) for name in names()}
        if self.lab_folder:
            found[self.lab] = Lab.of(self.lab_folder)
        return [(name, lab.file.title) for name, lab in sorted(found.items()) if _kernel_rungs(lab)]

    def open(self, lab: str, rung: str) -> OpenedSource:
        """A rung of a lab, or the file.  UsageError for one that is not there."""
        if not lab:
            there = self.file.is_file()
            return OpenedSource(str(self.file), read_source(self.file) if there else STARTER)
        found = self._lab(lab)
        titles = _kernel_rungs(found)
        if not titles:
            raise UsageError(f"{lab} has no kernels")
        (chosen,) = found.chosen([rung or titles[0]])
        path = found.folder / chosen.entry.file
        if chosen.entry.title not in titles:
            raise UsageError(f"{chosen.entry.title} is no kernel")
        file = f"{lab}/{chosen.entry.file}"
        return OpenedSource(file, read_source(path), lab, chosen.entry.title, titles, chosen.entry.teaches)

    def path(self, request: KernelRequest) -> Path:
        """The file whose text the request has."""
        if not request.lab:
            return self.file
        lab = self._lab(request.lab)
        (rung,) = lab.chosen([request.rung])
        return lab.folder / rung.entry.file

    def _lab(self, name: str) -> Lab:
        if self.lab_folder and name == self.lab:
            return Lab.of(self.lab_folder)
        if name not in names():
            raise UsageError(f"there is no lab {name!r}")
        return find(name)


def _kernel_rungs(lab: Lab) -> list[str]:
    return [rung.entry.title for rung in lab.rungs if not rung.entry.file.endswith(".py")]
