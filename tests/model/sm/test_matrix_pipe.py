"""Matrix instructions take their pipe as long as on an H200 (`matrix` of the calibration)."""

from __future__ import annotations

import pytest

import warplens as wl
from warplens.machine import machine
from warplens.model.instruction.instruction_table import machine_code

SOURCE = """extern "C" __global__ void product(double* d, unsigned* w) {
  unsigned a = w[0], b = w[1], s[4] = {w[2], w[3], w[4], w[5]};
  double x = d[0], y = d[1], t[4] = {d[2], d[3], d[4], d[5]};
  asm volatile("mma.sync.aligned.%s {%%0,%%1,%%2,%%3}, %s, {%%0,%%1,%%2,%%3};" : "+%c"(%c[0]), "+%c"(%c[1]), "+%c"(%c[2]), "+%c"(%c[3]) : %s);
  for (int i = 0; i < 4; ++i) { w[i] = s[i]; d[i] = t[i]; }
}"""  # noqa: E501
WORDS, LONGS = '"r"(a), "r"(b)', '"d"(x), "d"(y)'


@pytest.mark.every(4)
@pytest.mark.parametrize(
    ("kind", "operands", "cycles"),
    [
        ("m16n8k16.row.col.f32.f16.f16.f32", "{%4,%5,%4,%5}, {%4,%5}", 6),
        ("m16n8k8.row.col.f32.f16.f16.f32", "{%4,%5}, {%4}", 4),
        ("m16n8k8.row.col.f32.tf32.tf32.f32", "{%4,%5,%4,%5}, {%4,%5}", 6),
        ("m16n8k4.row.col.f32.tf32.tf32.f32", "{%4,%5}, {%4}", 4),
        ("m16n8k16.row.col.s32.s8.s8.s32", "{%4,%5}, {%4}", 4),
        ("m16n8k32.row.col.s32.s8.s8.s32", "{%4,%5,%4,%5}, {%4,%5}", 6),
        ("m16n8k4.row.col.f64.f64.f64.f64", "{%4,%5}, {%4}", 16),
        ("m16n8k16.row.col.f64.f64.f64.f64", "{%4,%5,%4,%5,%4,%5,%4,%5}, {%4,%5,%4,%5}", 64),
    ],
)
def test_a_matrix_instruction_takes_as_long_as_its_shape(kind: str, operands: str, cycles: float) -> None:
    double = kind.endswith("f64")
    letters = ("d", "t") * 4 if double else ("r", "s") * 4
    source = SOURCE % (kind, operands, *letters, LONGS if double else WORDS)
    program = wl.compile(source=source, arch="sm_90")["product"].program
    code = machine_code(program, machine("h200"))
    found = [code.pipe_cycles[i.index] for i in program.instructions if i.base in ("HMMA", "IMMA", "DMMA")]
    assert found == [cycles]
