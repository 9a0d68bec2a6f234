"""For loop: loops whose index is declared before them, as a `for` that declares it."""

from __future__ import annotations

import pytest

from transform.proposals import changes_of, facts, refusals
from warplens.transform import KernelSource
from warplens.transform.access.wide_access import wide_access
from warplens.transform.syntax.for_loop import with_for_loops

WHILE = """\
__global__ void f(float* x, int n) {
  int i = threadIdx.x;
  int all = blockDim.x;
  while (i < n) {
    x[i] = 2;
    i += all;
  }
}
"""


def plain(source: str) -> str:
    return with_for_loops(KernelSource(source, "f"), lambda kernel, loop: True).text


def test_a_while_loop_with_its_step_at_the_end() -> None:
    assert (
        plain(WHILE)
        == """\
__global__ void f(float* x, int n) {
  int all = blockDim.x;
  for (int i = threadIdx.x; i < n; i += all) {
    x[i] = 2;
  }
}
"""
    )


def test_a_for_loop_without_a_declaration() -> None:
    source = WHILE.replace("while (i < n)", "for (; i < n; i += all)").replace("    i += all;\n", "")
    assert "for (int i = threadIdx.x; i < n; i += all) {" in plain(source)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("    x[i] = 2;\n", "    if (x[i] > 3) continue;\n    x[i] = 2;\n"),  # it would skip the step no longer
        ("    i += all;\n  }\n", "    i += all;\n  }\n  x[i] = 3;\n"),  # the index is used behind the loop
        ("  int all = blockDim.x;\n", "  int all = blockDim.x;\n  x[i] = 1;\n"),  # or before it
        ("    x[i] = 2;\n    i += all;\n", "    i += all;\n    x[i] = 2;\n"),  # the step is not the last statement
        ("int i = threadIdx.x;", "int t = threadIdx.x; int i = t; t = 0;"),  # its start changes
    ],
)
def test_other_loops_stay(old: str, new: str) -> None:
    source = WHILE.replace(old, new)
    assert plain(source) == source


def test_lines_are_those_of_the_source() -> None:
    source = WHILE.replace("threadIdx.x;", "blockIdx.x * blockDim.x + threadIdx.x;").replace(
        "= blockDim.x;", "= gridDim.x * blockDim.x;"
    )
    launch = facts(numbers={"n": 1000})
    (change,) = changes_of(wide_access, source, launch)
    assert change.line == 4
    assert refusals(wide_access, source.replace("x[i] = 2", "x[i + 1] = 2"), launch)[0][0] == 5
