"""HTTP server: addresses, refusals, and what a request is sent; with a worker process."""

from __future__ import annotations

import http.client
import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from warplens.serve.access_check import TOKEN_HEADER
from warplens.serve.http_server import PageServer
from warplens.serve.starter_kernel import STARTER

SMALL = STARTER.replace("1048576", "4096")
LOOP = SMALL.replace("if (i < n)", "while (n == 4096 && x[i] < 1e30f)\n    ").replace("const float*", "volatile float*")


def answer(server: PageServer, path: str, document: Any = None, **headers: str) -> http.client.HTTPResponse:
    port = server.access.port
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    own = {TOKEN_HEADER: server.access.token, "Origin": f"http://127.0.0.1:{port}"}
    body = document if isinstance(document, bytes) else None if document is None else json.dumps(document).encode()
    connection.request("GET" if document is None else "POST", path, body, own | headers)
    return connection.getresponse()


def events(server: PageServer, source: str, **fields: Any) -> list[tuple[str, dict[str, Any]]]:
    found = answer(server, "/run", {"source": source, **fields})
    assert found.getheader("Content-Type") == "text/event-stream; charset=utf-8"
    parts = [part.split("\ndata: ") for part in found.read().decode().split("\n\n") if part]
    return [(name.removeprefix("event: "), json.loads(data)) for name, data in parts]


def test_page_and_what_it_loads(server: PageServer) -> None:
    page = answer(server, f"/?token={server.access.token}")
    policy = page.getheader("Content-Security-Policy") or ""
    assert page.status == 200
    assert "default-src 'none'; script-src 'self'" in policy
    assert "frame-ancestors 'none'" in policy
    assert server.access.token not in page.read().decode()
    assert answer(server, "/live.js", **{TOKEN_HEADER: ""}).status == 200
    session = json.loads(answer(server, "/session").read())
    assert "h200" in [gpu["name"] for gpu in session["gpus"]]
    assert "coalescing" in [lab["name"] for lab in session["labs"]]


@pytest.mark.parametrize(
    ("path", "document", "headers", "status"),
    [
        ("/", None, {}, 403),
        ("/?token=wrong", None, {}, 403),
        ("/session", None, {TOKEN_HEADER: "wrong"}, 403),
        ("/session", None, {"Host": "evil.example"}, 403),
        ("/session", None, {"Origin": "http://evil.example"}, 403),
        ("/run", {"source": SMALL}, {"Origin": "http://evil.example"}, 403),
        ("/run", {"source": SMALL}, {TOKEN_HEADER: ""}, 403),
        ("/run", {"file": "/etc/passwd", "source": ""}, {}, 400),
        ("/run", b"{", {}, 400),
        ("/run", b"", {"Content-Length": "99999999"}, 400),
        ("/open", {"lab": "../../etc", "rung": ""}, {}, 400),
        ("/open", {"lab": "coalescing", "rung": "none"}, {}, 400),
        ("/nothing", None, {}, 404),
        ("/nothing", {}, {}, 404),
    ],
)
def test_refused(server: PageServer, path: str, document: Any, headers: dict[str, str], status: int) -> None:
    assert answer(server, path, document, **headers).status == status


def test_counts_come_before_the_prediction(server: PageServer) -> None:
    found = events(server, SMALL, gpu="h200", names={"n": "8192"})
    assert [name for name, _ in found] == ["kernels", "counts", "time", "done"]
    (_, kernels), (_, counts), (_, time_), _ = found
    assert kernels["names"] == [{"name": "n", "text": "4096"}]
    assert kernels["kernels"][0]["grid"] == "32"
    assert counts["lines"]["12"]["sectors"] == 2048
    assert (counts["predicted"], time_["predicted"]) == (False, True)
    assert [row[0] for row in time_["compared"]][:2] == ["Event time", "Warp instructions"]


