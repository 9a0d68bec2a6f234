"""Division by a variable: instructions of the idiom, of 32 and of 64 bits."""

from __future__ import annotations

import numpy as np

from rules.example_kernels import counted
from warplens import compile
from warplens.rules.instructions.division_by_variable import DivisionByVariableEvidence, division_by_variable

LONG = "__global__ void k(long long* x, long long d) { x[threadIdx.x] = x[threadIdx.x] / d; }"


def test_a_remainder_is_21_of_38_instructions() -> None:
    found = division_by_variable(counted("coalescing/2_nccopy"))
    assert found is not None
    assert found.evidence == DivisionByVariableEvidence(21, 21 / 38, False)
    assert found.line is not None


def test_the_weight_is_half_of_its_share_of_the_work() -> None:
    found = division_by_variable(counted("coalescing/2_nccopy"))
    assert found is not None
    assert found.weight == 21 / 4 / (38 / 4 + 12) / 2  # 12 sectors a warp


def test_long_integers_call_a_function() -> None:
    run = compile(source=LONG, arch="sm_90")["k"].launch(1, 32, np.arange(32) << 40, np.int64(3 << 33))
    found = division_by_variable(run.subject)
    assert found is not None
    assert isinstance(found.evidence, DivisionByVariableEvidence)
    assert found.evidence.long


def test_a_power_of_two_is_silent() -> None:
    source = "__global__ void k(unsigned* x) { x[threadIdx.x] = x[threadIdx.x] % 8 + x[threadIdx.x] / 7; }"
    run = compile(source=source, arch="sm_90")["k"].launch(1, 32, np.zeros(32, np.uint32))
    assert division_by_variable(run.subject) is None


def test_the_number_of_rounds_of_an_unrolled_loop_is_silent() -> None:
    assert any(idiom.name == "division by a variable" for idiom in counted("unrolling/3_four_times").idioms)
    assert division_by_variable.check(counted("unrolling/3_four_times")) is None
