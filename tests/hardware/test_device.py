"""What is known of a GPU without one."""

from __future__ import annotations

from pathlib import Path

import pytest

from warplens.hardware import device

SAID = """NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release Build  (dvs-builder@U22)
GCC version:  gcc version 11.4.0 (Ubuntu 11.4.0-1ubuntu1~22.04)
"""


def test_the_driver_tells_its_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device, "DRIVER", tmp_path / "version")
    assert device.driver_version() == ""
    (tmp_path / "version").write_text(SAID)
    assert device.driver_version() == "580.159.04"
    (tmp_path / "version").write_text(SAID.replace("580.159.04", "580.65"))
    assert device.driver_version() == "580.65"
