"""`warplens --version`: the first line is that of warplens; a tool that is missing is named."""

from __future__ import annotations

import platform
from importlib.metadata import version

import pytest

from warplens import __version__
from warplens.cli import version_text
from warplens.cli.main import main


def test_every_tool_has_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    shown = dict(line.rsplit(" ", 1) for line in capsys.readouterr().out.splitlines())
    assert next(iter(shown.items())) == ("warplens", __version__)
    assert (shown["Python"], shown["numpy"]) == (platform.python_version(), version("numpy"))
    assert (shown["NVRTC"], shown["nvdisasm"]) == (version("nvidia-cuda-nvrtc"), version("nvidia-cuda-nvdisasm"))
    assert shown["LLVM"].count(".") == 2
    assert shown.keys() == {"warplens", "Python", "LLVM", *version_text.PACKAGES}


def test_a_tool_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(version_text.PACKAGES, "ptxas", "warplens-has-no-such-package")
    assert version_text.versions()["ptxas"] == "not installed"
