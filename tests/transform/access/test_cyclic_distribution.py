"""Cyclic distribution: contiguous parts of threads become every n-th element."""

from __future__ import annotations

import numpy as np
import pytest

from transform.launched import before_and_after
from transform.proposals import changes_of, diffs, facts, refusals
from warplens.transform.access.cyclic_distribution import cyclic_distribution

PARTS = """\
__global__ void f(const float* a, float* b, int n) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  int threads = gridDim.x * blockDim.x;
  int part = (n + threads - 1) / threads;
  int first = t * part;
  int last = first + part < n ? first + part : n;
  for (int i = first; i < last; i++) b[i] = 2 * a[i];
}
"""
LAUNCH = facts(3, 64, numbers={"n": 1000})


def test_threads_take_turns() -> None:
    (change,) = changes_of(cyclic_distribution, PARTS, LAUNCH)
    assert diffs(cyclic_distribution, PARTS, LAUNCH) == ["""\
-  int part = (n + threads - 1) / threads;
-  int first = t * part;
-  int last = first + part < n ? first + part : n;
-  for (int i = first; i < last; i++) b[i] = 2 * a[i];
+  for (int i = t; i < n; i += threads) b[i] = 2 * a[i];"""]  # fmt: skip
    given = [np.arange(1000, dtype=np.float32), np.zeros(1000, np.float32), np.int32(1000)]
    before, after = before_and_after(PARTS, change, LAUNCH, given)
    assert before[1].any()
    assert (before[1] == after[1]).all()


def test_parts_of_a_number_of_elements() -> None:
    source = """\
__global__ void f(float* a) {
  const int t = threadIdx.x + blockIdx.x * blockDim.x;
  for (int i = t * 8; i < t * 8 + 8; ++i) a[i] = i;
}
"""
    (change,) = changes_of(cyclic_distribution, source, LAUNCH)
    assert "for (int i = t; i < gridDim.x * blockDim.x * 8; i += gridDim.x * blockDim.x)" in diffs(
        cyclic_distribution, source, LAUNCH
    )[0]  # fmt: skip
    before, after = before_and_after(source, change, LAUNCH, [np.zeros(3 * 64 * 8, np.float32)])
    assert (before[0] == after[0]).all()


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("b[i] = b[i - 1] + a[i];", "b is also used at another place than i"),
        ("{ t += a[i]; b[i] = t; }", "t keeps something from one element to the next"),
        ("{ if (a[i] > 3) break; b[i] = 1; }", "break ends the loop"),
    ],
)
def test_what_needs_the_element_before_stays(body: str, reason: str) -> None:
    source = PARTS.replace("b[i] = 2 * a[i];", body).replace(
        "first = t * part", "first = (blockIdx.x * blockDim.x + threadIdx.x) * part"
    )
    assert refusals(cyclic_distribution, source, LAUNCH) == [(7, f"each thread keeps its contiguous part: {reason}")]
