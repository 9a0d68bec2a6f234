"""Value types of arithmetic expressions."""

from __future__ import annotations

import pytest

from warplens.transform import KernelSource
from warplens.transform.syntax.value_type import value_type

SOURCE = """\
typedef float real;
__global__ void f(const float* x, const int* n, real r, double d, Other o) {{
  float local = 1, array[3]; unsigned char byte = 2; auto unknown = o;
  sink = {};
}}
"""


@pytest.mark.parametrize(
    ("expression", "kind"),
    [
        ("1", "int"), ("1.5", "double"), ("1e3f", "float"), ("0x1f", "int"), ("x[0]", "float"), ("n[0]", "int"),
        ("r", "float"), ("d + r", "double"), ("local * byte", "float"), ("array[1] / 2", "float"), ("byte", "int"),
        ("-(local)", "float"), ("(int)local", "int"), ("(double)byte", "double"), ("threadIdx.x", "int"),
        ("sqrtf(d)", "float"), ("unknown", ""), ("o", ""), ("local / unknown", ""), ("other(1.0f)", ""), ("x", ""),
        ("local < 1", ""),
    ],
)  # fmt: skip
def test_the_type_of_an_expression(expression: str, kind: str) -> None:
    kernel = KernelSource(SOURCE.format(expression), "f")
    (assigned,) = kernel.find("assignment_expression")
    assert value_type(kernel, assigned.children[2]) == kind
