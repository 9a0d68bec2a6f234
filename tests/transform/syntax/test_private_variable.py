"""Private variables: which statements of a loop change nothing that another round could see."""

from __future__ import annotations

import pytest
from tree_sitter import Node

from warplens.transform import KernelSource
from warplens.transform.syntax.private_variable import is_work_of_a_round, skips_a_round

SOURCE = """\
__device__ float twice(float v) {{ return 2 * v; }}
__device__ void store(float* p, float v) {{ p[0] = v; }}
__global__ void f(float* x, float* y, int n) {{
  float outside = 0, kept = 1;
  for (int k = 0; k < n; ++k) {{
    float inside = 0, pair[2];
    {}
    x[k] = inside;
  }}
  y[0] = kept;
}}
"""


def statement(text: str) -> tuple[KernelSource, Node, Node]:
    kernel = KernelSource(SOURCE.format(text), "f")
    loop = next(kernel.find("for_statement"))
    body = loop.child_by_field_name("body")
    assert body is not None
    return kernel, loop, body.named_children[1]


@pytest.mark.parametrize(
    ("text", "private"),
    [
        ("inside += x[k];", True), ("outside = x[k]; inside = outside;", True), ("pair[1] = 3;", True),
        ("for (int j = 0; j < 3; ++j) inside += j;", True), ("inside = twice(x[k]);", True),
        ("while (inside < 3) { inside++; if (inside > 2) break; }", True),
        ("outside += x[k];", False), ("if (inside > outside) outside = 2;", False), ("outside = outside + 1;", False),
        ("if (k > 2) outside = 3; inside = outside;", False), ("kept = x[k];", False), ("y[k] = 3;", False),
        ("*y = 3;", False), ("store(y, 3);", False), ("atomicAdd(y, 3);", False), ("return;", False),
        ("if (k > 3) break;", False), ("if (k > 3) continue;", False),
    ],
)  # fmt: skip
def test_private_work(text: str, private: bool) -> None:
    kernel, loop, node = statement(text)
    assert is_work_of_a_round(kernel, loop, node) == private


@pytest.mark.parametrize(
    ("text", "skips"),
    [("if (x[k] > 3) continue;", True), ("if (k) { continue; }", True), ("if (k++) continue;", False),
     ("if (k) continue; else inside = 1;", False), ("if (k) break;", False)],
)  # fmt: skip
def test_a_round_that_is_left_out(text: str, skips: bool) -> None:
    kernel, _, node = statement(text)
    assert skips_a_round(kernel, node) == skips
