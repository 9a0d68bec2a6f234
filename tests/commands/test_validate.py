"""Results and counters beside a GPU's: what counts as equal."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from warplens.commands.validate import Emulated, difference, read_record, rows, write_record
from warplens.core.agreement import Agreement, AgreementRow
from warplens.core.launch import Launch
from warplens.core.metric import Metric

LAUNCH = Launch((1, 1, 1), (32, 1, 1))
NAME = "smsp__inst_executed.sum"


def emulated(*arrays: np.ndarray[Any, Any]) -> Emulated:
    return cast(Emulated, SimpleNamespace(arrays=list(arrays)))


def test_the_first_element_that_differs_is_named() -> None:
    ours, theirs = np.arange(8, dtype=np.int32), np.arange(8, dtype=np.int32)
    assert difference(emulated(ours), [theirs.view(np.uint8)]) == ""
    theirs[5] += 256  # its second byte
    assert difference(emulated(ours), [theirs.view(np.uint8)]) == "array 1, element 5: 5 here, 261 on the GPU"
    floats = np.ones(4)
    other = np.nextafter(floats, 2)
    told = difference(emulated(ours, floats), [ours.view(np.uint8), other.view(np.uint8)])
    assert told.startswith("array 2, element 0: 1.0 here, 1.0000000000000002")


@pytest.mark.parametrize(("outputs", "equal"), [("", True), (None, True), ("array 1, element 5: 5 here, ...", False)])
def test_a_launch_agrees_if_counters_and_outputs_do(outputs: str | None, equal: bool) -> None:
    same = AgreementRow(NAME, Metric(8, "inst", "exact"), Metric(8, "inst", "measured"), True)
    other = AgreementRow(NAME, Metric(8, "inst", "exact"), Metric(9, "inst", "measured"), False)
    assert Agreement("k", LAUNCH, (same,), outputs).equal is equal
    assert not Agreement("k", LAUNCH, (same, other), outputs).equal


@pytest.mark.parametrize(("theirs", "equal"), [(100, True), (101, False), (99, False)])
def test_a_counter_agrees_if_it_is_the_same(theirs: int, equal: bool) -> None:
    (row,) = rows({NAME: Metric(100, "inst", "exact")}, {NAME: Metric(theirs, "inst", "measured")})
    assert row.equal is equal


def test_percentages_agree_to_the_two_digits_that_are_printed() -> None:
    name = "smsp__sass_average_data_bytes_per_wavefront_mem_shared.pct"
    for theirs, equal in ((33.33, True), (33.34, False)):
        (row,) = rows({name: Metric(100 / 3, "%", "exact")}, {name: Metric(theirs, "%", "measured")})
        assert row.equal is equal


def test_a_record_is_read_back_with_names_that_hold_commas(tmp_path: Path) -> None:
    file = tmp_path / "h200.csv"
    row = AgreementRow(NAME, Metric(8, "inst", "exact"), Metric(8, "inst", "measured"), True)
    write_record(
        str(file), [Agreement(kernel, LAUNCH, (row,), "") for kernel in ("copy", "scale<float, 4>")], "an H200"
    )
    assert (
        file.read_text()
        == f'# an H200\nkernel,grid,block,{NAME}\ncopy,1x1x1,32x1x1,8\n"scale<float, 4>",1x1x1,32x1x1,8\n'
    )
    assert read_record(str(file)) == {
        (kernel, "1x1x1", "32x1x1"): {NAME: Metric(8, "", "measured")} for kernel in ("copy", "scale<float, 4>")
    }
