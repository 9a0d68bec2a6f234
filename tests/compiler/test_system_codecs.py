"""System codecs: they make what the decoders in Python make."""

from __future__ import annotations

import pytest

from warplens.compiler import lz4, system_codecs

# 3 literals, 4 + 15 + 2 bytes from 3 back; then 12 literals: the reference wants so many at the end.
LZ4_BLOCK = b"\x3fabc\x03\x00\x02" + b"\xc0" + b"the last few"


def has(name: str) -> bool:
    return system_codecs._library(name) is not None


@pytest.mark.skipif(not has("liblz4.so.1"), reason="needs liblz4")
def test_lz4() -> None:
    assert system_codecs.lz4(LZ4_BLOCK, 36) == lz4.decompress(LZ4_BLOCK, 36) == b"abc" * 8 + b"the last few"
    assert system_codecs.lz4(LZ4_BLOCK[:-2], 36) is None
    assert system_codecs.lz4(LZ4_BLOCK, 1 << 60) is None


@pytest.mark.skipif(not has("libzstd.so.1"), reason="needs libzstd")
def test_zstd() -> None:
    raw = b"\x28\xb5\x2f\xfd\x20\x03\x19\x00\x00abc"  # a frame with one raw block of 3 bytes, the last
    assert system_codecs.zstd(raw, 3) == b"abc"
    assert system_codecs.zstd(raw[:-1], 3) is None
    assert system_codecs.zstd(raw, 4) is None


def test_a_machine_without_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(system_codecs, "_library", lambda name: None)
    assert system_codecs.lz4(LZ4_BLOCK, 36) is None
    assert system_codecs.zstd(b"", 3) is None
