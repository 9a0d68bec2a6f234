"""Every rule on its pair of kernels: it fires on the first, is silent on the second, and report/ has words for it."""

from __future__ import annotations

import inspect
import re
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

import pytest

import warplens.rules
from rules.example_kernels import counted
from warplens.counters.metric_collection import all_formulas
from warplens.report.finding_text import format_evidence, format_finding
from warplens.rules import Finding, Rule, WholeProgramRule, findings, program_rules, rules

every_rule = pytest.mark.parametrize("rule", rules(), ids=lambda rule: rule.fault)


def test_the_folders_are_the_list() -> None:
    found = list(Path(warplens.rules.__path__[0]).glob("*/[!_]*.py"))
    files = sorted(path.stem for path in found if path.parent.name != "program")
    assert [rule.fault for rule in rules()] == files
    programs = sorted(path.stem for path in found if path.parent.name == "program")
    assert [rule.fault for rule in program_rules()] == programs
    assert len(files) >= 26


@pytest.mark.parametrize("rule", [*rules(), *program_rules()], ids=lambda rule: rule.fault)
def test_its_file_says_what_nsight_compute_has_for_it(rule: Rule | WholeProgramRule) -> None:
    text = " ".join(inspect.getdoc(import_module(rule.check.__module__)).split())
    assert len(text.partition("Nsight Compute: ")[2]) >= len("no rule.")


@every_rule
def test_fires_on_the_first_example_and_is_silent_on_the_second(rule: Rule) -> None:
    found = rule(counted(rule.fires))
    assert found is not None
    assert found.fault == rule.fault
    assert rule.threshold <= found.weight <= 1
    assert rule(counted(rule.silent)) is None


@every_rule
def test_a_threshold_above_the_weight_silences_it(rule: Rule) -> None:
    subject = counted(rule.fires)
    found = rule(subject)
    assert found is not None
    higher = Rule(rule.fault, found.weight * 1.001, rule.reads, rule.fires, rule.silent, rule.check)
    assert higher(subject) is None


@every_rule
def test_its_finding_has_words_with_the_line(rule: Rule) -> None:
    subject = counted(rule.fires)
    found = rule(subject)
    assert found is not None
    text = format_finding(found, subject)
    assert re.match(r"[a-z_ -]+: .*\d", text)
    assert (f"line {found.line.line}" in text) if found.line else ("mostly" not in text)


@every_rule
def test_reads_metrics_that_exist(rule: Rule) -> None:
    subject = counted(rule.fires)
    known = {formula.name for formula in all_formulas()} | set(subject.metrics)
    assert set(rule.reads) <= known


def test_findings_are_ranked_by_weight() -> None:
    found = findings(counted("reduction/1_neighboured"))
    assert [finding.fault for finding in found] == ["division_by_variable", "uncoalesced_access", "inactive_lanes"]
    assert found[0].weight > found[1].weight > found[2].weight


def test_unknown_evidence_is_refused() -> None:
    class Evidence(NamedTuple):
        number: int

    with pytest.raises(TypeError, match="no text for the evidence"):
        format_evidence(Evidence(1), counted("coalescing/1_ccopy"))
    assert isinstance(Finding("x", 0.5, Evidence(1)), Finding)
