"""Source and SASS: the same numbers as the JSON document, nothing lost in folding."""

from __future__ import annotations

from dataclasses import replace

import pytest

from helpers.made_up_predictions import predicted
from helpers.report_runs import subject_of
from warplens.core.program import Control
from warplens.report.html.code_table import KEPT_LINES, code_table, control_text
from warplens.report.json.document import document


@pytest.mark.parametrize("name", ["nccopy", "transpose", "odd"])
def test_rows_have_the_numbers_of_the_document(name: str) -> None:
    subject = predicted(name) if name == "nccopy" else subject_of(name)
    told = {entry["offset"]: entry for entry in document(subject)["instructions"]}
    rows = list(code_table(subject).rows)
    assert len(rows) == len(subject.program.body)
    for row in rows:
        metrics = told[row.instruction.offset]["metrics"]
        assert row.heat.executed == metrics.get("smsp__inst_executed.sum", 0)
        assert row.heat.conflicts == metrics.get("derived__memory_l1_wavefronts_shared_excessive", 0)
        moved = ("smsp__sass_sectors_mem_global.sum", "smsp__sass_sectors_mem_local.sum")
        assert row.heat.sectors == sum(metrics.get(metric, 0) for metric in moved)


def test_lines_have_the_sums_of_their_instructions() -> None:
    table = code_table(predicted("nccopy"))
    for file in table.files:
        for line in (line for run in file.runs for line in run.rows if line.place >= 0):
            own = [row for row in table.rows if row.place == line.place]
            assert line.heat.executed == sum(row.heat.executed for row in own)
            assert line.heat.stalls == pytest.approx(sum(row.heat.stalls or 0 for row in own))


def test_every_line_is_there_once_and_long_parts_are_folded() -> None:
    subject = subject_of("nccopy")
    (name,) = subject.sources
    text = subject.sources[name]
    (file,) = code_table(subject).files
    assert [row.number for run in file.runs for row in run.rows] == list(range(1, len(text.split("\n")) + 1))
    assert all(row.place < 0 for run in file.runs if run.folded for row in run.rows)
    long = replace(subject, sources={name: text + "\n" * 1000})
    (file,) = code_table(long).files
    last = file.runs[-1]
    assert last.folded
    assert (len(last.rows), last.left_out > 500) == (KEPT_LINES, True)


def test_what_is_missing_is_named() -> None:
    subject = subject_of("nccopy")
    assert "copy.cu is not known" in code_table(replace(subject, sources={})).missing
    bare = replace(subject.program, instructions=tuple(replace(i, source=None) for i in subject.program.instructions))
    table = code_table(replace(subject, program=bare))
    assert "-lineinfo" in table.missing
    assert table.files == ()
    assert table.size == len(bare.body)


def test_control_codes() -> None:
    assert control_text(Control(4, True, 1, None, 0b101)) == "B0-2---:R-:W1:Y:S04"
    assert control_text(Control(15, False, None, 3, 0)) == "B------:R3:W-:-:S15"
