"""Double literal: nine multiply-adds with conversions."""

from __future__ import annotations

import numpy as np

import warplens as wl
from rules.example_kernels import counted
from warplens.rules.instructions.double_literal import DoubleLiteralEvidence, double_literal


def test_most_instructions_convert_or_compute_in_double_precision() -> None:
    subject = counted("rules.cu/double_literals")
    found = double_literal(subject)
    assert found is not None
    assert isinstance(found.evidence, DoubleLiteralEvidence)
    assert 0.5 < found.evidence.share < 1
    assert found.line is not None
    assert "0.999" in subject.text_of(found.line)


def test_integers_that_become_doubles_for_a_literal() -> None:
    source = "__global__ void f(const {t}* x, float* y) {{ int i = threadIdx.x; y[i] = (x[i] + 0.5) * 0.3 * i; }}"

    def found(kind: str, values: np.ndarray[tuple[int], np.dtype[np.generic]]) -> list[str]:
        run = wl.compile(source=source.format(t=kind))["f"].launch(1, 256, values, np.zeros(256, np.float32))
        return [advice.finding.fault for advice in wl.advise(run, gpu="h200")]

    assert "double_literal" in found("unsigned char", np.zeros(256, np.uint8))
    assert "double_literal" in found("int", np.zeros(256, np.int32))


def test_doubles_beside_integers_are_no_fault() -> None:
    source = "__global__ void f(const double* x, int* y) { int i = threadIdx.x; y[i] = (int)(x[i] * i); }"
    run = wl.compile(source=source)["f"].launch(1, 256, np.zeros(256), np.zeros(256, np.int32))
    assert "double_literal" not in [advice.finding.fault for advice in wl.advise(run, gpu="h200")]
