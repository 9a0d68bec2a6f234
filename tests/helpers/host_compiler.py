"""The C compiler of the machine that runs the tests."""

from __future__ import annotations

import shutil
import sys


def host_cc() -> list[str]:
    """The command that compiles C: the system's `cc`, or the one in the wheel `ziglang`."""
    system = shutil.which("cc")
    return [system] if system else [sys.executable, "-m", "ziglang", "cc"]
