"""Budgets: what they mean, and what is refused."""

from __future__ import annotations

import pytest

from warplens.errors import UsageError
from warplens.regression.budget import CountBudget, Vocabulary, parse_budget
from warplens.regression.nvprof_names import EXPRESSIONS
from warplens.regression.tracked_counts import DEFAULT_BUDGETS
from warplens.report.definitions import definitions

WORDS = Vocabulary({d.name: d.unit for d in definitions()}, frozenset(d.name for d in definitions() if d.predicted))
COUNTS = {
    "smsp__inst_executed.sum": 1000, "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct": 50.0,
    "launch__registers_per_thread": 40, "spills": 2, 'sass("LDG.E.128")': 3, "gpu__time_duration.sum": 80_000.0,
    "launch__shared_mem_per_block_static": 49152, "smsp__sass_sectors_mem_global.sum": 64,
}  # fmt: skip


def read(text: str) -> CountBudget:
    return parse_budget(text, WORDS)


@pytest.mark.parametrize(
    ("text", "held"),
    [
        ("gld_efficiency >= 95", False), ("gld_efficiency >= 50 %", True), ("inst_executed == 1000", True),
        ("launch__registers_per_thread <= 40 registers", True), ("launch__registers_per_thread < 40", False),
        ("spills == 0", False), ("spills != 0", True), ('sass("LDG.E.128") >= 1', True), ("0 < spills", True),
        ("gpu__time_duration.sum <= 0.08 ms", True), ("gpu__time_duration.sum <= 79.9 us", False),
        ("launch__shared_mem_per_block_static <= 48 KiB", True), ("launch__shared_mem_per_block_static < 48 KB", False),
        ("smsp__inst_executed.sum / (2 + 3) * 2 - 1 == 399", True), ("-spills < -1", True),
        ("smsp__sass_sectors_mem_global.sum / smsp__inst_executed.sum <= 0.064", True),
        ("100 inst + smsp__inst_executed.sum == 1.1e3", True), ("2 * spills + 1 >= 5", True),
    ],
)  # fmt: skip
def test_conditions(text: str, held: bool) -> None:
    assert read(text).held(COUNTS, None) is held


@pytest.mark.parametrize(
    ("text", "before", "held"),
    [
        ("smsp__inst_executed.sum <= 1.02 * baseline", 981, True),
        ("smsp__inst_executed.sum <= 1.02 * baseline", 980, False),
        ("baseline >= smsp__inst_executed.sum", 999, False), ("baseline + 1 >= smsp__inst_executed.sum", 999, True),
        ("smsp__inst_executed.sum / 2 <= baseline - 10", 1020, True),
    ],
)  # fmt: skip
def test_baseline_is_the_other_side_in_the_baseline(text: str, before: int, held: bool) -> None:
    assert read(text).held(COUNTS, {"smsp__inst_executed.sum": before}) is held
    assert read(text).relative


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("gld_eficiency >= 95", "no metric 'gld_eficiency' is known; did you mean gld_efficiency"),
        ("smsp__inst_executed <= 3", "did you mean smsp__inst_executed.sum"),
        ("zzz == 1", "`warplens metrics` lists all"),
        ("gpu__time_duration.sum <= 80 KB", "the left side is in ns, the right side in byte"),
        ("launch__registers_per_thread <= 40 %", "the left side is in register/thread, the right side in %"),
        ("smsp__inst_executed.sum <= smsp__sass_sectors_mem_global.sum", "in inst, the right side in sector"),
        ("smsp__inst_executed.sum + 1 sector <= 3", "inst and sector cannot be added"),
        ("spills == 0 apples", "'apples' is no unit; possible are"),
        ("spills", "a comparison is missing"), ("spills = 0", "'=' cannot stand in a budget"),
        ("spills == 0 == 0", "one comparison a budget"), ("spills ==", "a number or a metric is missing at the end"),
        ("(spills == 0", "')' is missing"), ("sass(LDG) > 0", "takes an opcode in quotes"),
        ('sass("ldg") > 0', "takes an opcode in quotes"), ("1 < 2", "no metric stands in it"),
        ("baseline * spills <= baseline", "on one side only"), ("", "a number or a metric is missing at the end"),
        ("__import__('os') == 0", "no metric '__import__' is known"), ("(" * 2000 + "1", "at most 1000 are possible"),
    ],
)  # fmt: skip
def test_refusals(text: str, says: str) -> None:
    with pytest.raises(UsageError) as refusal:
        read(text)
    assert says in str(refusal.value)
    assert str(refusal.value).startswith("budget ")


def test_every_name_of_nvprof_is_one_of_nsight_compute() -> None:
    assert all(read(f"{name} >= 0").names for name in EXPRESSIONS)


def test_occupancy_of_nvprof_is_a_fraction() -> None:
    occupancy = read("achieved_occupancy >= 0.5")
    assert occupancy.unit == ""
    assert occupancy.held({"sm__warps_active.avg.pct_of_peak_sustained_active": 62.5}, None)
    assert not occupancy.held({"sm__warps_active.avg.pct_of_peak_sustained_active": 40.0}, None)


def test_default_budgets_say_which_direction_is_better() -> None:
    upward = [budget.names for budget in map(read, DEFAULT_BUDGETS) if budget.upward]
    assert upward == [("sm__maximum_warps_per_active_cycle_pct",)]
    assert all(budget.relative and not budget.predicted for budget in map(read, DEFAULT_BUDGETS))


def test_which_side_is_bounded() -> None:
    assert read("baseline <= spills").upward
    assert not read("3 >= spills").upward
    assert read("3 >= spills").measured_and_bound(COUNTS, None) == (2, 3)
    assert read("gpu__time_duration.sum < 1 us").predicted
