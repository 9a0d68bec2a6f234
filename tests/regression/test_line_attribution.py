"""Line attribution: the line that a failure comes from."""

from __future__ import annotations

from warplens.core.cubin import SourceLine
from warplens.regression.budget import CountBudget, Vocabulary, parse_budget
from warplens.regression.kernel_record import KernelKey, KernelRecord, LineCounts
from warplens.regression.line_attribution import Attribution, attribute

EFFICIENCY = "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct"
SECTORS = "smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ld.sum"
WORDS = Vocabulary({"inst": "inst", "stores": "", "occupancy": "%", EFFICIENCY: "%"})
START = SourceLine("k.cu", 1)


def record(**lines: dict[str, int]) -> KernelRecord:
    """By text of the line, in order; totals are not read here."""
    made = tuple(LineCounts(SourceLine("k.cu", n), text, counts) for n, (text, counts) in enumerate(lines.items(), 1))
    totals = dict.fromkeys((*WORDS.units, SECTORS), 0)
    return KernelRecord(KernelKey("k.cu", "k", "sm_90", "h200"), "", "", "", {}, totals, made)


def budget(text: str) -> CountBudget:
    return parse_budget(text, WORDS)


def line(found: Attribution | None) -> tuple[str, float | None, float | None]:
    assert found is not None
    return found.text, found.before, found.after


def test_the_line_that_grew_most_not_the_largest() -> None:
    before = record(start={"inst": 900}, loop={"inst": 100}, end={"inst": 5})
    now = record(start={"inst": 910}, new={"inst": 1}, loop={"inst": 180}, end={"inst": 5})
    assert line(attribute(budget("inst <= baseline"), now, before, START)) == ("loop", 100, 180)


def test_the_line_that_lost_most_where_more_is_better() -> None:
    before, now = record(a={"stores": 4}, b={"stores": 8}), record(a={"stores": 9}, b={"stores": 2})
    assert line(attribute(budget("stores >= baseline"), now, before, START)) == ("b", 8, 2)


def test_a_line_that_went() -> None:
    before, now = record(a={"stores": 4}, b={"stores": 8}), record(a={"stores": 4})
    assert line(attribute(budget("stores >= baseline"), now, before, START)) == ("b", 8, 0)


def test_without_a_baseline_the_line_that_counts_most() -> None:
    now = record(a={"inst": 4}, b={"inst": 8})
    assert line(attribute(budget("inst <= 3"), now, None, START)) == ("b", None, 8)


def test_where_nothing_moved_the_line_that_counts_most() -> None:
    now = record(a={"inst": 3}, b={"inst": 8})
    assert line(attribute(budget("inst <= 3"), now, now, START)) == ("b", None, 8)


def test_a_ratio_goes_by_the_count_that_steers_it() -> None:
    before, now = record(a={SECTORS: 4}, b={SECTORS: 4}), record(a={SECTORS: 4}, b={SECTORS: 32})
    found = attribute(budget(f"{EFFICIENCY} >= baseline"), now, before, START)
    assert line(found) == ("b", 4, 32)
    assert found is not None
    assert found.name == SECTORS


def test_what_no_line_has_is_where_the_kernel_begins() -> None:
    now = record(a={"inst": 4})
    assert attribute(budget("occupancy >= 50"), now, now, START) == Attribution(START, "a")
    assert attribute(budget("occupancy >= 50"), now, now, None) is None
