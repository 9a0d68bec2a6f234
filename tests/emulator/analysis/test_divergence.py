"""Which instructions can send the lanes of a warp to different places (emulator/analysis/divergence.py)."""

from __future__ import annotations

import pytest

from warplens.core.program import Block, Control, Instruction, Program, Register
from warplens.emulator.analysis.divergence import diverges, early_passed_barriers

TIERS = ("whole",)
CONTROL = Control(1, False, None, None, 0)
P0 = Register("P", 0)


def instruction(index: int, opcode: str, guard: Register | None, *operands: Register) -> Instruction:
    return Instruction(16 * index, opcode, guard, operands, "", CONTROL, 0, None)


@pytest.mark.parametrize(
    ("opcode", "guard", "may_disagree", "expected"),
    [
        ("BREAK", P0, True, True),
        ("BREAK", P0, False, False),
        ("BREAK", None, True, False),
        ("BRA", P0, True, True),
        ("BRA", P0, False, False),
        ("BRA.U", P0, True, False),
        ("WARPSYNC", P0, True, True),
        ("WARPSYNC.EXCLUSIVE", None, False, True),
        ("FADD", P0, True, False),
    ],
)
def test_an_instruction_sends_lanes_apart(opcode: str, guard: Register, may_disagree: bool, expected: bool) -> None:
    assert diverges(instruction(0, opcode, guard, Register("B", 0)), may_disagree) is expected


def test_a_barrier_that_a_break_leaves_may_be_passed_early() -> None:
    code = [("BREAK", P0, 1), ("BSYNC", None, 0), ("BSYNC", None, 1)]
    made = tuple(instruction(n, opcode, guard, Register("B", b)) for n, (opcode, guard, b) in enumerate(code))
    assert early_passed_barriers(Program("k", "sm_90", made, (Block(0, 2, ()),), ())) == {1}
