"""HTTP server: the addresses of the page of `warplens serve`, on 127.0.0.1 alone.

    GET  /?token=...   the page;  /live.css /source_editor.js /live.js
    GET  /session      GPUs, architectures, labs
    POST /open         a rung of a lab, or the file
    POST /run          a kernel: its results as server-sent events
    POST /report       a kernel: its report as a page

The stream is the answer to the request: browsers open six connections to a server at most, so a tab that keeps one open
for events would leave none for the seventh.
"""

from __future__ import annotations

import json
import secrets
import select
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from functools import cached_property
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from warplens.compiler import ARCHITECTURES
from warplens.errors import UsageError, WarplensError
from warplens.machine import machine, machines
from warplens.report.html import live_page
from warplens.serve.access_check import TOKEN_HEADER, AccessCheck
from warplens.serve.kernel_request import MOST_BYTES, KernelRequest
from warplens.serve.page_events import PageEvents
from warplens.serve.served_source import ServedSource
from warplens.serve.worker_limits import WorkerLimits
from warplens.serve.worker_pool import SIZE, RequestCancelled, WorkerEnded, WorkerPool
from warplens.version import __version__

ADDRESS = "127.0.0.1"
TOKEN_BYTES = 24
READ_SECONDS = 10.0
ANSWERS = {
    "Cache-Control": "no-store", "Content-Security-Policy": live_page.CONTENT_SECURITY_POLICY,
    "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer", "X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY",
}  # fmt: skip


class PageServer(ThreadingHTTPServer):
    """Page server.  UsageError where the port is taken."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 64

    def __init__(
        self, source: ServedSource, limits: WorkerLimits, port: int = 0, gpu: str = "h200", workers: int = SIZE
    ) -> None:  # fmt: skip
        try:
            super().__init__((ADDRESS, port), PageHandler)
        except OSError as error:
            raise UsageError(f"--port {port}: {error.strerror or error}; leave it out for one that is free") from None
        self.source, self.gpu = source, gpu
        self.access = AccessCheck(secrets.token_urlsafe(TOKEN_BYTES), self.server_address[1])
        self.pool = WorkerPool(limits, workers)
        self.events = PageEvents(self.pool)

    @property
    def url(self) -> str:
        return f"http://{ADDRESS}:{self.access.port}/?token={self.access.token}"

    @cached_property
    def assets(self) -> dict[str, tuple[str, bytes]]:
        """Type and content of what the page loads, by address."""
        scripts = {f"/{name}": ("text/javascript", text.encode()) for name, text in live_page.scripts().items()}
        return {"/live.css": ("text/css", live_page.style().encode()), **scripts}

    @cached_property
    def session(self) -> dict[str, Any]:
        gpus = [machine(name) for name in machines()]
        return {
            "gpu": self.gpu,
            "gpus": [{"name": gpu.key, "title": f"{gpu.title} ({gpu.arch})"} for gpu in gpus],
            "architectures": ARCHITECTURES,
            "labs": [{"name": name, "title": title} for name, title in self.source.labs],
            "lab": self.source.lab, "rung": "",
        }  # fmt: skip

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A page that is gone is no error."""


class PageHandler(BaseHTTPRequestHandler):
    """Page handler: one request."""

    server: PageServer
    protocol_version = "HTTP/1.1"
    server_version = f"warplens/{__version__}"
    sys_version = ""
    timeout = READ_SECONDS

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        if parts.path == "/":
            token: str | None = parse_qs(parts.query).get("token", [""])[0]
        else:
            token = None if parts.path in self.server.assets else self.headers.get(TOKEN_HEADER, "")
        if self._refused(token):
            return
        if parts.path == "/":
            self._send(200, "text/html", live_page.page().encode())
        elif parts.path in self.server.assets:
            self._send(200, *self.server.assets[parts.path])
        elif parts.path == "/session":
            self._send_document(self.server.session)
        else:
            self._send_text(404, "there is no such page")

    def do_POST(self) -> None:
        if self._refused(self.headers.get(TOKEN_HEADER, "")):
            return
        try:
            asked = self._body()
            match self.path:
                case "/open":
                    lab, rung = (str(asked.get(name, "")) for name in ("lab", "rung"))
                    self._send_document(asdict(self.server.source.open(lab, rung)))
                case "/run":
                    self._run(KernelRequest.parse(asked))
                case "/report":
                    request = KernelRequest.parse(asked)
                    page = self.server.events.report(request, self.server.source.path(request), self._gone)
                    self._send(200, "text/html", page.encode())
                case _:
                    self._send_text(404, "there is no such address")
        except WarplensError as error:
            self.close_connection = True  # the rest of the request may be unread
            self._send_text(400, str(error))
        except RequestCancelled:
            self.close_connection = True

    def _run(self, request: KernelRequest) -> None:
        file = self.server.source.path(request)
        with self._events() as send:
            try:
                for name, document in self.server.events.of(request, file, self._gone):
                    send(name, document)
            except WorkerEnded as error:
                send("error", {"text": str(error), "lines": [], "printed": ""})
                send("done", {})

    @contextmanager
    def _events(self) -> Iterator[Any]:
        """Context manager: a function that sends an event; the answer ends with the connection."""
        self.close_connection = True
        self.send_response(200)
        self._head("text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()

        def send(name: str, document: dict[str, Any]) -> None:
            self.wfile.write(f"event: {name}\ndata: {json.dumps(document)}\n\n".encode())

        try:
            yield send
        except OSError:
            raise RequestCancelled from None

    def _gone(self) -> bool:
        """Whether the page has closed the connection."""
        with suppress(OSError, ValueError):
            if not select.select([self.connection], [], [], 0)[0]:
                return False
            return not self.connection.recv(1, socket.MSG_PEEK)
        return True

    def _body(self) -> dict[str, Any]:
        """UsageError."""
        try:
            length = int(self.headers.get("Content-Length", ""))
        except ValueError:
            raise UsageError("the length of the request is missing") from None
        if not 0 <= length <= 2 * MOST_BYTES:
            raise UsageError(f"the request is longer than {2 * MOST_BYTES:,} bytes")
        try:
            found = json.loads(self.rfile.read(length))
        except (ValueError, RecursionError):
            raise UsageError("the request is no JSON") from None
        if not isinstance(found, dict):
            raise UsageError("the request is no JSON object")
        return found

    def _refused(self, token: str | None) -> bool:
        """Whether the request is not answered, and was told why."""
        headers = {name.title(): value for name, value in self.headers.items()}
        reason = self.server.access.refusal(self.command, headers, token)
        if reason:
            self.close_connection = True
            self._send_text(403, f"refused: {reason}")
        return bool(reason)

    def _send_document(self, document: dict[str, Any]) -> None:
        self._send(200, "application/json", json.dumps(document).encode())

    def _send_text(self, code: int, text: str) -> None:
        self._send(code, "text/plain", text.encode(errors="replace"))

    def _send(self, code: int, kind: str, content: bytes) -> None:
        self.send_response(code)
        self._head(kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def _head(self, kind: str) -> None:
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        for name, value in ANSWERS.items():
            self.send_header(name, value)

    def log_message(self, format: str, *arguments: Any) -> None:
        """Nothing: addresses hold the token."""
