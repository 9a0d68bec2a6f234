"""LZ4 blocks."""

from __future__ import annotations

import pytest

from warplens.compiler import lz4
from warplens.errors import CubinError

# 3 literals, then 4 + 15 + 2 bytes from 3 back; then 2 literals
BLOCK = b"\x3fabc\x03\x00\x02" + b"\x20xy"


def test_literals_and_overlapping_matches() -> None:
    assert lz4.decompress(BLOCK, 26) == b"abc" * 8 + b"xy"


def test_long_literals() -> None:
    data = bytes(range(256)) * 2
    assert lz4.decompress(b"\xf0" + b"\xff" + bytes([512 - 15 - 255]) + data, 512) == data


@pytest.mark.parametrize("block", [b"", b"\x30ab", b"\x3fabc\x09\x00\x02", BLOCK[:-2]])
def test_damaged_blocks_are_refused(block: bytes) -> None:
    with pytest.raises(CubinError, match="damaged"):
        lz4.decompress(block, 26)
