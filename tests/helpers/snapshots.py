"""Snapshots: numbers of the model, as they were when `pytest --update-snapshots` wrote them last."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

FILE = Path(__file__).parents[1] / "model" / "snapshots.json"
DIGITS = 10  # of a number that are compared: sums in another order, as on another processor, change later ones
Snapshot = Callable[[float], float]


class Snapshots:
    """Of each test the numbers in the order in which it asks for them."""

    def __init__(self, update: bool) -> None:
        self.kept: dict[str, list[float]] = json.loads(FILE.read_text(encoding="utf-8"))
        self.update = update

    def write(self) -> None:
        lines = (f"{json.dumps(test)}: {json.dumps(self.kept[test])}" for test in sorted(self.kept))
        FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


SNAPSHOTS = pytest.StashKey[Snapshots]()


@pytest.fixture
def snapshot(request: pytest.FixtureRequest) -> Iterator[Snapshot]:
    """snapshot(number) gives the number back if it is the one that is kept."""
    snapshots, test, found = request.config.stash[SNAPSHOTS], request.node.nodeid, list[float]()

    def compared(number: float) -> float:
        found.append(float(f"{number:.{DIGITS}g}"))
        if not snapshots.update:
            kept = snapshots.kept.get(test, [])
            assert found == kept[: len(found)], "if the model was meant to change: pytest --update-snapshots"
        return number

    yield compared
    if snapshots.update:
        snapshots.kept[test] = found
