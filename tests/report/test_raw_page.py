"""--csv: the shape of Nsight Compute's raw page, read back by the reader of Nsight Compute's own files."""

from __future__ import annotations

import csv
import io

from helpers.made_up_predictions import predicted
from helpers.report_runs import subject_of
from warplens.core.metric import Metric
from warplens.hardware.ncu import read_csv
from warplens.report.raw_page import page

EXECUTED, READ = "smsp__inst_executed.sum", "dram__bytes_read.sum"


def test_names_units_and_a_row_for_each_launch() -> None:
    names, units, *rows = csv.reader(io.StringIO(page([predicted("ccopy"), subject_of("nccopy")], [EXECUTED, READ])))
    assert names == [
        "ID", "Process ID", "Process Name", "Host Name", "Kernel Name", "Context", "Stream", "Block Size", "Grid Size",
        "Device", "CC", EXECUTED, READ,
    ]  # fmt: skip
    assert units == [""] * 11 + ["inst", "byte"]
    assert [(row[0], row[4], *row[7:9], *row[10:]) for row in rows] == [
        ("0", "ccopy", "(128, 1, 1)", "(256, 1, 1)", "9.0", "16384", "67108864"),
        ("1", "nccopy", "(128, 1, 1)", "(256, 1, 1)", "9.0", "38912", "n/a"),
    ]


def test_the_reader_of_nsight_computes_files_reads_it() -> None:
    subject = subject_of("nccopy")
    (found,) = read_csv(page([subject], None))
    assert found.keys() == {name for name in subject.metrics if "__" in name or name.startswith("memory_")}
    for name, metric in found.items():
        told = subject.metrics[name]
        assert metric == Metric(round(told.value, 6), told.unit, "measured")
