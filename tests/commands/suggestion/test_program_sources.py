"""Program sources: which file defines a kernel, and why none does."""

from __future__ import annotations

from pathlib import Path

import pytest

from warplens.commands.suggestion import program_sources
from warplens.commands.suggestion.program_sources import ProgramSources
from warplens.errors import UsageError

KERNEL = "__global__ void f(float* x) { *x += 1; }\n"
MACRO = "#define KERNEL(name) __global__ void name(float* x) { *x += 1; }\nKERNEL(f)\n"


def sources(folder: Path, monkeypatch: pytest.MonkeyPatch, **texts: str) -> ProgramSources:
    files = [folder / f"{name}.cu" for name in texts]
    for file, text in zip(files, texts.values(), strict=True):
        file.write_text(text)
    monkeypatch.chdir(folder)
    monkeypatch.setattr(program_sources, "project_files", lambda *_: {str(file): [str(file)] for file in files})
    return ProgramSources([file.name for file in files], "sm_90", ())


def test_the_file_that_defines_it_beside_one_whose_macro_makes_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = sources(tmp_path, monkeypatch, main=MACRO, other=KERNEL)
    assert made.file_of("f", made.texts) == str(tmp_path / "other.cu")


@pytest.mark.parametrize(
    ("texts", "reason"),
    [
        ({"main": MACRO}, "main.cu: the source has no definition of a kernel f: the macro KERNEL in line 1 makes"),
        ({"main": KERNEL, "other": KERNEL}, "it is defined in main.cu and other.cu"),
        ({"main": "int main() {}\n"}, "its definition is in none of the program's files"),
    ],
)
def test_why_it_is_in_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, texts: dict[str, str], reason: str) -> None:
    made = sources(tmp_path, monkeypatch, **texts)
    with pytest.raises(UsageError, match=reason):
        made.file_of("f", made.texts)
