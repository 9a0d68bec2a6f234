"""Results kept on disk: what their keys depend on."""

from __future__ import annotations

import importlib.metadata

import pytest

from warplens import cache


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A small package in place of this one."""
    folder = tmp_path / "package"
    (folder / "sass").mkdir(parents=True)
    for name in ("cache.py", "program.py", "sass/operands.py", "gpu.toml"):
        (folder / name).write_text("1\n")
    monkeypatch.setattr(cache, "__file__", str(folder / "cache.py"))
    monkeypatch.setattr(cache, "fingerprint", cache.fingerprint.__wrapped__)
    return folder


@pytest.mark.parametrize("name", ["program.py", "sass/operands.py", "gpu.toml", "sass/new.py"])
def test_every_source_of_the_package_changes_every_key(package, name):
    before = cache.key("sass", b"code")
    assert cache.key("sass", b"code") == before
    (package / name).write_text("2\n")
    assert cache.key("sass", b"code") != before


@pytest.mark.parametrize("name", cache.PACKAGES)
def test_every_tool_changes_every_key(package, monkeypatch, name):
    before = cache.key("sass", b"code")
    known = importlib.metadata.version
    monkeypatch.setattr(importlib.metadata, "version", lambda n: "0" if n == name else known(n))
    assert cache.key("sass", b"code") != before


def test_parts_cut_differently_are_others():
    assert cache.key("a", "bc") != cache.key("ab", "c")
