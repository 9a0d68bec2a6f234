"""Numbers in the arrays of the SM simulation: from 0 on, one for each name."""

from __future__ import annotations

from enum import IntEnum

from warplens.model import layout


def test_members_are_numbered_from_0_on() -> None:
    found = [kind for kind in vars(layout).values() if isinstance(kind, type) and issubclass(kind, IntEnum)]
    assert len(found) > 3
    for kind in found:
        if kind is not IntEnum and min(kind) == 0:
            assert [int(member) for member in kind] == list(range(len(kind.__members__))), kind
