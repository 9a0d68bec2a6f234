"""How long multiply-adds of chosen registers take, as on an H200: measurements/h200/register_banks.csv."""

from __future__ import annotations

import csv
import io
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from elftools.elf.elffile import ELFFile

import warplens as wl
from warplens.machine import machine

SOURCE = """
extern "C" __global__ void __launch_bounds__(1024) own(float* sink, int rounds, float a, float b) {
  float c[8], x[8], y[8];
  _Pragma("unroll") for (int i = 0; i < 8; ++i) { c[i] = threadIdx.x + i; x[i] = a + c[i]; y[i] = b + c[7 - i]; }
  _Pragma("unroll 1") for (int r = 0; r < rounds; ++r) {
    _Pragma("unroll") for (int k = 0; k < 128; ++k) c[k % 8] = fmaf(c[k % 8], x[k % 8], y[k % 8]);
  }
  float all = a + b;
  _Pragma("unroll") for (int i = 0; i < 8; ++i) all += c[i] + x[i] + y[i];
  if (all == 12345.678f) sink[0] = 1;
}
"""
STEPS = 128  # of the loop's body
NONE = 255  # RZ
FEW, MANY = 4, 12  # rounds: what is beside them does not count
OPERANDS, MARKS, STALL = (24, 32, 64), 122, 105  # bits of the encoding
SECOND, FORM, ALL_REGISTERS = 32, 9, 1  # operand b takes 32 bits in other forms
ROWS = list(csv.DictReader((Path(__file__).parents[3] / "measurements/h200/register_banks.csv").open()))


@cache
def module() -> wl.Module:
    return wl.compile(source=SOURCE, arch="sm_90")


def with_registers(pattern: str) -> bytes:
    """The cubin with other operands: E an even register, O an odd one, S that of the instruction before, - none; marked
    for reuse with *, and behind : the stall count if it is not 1."""
    data = module().cubin.data
    text = ELFFile(io.BytesIO(data)).get_section_by_name(".text.own")
    loop = [i for i in module()["own"].program.instructions if i.base == "FFMA"][:STEPS]
    named = sorted({i.encoding >> bit & 0xFF for i in loop for bit in OPERANDS} - {NONE})
    of = {"E": [r for r in named if r % 2 == 0], "O": [r for r in named if r % 2], "-": [NONE]}
    patched, before = bytearray(data), NONE
    steps = pattern.split()
    for n, instruction in enumerate(loop):
        said, _, stall = steps[n % len(steps)].partition(":")
        word = instruction.encoding & ~(0xF << STALL | 7 << MARKS | 0xFFFFFFFF << SECOND | 7 << FORM)
        word |= int(stall or 1) << STALL | ALL_REGISTERS << FORM
        for k, bit in enumerate(OPERANDS):
            kind, said = said[0], said[1:]
            register = before if kind == "S" else of[kind][(n + k) % len(of[kind])]
            before = register if k == 0 else before
            word = word & ~(0xFF << bit) | register << bit
            if said.startswith("*"):
                word, said = word | 1 << MARKS + k, said[1:]
        at = text["sh_offset"] + instruction.offset
        patched[at : at + 16] = word.to_bytes(16, "little")
    return bytes(patched)


@pytest.mark.parametrize("row", ROWS, ids=[f"{row['pattern']} {row['warps']}" for row in ROWS])
def test_an_instruction_takes_as_long_as_on_an_h200(row: dict[str, str]) -> None:
    kernel, times = wl.load(with_registers(row["pattern"]))["own"], []
    for rounds in (FEW, MANY):
        arguments = np.zeros(1024, np.float32), np.int32(rounds), np.float32(0.5), np.float32(1.5)
        run = kernel.launch((1,), (32 * int(row["warps"]),), *arguments)
        times.append(run.predict("h200").time_us * machine("h200").boost_megahertz)
    found = (times[1] - times[0]) / (MANY - FEW) / STEPS
    assert found == pytest.approx(float(row["cycles"]), rel=0.06)
