"""Pad shared rows: one element more a row, unless the array is used as a whole."""

from __future__ import annotations

from transform.proposals import changes_of, diffs, facts, refusals
from warplens.transform.access.pad_shared_rows import pad_shared_rows

TILE = """\
__global__ void f(float* x) {
  __shared__ float tile[32][32];
  tile[threadIdx.y][threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  x[threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
"""


def test_a_row_gets_one_float_more() -> None:
    assert diffs(pad_shared_rows, TILE, facts()) == [
        "-  __shared__ float tile[32][32];\n+  __shared__ float tile[32][33];"
    ]


def test_a_row_of_chars_gets_a_bank_more_and_names_are_kept() -> None:
    source = TILE.replace("float tile[32][32]", "char tile[32][W]")
    assert diffs(pad_shared_rows, source, facts()) == [
        "-  __shared__ char tile[32][W];\n+  __shared__ char tile[32][W + 4];"
    ]


def test_an_array_that_is_used_as_a_pointer_stays() -> None:
    source = TILE.replace("  __syncthreads();", "  float* all = &tile[0][0] + 1, *row = tile[3];")
    assert refusals(pad_shared_rows, source, facts()) == [
        (2, "the rows of tile are not padded: line 4 uses it as a pointer")
    ]


def test_the_address_of_an_element_may_reach_the_next_row() -> None:
    source = TILE.replace("  __syncthreads();", "  float* all = &tile[0][0];")
    assert refusals(pad_shared_rows, source, facts()) == [
        (2, "the rows of tile are not padded: line 4 uses it as a pointer")
    ]


def test_one_dimension_has_no_rows() -> None:
    assert changes_of(pad_shared_rows, TILE.replace("[32][32]", "[32]"), facts()) == []
