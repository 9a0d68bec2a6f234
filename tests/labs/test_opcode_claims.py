"""What a lab says of machine code is checked, and an access that is too wide for its place is a fault."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import warplens as wl
from warplens.core.run_options import USUAL
from warplens.errors import KernelFault
from warplens.labs.kernel_rung import KernelRung
from warplens.labs.lab_catalog import find
from warplens.labs.opcode_claims import code_mismatches, counts


def test_code_that_does_not_stand_there_is_told() -> None:
    (rung,) = find("unrolling").chosen(["1_once"])
    assert isinstance(rung, KernelRung)
    outcome = rung.run("h200", None, USUAL, predict=False)
    assert not code_mismatches(rung, {}, outcome)
    wrong = replace(rung, entry=replace(rung.entry, code={"LDG.E": "2", "loop unrolled by 4": "1"}))
    assert code_mismatches(wrong, {}, outcome) == (
        "machine code: loop unrolled by 4 should stand there 1 times, and does 0 times",
    )


def test_opcodes_are_not_taken_for_their_wider_forms() -> None:
    source = 'extern "C" __global__ void copy(const float4* in, float4* out) { out[threadIdx.x] = in[threadIdx.x]; }'
    found = counts(wl.compile(source=source)["copy"].program)
    assert (found["LDG.E.128"], found["LDG.E"], found["loops"]) == (1, 0, 0)


def test_a_wide_access_in_the_middle_of_16_bytes_is_a_fault() -> None:
    source = """
    extern "C" __global__ void copy(const float* in, float4* out) {
      out[threadIdx.x] = *reinterpret_cast<const float4*>(in + 3 + 4 * threadIdx.x);
    }"""
    source_data = np.zeros(256, np.float32)
    with pytest.raises(KernelFault, match=r"misaligned global (read|write) of 16 bytes"):
        wl.compile(source=source)["copy"].launch(1, 32, source_data, np.zeros(128, np.float32))
