"""The memory chart's links have the numbers of the tables and of the prediction."""

from __future__ import annotations

from helpers.made_up_predictions import predicted
from helpers.report_runs import subject_of
from warplens.report.memory_chart import memory_chart


def test_links_of_a_kernel_with_shared_memory() -> None:
    chart = memory_chart(subject_of("matmul"))
    found = {(link.start, link.end): link for link in chart.links}
    assert found["global", "kernel"].text == "8,192 requests"
    assert found["l1", "global"].text == "1.05 MB"
    assert found["global", "l1"].text == "65.5 KB"
    assert found["smem", "shared"].text == "98,304 wavefronts"
    assert found["smem", "shared"].provenance == "exact"
    assert not chart.predicted
    assert chart.hits == {}
    assert all(link.percent is None for link in chart.links)


def test_dram_is_there_with_a_prediction() -> None:
    subject = predicted("nccopy")
    chart = memory_chart(subject)
    read = chart.between("dram", "l2")
    assert chart.predicted
    assert read is not None
    assert read.text == "67.1 MB"
    assert read.provenance == "modelled"
    assert read.percent == 75.0


def test_a_reduction_moves_one_way_an_atomic_both() -> None:
    ends = {(link.start, link.end) for link in memory_chart(subject_of("odd")).links}
    assert ("kernel", "global") in ends
