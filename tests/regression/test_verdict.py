"""Verdicts: what follows from two records, budgets and policy."""

from __future__ import annotations

from dataclasses import replace

import pytest

from warplens.regression.budget import Vocabulary, parse_budget
from warplens.regression.kernel_record import KernelKey, KernelRecord
from warplens.regression.verdict import KernelUnderTest, KernelVerdict, Policy, Verdict, exit_code, gone, judge

WORDS = Vocabulary({"inst": "inst", "occupancy": "%", "time": "ns"}, frozenset({"time"}))
KEY = KernelKey("k.cu", "k", "sm_90", "h200")
TOOLS = {"warplens": "1", "nvrtc": "13.0"}
BEFORE = KernelRecord(KEY, "code", "8 blocks", "in", TOOLS, {"inst": 100, "occupancy": 50.0})
TRACKED = tuple(parse_budget(text, WORDS) for text in ("inst <= baseline", "occupancy >= baseline"))
POLICY = Policy(TRACKED, WORDS.units, baseline="b.toml")


def verdict(
    now: KernelRecord, *texts: str, before: KernelRecord | None = BEFORE, policy: Policy = POLICY
) -> KernelVerdict:
    budgets = [parse_budget(text, WORDS) for text in texts] or TRACKED
    return judge(KernelUnderTest(now, before, None, True), budgets, policy)


def changed(**counts: float) -> KernelRecord:
    return replace(BEFORE, code="other", counts={**BEFORE.counts, **counts})


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        (BEFORE, Verdict.UNCHANGED), (changed(), Verdict.PASS), (changed(inst=90), Verdict.IMPROVED),
        (changed(inst=101), Verdict.FAIL), (changed(inst=90, occupancy=40.0), Verdict.FAIL),
        (changed(occupancy=75.0), Verdict.IMPROVED),
    ],
)  # fmt: skip
def test_by_the_default_budgets(now: KernelRecord, expected: Verdict) -> None:
    assert verdict(now).verdict is expected
    assert verdict(now).exit_code == (1 if expected is Verdict.FAIL else 0)


def test_a_worse_count_within_its_budget_is_no_improvement() -> None:
    assert verdict(changed(inst=90, occupancy=40.0), "inst <= baseline").verdict is Verdict.PASS


def test_without_a_baseline() -> None:
    assert verdict(BEFORE, before=None).verdict is Verdict.NEW
    assert verdict(BEFORE, "inst <= 3", before=None).verdict is Verdict.FAIL
    assert verdict(BEFORE, before=None, policy=replace(POLICY, baseline="")).verdict is Verdict.PASS


@pytest.mark.parametrize(
    ("budget", "sampled", "reason", "allowed"),
    [("time <= 1 us", False, "predicted", "predictions"), ("inst <= 3", True, "sampled", "samples")],
)
def test_inexact_counts_fail_only_where_asked_for(budget: str, sampled: bool, reason: str, allowed: str) -> None:
    now = replace(changed(time=4000.0), sampled=sampled)
    found = verdict(now, budget, before=None)
    assert (found.exit_code, [one.reason for one in found.broken]) == (0, [reason])
    asked = verdict(now, budget, before=None, policy=replace(POLICY, **{allowed: True}))
    assert (asked.verdict, asked.broken[0].fails) == (Verdict.FAIL, True)


def test_what_cannot_be_compared() -> None:
    other_tools = replace(BEFORE, tools={**TOOLS, "nvrtc": "12.9"})
    found = verdict(changed(inst=200), before=other_tools)
    assert (found.verdict, found.exit_code, found.broken) == (Verdict.NOT_COMPARABLE, 2, ())
    assert "nvrtc 13.0 (baseline 12.9)" in found.note
    assert verdict(changed(inst=200), before=other_tools, policy=replace(POLICY, across_versions=True)).exit_code == 1
    assert verdict(BEFORE, before=other_tools).verdict is Verdict.UNCHANGED
    assert verdict(replace(BEFORE, inputs="x")).verdict is Verdict.NOT_COMPARABLE
    assert verdict(replace(changed(), sampled=True)).verdict is Verdict.NOT_COMPARABLE
    failed = verdict(changed(inst=200), "inst <= 150", "inst <= baseline", before=other_tools)
    assert failed.verdict is Verdict.FAIL, "a budget without a baseline needs none"


def test_exit_codes() -> None:
    assert exit_code([]) == 0
    assert exit_code([verdict(BEFORE), gone(BEFORE)]) == 1
    assert exit_code([gone(BEFORE), replace(gone(BEFORE), exit_code=4), verdict(changed(inst=101))]) == 4
