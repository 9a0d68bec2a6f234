"""Serve page: runs the server until Ctrl-C, and leaves no process and no file."""

from __future__ import annotations

import signal
import threading
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType

from warplens.serve.http_server import PageServer


def serve_page(server: PageServer, open_browser: bool) -> None:
    """Returns after Ctrl-C, SIGTERM or SIGHUP."""
    with _ended_by_signals():
        try:
            with suppress(KeyboardInterrupt):  # also while the workers start
                server.pool.start()
                if open_browser:
                    threading.Thread(target=webbrowser.open, args=(server.url,), daemon=True).start()
                server.serve_forever(poll_interval=0.2)
        finally:
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # once is enough
            server.server_close()
            server.pool.close()


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    """Context manager: SIGTERM and SIGHUP do what Ctrl-C does, also where a shell has it ignored."""

    def end(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    ended = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]
    before = [signal.signal(number, end) for number in ended]
    try:
        yield
    finally:
        for number, handler in zip(ended, before, strict=True):
            signal.signal(number, handler)
