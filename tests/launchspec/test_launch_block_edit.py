"""Other sizes in a launch block."""

from __future__ import annotations

import pytest

from warplens.launchspec.launch_block_edit import divided, exchanged, multiplied, with_sizes

TEXT = """// Copies.
// /// warplens
// n = 4096   # floats
// [copy]
// grid = "n / 128"
// block = 128
// args = ["random f32[n]", "zeros f32[n]", "n"]
//
// [other]
// grid = 7
// block = 32
// ///
__global__ void copy(const float* x, float* y, int n) {}
"""


def test_only_the_sizes_of_the_table_change() -> None:
    changed = with_sizes(TEXT, "copy.cu", "copy", {"grid": "ceil(n / 128 / 4)", "block": (64, 2)})
    expected = TEXT.replace('"n / 128"', '"ceil(n / 128 / 4)"').replace("block = 128", "block = [64, 2]")
    assert changed == expected


def test_a_text_without_a_block_or_without_this_table_stays() -> None:
    assert with_sizes("int x;", "copy.cu", "copy", {"grid": 1}) == "int x;"
    assert with_sizes(TEXT, "copy.cu", "third", {"grid": 1}) == TEXT


@pytest.mark.parametrize(
    ("size", "over", "expected"),
    [
        (10, (4, 1, 1), 3),
        ("n / 128", (4, 1, 1), "ceil(n / 128 / 4)"),
        ("n + 1", (2, 1, 1), "ceil((n + 1) / 2)"),
        ((10, "m"), (2, 2, 1), (5, "ceil(m / 2)")),
        ("n / 128", (1, 1, 1), "n / 128"),
        ("n / 32, m / 32", (2, 1, 1), None),
        (10, (1, 2, 1), None),
    ],
)
def test_a_grid_divided(size: int | str | tuple[int | str, ...], over: tuple[int, int, int], expected: object) -> None:
    assert divided(size, over) == expected


def test_a_grid_with_x_and_y_exchanged() -> None:
    assert exchanged(("n / 32", 8, "z")) == (8, "n / 32", "z")
    assert exchanged(("n / 32", 8, "z"), 2) == ("z", 8, "n / 32")
    assert exchanged((64, 8), 2) is None
    assert exchanged("n / 32") is None
    assert exchanged(64) is None


def test_a_grid_multiplied() -> None:
    assert multiplied(("n / 32", 8), (32, 1, 1)) == ("(n / 32) * 32", 8)
    assert multiplied((2, "m"), (1, 4, 1)) == (2, "m * 4")
    assert multiplied("m", (1, 4, 1)) is None
    assert multiplied("rows", (32, 1, 1)) == "rows * 32"
    assert multiplied(4, (32, 1, 1)) == 128
    assert multiplied("n, m", (32, 1, 1)) is None
