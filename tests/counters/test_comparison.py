"""Comparing two launches: lines that belong together, shares, budgets."""

from __future__ import annotations

import pytest

from helpers.hand_made_traces import kernel, program, trace
from warplens.core.cubin import SourceLine
from warplens.core.launch import Launch
from warplens.counters.comparison import Side, budget, compare, pair_lines, ratio
from warplens.counters.idioms import Idiom
from warplens.counters.metric_collection import metrics
from warplens.errors import UsageError

FEW, MANY = Launch((1, 1, 1), (64, 1, 1)), Launch((2, 1, 1), (64, 1, 1))


def side(
    name: str, listing: str, executed: list[int], texts: dict[int, str], launch: Launch = FEW,
    idioms: tuple[Idiom, ...] = (),
) -> Side:  # fmt: skip
    lines = [line for line, _ in zip(cycle(list(texts)), executed, strict=False)]
    code = program(listing, lines=tuple(lines))
    seen = trace(launch, [{"executed": count, "threads": 32 * count} for count in executed])
    return Side(name, code, seen, metrics(code, seen, kernel()), idioms, lambda at: texts[at.line])


def cycle(lines: list[int]) -> list[int]:
    return lines * 10


def line(number: int) -> SourceLine:
    return SourceLine("a.cu", number)


def numbers(first: dict[int, str], second: dict[int, str]) -> list[tuple[int | None, int | None]]:
    pairs = pair_lines(
        [line(n) for n in first], [line(n) for n in second], lambda at: first[at.line], lambda at: second[at.line]
    )
    return [(a.line if a else None, b.line if b else None) for a, b in pairs]


def test_lines_are_paired_by_text_and_between_them_by_position() -> None:
    first = {1: "void a() {", 2: "int i = 0;", 3: "x = i;", 5: "}"}
    second = {11: "void b() {", 12: "int  i=0;", 13: "x = i % n;", 14: "y = i;", 15: "}"}
    assert numbers(first, second) == [(1, 11), (2, 12), (3, 13), (None, 14), (5, 15)]


def test_lines_without_text_are_paired_by_distance() -> None:
    assert numbers({7: "", 9: ""}, {27: "", 29: "", 30: ""}) == [(7, 27), (9, 29), (None, 30)]


def test_shares_a_warp() -> None:
    first = side("a", "FADD R0,R1,R2\nIADD3 R0,R1,R2,RZ", [2, 2], {1: "f", 2: "g"})
    second = side("b", "FADD R0,R1,R2\nIADD3 R0,R1,R2,RZ\nIADD3 R0,R1,R2,RZ", [2, 2, 6], {1: "f", 2: "g"})
    found = compare(first, second)
    assert found.per_warp
    assert {s.name: (s.first, s.second) for s in found.classes} == {"integer": (1, 4), "single precision": (1, 1)}
    assert found.instructions.difference == 3
    assert found.classes[0].name == "integer"
    by_line = {share.lines[1].line: share.difference for share in found.lines if share.lines[1]}
    assert by_line == {1: 3, 2: 0}  # the third instruction stands under line 1 again


def test_totals_where_the_numbers_of_warps_differ() -> None:
    listing = "FADD R0,R1,R2"
    found = compare(side("a", listing, [2], {1: "f"}), side("b", listing, [4], {1: "f"}, MANY))
    assert not found.per_warp
    assert [(s.first, s.second) for s in found.classes] == [(2, 4)]


def test_causes_are_idioms_at_lines() -> None:
    listing = "FADD R0,R1,R2\nIADD3 R0,R1,R2,RZ\nIADD3 R0,R1,R2,RZ"
    inner = Idiom("inner", "", (1,), ())
    outer = Idiom("outer", "", (1, 2), ())
    loop = Idiom("loop", "", (0, 1, 2), (), encloses=True)
    first = side("a", listing, [2, 0, 0], {1: "f"})
    second = side("b", listing, [2, 4, 2], {1: "f"}, idioms=(inner, outer, loop))
    found = compare(first, second)
    assert {share.name: share.difference for share in found.idioms} == {"inner": 2, "outer": 1, "": 0}
    assert [(s.idiom, s.difference) for s in found.causes[:2]] == [("inner", 2), ("outer", 1)]


def test_ratio() -> None:
    assert ratio(2, 3) == 1.5
    assert ratio(0, 0) == 1
    assert ratio(0, 3) is None
    assert ratio(3, 0) == 0


@pytest.mark.parametrize(
    ("text", "broken"),
    [
        ("smsp__inst_executed.sum > 1.05", True),
        ("smsp__inst_executed.sum>2", False),
        ("smsp__inst_executed.sum >= 2", True),
        ("smsp__inst_executed.sum == 2.0", True),
        ("smsp__inst_executed.sum < 3", True),
        ("smsp__inst_executed.sum != 2", False),
        ("smsp__sass_sectors_mem_global.sum > 1", False),
    ],
)
def test_budgets(text: str, broken: bool) -> None:
    found = compare(side("a", "FADD R0,R1,R2", [2], {1: "f"}), side("b", "FADD R0,R1,R2", [4], {1: "f"}))
    assert budget(text).broken_by(found) is broken


@pytest.mark.parametrize("text", ["", "smsp__inst_executed.sum", "a > b", "a => 1", "> 1", "a > 1 > 2"])
def test_what_is_no_budget(text: str) -> None:
    with pytest.raises(UsageError, match="no budget"):
        budget(text)


def test_a_budget_on_an_unknown_metric() -> None:
    found = compare(side("a", "FADD R0,R1,R2", [2], {1: "f"}), side("b", "FADD R0,R1,R2", [4], {1: "f"}))
    with pytest.raises(UsageError, match="no metric nothing"):
        budget("nothing > 1").broken_by(found)


@pytest.mark.parametrize(
    ("operator", "broken"),
    [("<", (True, False, False)), ("<=", (True, True, False)), (">", (False, False, True)), (">=", (False, True, True)),
     ("==", (False, True, False)), ("!=", (True, False, True))],
)  # fmt: skip
def test_a_budget_below_at_and_above_its_bound(operator: str, broken: tuple[bool, bool, bool]) -> None:
    limit = budget(f"smsp__inst_executed.sum {operator} 1.5")
    sides = [side(str(n), "FADD R0,R1,R2", [n], {1: "f"}) for n in (4, 4, 6, 8)]
    assert tuple(limit.broken_by(compare(sides[0], other)) for other in sides[1:]) == broken
