"""Shim library: what is missing is said."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from warplens.errors import CompileError, UsageError
from warplens.program import shim_library

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="`warplens run` works on Linux alone")


def test_without_a_compiler_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setenv("PATH", "/nowhere")
    assert shim_library.compiler()[1:] == ["-m", "ziglang", "cc"]  # of the development environment
    monkeypatch.setattr(shim_library, "find_spec", lambda name: None)
    with pytest.raises(UsageError, match=r'install gcc or clang, or pip install "warplens\[program\]"'):
        shim_library.compiler()


def test_a_compiler_that_fails_is_quoted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    script = tmp_path / "cc"
    script.write_text('#!/bin/sh\n[ "$2" = --version ] && exit\necho no such option >&2\nexit 1\n')
    script.chmod(0o700)
    monkeypatch.setenv("CC", f"{script} -q")
    refused = pytest.raises(CompileError, match="cannot compile the library of `warplens run`:\nno such option")
    with refused, shim_library.library():
        pass
    monkeypatch.setenv("CC", str(tmp_path / "gone"))
    gone = pytest.raises(UsageError, match="gone cannot be run: No such file or directory; is CC right")
    with gone, shim_library.library():
        pass
