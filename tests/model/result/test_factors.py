"""The factors of two times, on made-up predictions: they multiply out, and nothing is lost between classes."""

from __future__ import annotations

import io
import json
from dataclasses import replace

import pytest

from helpers.made_up_predictions import made_up
from helpers.report_runs import subject_of
from warplens.core.metric import Metric
from warplens.counters.comparison import compare
from warplens.errors import UsageError
from warplens.model.result.factors import ACTIVE, CYCLES, MAIN_MEMORY, OCCUPANCY, Class, Decomposition, Factors, factors
from warplens.report.launch_view import LaunchView
from warplens.report.terminal import decomposition_report
from warplens.report.terminal.comparison_report import document, show, side
from warplens.report.terminal.console_layout import console


def predicted(name: str, time_us: float, occupancy: float, active_us: float) -> LaunchView:
    """With cycles per instruction that follow from the rest, as those of the model do."""
    subject = subject_of(name)
    machine = subject.machine
    active = active_us * machine.boost_megahertz
    warps = occupancy / 100 * machine.limits.warps_per_multiprocessor * machine.multiprocessors
    cycles = warps * active / int(subject["smsp__inst_executed.sum"])
    metrics = {
        CYCLES: Metric(cycles, "cycle", "modelled"),
        OCCUPANCY: Metric(occupancy, "%", "modelled"),
        ACTIVE: Metric(active, "cycle", "modelled"),
    }
    return replace(subject, prediction=replace(made_up(subject), time_us=time_us, metrics=metrics))


def taken_apart() -> Decomposition:
    found = decomposition_report.of(predicted("ccopy", 80.0, 74.19, 76.0), predicted("nccopy", 120.0, 81.61, 117.0))
    assert found is not None
    return found


def test_the_factors_multiply_out() -> None:
    found = taken_apart()
    assert found.time == 1.5
    assert found.product == pytest.approx(1.5, rel=1e-12)
    assert found.multiplies_out
    assert found.ratio(lambda f: f.outside) == pytest.approx((120 / 117) / (80 / 76))


def test_numbers_that_contradict_each_other_do_not() -> None:
    found = taken_apart()
    wrong = replace(found, second=replace(found.second, cycles=found.second.cycles * 1.01))
    assert not wrong.multiplies_out
    assert "the model contradicts itself" in decomposition_report.identity(wrong)
    assert decomposition_report.identity(found).endswith("= 1.5: the ratio of the times")


def test_the_classes_have_all_instructions_and_all_cycles() -> None:
    for half, name in zip((taken_apart().first, taken_apart().second), ("ccopy", "nccopy"), strict=True):
        subject = subject_of(name)
        assert sum(part.instructions for part in half.classes) == half.instructions
        assert half.instructions == subject["smsp__inst_executed.sum"]
        assert sum(part.warp_cycles for part in half.classes) == pytest.approx(half.cycles * half.instructions)
        memory, others = half.classes
        assert memory.name == MAIN_MEMORY
        assert memory.instructions == 2 * subject.warps  # a load and a store
        assert memory.warp_cycles / others.warp_cycles == pytest.approx(750 / 250)


def test_lesson_g_with_its_published_figures() -> None:
    """16M floats: 270.69 and 405.92 us; the note's product is 1.49 where its times are 1.50."""
    classes = (Class("main memory", 1_050_000, 509.0), Class("other instructions", 5_770_000, 10.03))
    first = Factors(270.69, 86.79, 6_820_000, 74.19, 270.69, classes)
    second = Factors(405.92, 52.98, 18_350_000, 81.61, 405.92, classes)
    found = Decomposition(first, second)
    assert f"{found.ratio(lambda f: f.instructions):.2f}" == "2.69"
    assert f"{found.product:.2f}" == "1.49"
    assert f"{found.time:.2f}" == "1.50"
    assert not found.multiplies_out


@pytest.mark.parametrize("width", [80, 100])
def test_in_the_terminal(width: int) -> None:
    first, second = predicted("ccopy", 80.0, 74.19, 76.0), predicted("nccopy", 120.0, 81.61, 117.0)
    file = io.StringIO()
    out = console(file)
    out.width = width
    show(compare(side(first), side(second)), first, second, out)
    text = file.getvalue()
    assert max(map(len, text.splitlines())) <= width
    words = " ".join(text.split())
    assert "nccopy takes 1.5 times as long as ccopy on the NVIDIA H200 SXM: 120 µs and 80.0 µs (modelled)" in words
    assert "Decomposition modelled ccopy nccopy Ratio Time 80.0 µs 120 µs × 1.5" in words
    assert "× Executed instructions 16,384 38,912 × 2.375" in words
    assert "= 1.5: the ratio of the times" in words


def test_in_the_document() -> None:
    first, second = predicted("ccopy", 80.0, 74.19, 76.0), predicted("nccopy", 120.0, 81.61, 117.0)
    found = decomposition_report.of(first, second)
    content = json.loads(document(compare(side(first), side(second)), "{}", "{}", found))["comparison"]
    assert found is not None
    assert content["time"]["cycles_per_instruction"] == found.ratio(lambda f: f.cycles)
    part = content["decomposition"]
    assert part["time"] == 1.5
    assert part["product"] == pytest.approx(1.5)
    assert part["second"]["achieved_occupancy_percent"] == 81.61


def test_without_two_predictions_there_are_no_factors() -> None:
    assert decomposition_report.of(subject_of("ccopy"), predicted("nccopy", 120.0, 81.61, 117.0)) is None


def test_a_prediction_without_the_metrics_is_refused() -> None:
    subject = subject_of("ccopy")
    with pytest.raises(UsageError, match=r"the prediction has no sm__cycles_active.avg"):
        factors(subject.program, subject.trace, subject.machine, made_up(subject))
