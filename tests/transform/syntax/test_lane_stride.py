"""Strides of indices from thread to thread, as expressions and as numbers."""

from __future__ import annotations

import pytest

from warplens.transform import KernelSource
from warplens.transform.syntax.lane_stride import NONE, loops_around, stride

NUMBERS = {"n": 1000, "w": 64}


def stride_of(index: str, before: str = "", along: str = "threadIdx.x") -> tuple[str, int | None] | None:
    text = f"""__global__ void f(float* a, const int* key, int n, int w) {{
        int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
        {before}
        for (int k = 0; k < n; ++k) a[{index}] = 0;
    }}"""
    kernel = KernelSource(text, "f")
    (element,) = (node for node in kernel.find("subscript_expression") if kernel[node].startswith("a["))
    assert loops_around(kernel, element)[0][1] == "k"
    found = stride(kernel, element.children[1].named_children[0], along, NUMBERS)
    return None if found is None else (found.text, found.value)


@pytest.mark.parametrize(
    ("index", "expected"),
    [
        ("i", ("1", 1)),
        ("j", ("0", 0)),
        ("i * n + k", ("n", 1000)),
        ("k * n + i", ("1", 1)),
        ("(i * n + k) * 3", ("n * 3", 3000)),
        ("i * n * w + k", ("n * w", 64000)),
        ("(i << 3) + k", ("8", 8)),
        ("n - i", ("-1", -1)),
        ("i * n + i", ("n + 1", 1001)),
        ("(i % w) * n + i / w", ("n", 1000)),
        ("i / w", ("0", 0)),
        ("min(max(i + k, 0), n - 1)", ("1", 1)),
        ("key[i]", None),
        ("i * i", None),
    ],
)
def test_of_expressions(index: str, expected: tuple[str, int | None] | None) -> None:
    assert stride_of(index) == expected


def test_of_variables_that_step_evenly() -> None:
    assert stride_of("p", "int p = i * w; p += n;") == ("w", 64)
    assert stride_of("p", "int p; p = i * w;") == ("w", 64)
    assert stride_of("p", "int p = i; p += i;") is None


def test_along_other_axes_and_counters() -> None:
    assert stride_of("j * w + i", along="threadIdx.y") == ("w", 64)
    assert stride_of("k * w + i", along="k") == ("w", 64)
    assert stride_of("i", along="k") == (NONE.text, NONE.value)
