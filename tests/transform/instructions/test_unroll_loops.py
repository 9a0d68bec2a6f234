"""Unroll loops: a pragma for the innermost loop, changed or taken away where there is one."""

from __future__ import annotations

from transform.proposals import changes_of, diffs, facts
from warplens.transform.instructions.unroll_loops import unroll_loops

SUM = """\
__global__ void f(const float* x, float* y, int n) {
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < n; ++i) y[j] += x[i];
  }
}
"""


def test_the_innermost_loop_gets_a_pragma() -> None:
    assert diffs(unroll_loops, SUM, facts()) == [f"+    #pragma unroll {factor}" for factor in (1, 4, 8)]


def test_a_pragma_is_changed_or_removed() -> None:
    source = SUM.replace("    for", "#pragma unroll 4\n    for")
    assert diffs(unroll_loops, source, facts()) == ["-#pragma unroll 4\n+#pragma unroll 8", "-#pragma unroll 4"]


def test_a_loop_without_braces_around_it_is_left_alone() -> None:
    source = SUM.replace("++j) {", "++j)").replace("x[i];\n  }", "x[i];")
    assert changes_of(unroll_loops, source, facts()) == []


def test_a_loop_in_the_middle_of_a_line_is_left_alone() -> None:
    source = "__global__ void f(float* y, int n) {\n  int i; for (i = 0; i < n; ++i) y[i] = i;\n}\n"
    assert changes_of(unroll_loops, source, facts()) == []