def test_the_kernel_on_view_comes_first(server: PageServer) -> None:
    table = SMALL.splitlines()[3:7]
    two = "\n".join([*SMALL.splitlines()[:7], *table, SMALL.partition("n\"]\n")[2]])
    two = two.replace("[scale]", "[other]\n// name = \"scale\"", 1)
    found = events(server, two, gpu="none", first="scale")
    assert [kernel["title"] for kernel in found[0][1]["kernels"]] == ["other", "scale"]
    assert [document["title"] for name, document in found if name == "counts"] == ["scale", "other"]


def test_code_for_another_architecture_is_counted_and_not_timed(server: PageServer) -> None:
    (_, kernels), (_, counts), (_, after), (last, _) = events(server, SMALL, gpu="h200", arch="sm_80")
    assert (kernels["kernels"][0]["arch"], counts["predicted"], after["predicted"]) == ("sm_80", False, False)
    assert "is counted, not timed" in after["html"]
    assert last == "done"


def test_errors_name_the_lines(server: PageServer) -> None:
    compiled = events(server, SMALL.replace("2.0f", "two"))[0][1]
    assert "identifier" in compiled["text"]
    assert compiled["lines"] == [12]
    faulted = events(server, SMALL.replace("y[i]", "y[i + n]"))[1][1]
    assert faulted["text"].startswith("out-of-bounds global write")
    assert (faulted["lines"], faulted["title"]) == ([12], "scale")
    included = events(server, '#include "/etc/passwd"\n' + SMALL)[0][1]
    assert "refused" in included["text"]
    assert included["lines"] == [1]


def assert_counted(server: PageServer) -> None:
    """With this size nothing loops."""
    name, found = events(server, LOOP, gpu="none", names={"n": "8192"})[1]
    assert name == "counts", found["text"]


def test_what_loops_for_ever_is_ended_and_the_next_request_is_answered(
    server: PageServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert_counted(server)
    for seconds in (1.0, 4.0, 16.0):  # on a busy machine one second may end before the loop is compiled
        with monkeypatch.context() as patch:
            patch.setattr(server.pool, "limits", replace(server.pool.limits, seconds=seconds))
            name, found = events(server, LOOP, gpu="none")[1]
        assert name == "error"
        assert found["text"].startswith(f"executing was ended after {seconds:g} s, the limit of --timeout")
        if found["lines"]:
            break
    assert 10 <= found["lines"][0] <= 13
    assert_counted(server)


@pytest.mark.long
def test_a_request_whose_page_is_gone_is_ended(server: PageServer) -> None:
    gone = answer(server, "/run", {"source": LOOP, "gpu": "none"})
    gone.close()
    assert_counted(server)


def test_ten_requests_at_once(server: PageServer) -> None:
    with ThreadPoolExecutor(10) as tabs:
        found = list(tabs.map(lambda _: events(server, SMALL, gpu="none"), range(10)))
    assert [[name for name, _ in each] for each in found] == 10 * [["kernels", "counts", "done"]]


def test_a_rung_is_opened_and_its_result_checked(server: PageServer) -> None:
    opened = json.loads(answer(server, "/open", {"lab": "granularity", "rung": ""}).read())
    assert opened["rungs"][0] == opened["rung"]
    fields = {"lab": "granularity", "rung": opened["rung"], "gpu": "none"}
    right = dict(events(server, opened["source"], **fields))["counts"]
    assert right["wrong"] == []
    assert right["title"] == opened["rung"]


def test_report_is_that_of_explain(server: PageServer) -> None:
    page = answer(server, "/report", {"source": SMALL, "gpu": "none"}).read().decode()
    assert page.startswith("<!doctype html>")
    assert "Source and SASS" in page
    refused = answer(server, "/report", {"source": "nothing", "gpu": "none"})
    assert refused.status == 400


def test_no_file_is_left(server: PageServer) -> None:
    worker = server.pool.take(lambda: False)
    folder = Path(worker.scratch)
    assert folder.is_dir()
    worker.end()
    server.pool.give_back(worker)
    assert not folder.exists()
