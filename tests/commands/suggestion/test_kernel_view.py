"""Kernel view: refusals as reports list them."""

from __future__ import annotations

from dataclasses import dataclass

from warplens.commands.suggestion.kernel_view import _mended, _refused
from warplens.transform import Refusal


@dataclass
class Kept:
    """A change that was kept, as far as refusals are concerned."""

    transform: str
    line: int


@dataclass
class KeptStep:
    change: Kept


@dataclass
class Found:
    steps: list[KeptStep]


def test_refusals_for_one_reason_are_one_line() -> None:
    refused = [
        Refusal("wide_access", 7, "no wide accesses: the grid has two dimensions"),
        Refusal("warp_per_row", 7, "no warp for each row: the grid has two dimensions"),
        Refusal("warp_per_row", 9, "no warp for each row: the grid has two dimensions"),
        Refusal("unroll_loops", 9, "the loop is hidden in a macro"),
        Refusal("unroll_loops", 9, "the file does not parse"),
    ]
    assert [(one.line, one.reason) for one in _refused(refused)] == [
        (7, "no wide accesses, no warp for each row: the grid has two dimensions"),
        (9, "no warp for each row: the grid has two dimensions"),
        (9, "the loop is hidden in a macro"),
        (9, "the file does not parse"),
    ]


def test_a_fault_that_another_change_mends_is_not_listed() -> None:
    refusal = Refusal("flat_transpose_tile", 7, "no tile for the transposition: the grid has two dimensions")
    assert _mended(refusal, Found([KeptStep(Kept("transpose_tile", 7))]))  # type: ignore[arg-type]
    assert not _mended(refusal, Found([KeptStep(Kept("transpose_tile", 8))]))  # type: ignore[arg-type]
    assert not _mended(refusal, Found([KeptStep(Kept("unroll_loops", 7))]))  # type: ignore[arg-type]
    assert not _mended(Refusal("", 0, "the file does not parse"), Found([]))  # type: ignore[arg-type]
