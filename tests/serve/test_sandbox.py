"""Sandbox: what a process that executes kernels can read, write and use."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

HEAD = """\
import os, socket, sys
from pathlib import Path
from warplens.serve.sandbox import limit_memory, limit_processor, restrict_files
"""
RESTRICTED = """
if not restrict_files([Path(sys.argv[1])], [Path(sys.argv[2])]):
    sys.exit("no Landlock")
print(Path(sys.argv[1], "in").read_text())
Path(sys.argv[2], "out").write_text("written")
def refused(what):
    try:
        what()
    except PermissionError:
        return True
print(refused(lambda: open("/etc/passwd")), refused(lambda: Path(sys.argv[1], "new").write_text("")))
print(refused(lambda: Path(sys.argv[1], "in").unlink()), refused(lambda: os.kill(os.getppid(), 0)))
print(refused(lambda: socket.create_connection(("127.0.0.1", 9))))
"""


def started(text: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-P", "-c", HEAD + text, *arguments], capture_output=True, text=True)


@pytest.mark.skipif(sys.platform != "linux", reason="Landlock is Linux's")
def test_files_network_and_processes_outside_are_out_of_reach(tmp_path: Path) -> None:
    for name in ("read", "write"):
        (tmp_path / name).mkdir()
    (tmp_path / "read" / "in").write_text("read")
    ended = started(RESTRICTED, str(tmp_path / "read"), str(tmp_path / "write"))
    if "no Landlock" in ended.stderr:
        pytest.skip("this kernel has no Landlock")
    read, files, others, network = ended.stdout.splitlines()
    assert (read, files, (tmp_path / "write" / "out").read_text()) == ("read", "True True", "written")
    assert others in ("True True", "True None")  # signals: from version 6 of Landlock
    assert network in ("True", "None") or "refused" in ended.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="limits are Linux's")
def test_memory_and_processor_are_limited() -> None:
    ended = started("limit_memory(1 << 26)\ntry:\n  bytearray(1 << 27)\nexcept MemoryError:\n  print('too much')")
    assert ended.stdout == "too much\n"
    assert started("limit_processor(0.1)\nwhile True: pass").returncode == -24  # SIGXCPU
