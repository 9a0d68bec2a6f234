"""Kernel request: texts of a known form, and nothing else."""

from __future__ import annotations

import pytest

from warplens.errors import UsageError
from warplens.serve.kernel_request import MOST_BYTES, KernelRequest


def test_parsed() -> None:
    request = KernelRequest.parse({"source": "int x;", "gpu": "a100", "names": {"n": "1024"}})
    assert (request.gpu, request.names, request.size) == ("a100", {"n": "1024"}, "small")


@pytest.mark.parametrize(
    "document",
    [
        None, [], "x", {}, {"source": 1}, {"source": "", "file": "/etc/passwd"}, {"source": "", "gpu": None},
        {"source": "", "names": {"n": 1}}, {"source": "", "names": []},
        {"source": "", "names": {"a=b": "1"}}, {"source": "x" * (MOST_BYTES + 1)},
        {"source": "\0"}, {"source": "", "names": {str(n): "1" for n in range(101)}},
    ],
)  # fmt: skip
def test_refused(document: object) -> None:
    with pytest.raises(UsageError):
        KernelRequest.parse(document)
