"""Loops in a cubin: replaces the instructions of a compiled loop by chosen ones, and reads how long a round takes.

The kernel's loop has STEPS multiply-adds; each can be replaced by any instruction word of 128 bits.  Results are
arbitrary, and nothing waits for them: only issue and the pipes take time.  Cycles are differences between MANY and FEW
rounds by clock64(), so that what surrounds the loop does not count.
"""

from __future__ import annotations

import io
import tempfile
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

import numpy as np
from gpu import Gpu

import warplens as wl
from warplens.core.program import Instruction

STEPS = 120  # of the loop's body: divisible by pairs, triples and patterns of up to 8
SOURCE = """
extern "C" __global__ void __launch_bounds__(1024) own(float* sink, int rounds, float a, float b, long long* cycles) {
  float c[8], x[8], y[8];
  _Pragma("unroll") for (int i = 0; i < 8; ++i) { c[i] = threadIdx.x + i; x[i] = a + c[i]; y[i] = b + c[7 - i]; }
  __syncthreads();
  long long began = clock64();
  _Pragma("unroll 1") for (int r = 0; r < rounds; ++r) {
    _Pragma("unroll") for (int k = 0; k < STEPS; ++k) c[k % 8] = fmaf(c[k % 8], x[k % 8], y[k % 8]);
  }
  long long took = clock64() - began;
  float all = a + b;
  _Pragma("unroll") for (int i = 0; i < 8; ++i) all += c[i] + x[i] + y[i];
  if (all == 12345.678f) sink[0] = 1;
  if (threadIdx.x % 32 == 0) cycles[threadIdx.x / 32] = took;
}
"""
NONE = 255  # RZ
FEW, MANY = 200, 1200  # rounds
DESTINATION, OPERANDS, SECOND = 16, (24, 32, 64), 32  # first bits of registers in an instruction word
MARKS, STALL, FORM, ALL_REGISTERS = 122, 105, 9, 1  # reuse marks, stall count, form of the operands
CONTROL, CONTROL_BITS = 105, 21


@cache
def module(steps: int = STEPS) -> wl.Module:
    return wl.compile(source=SOURCE.replace("STEPS", str(steps)), arch="sm_90")


@cache
def loop(steps: int = STEPS) -> list[Instruction]:
    return [i for i in module(steps)["own"].program.instructions if i.base == "FFMA"][:steps]


@cache
def registers(steps: int = STEPS) -> list[int]:
    """Those that the multiply-adds name: nothing else in the loop does."""
    return sorted({i.encoding >> bit & 0xFF for i in loop(steps) for bit in OPERANDS} - {NONE})


def replaced(word_of: Callable[[int, Instruction], int], steps: int = STEPS) -> bytes:
    """The cubin with another word for each of the loop's instructions, by place."""
    from elftools.elf.elffile import ELFFile

    data = module(steps).cubin.data
    start = ELFFile(io.BytesIO(data)).get_section_by_name(".text.own")["sh_offset"]
    patched = bytearray(data)
    for place, instruction in enumerate(loop(steps)):
        at = start + instruction.offset
        patched[at : at + 16] = word_of(place, instruction).to_bytes(16, "little")
    return bytes(patched)


def cycles(gpu: Gpu, cubin: bytes, warps: int, steps: int = STEPS, repeats: int = 5) -> Sequence[float]:
    """Cycles of one instruction of the loop, of the slowest of so many warps on one SM; rising, one a repetition."""
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        Path(file.name).write_bytes(cubin)
        own = gpu.cupy.RawModule(path=file.name).get_function("own")
    ticks = gpu.cupy.zeros(32, gpu.cupy.int64)

    def took(rounds: int) -> int:
        own((1,), (32 * warps,), (gpu.sink, np.int32(rounds), np.float32(0.5), np.float32(1.5), ticks))
        return int(ticks[:warps].max())

    took(FEW)  # code comes from memory
    return sorted((took(MANY) - took(FEW)) / (MANY - FEW) / steps for _ in range(repeats))
