"""Unfused multiply-add: products that only go into sums."""

from __future__ import annotations

import numpy as np
import pytest

from rules.example_kernels import counted
from warplens import compile
from warplens.rules.instructions.unfused_multiply_add import UnfusedMultiplyAddEvidence, unfused_multiply_add

TWICE = """
__global__ void k(float* x, float* y) {
  float a = x[threadIdx.x], p = __fmul_rn(a, 3.0f);
  y[threadIdx.x] = __fadd_rn(p, 1.0f) * p;
}"""

SUMS_OF_TWO = """
__global__ void k(float* x) {
  float a = x[threadIdx.x];
  for (int n = 0; n < 16; ++n) a = __fadd_rn(__fmul_rn(a, a), __fmul_rn(a, 3.0f));
  x[threadIdx.x] = a;
}"""


def test_nine_products() -> None:
    subject = counted("rules.cu/unfused")
    found = unfused_multiply_add(subject)
    assert found is not None
    executed = subject["smsp__inst_executed.sum"] / subject.warps
    assert found.evidence == pytest.approx(UnfusedMultiplyAddEvidence(9 / executed))
    assert found.line is not None
    assert "__fmul_rn" in subject.text_of(found.line)


def test_without_fused_multiply_adds_doubles_are_found_as_well() -> None:
    source = """
    __global__ void k(double* x) {
      double v = x[threadIdx.x];
      for (int n = 0; n < 32; ++n) v = v * v + 3;
      x[threadIdx.x] = v;
    }"""
    kernel = compile(source=source, arch="sm_90", options=["--fmad=false"])["k"]
    assert unfused_multiply_add(kernel.launch(1, 32, np.zeros(32)).subject) is not None


def test_a_product_that_is_used_otherwise_too_is_silent() -> None:
    x = np.zeros(32, np.float32)
    assert unfused_multiply_add(compile(source=TWICE, arch="sm_90")["k"].launch(1, 32, x, x.copy()).subject) is None


def test_of_a_sum_of_two_products_one_multiplication_stays() -> None:
    subject = compile(source=SUMS_OF_TWO, arch="sm_90")["k"].launch(1, 32, np.zeros(32, np.float32)).subject
    found = unfused_multiply_add(subject)
    assert found is not None
    assert found.evidence == UnfusedMultiplyAddEvidence(16 / subject["smsp__inst_executed.sum"])
