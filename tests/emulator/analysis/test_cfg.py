"""Control flow graph: successors of basic blocks, after instructions whose targets are not in their operands too."""

from __future__ import annotations

import pytest

import warplens as wl
from warplens.core.program import Label, Program
from warplens.emulator.analysis.cfg import successors

# A reduction of a part of the warp, in a branch: WARPSYNC.COLLECTIVE ... ENDCOLLECTIVE.
SOURCE = """
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
extern "C" __global__ void tiles(const float* in, float* out) {
  auto tile = cg::tiled_partition<8>(cg::this_thread_block());
  float v = in[threadIdx.x], top = cg::reduce(tile, v, cg::greater<float>());
  if (tile.any(v > 0.4f)) top += tile.shfl_xor(v, 3);
  out[threadIdx.x] = top;
}
"""


@pytest.fixture(scope="module")
def program() -> Program:
    return wl.compile(source=SOURCE)["tiles"].program


def test_lanes_continue_after_endcollective_at_the_labels_of_their_warpsync(program: Program) -> None:
    code = program.instructions
    labels = {
        label.offset // 16
        for i in code
        if i.opcode.startswith("WARPSYNC.COLLECTIVE")
        for label in i.operands
        if isinstance(label, Label)
    }
    found = successors(program)
    ends = [block.first for block in program.blocks if code[block.last].base == "ENDCOLLECTIVE"]
    assert ends
    assert labels
    for first in set(ends) & set(found):
        assert found[first] == sorted(labels & set(found))


def test_every_successor_begins_a_block(program: Program) -> None:
    begins = {block.first for block in program.blocks}
    for first, after in successors(program).items():
        assert first in begins
        assert set(after) <= begins
