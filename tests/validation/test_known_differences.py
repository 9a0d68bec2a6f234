"""The list of counters that differ from an H200's names kernels and counters of the records, each with its reason."""

from __future__ import annotations

import csv
import tomllib

import pytest

from helpers.hardware_counters import COUNTED, KNOWN_DIFFERENCES, ROOT, names

LISTED = tomllib.loads(KNOWN_DIFFERENCES.read_text())


RECORDS = COUNTED | {"every_counter": ROOT / "measurements" / "h200" / "every_counter.csv"}


@pytest.mark.parametrize("name", LISTED)
def test_the_list_names_kernels_and_counters_of_the_record(name: str) -> None:
    with RECORDS[name].open(encoding="utf-8") as file:
        counters = set(next(csv.reader(line for line in file if not line.startswith("#"))))
    assert set(LISTED[name]) <= set(names(RECORDS[name]))
    for kernel, known in LISTED[name].items():
        assert known["reason"], kernel
        assert known["counters"] == sorted(set(known["counters"]) & counters), kernel
