"""nvdisasm server: one process of nvdisasm an architecture for all code that a worker's tests disassemble.

Most of nvdisasm's time goes into reading the description of the architecture; nvdisasm_server.c lets it do so once.
The answers are nvdisasm's own.  Cubins with relocations, and commands that tests start, take a process each, as always.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path

import pytest

from helpers.host_compiler import host_cc
from warplens.sass import nvdisasm

one_process = nvdisasm.answer
"""As in production: one process for each question."""


class Server:
    """Servers of a worker, by the options of nvdisasm; files are exchanged in `folder`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.running: dict[tuple[str, ...], subprocess.Popen[str]] = {}

    @cached_property
    def library(self) -> Path:
        made = self.folder / "nvdisasm_server.so"
        source = Path(__file__).with_suffix(".c")
        subprocess.run([*host_cc(), "-O1", "-shared", "-fPIC", "-o", str(made), str(source), "-ldl"], check=True)
        return made

    def answer(self, data: bytes, options: Sequence[str]) -> subprocess.CompletedProcess[bytes]:
        if "--binary" not in options:
            return one_process(data, options)
        server = self.running.get(tuple(options))
        if server is None or server.poll() is not None:  # `warplens run` ends what was started while it ran
            server = self.start(tuple(options))
        assert server.stdin is not None
        assert server.stdout is not None
        code, output = self.folder / "code", self.folder / "output"
        code.write_bytes(data)
        server.stdin.write(f"{code} {output}\n")
        server.stdin.flush()
        ended = int(server.stdout.readline())
        said = output.read_bytes()
        return subprocess.CompletedProcess(options, ended, said, said)

    def start(self, options: tuple[str, ...]) -> subprocess.Popen[str]:
        requests = self.folder / "requests"  # the name by which the library knows the file
        requests.write_bytes(bytes(16))
        self.running[options] = subprocess.Popen(
            [*nvdisasm.command(options), str(requests)], env=os.environ | {"LD_PRELOAD": str(self.library)}, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        return self.running[options]

    def stop(self) -> None:
        for server in self.running.values():
            server.communicate()


@contextmanager
def served(folder: Path) -> Iterator[None]:
    """Code alone is disassembled by servers."""
    if sys.platform != "linux":
        yield
        return
    server = Server(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(nvdisasm, "answer", server.answer)
        yield
    server.stop()
