"""nvcc builds: what is missing is said, what has not changed is not built again."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from warplens.errors import CompileError, UsageError
from warplens.program.nvcc_build import executable

STANDS_IN = """#!/bin/sh
echo "$@" >> "$(dirname "$0")/calls"
case "$*" in
*refuse*) echo "refused.cu(1): error: no" >&2; exit 1 ;;
*--version*) echo 13.0 ;;
*-MM*) echo "main.o : main.cu part.h" ;;
*) while [ $# -gt 0 ]; do [ "$1" = -o ] && cat main.cu part.h > "$2"; shift; done ;;
esac
"""


@pytest.fixture
def compilers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Scripts in the place of nvcc and g++: the "program" is its sources."""
    for name in ("nvcc", "g++"):
        (tmp_path / name).write_text(STANDS_IN)
        (tmp_path / name).chmod(0o700)
    (tmp_path / "main.cu").write_text("int main")
    (tmp_path / "part.h").write_text("one")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    return tmp_path


def test_a_program_is_built_again_when_an_included_file_has_changed(compilers: Path) -> None:
    def built() -> str:
        with executable(["main.cu"], "sm_90", ["-O1"]) as made:
            assert made.name == "main"
            assert made.stat().st_mode & stat.S_IXUSR
            return made.read_text()

    def builds() -> int:
        return sum(" -o " in call for call in (compilers / "calls").read_text().splitlines())

    assert [built(), built()] == ["int mainone"] * 2
    assert builds() == 1
    (compilers / "part.h").write_text("two")
    assert built() == "int maintwo"
    assert builds() == 2
    assert "-arch=sm_90 -lineinfo -O1 -o" in (compilers / "calls").read_text()


def test_what_is_missing_or_refused_is_said(compilers: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match=r"no such file: gone\.cu"), executable(["gone.cu"], "sm_90", []):
        pass
    with (
        pytest.raises(CompileError, match=r"refused\.cu\(1\): error: no"),
        executable(["main.cu"], "sm_90", ["refuse"]),
    ):
        pass
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(UsageError, match=r"install g\+\+"), executable(["main.cu"], "sm_90", []):
        pass
