"""Cycles of warpgroups' products: beside loops of them on an H200."""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from helpers.hand_made_traces import program
from helpers.kernel_launches import written
from warplens.core.program import Instruction
from warplens.machine import machine
from warplens.model.instruction.instruction_table import beside_cycles, pipe_cycles, pipe_of
from warplens.model.instruction.warpgroup_cycles import has_wide_sums, product_cycles, reading_share
from warplens.sass import parse_operands

MEASURED = Path(__file__).parents[3] / "measurements" / "h200" / "warpgroup_cycles.csv"
BASES = {"bf16": "HGMMA", "f16": "HGMMA", "tf32": "HGMMA", "e4m3": "QGMMA", "s8": "IGMMA", "b1": "BGMMA"}


@cache
def measured() -> dict[tuple[str, int], dict[str, str]]:
    with MEASURED.open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(line for line in file if line[0] != "#") if row["swizzle"] == "1"]
    return {(row["kernel"], int(row["warpgroups"])): row for row in rows}


def product(kernel: str) -> Instruction:
    _, _, kind, columns, where, *more = kernel.split("_")
    sparse = ".SP" if "sp" in more else ""
    opcode = f"{BASES[kind]}{sparse}.64x{columns}x16.F32"
    text = "R24,gdesc[UR4],R24,gsb0" if where == "ss" else "R24,R20,gdesc[UR4],R24,gsb0"
    (made,) = program(f"{opcode} {text}").instructions
    return Instruction(0, opcode, None, parse_operands(opcode, text, 0, 0, {}), text, made.control, 0, None)


@pytest.mark.parametrize("kernel", sorted({name for name, _ in measured()}))
def test_the_rate_is_an_h200s(kernel: str) -> None:
    """Of two warpgroups, whose waits fill each other's gaps."""
    row = measured()[kernel, 2]
    assert product_cycles(product(kernel)) == pytest.approx(int(row["eights_chained"]) / 256, rel=0.05, abs=2.5)


SOURCE = """
extern "C" __global__ void __launch_bounds__(128) loop(float* out, int rounds) {
  extern __shared__ __align__(1024) uint4 memory[];
  float d[32];
  for (int i = 0; i < 32; i++) d[i] = 0;
  const unsigned long long at = (unsigned)__cvta_generic_to_shared(memory) >> 4 | 1ull << 62 | 64ull << 32;
  for (int r = 0; r < rounds; r++) {
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    for (int k = 0; k < 8; k++)
      asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {LIST}, %32, %32, 1, 1, 1, 0, 0;"
        : OUTPUTS : "l"(at));
    asm volatile("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;" ::: "memory");
  }
  for (int i = 0; i < 32; i++) out[threadIdx.x * 32 + i] = d[i];
}
""".replace("LIST", ",".join(f"%{k}" for k in range(32))).replace(
    "OUTPUTS", ",".join(f'"+f"(d[{k}])' for k in range(32))
)


def test_a_loop_with_waits_takes_as_long_as_on_an_h200() -> None:
    cycles = []
    for rounds in (2, 18):
        run = written(SOURCE, "loop", "sm_90a").launch(
            1, 128, np.zeros(4096, np.float32), np.int32(rounds), shared=16384
        )
        cycles.append(run.predict("h200").metrics["gpc__cycles_elapsed.max"].value)
    expected = int(measured()["t_f32_bf16_64_ss", 1]["eights_waited"]) / 16
    assert (cycles[1] - cycles[0]) / 16 == pytest.approx(expected, rel=0.05)


PORTS = MEASURED.with_name("warpgroup_ports.csv")


@pytest.mark.parametrize(
    ("kind", "opcode", "text"),
    [
        ("FMNMX A AB", "FMNMX", "R2,R4,R5,PT"), ("IMAD A A-B", "IMAD", "R2,R4,c[0x0][0x0],R5"),
        ("MUFU.EX2 A -A", "MUFU.EX2", "R2,R4"), ("MUFU.EX2 - --", "MUFU.EX2", "RZ,R4"),
        ("FSETP.GT.AND - AB", "FSETP.GT.AND", "P0,PT,R4,R5,PT"),
    ],
)  # fmt: skip
def test_results_wait_for_the_register_write_port(kind: str, opcode: str, text: str) -> None:
    """Beside products with sums of 32 bits, of two other warps at the least."""
    with PORTS.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(line for line in file if line[0] != "#"))
    found = [
        float(row["cycles_an_instruction"])
        for row in rows
        if (row["form"], row["kind"], row["product_warpgroups"]) == ("bf16", kind, "1")
    ]
    (made,) = program(f"{opcode} {text}").instructions
    instruction = Instruction(0, opcode, None, parse_operands(opcode, text, 0, 0, {}), text, made.control, 0, None)
    name = pipe_of(instruction)
    assert 0.7 * min(found) < beside_cycles(instruction, name, machine("h200")) < 1.15 * max(found)
    alone = pipe_cycles(instruction, name, machine("h200"))
    assert (beside_cycles(instruction, name, machine("h200")) > alone) == (min(found) > 1.3 * alone)


def test_sums_of_16_bits_leave_the_port_free() -> None:
    wide = product("eights_chained_bf16_128_ss")
    narrow = Instruction(0, "HGMMA.64x128x16.F16", None, wide.operands, wide.text, wide.control, 0, None)
    assert has_wide_sums(wide)
    assert not has_wide_sums(narrow)
    assert reading_share(wide) == pytest.approx(48 / 66.4)
