"""--metrics and `warplens metrics`: which names a word means, and that every metric is defined."""

from __future__ import annotations

import pytest

from warplens.counters.metric_collection import all_formulas
from warplens.errors import UsageError
from warplens.report.definitions import definitions
from warplens.report.metric_selection import asked, known

EXECUTED = "smsp__inst_executed.sum"


def test_words_by_the_rules_of_nsight_compute() -> None:
    loads = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld"
    assert asked([EXECUTED]) == [EXECUTED]
    assert asked(["smsp__inst_executed"]) == [EXECUTED]
    assert asked([f"{loads}, {EXECUTED}", "smsp__inst_executed"]) == [f"{loads}.sum", EXECUTED]
    assert asked(["regex:^dram__bytes_(read|write).sum$"]) == ["dram__bytes_read.sum", "dram__bytes_write.sum"]
    assert f"{loads}.sum" in asked(["regex:sectors_pipe_lsu"])


@pytest.mark.parametrize(
    ("word", "says"),
    [
        ("smsp__inst_execute.sum", "did you mean smsp__inst_executed.sum"),
        ("regex:nothing_has_this", "no metric"),
        ("regex:(", "no regular expression"),
        ("group:memory__chart", "group: is not supported"),
        ("", "no metric ''"),
    ],
)
def test_words_that_name_nothing(word: str, says: str) -> None:
    with pytest.raises(UsageError) as refused:
        asked([word])
    assert says in str(refused.value)


def test_a_predicted_metric_needs_a_gpu() -> None:
    assert asked(["gpu__time_duration.sum"]) == ["gpu__time_duration.sum"]
    with pytest.raises(UsageError, match="name a GPU of the code's architecture"):
        asked(["gpu__time_duration.sum"], predicted=False)
    with_model, without = asked(["regex:."]), asked(["regex:."], predicted=False)
    assert "dram__bytes_read.sum" in set(with_model) - set(without)


def test_patterns() -> None:
    assert [found.name for found in known("GPU__time")] == ["gpu__time_duration.sum"]
    assert [found.name for found in known("dram__bytes_*.sum")] == ["dram__bytes_read.sum", "dram__bytes_write.sum"]
    assert {found.name for found in known("regex:^dram__bytes_(read|write).sum$")} == {
        "dram__bytes_read.sum", "dram__bytes_write.sum",
    }  # fmt: skip
    assert len(known("")) == len(definitions())
    with pytest.raises(UsageError, match="no metric has 'drum'"):
        known("drum")


def test_each_metric_is_defined_once() -> None:
    names = [found.name for found in definitions()]
    assert len(set(names)) == len(names)
    assert {formula.name for formula in all_formulas()} <= set(names)
    for found in definitions():
        assert "{" not in found.name + found.means, found.name
        assert found.means[:1].isupper() or found.means.startswith("LD"), found.name
