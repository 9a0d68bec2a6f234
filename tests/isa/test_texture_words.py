"""Texture and surface instructions in words."""

from __future__ import annotations

import pytest

from warplens.core.program import Instruction
from warplens.isa.dsl.description import explain
from warplens.sass.control_codes import control
from warplens.sass.operand_parser import parse_operands


@pytest.mark.parametrize(
    ("opcode", "text", "words"),
    [
        ("TEX.LL", "RZ,R4,R8,R6,UR4,0x0,2D,0x1", "R4 = texture UR4 (2D) at R8, level R6"),
        ("TEX", "R6,R4,R4,UR4,ARRAY_2D", "R6, R4 = texture UR4 (ARRAY_2D) at R4"),
        ("TLD4.G", "R6,R4,R4,UR4,0x0,2D", "R6, R4 = G of 4 texels of texture UR4 around R4"),
        ("SULD.D.BA.2D.STRONG.SM.TRAP", "R5,[R4],UR4,0x0", "R5 = 4 bytes of surface UR4 (2D) at R4"),
        ("SUST.D.BA.3D.U8.STRONG.SM", "[R20],R19,UR6", "surface UR6 (3D) at R20 = R19, 1 byte"),
    ],
)
def test_words(opcode: str, text: str, words: str) -> None:
    operands = parse_operands(opcode, text, 0, 0, {})
    assert explain(Instruction(0, opcode, None, operands, text, control(0), 0, None)) == words
