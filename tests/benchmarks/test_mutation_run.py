"""The mutation run: which faults it plants, and that it tells tests that notice them from those that do not."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "benchmarks" / "mutation"))
mutants: Any = import_module("mutants")
planted: Any = import_module("planted")
mutate: Any = import_module("mutate")

SOURCE = '''"""Doc 1 < 2."""
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    x = 1
LIMIT = 7

def least(a: int | None, b=0.5):
    """Doc 3 < 4."""
    assert a
    if a < b:
        raise ValueError(f"{a} + 1")
    return a

class C:
    def __repr__(self):
        return str(1 + 1)
    def label(self, found):
        return "exact" if found and not self else "modelled"
'''


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "one.py").write_text(SOURCE, encoding="utf-8")
    return tmp_path / "src"


def test_what_is_planted_and_what_is_left_out(sources: Path) -> None:
    assert [(m.function, m.change) for m in mutants.all_mutants(sources)] == [
        ("(module)", "7 to 8"),
        ("C.label", "\"exact\" to 'modelled'"),
        ("C.label", "\"modelled\" to 'exact'"),
        ("C.label", "and to or"),
        ("C.label", "not removed"),
        ("C.label", "returns None"),
        ("least", "0.5 to 0.4"),
        ("least", "< to <="),
        ("least", "raise removed"),
        ("least", "returns None"),
    ]


def test_a_moved_file_keeps_its_mutants_and_their_order(sources: Path) -> None:
    before = [m.name for m in mutants.all_mutants(sources)]
    (sources / "deeper").mkdir()
    (sources / "one.py").rename(sources / "deeper" / "other.py")
    assert [m.name for m in mutants.all_mutants(sources)] == before


@pytest.mark.long
def test_a_mutant_is_caught_by_a_test_that_fails_on_it_and_by_no_other(sources: Path, tmp_path: Path) -> None:
    test = tmp_path / "test_one.py"
    test.write_text("import one\ndef test_least():\n    assert one.least(2, 1) == 2\n", encoding="utf-8")
    at = {m.change: m for m in mutants.all_mutants(sources) if m.function == "least"}
    copy = planted.Copy(sources)
    try:
        assert copy.run(at["returns None"], [str(test)], 60).caught.endswith("test_one.py::test_least")
        assert copy.run(at["< to <="], [str(test)], 60).caught is None
        assert copy.run(at["returns None"], [f"{test}::test_gone"], 60).caught is None  # no such test
        assert copy.run(None, [str(test)], 60).complete  # the sources are as they were
    finally:
        copy.remove()


def test_each_survivor_that_is_listed_is_in_the_sample_and_has_a_reason() -> None:
    sample = {mutate._name(row) for row in mutate._tables("sample.toml", "mutant")}
    survivors = mutate._tables("survivors.toml", "survivor")
    assert len(sample) >= 150
    assert len(survivors) <= len(sample) // 10
    assert {mutate._name(row) for row in survivors} <= sample
    assert all(len(str(row["reason"])) > 20 for row in survivors)
