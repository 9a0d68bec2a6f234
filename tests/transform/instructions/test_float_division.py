"""Float division: by what stays the same, as a product."""

from __future__ import annotations

import numpy as np

from transform.launched import before_and_after
from transform.proposals import changes_of, diffs, facts
from warplens.transform.instructions.float_division import float_division

LOOP = """\
__global__ void f(const float* x, float* y, int n, float h, double w) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float s = x[i] / 3.0f + x[i] / 4.0f;
  for (int k = 1; k < 9; ++k) {
    s += (s - k) / (2.f * h) / 7.f;
    s += k / 3 + 1 / 2;
    s = s / (s + 1.5f);
    s += x[i] / w;
  }
  y[i] = s / h;
}
"""


def test_the_diff() -> None:
    assert diffs(float_division, LOOP, facts()) == ["""\
-  float s = x[i] / 3.0f + x[i] / 4.0f;
+  float s = x[i] * (1.0f / 3.0f) + x[i] / 4.0f;
+  double reciprocal_2 = 1.0 / w;
+  float reciprocal = 1.0f / (2.f * h);
-    s += (s - k) / (2.f * h) / 7.f;
+    s += (s - k) * reciprocal * (1.0f / 7.f);
-    s += x[i] / w;
+    s += x[i] * reciprocal_2;"""]  # fmt: skip


def test_the_results_are_the_same_but_for_rounding() -> None:
    x = np.random.default_rng(1).random(100, np.float32)
    (change,) = changes_of(float_division, LOOP, facts(1, 128))
    assert change.effect == "rounding"
    arguments = [x, np.zeros_like(x), np.int32(100), np.float32(0.7), np.float64(3.3)]
    before, after = before_and_after(LOOP, change, facts(1, 128), arguments)
    assert before[1].any()
    assert np.allclose(before[1], after[1], rtol=1e-5)


def test_not_where_divisions_are_few_of_the_instructions() -> None:
    assert changes_of(float_division, LOOP, facts(lines={4: 0.01, 6: 0.01, 9: 0.01, 11: 0.01})) == []
    assert len(changes_of(float_division, LOOP, facts(lines={6: 0.5}))) == 1


def test_integers_and_unknown_types_stay() -> None:
    source = LOOP.replace("float s =", "auto s =").replace("x[i] / 3.0f", "i / 3").replace("x[i] / w", "n / k")
    assert changes_of(float_division, source, facts()) == []


def test_the_reciprocal_stands_before_a_loop_with_room_for_it() -> None:
    source = LOOP.replace("  for (int k", "  for (int j = 1; j < 3; ++j)\n  for (int k").replace("2.f * h", "j * h")
    found = diffs(float_division, source, facts())[0]
    assert "s += x[i] * reciprocal" in found
    assert "/ (j * h) * (1.0f / 7.f)" in found
