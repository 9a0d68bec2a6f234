"""Texture and surface instructions in the instruction table."""

from __future__ import annotations

from helpers.kernel_launches import written
from warplens.machine import machine
from warplens.model.instruction.instruction_table import machine_code
from warplens.model.layout import Kind, Pipe

SOURCE = """extern "C" __global__ void k(cudaTextureObject_t t, cudaSurfaceObject_t s, float* x) {
    surf2Dwrite(tex2D<float>(t, x[0], x[1]), s, 0, 1);
}"""


def test_they_take_the_texture_pipe_of_a_multiprocessor_for_a_lane_each_quarter_of_a_cycle() -> None:
    """32 lanes take 8 cycles of the SM, 32 of each of its four parts; a fetch is a load, to the memory beyond."""
    program = written(SOURCE, "k").program
    table = machine_code(program, machine("h200"))
    found = {i.base: i.index for i in program.instructions if i.base in ("TEX", "SUST")}
    for base, kind in (("TEX", Kind.LOAD), ("SUST", Kind.STORE)):
        index = found[base]
        assert (table.kind[index], table.pipe[index], table.pipe_cycles[index]) == (kind, Pipe.TEX, 32.0)
        assert (table.is_global[index], table.lane_bytes[index]) == (1, 4)
