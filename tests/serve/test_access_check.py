"""Access check: the page that the user opened is answered, other pages and names are not."""

from __future__ import annotations

import pytest

from warplens.serve.access_check import AccessCheck

CHECK = AccessCheck("secret", 8080)
OWN = {"Host": "127.0.0.1:8080", "Origin": "http://127.0.0.1:8080", "Sec-Fetch-Site": "same-origin"}


@pytest.mark.parametrize("host", ["127.0.0.1:8080", "localhost:8080"])
def test_own_page(host: str) -> None:
    assert CHECK.refusal("POST", OWN | {"Host": host, "Origin": f"http://{host}"}, "secret") == ""
    assert CHECK.refusal("GET", {"Host": host}, "secret") == ""


@pytest.mark.parametrize(
    ("change", "token", "reason"),
    [
        ({}, "", "token"),
        ({}, "Secret", "token"),
        ({}, "geheim\u00e9", "token"),
        ({"Host": "evil.example:8080"}, "secret", "Host"),
        ({"Host": "127.0.0.1"}, "secret", "Host"),
        ({"Host": None}, "secret", "Host"),
        ({"Origin": "http://evil.example"}, "secret", "Origin"),
        ({"Origin": "http://127.0.0.1:9090"}, "secret", "Origin"),
        ({"Origin": "null"}, "secret", "Origin"),
        ({"Origin": None}, "secret", "Origin"),
        ({"Sec-Fetch-Site": "cross-site"}, "secret", "another site"),
        ({"Sec-Fetch-Site": "same-site"}, "secret", "another site"),
    ],
)
def test_others(change: dict[str, str | None], token: str, reason: str) -> None:
    assert reason in CHECK.refusal("POST", OWN | change, token)


def test_style_and_script_need_no_token_but_the_host() -> None:
    assert CHECK.refusal("GET", {"Host": "localhost:8080"}, None) == ""
    assert "Host" in CHECK.refusal("GET", {"Host": "evil.example:8080"}, None)
