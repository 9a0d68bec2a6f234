"""A file is there whole or as it was."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from warplens.system.atomic_write import write_whole


def test_a_failing_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = tmp_path / "page.html"
    page.write_bytes(b"old")

    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(OSError, match="No space"):
        write_whole(page, b"new")
    assert page.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [page]


def test_links_and_permissions_are_kept(tmp_path: Path) -> None:
    target, link = tmp_path / "real.json", tmp_path / "link.json"
    target.write_bytes(b"old")
    target.chmod(0o640)
    link.symlink_to(target)
    write_whole(link, b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"
    assert target.stat().st_mode & 0o777 == 0o640


def test_what_is_no_file_is_written_to_as_it_is() -> None:
    write_whole(Path(os.devnull), b"gone")
    assert not Path(os.devnull).is_file()
