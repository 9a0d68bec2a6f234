"""Program sources: the files that a program is compiled from, and the code that changed texts of them give."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from warplens.api import Module
from warplens.compiler import read_cubin
from warplens.errors import UsageError
from warplens.program.nvcc_build import changed_program, machine_code, project_files
from warplens.transform import KernelSource

RELOCATABLE = ("-rdc=true", "--relocatable-device-code=true", "-dc", "--device-c")
Texts = Mapping[str, str]


class ProgramSources:
    """Program sources: `texts` by absolute file name, the headers of the program among them.

    UsageError for a file that is missing, and for code that is linked on the device; CompileError.
    """

    def __init__(self, sources: Sequence[str], arch: str, options: Sequence[str]) -> None:
        if wrong := next((option for option in options if option in RELOCATABLE), ""):
            raise UsageError(f"suggest compiles each changed file by itself; {wrong} links device code of several")
        self.sources, self.arch, self.options = sources, arch, options
        self.units = project_files(sources, arch, options)
        data = {name: Path(name).read_bytes() for files in self.units.values() for name in files}
        self._encodings = {name: _encoding(content) for name, content in data.items()}
        self._crlf = {name for name, content in data.items() if b"\r\n" in content}
        self.texts: Texts = {
            name: content.decode(self._encodings[name]).replace("\r\n", "\n") for name, content in data.items()
        }

    def file_of(self, kernel: str, texts: Texts) -> str:
        """The file that defines a kernel.  UsageError where none or several do, or its definition cannot be read."""
        reasons, hidden, found = [], [], []
        for name, text in texts.items():
            try:
                KernelSource(text, kernel)
                found.append(name)
            except UsageError as error:
                if "no definition" not in str(error):
                    reasons.append(f"{short(name)}: {error}")
                elif "the macro" in str(error):
                    hidden.append(f"{short(name)}: {error}")
        if len(found) == 1 and not reasons:
            return found[0]
        if len(found) > 1:
            raise UsageError(f"it is defined in {' and '.join(map(short, found))}")
        raise UsageError(next(iter([*reasons, *hidden]), "its definition is in none of the program's files"))

    def module(self, file: str, texts: Texts) -> Module:
        """The machine code of the first source that the file is part of.  CompileError."""
        unit = next(unit for unit, files in self.units.items() if file in files)
        mine = {name: self.bytes_of(name, texts[name]) for name in self.units[unit]}
        cubin = machine_code(unit, mine, self.arch, self.options)
        return with_sources(cubin, {name: texts[name] for name in mine})

    @contextmanager
    def built(self, texts: Texts) -> Iterator[Path]:
        """Context manager: the program made of these texts.  CompileError."""
        data = {name: self.bytes_of(name, text) for name, text in texts.items()}
        with changed_program(self.sources, data, self.arch, self.options) as made:
            yield made

    def bytes_of(self, name: str, text: str) -> bytes:
        """As the file has its lines and letters."""
        return (text.replace("\n", "\r\n") if name in self._crlf else text).encode(self._encodings[name])


def with_sources(cubin: bytes, texts: Texts) -> Module:
    """A module that knows its source: the line table names copies of the files, whose names end as theirs."""
    named = {line.file for kernel in read_cubin(cubin).kernels.values() for line in kernel.lines if line}
    known = {name: text for name in named for file, text in texts.items() if os.path.abspath(name).endswith(file)}
    return Module(read_cubin(cubin, known), {})


def short(name: str) -> str:
    """A file as seen from the current folder, where it is below."""
    found = os.path.relpath(name)
    return name if found.startswith("..") else found


def _encoding(data: bytes) -> str:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return "latin-1"
    return "utf-8"
