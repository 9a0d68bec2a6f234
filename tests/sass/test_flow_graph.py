"""Blocks, dominators and loops of hand-written flow graphs, and laws that hold in every real one."""

from __future__ import annotations

from pathlib import Path

import pytest

from warplens.compiler import read_cubin
from warplens.core.program import Block, Instruction
from warplens.sass import (
    basic_blocks,
    control,
    disassemble,
    dominators,
    natural_loops,
    parse_guard,
    parse_operands,
)

MEASURED = Path(__file__).parents[1] / "data" / "kernels.sm_90.cubin"


def code(*lines: str) -> list[Instruction]:
    """Lines like "@P0 BRA 0x20"; encodings are zero."""
    found = []
    for index, line in enumerate(lines):
        words = line.split()
        guard = parse_guard(words.pop(0)) if words[0].startswith("@") else None
        opcode, text = words[0], "".join(words[1:])
        operands = parse_operands(opcode, text, 0, 16 * index, {"f": 0x30})
        found.append(Instruction(16 * index, opcode, guard, operands, text, control(0), 0, None))
    return found


def test_straight_line():
    assert basic_blocks(code("NOP", "NOP", "EXIT")) == (Block(0, 2, ()),)


def test_guarded_exit_goes_on():
    assert basic_blocks(code("@P0 EXIT", "EXIT")) == (Block(0, 0, (1,)), Block(1, 1, ()))


@pytest.mark.parametrize(
    ("branch", "successors"),
    [
        ("BRA 0x20", (2,)),
        ("@!P0 BRA 0x20", (1, 2)),
        ("BRA P1,0x20", (1, 2)),
        ("BRA.U !UP0,0x20", (1, 2)),
        ("BRA.DIV UR4,0x20", (1, 2)),
        ("BRA.DIV 0x20", (1, 2)),
        ("BRA.CONV ~URZ,0x20", (1, 2)),
        ("CALL.REL.NOINC f", (1,)),
        ("RET.REL.NODEC R4,f", ()),
        ("WARPSYNC.COLLECTIVE R4,0x20", (1, 2)),
        ("WARPSYNC 0xffffffff", (1,)),
        ("WARPSYNC 0x20", (1,)),
        ("BSYNC B0", (1,)),
        ("BAR.SYNC.DEFER_BLOCKING 0x0", (1,)),
        ("BREAK B0", (1,)),
    ],
)
def test_successors(branch, successors):
    blocks = basic_blocks(code(branch, "NOP", "NOP", "EXIT"))
    assert blocks[0] == Block(0, 0, successors)


def test_indirect_branch():
    program = code("BRX R2,-0x10", "EXIT", "NOP", "EXIT")
    assert basic_blocks(program)[0] == Block(0, 0, ())
    blocks = basic_blocks(program, branch_targets={0: (0x20, 0x30)})
    assert blocks == (Block(0, 0, (2, 3)), Block(1, 1, ()), Block(2, 2, (3,)), Block(3, 3, ()))


def test_function_begins_a_block():
    assert [b.first for b in basic_blocks(code("NOP", "NOP", "NOP", "EXIT"), entries=(0, 0x20))] == [0, 2]


def test_diamond():
    blocks = basic_blocks(code("@P0 BRA 0x30", "NOP", "BRA 0x40", "NOP", "EXIT"))
    assert dominators(blocks) == {0: None, 1: 0, 3: 0, 4: 0}
    assert natural_loops(blocks) == ()


def test_nested_loops():
    # 0 | 1: outer header | 2: inner, to itself | 3: back to 1 | 4
    blocks = basic_blocks(code("NOP", "NOP", "@P0 BRA 0x20", "@P1 BRA 0x10", "EXIT"))
    assert [(loop.header, sorted(loop.blocks), loop.depth) for loop in natural_loops(blocks)] == [
        (1, [1, 2, 3], 1),
        (2, [2], 2),
    ]


def test_two_back_edges_make_one_loop():
    blocks = basic_blocks(code("NOP", "@P0 BRA 0x0", "@P1 BRA 0x0", "EXIT"))
    assert [(loop.header, sorted(loop.blocks)) for loop in natural_loops(blocks)] == [(0, [0, 2])]


def test_two_ways_into_a_cycle_are_no_natural_loop():
    blocks = basic_blocks(code("@P0 BRA 0x20", "NOP", "NOP", "@P1 BRA 0x10", "EXIT"))
    assert dominators(blocks)[2] == 0
    assert natural_loops(basic_blocks(code("@P0 BRA 0x20", "NOP", "@P2 BRA 0x10", "EXIT"))) == ()


def test_code_shared_by_two_functions_has_no_dominator():
    blocks = basic_blocks(code("BRA 0x20", "NOP", "EXIT"), entries=(0, 0x10))
    assert dominators(blocks, (0, 1)) == {0: None, 1: None, 2: None}


def test_padding_is_no_loop():
    blocks = basic_blocks(code("EXIT", "BRA 0x10", "NOP", "NOP"))
    assert blocks == (Block(0, 0, ()), Block(1, 1, (1,)), Block(2, 3, ()))
    assert natural_loops(blocks) == ()


def naive_dominators(blocks: tuple[Block, ...]) -> dict[int, set[int]]:
    """A block dominates all that is out of reach without it."""
    successors = {block.first: block.successors for block in blocks}

    def reached(without: int | None) -> set[int]:
        seen: set[int] = set()
        waiting = [0] if without != 0 else []
        while waiting:
            first = waiting.pop()
            if first not in seen and first != without:
                seen.add(first)
                waiting += successors[first]
        return seen

    everything = reached(None)
    return {first: {other for other in everything if first not in reached(other)} for first in everything}


def test_laws_of_real_code():
    cubin = read_cubin(MEASURED.read_bytes())
    depths = set()
    for program in disassemble(cubin).values():
        covered = [k for block in program.blocks for k in range(block.first, block.last + 1)]
        assert covered == list(range(len(program.instructions)))
        firsts = {block.first for block in program.blocks}
        assert all(firsts.issuperset(block.successors) for block in program.blocks)
        above = dominators(program.blocks)
        for first, strict in naive_dominators(program.blocks).items():
            chain = {first}
            step = above[first]
            while step is not None:
                chain.add(step)
                step = above[step]
            assert chain == strict
        for loop in program.loops:
            depths.add(loop.depth)
            assert loop.header in loop.blocks
    assert depths == {1}


@pytest.mark.parametrize(("kernel", "loops"), [("ccopy", 0), ("nccopy", 0), ("add_nounroll", 1), ("matmul_tiled", 1)])
def test_loops_of_the_source(kernel, loops):
    """The copies have none, the inner loop of the tiled product is unrolled whole."""
    assert len(disassemble(read_cubin(MEASURED.read_bytes()), kernel).loops) == loops
