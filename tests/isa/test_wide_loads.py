"""Loads of 32 bytes: which words reach which destination."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from warplens.isa.load_store import ldg_256


@pytest.mark.parametrize("wanted", [0xFF, 0x0F, 0xA5, 0x81, 0x00])
def test_words_whose_bit_is_not_set_are_left_out(wanted: int) -> None:
    warp: Any = SimpleNamespace(load=lambda space, at, size: SimpleNamespace(words=list(range(8))))
    high, low = ldg_256(warp, None, wanted=wanted)
    chosen = [word for word in range(8) if wanted >> word & 1]
    assert list(low.words) == [word for word in chosen if word < 4]
    assert list(high.words) == [word for word in chosen if word >= 4]
