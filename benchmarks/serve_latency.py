"""How long `warplens serve` takes from an edit of examples/copy.cu to its counts and to its prediction.

Each edit changes the machine code of nccopy.  Printed: seconds by the clock, median and worst, of the request alone
(the page waits another 0.1 s for the next key), and processor time of the server and its workers a request.
"""

from __future__ import annotations

import http.client
import json
import statistics
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from warplens.serve.access_check import TOKEN_HEADER
from warplens.serve.http_server import PageServer
from warplens.serve.served_source import ServedSource
from warplens.serve.worker_limits import WorkerLimits

FILE = Path(__file__).parent.parent / "examples" / "copy.cu"
EDITS = 10
TITLES = "counts of the edited kernel", "counts of both", "its prediction", "predictions of both"
THINKING_SECONDS = 2.0  # between two edits


def events(server: PageServer, source: str) -> Iterator[tuple[str, float]]:
    """Name of each event, and when it came."""
    began, own = time.perf_counter(), server.access.hosts[0]
    connection = http.client.HTTPConnection("127.0.0.1", server.access.port, timeout=300)
    headers = {TOKEN_HEADER: server.access.token, "Origin": f"http://{own}"}
    connection.request("POST", "/run", json.dumps({"source": source, "gpu": "h200", "first": "nccopy"}), headers)
    answer = connection.getresponse()
    while line := answer.readline():
        if line.startswith(b"event: "):
            yield line[7:].decode().strip(), time.perf_counter() - began


def processor_seconds() -> float:
    """Of this process's workers and what they have started."""
    total = 0
    for place in Path("/proc").glob("[0-9]*/stat"):
        try:
            if b"warplens.serve.worker_process" in (place.parent / "cmdline").read_bytes():
                total += sum(map(int, place.read_text().rpartition(")")[2].split()[11:15]))
        except OSError:
            continue
    return total / 100


def main() -> None:
    source = ServedSource.of(str(FILE))
    server = PageServer(source, WorkerLimits(source.folders), workers=1)
    server.pool.start()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    text, rows = FILE.read_text(), []
    try:
        list(events(server, text))
        used = processor_seconds()
        for edit in range(EDITS):
            time.sleep(THINKING_SECONDS)
            found = list(events(server, text.replace("(2 * i)", f"({3 + edit + int(time.time()) % 80} * i)")))
            names = [name for name, _ in found]
            assert names == ["kernels", "counts", "counts", "time", "time", "done"], names
            rows.append(tuple(when for _, when in found[1:5]))
        used = (processor_seconds() - used) / EDITS
    finally:
        server.shutdown()
        server.pool.close()
    for title, column in zip(TITLES, zip(*rows, strict=True), strict=True):
        print(f"{title:28} {statistics.median(column):.2f} s, at most {max(column):.2f} s")
    print(f"{'processor time':28} {used:.2f} s an edit, starting nvdisasm ahead included")


if __name__ == "__main__":
    sys.exit(main())
