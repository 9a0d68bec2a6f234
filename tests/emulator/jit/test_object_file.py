"""Object files: made by another process, they are the same, and end when a signal comes."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

from warplens.emulator.jit.object_file import emit_object_apart
from warplens.errors import TimeLimitReached
from warplens.llvm.host_target import emit_object
from warplens.program.process.child_process import descendants
from warplens.program.process.time_limit import time_limit

TEXT = "define i32 @twice(i32 %x) {\n  %y = add i32 %x, %x\n  ret i32 %y\n}\n"
PASSES = ("instruction_combine", "simplify_cfg")


def test_the_code_is_the_same() -> None:
    assert emit_object_apart(TEXT, PASSES) == emit_object(TEXT, PASSES)


def test_it_is_made_here_where_no_process_can_be_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    assert emit_object_apart(TEXT, PASSES) == emit_object(TEXT, PASSES)


def test_a_signal_ends_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    endless = tmp_path / "python"
    endless.write_text("#!/bin/sh\nexec sleep 60\n")
    endless.chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(endless))
    before, began = set(descendants()), time.monotonic()
    with pytest.raises(TimeLimitReached), time_limit(0.5):
        emit_object_apart(TEXT, PASSES)
    assert time.monotonic() - began < 10
    assert set(descendants()) <= before
