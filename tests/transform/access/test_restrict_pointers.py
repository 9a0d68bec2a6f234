"""Restrict pointers: __restrict__ for all, const for those that are only read."""

from __future__ import annotations

from transform.proposals import changes_of, diffs, facts, refusals
from warplens.transform.access.restrict_pointers import restrict_pointers

ADD = "__global__ void f(const float* x, float *y, float* z) {\n  z[0] = x[0] + y[0];\n}\n"


def test_pointers_become_restrict() -> None:
    (change,) = changes_of(restrict_pointers, ADD, facts())
    assert change.promise == "x, y, z must not overlap"
    assert diffs(restrict_pointers, ADD, facts()) == ["""\
-__global__ void f(const float* x, float *y, float* z) {
+__global__ void f(const float* __restrict__ x, const float *__restrict__ y, float* __restrict__ z) {"""]  # fmt: skip


def test_what_is_written_is_not_const() -> None:
    for line in ("y[1] += 2;", "++y[1];", "atomicAdd(y, 1.0f);"):
        (diff,) = diffs(restrict_pointers, ADD.replace("  z", f"  {line}\n  z"), facts())
        assert ", float *__restrict__ y," in diff


def test_overlapping_arguments_are_refused() -> None:
    assert refusals(restrict_pointers, ADD, facts(overlapping=True)) == [
        (1, "pointers are not made __restrict__: two arguments of this launch overlap")
    ]


def test_an_array_parameter_is_refused() -> None:
    assert refusals(restrict_pointers, ADD.replace("float *y", "float y[]"), facts()) == [
        (1, "y is not made __restrict__: it is not declared as a plain pointer")
    ]


def test_one_pointer_overlaps_nothing() -> None:
    assert changes_of(restrict_pointers, "__global__ void f(float* x) {\n  x[0] = 1;\n}\n", facts()) == []
