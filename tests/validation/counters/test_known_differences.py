"""The list of counters that differ from an H200's names kernels and counters of the records, each with its reason."""

from __future__ import annotations

import csv
import tomllib

import pytest

from helpers.hardware_counters import KNOWN_DIFFERENCES, RECORDS, names

LISTED = tomllib.loads(KNOWN_DIFFERENCES.read_text())


@pytest.mark.parametrize("record", LISTED)
def test_the_list_names_kernels_and_counters_of_the_record(record: str) -> None:
    with (RECORDS / record).open(encoding="utf-8") as file:
        counters = set(next(csv.reader(line for line in file if not line.startswith("#"))))
    assert set(LISTED[record]) <= set(names(record))
    for kernel, known in LISTED[record].items():
        assert known["reason"], kernel
        assert known["counters"] == sorted(set(known["counters"]) & counters), kernel
