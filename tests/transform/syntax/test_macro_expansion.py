"""Macros that are expressions, written out in the lines that use them."""

from __future__ import annotations

from warplens.transform import KernelSource
from warplens.transform.syntax.macro_expansion import with_macros_expanded


def expanded(*lines: str) -> str:
    kernel = with_macros_expanded(KernelSource("\n".join(lines), "f"))
    return kernel[kernel.body]


def test_macros_within_macros_and_their_arguments() -> None:
    body = expanded(
        "#define IDX(r, c) ((r) * W + \\", "                   (c))", "#define W 64",
        "__global__ void f(float* a) {", "  a[IDX(threadIdx.y, IDX(1, 2))] = W;", "}",
    )  # fmt: skip
    assert body == "{\n  a[((threadIdx.y) * 64 + (((1) * 64 + (2))))] = 64;\n}"


def test_what_is_a_structure_or_names_itself_stays() -> None:
    lines = ("#define EACH for (int i = 0; i < 4; ++i)", "#define g(x) g(x + 1)", "__global__ void f(float* a) {")
    body = expanded(*lines, "  EACH a[i] = 0;", "}")
    assert "EACH a[i]" in body
    assert "a[0] = g(1);" in expanded(*lines, "  a[0] = g(1);", "}")
