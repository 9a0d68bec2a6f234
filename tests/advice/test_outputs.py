"""Outputs of two versions of a kernel: what counts as equal."""

from __future__ import annotations

import numpy as np

from warplens.advice import compare_outputs

FLOATS = np.array([1.0, -2.0, 0.0, np.nan], np.float32)


def test_equal_bytes_are_equal_also_where_they_are_no_number() -> None:
    found = compare_outputs(("x", "n"), [FLOATS, 4], [FLOATS.copy(), 4], tolerant=False)
    assert found.equal
    assert found.exact


def test_the_sign_of_zero_is_a_difference_unless_floats_may_be_rounded() -> None:
    other = FLOATS.copy()
    other[2] = -0.0
    assert compare_outputs(("x",), [FLOATS], [other], tolerant=False).differs == {
        "x": "x[2] is -0.0 instead of 0.0; 1 of 4 elements differ"
    }
    rounded = compare_outputs(("x",), [FLOATS], [other], tolerant=True)
    assert rounded.equal
    assert not rounded.exact


def test_rounding_has_a_bound() -> None:
    near, far = FLOATS * np.float32(1 + 5e-6), FLOATS * np.float32(1 + 5e-5)
    assert compare_outputs(("x",), [FLOATS], [near], tolerant=True).equal
    assert not compare_outputs(("x",), [FLOATS], [far], tolerant=True).equal


def test_a_number_in_place_of_nan_is_a_difference() -> None:
    other = FLOATS.copy()
    other[3] = 0
    assert not compare_outputs(("x",), [FLOATS], [other], tolerant=True).equal


def test_integers_are_never_rounded_and_scratch_arrays_are_left_out() -> None:
    before, after = np.arange(8), np.arange(8)
    after[5] = 6
    assert not compare_outputs(("x",), [before], [after], tolerant=True).equal
    assert compare_outputs(("x",), [before], [after], tolerant=True, scratch=("x",)).equal


def test_of_partial_sums_only_the_total_may_matter() -> None:
    before, after = np.array([1, 2, 3, 2**31 - 1], np.int32), np.array([6, 2**31 - 1, 0, 0], np.int32)
    assert not compare_outputs(("sums",), [before], [after], tolerant=True).equal
    assert compare_outputs(("sums",), [before], [after], tolerant=True, totals=("sums",)).equal
    after[3] = 1
    assert not compare_outputs(("sums",), [before], [after], tolerant=True, totals=("sums",)).equal
