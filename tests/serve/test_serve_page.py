"""Serve page: ended by Ctrl-C, it leaves no process and no file."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from warplens.cli.main import main
from warplens.serve.http_server import PageServer
from warplens.serve.serve_page import serve_page


def test_ctrl_c_leaves_nothing(tmp_path: Path) -> None:
    file = tmp_path / "kernel.cu"
    file.write_text("__global__ void k() {}\n")
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    command = [sys.executable, "-m", "warplens", "serve", str(file), "--no-browser"]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env=os.environ | {"TMPDIR": str(scratch), "PYTHONUNBUFFERED": "1"}
    )
    assert process.stdout
    assert process.stdout.readline().startswith("http://127.0.0.1:")
    while not (started := children(process.pid)):
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    assert process.wait(20) == 0
    assert list(scratch.iterdir()) == []
    assert not any(Path(f"/proc/{child}").exists() for child in started)


def test_ctrl_c_while_the_workers_start_ends_it_too() -> None:
    ended: list[str] = []

    def start() -> None:
        signal.raise_signal(signal.SIGINT)

    pool = SimpleNamespace(start=start, close=lambda: ended.append("pool"))
    serve_page(cast(PageServer, SimpleNamespace(pool=pool, server_close=lambda: ended.append("server"))), False)
    assert ended == ["server", "pool"]


def children(process: int) -> list[int]:
    found = [path.read_text() for path in Path(f"/proc/{process}/task").glob("*/children")]
    return [int(number) for text in found for number in text.split()]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["no_such.cu"], "no such file"),
        (["no_such_lab"], "neither a source file (.cu) nor a lab; the labs are attention, banks,"),
        (["--gpu", "h2"], "no GPU 'h2' is known"),
    ],
)
def test_wrong_usage(words: list[str], sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", "--no-browser", *words]) == 2
    assert sentence in capsys.readouterr().err


def test_a_port_that_is_taken(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import socket

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert main(["serve", "--no-browser", "--port", str(port)]) == 2
    assert f"--port {port}" in capsys.readouterr().err
