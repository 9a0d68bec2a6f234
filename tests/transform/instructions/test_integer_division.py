"""Integer division: reciprocals that are exact for every number, and powers of two through unsigned arithmetic."""

from __future__ import annotations

import numpy as np
import pytest

import warplens as wl
from transform.proposals import changes_of, diffs, facts, refusals
from warplens.transform.instructions.integer_division import OF_31_BITS, OF_32_BITS, integer_division

TURN = """\
__global__ void f(const float* in, float* out, int rows, int columns) {
  int all = rows * columns;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < all; i += blockDim.x * gridDim.x) {
    int row = i / columns, column = i % columns;
    out[column * rows + row] = in[i];
  }
}
"""
ONCE = """\
__global__ void f(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[(2 * i) % n];
}
"""
POWERS = """\
__global__ void f(int* out, const int* in) {
  int t = threadIdx.x;
  int row = t / 8;
  if (t % 4 == 0) out[row] = t % 16 - 3;
}
"""
NUMBERS = facts(numbers={"rows": 7, "columns": 30, "n": 1000})


def test_a_divisor_in_a_loop() -> None:
    (change,) = changes_of(integer_division, TURN, NUMBERS)
    assert change.promise == "columns is positive, and what is divided by it is not negative"
    (diff,) = diffs(integer_division, TURN, NUMBERS)
    helper = OF_31_BITS.format(name="Divisor", step="  ").rstrip("\n").split("\n")
    assert diff.split("\n") == [
        *(f"+{line}" for line in [*helper, ""]),
        "+  Divisor by_columns(columns);",
        "-    int row = i / columns, column = i % columns;",
        "+    int row = by_columns.quotient(i), column = by_columns.remainder(i);",
    ]


def test_a_division_that_serves_once_gets_a_loop_first() -> None:
    assert refusals(integer_division, ONCE, NUMBERS) == [
        (3, "the division by n stays: its reciprocal takes a division too, and serves once")
    ]
    (change,) = changes_of(integer_division, ONCE, facts(grid=100_000, numbers={"n": 1000}))
    assert change.launch.grid == (1056, 1, 1)
    assert "i += blockDim.x * gridDim.x) out[i] = in[by_n.remainder(2 * i)];" in change.edits[0].text


def test_several_divisions_are_also_tried_in_a_loop() -> None:
    source = ONCE.replace("in[(2 * i) % n]", "in[i / n + i % n]")
    plain, in_loop = changes_of(integer_division, source, facts(grid=100_000, numbers={"n": 1000}))
    assert plain.launch.grid is None
    assert in_loop.launch.grid == (1056, 1, 1)
    assert "gridDim.x) out[i] = in[(int)by_n.quotient(i) + (int)by_n.remainder(i)];" in in_loop.edits[0].text


@pytest.mark.parametrize(
    ("old", "new", "numbers", "reason"),
    [
        ("int all = ", "columns += 1; int all = ", {"columns": 30}, "columns changes"),
        ("i < all", "i < all", {}, "columns may be zero or negative"),
        ("i / columns, column = i % columns", "-i / columns, column = (i - 3) % columns", {"columns": 3},
         "-i may be negative, or more than 32 bits"),
        ("int i", "size_t i", {"columns": 3}, "i may be negative, or more than 32 bits"),
    ],
)  # fmt: skip
def test_it_refuses(old: str, new: str, numbers: dict[str, int], reason: str) -> None:
    (_, found), *_ = refusals(integer_division, TURN.replace(old, new), facts(numbers=numbers))
    assert found == f"the division by columns stays: {reason}"


def test_powers_of_two_of_what_is_not_negative() -> None:
    assert diffs(integer_division, POWERS, NUMBERS) == ["""\
-  int row = t / 8;
-  if (t % 4 == 0) out[row] = t % 16 - 3;
+  int row = (unsigned)t / 8;
+  if ((unsigned)t % 4 == 0) out[row] = (int)((unsigned)t % 16) - 3;"""]  # fmt: skip


def test_a_number_from_memory_may_be_negative() -> None:
    assert refusals(integer_division, POWERS.replace("t = threadIdx.x", "t = in[0]"), NUMBERS)[0] == (
        3, "t / 8 stays: t may be negative",
    )  # fmt: skip


RECIPROCALS = (
    OF_31_BITS.format(name="Of31", step="  ") + OF_32_BITS.format(name="Of32", step="  ") + """
template <class Divisor> __device__ void divide(unsigned n, unsigned d, unsigned* quotients, unsigned* remainders) {
  Divisor by(d);
  *quotients = by.quotient(n);
  *remainders = by.remainder(n);
}

__global__ void f(const unsigned* n, const unsigned* d, unsigned* quotients, unsigned* remainders) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, all = blockDim.x * gridDim.x;
  divide<Of31>(n[i] >> 1, d[i], quotients + i, remainders + i);
  divide<Of32>(n[i], d[i], quotients + all + i, remainders + all + i);
}
"""
)  # fmt: skip


def test_the_reciprocals_are_exact() -> None:
    """Around multiples of the divisor, where a reciprocal that is too small or too large shows first."""
    pick = np.random.default_rng(1)
    small = [1, 2, 3, 5, 7, 10, 641, 2**16 - 1, 2**16, 2**16 + 1, 2**30, 2**31 - 1]
    d = np.repeat(np.array([*small, *(int(2.0 ** pick.uniform(1, 31)) for _ in range(12))], np.uint64), 512)
    chosen = pick.integers(0, 2**32, d.size, dtype=np.uint64)
    chosen[::16], chosen[1::16] = 0, 2**32 - 1
    near = (chosen // d * d).astype(np.int64) + np.resize([-1, 0, 1, -2, 2], d.size)
    n = np.clip(near, 0, 2**32 - 1).astype(np.uint32)
    n[::4] = n[::4] << 1 | n[::4] & 1  # its half is near a multiple
    d = d.astype(np.uint32)
    quotients, remainders = np.zeros(2 * n.size, np.uint32), np.zeros(2 * n.size, np.uint32)
    wl.compile(source=RECIPROCALS)["f"].launch(n.size // 256, 256, n, d, quotients, remainders)
    both, twice = np.concatenate([n >> 1, n]), np.concatenate([d, d])
    assert (quotients == both // twice).all()
    assert (remainders == both % twice).all()
