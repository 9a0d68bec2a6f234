"""A running server with one worker process, for the tests of a file."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from warplens.serve.http_server import PageServer
from warplens.serve.served_source import ServedSource
from warplens.serve.starter_kernel import STARTER
from warplens.serve.worker_limits import WorkerLimits

SMALL = STARTER.replace("1048576", "4096")


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PageServer]:
    file = tmp_path_factory.mktemp("served") / "scale.cu"
    file.write_text(SMALL)
    source = ServedSource.of(str(file))
    running = PageServer(source, WorkerLimits(source.folders, seconds=20.0, memory=1.0, threads=1), workers=1)
    running.pool.start()
    threading.Thread(target=running.serve_forever, args=(0.05,), daemon=True).start()
    yield running
    running.shutdown()
    running.server_close()
    running.pool.close()
