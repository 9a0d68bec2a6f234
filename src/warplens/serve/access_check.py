"""Access check: which HTTP requests are answered: those of the page that the user opened, and no others.

Other pages in the browser can send requests to 127.0.0.1, too.  They lack the token; their Origin is another one; and a
page whose name is made to point to 127.0.0.1 (DNS rebinding) sends its own name as Host.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from dataclasses import dataclass

TOKEN_HEADER = "X-Warplens-Token"
"""Of requests by the page's script: no form and no link can send it, and no other origin is allowed to."""
OWN_SITES = ("same-origin", "none")
NAMES = ("127.0.0.1", "localhost")


@dataclass(frozen=True, slots=True)
class AccessCheck:
    """Access check of one server."""

    token: str
    port: int

    @property
    def hosts(self) -> tuple[str, ...]:
        return tuple(f"{name}:{self.port}" for name in NAMES)

    def refusal(self, method: str, headers: Mapping[str, str | None], token: str | None) -> str:
        """Why a request is refused, "" where it is not.

        token   that the request has;  None where it needs none: style and script, which hold no secret
        """
        host, origin, site = (headers.get(name) for name in ("Host", "Origin", "Sec-Fetch-Site"))
        if host not in self.hosts:
            return f"the Host of the request is not {' or '.join(self.hosts)}"
        if (origin is not None or method == "POST") and origin not in [f"http://{name}" for name in self.hosts]:
            return "the Origin of the request is not this server's"
        if site is not None and site not in OWN_SITES:
            return "the request comes from another site"
        if token is not None and not hmac.compare_digest(token.encode(), self.token.encode()):
            return "the token is missing or wrong: open the address that warplens serve has printed"
        return ""
