"""Routines that kernels share: each is compiled when something first calls it."""

from __future__ import annotations

from pathlib import Path

import pytest

from warplens.emulator.access.runtime_library import RuntimeLibrary, calls_of, with_calls
from warplens.emulator.access.site import AddressWindows
from warplens.emulator.jit.compile_module import compile_ir

WINDOWS = AddressWindows(0x400, 0xFFFDC0)
PAIR = 'define void @"mine"() {\n  call void @"count_row_4"(ptr null, i64 0)\n  call void @"others"()\n  ret void\n}\n'


def test_only_what_is_called_is_compiled_and_that_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARPLENS_CACHE", str(tmp_path))
    made: list[str] = []

    def watched(text: str) -> bytes:
        made.extend(line.split('"')[1] for line in text.splitlines() if line.startswith("define"))
        return compile_ir(text)

    library = RuntimeLibrary(WINDOWS, "a test", watched)
    assert len(library.with_routines(with_calls(PAIR, [b"code"]))) == 2
    assert made == ["count_row_4"]
    row = with_calls('  %r = call <32 x i32> @"gather_row_global"(ptr null)\n', [b""])
    parts = library.with_routines(row)
    looks = {"look_up", "record_stray_access", "save_chunk", "save_one_chunk"}  # for a buffer, also to write to it
    assert set(made) == {"count_row_4", "gather_row_global", "gather_global_4", "nested_2", "distinct"} | looks
    assert library.with_routines(row) == parts
    assert RuntimeLibrary(WINDOWS, "a test", watched).with_routines(row) == parts  # from disk
    assert len(made) == 9


def test_object_files_stand_behind_the_names_that_they_call() -> None:
    names, codes = calls_of(with_calls(PAIR, [b"\x7fELF", b"helper"]))
    assert names == {"count_row_4", "others"}
    assert codes == [b"\x7fELF", b"helper"]
