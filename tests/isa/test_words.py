"""Instructions in English: what the lines say, and that every form the compiler emits has one."""

from __future__ import annotations

from pathlib import Path

import pytest

from warplens.core.program import Constant, Control, Instruction
from warplens.isa import find
from warplens.isa.dsl.decode import bind
from warplens.isa.dsl.description import explain
from warplens.sass import parse_guard, parse_operands

# One line a form: architecture, offset, opcode, operands as printed, encoding.
ROWS = [line.split("\t") for line in (Path(__file__).parents[1] / "data" / "operands.tsv").read_text().splitlines()]
PARAMETERS = {0x160: "in", 0x168: "n", 0x210: "out"}


class Everywhere(dict[str, int]):
    """A place for any function name."""

    def __contains__(self, name: object) -> bool:
        return True

    def __missing__(self, name: str) -> int:
        return 0x1000


def instruction(opcode: str, text: str, guard: str = "", encoding: int = 0, offset: int = 0) -> Instruction:
    operands = parse_operands(opcode, text, encoding, offset, Everywhere())
    control = Control(0, False, None, None, 0)
    return Instruction(offset, opcode, parse_guard(guard), operands, text, control, encoding, None)


def name_of(constant: Constant) -> str | None:
    return PARAMETERS.get(constant.offset) if constant.bank == 0 else None


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("IMAD.WIDE R2,R7,0x4,c[0x0][0x160]", "R2:R3 = R7 * 4 + in, 64-bit"),
        ("IMAD.MOV.U32 R1,RZ,RZ,c[0x0][0x28]", "R1 = c[0][0x28]"),
        ("IMAD.IADD R11,R11,0x1,-R2", "R11 = R11 - R2"),
        ("IMAD.SHL.U32 R12,R5,0x100,RZ", "R12 = R5 * 256"),
        ("IMAD.X R7,R9,0x1,~R3,P1", "R7 = R9 + ~R3 + P1"),
        ("IMAD.HI.U32 R9,R11,R6,RZ", "R9 = high word of (R11 * R6), 64-bit"),
        ("ISETP.GE.AND P0,PT,R7,c[0x0][0x168],PT", "P0 = R7 >= n (signed)"),
        ("ISETP.GT.U32.OR P0,PT,R8,0xfd,P0", "P0 = R8 > 253 or P0 (unsigned)"),
        ("IADD3 R13,PT,PT,-R4,R13,RZ", "R13 = R13 - R4"),
        ("IADD3 R0,R5,0x3,-R2", "R0 = R5 + 3 - R2"),
        ("IADD3 R6,P1,R4,R8,RZ", "R6 = R4 + R8, P1 = its carry"),
        ("IADD3.X R9,PT,PT,R5,R9,RZ,P0,!PT", "R9 = R5 + R9 + P0"),
        ("LEA R4,P0,R5,UR6,0x2", "R4 = R5 * 4 + UR6, P0 = its carry"),
        ("LEA.HI R32,R31,0x1,RZ,0x1b", "R32 = (R31 >> 5) + 1"),
        ("LOP3.LUT R4,R13,0x1,RZ,0xc0,!PT", "R4 = R13 & 1"),
        ("LOP3.LUT R2,R3,R5,R4,0x96,!PT", "R2 = R3 ^ R5 ^ R4"),
        ("LOP3.LUT R3,RZ,R3,RZ,0x33,!PT", "R3 = ~R3"),
        ("LOP3.LUT P2,RZ,R0,0x1,RZ,0xc0,!PT", "P2 = (R0 & 1) != 0"),
        ("SHF.R.S32.HI R11,RZ,0x8,R10", "R11 = R10 >> 8 (signed)"),
        ("SHF.L.U64.HI R12,R12,0x3,R9", "R12 = high word of (R9:R12 * 8)"),
        ("MUFU.RCP R4,R4", "R4 = approximately 1 / R4"),
        ("FFMA R7,-R3,R4,R6", "R7 = R6 - R3 * R4"),
        ("FFMA.RM R8,R14,R10,R9", "R8 = R14 * R10 + R9, rounded down"),
        ("FSETP.NEU.AND P0,PT,R1,R8,PT", "P0 = R1 != R8"),
        ("FADD.FTZ R11,-R8,-RZ", "R11 = -R8, denormals as 0"),
        ("FMNMX R0,R7,R0,!PT", "R0 = max(R7, R0)"),
        ("DADD R54,R44,-R54", "R54:R55 = R44:R45 - R54:R55"),
        ("SEL R10,R4,UR6,!P1", "R10 = R4 if not P1 else UR6"),
        ("PLOP3.LUT P0,PT,P0,P1,PT,0xf8,0x8f", "P0 = P0 or P1"),
        ("MOV R13,0x10", "R13 = 16"),
        (
            "HGMMA.64x80x16.F16 R24,gdesc[UR8].negA.tnspB,R24,UP0,gsb0",
            "R24 = UR8.negA * UR10.tnspB + R24, matrices 64x80x16, F16 summed as F16",
        ),
        (
            "QGMMA.SP.64x16x64.F32.E4M3.E5M2 R24,-R28,gdesc[UR4],R24,R32,gsb0",
            "R24 = -R28 * UR6 + R24, -R28 sparse by R32, 64x16x64, E4M3 and E5M2",
        ),
        ("USETMAXREG.DEALLOC.CTAPOOL 0x28", "keep 40 registers a thread, and give back the others"),
        ("LDG.E R5,desc[UR4][R2.64+0x10]", "R5 = 4 bytes of global memory at R2:R3 + 16"),
        ("STS.128 [R23+-0x10],R8", "shared memory at R23 - 16 = R8..R11, 16 bytes"),
        ("S2R R0,SR_TID.X", "R0 = threadIdx.x"),
        ("BRA !P2,0xa90", "go to 0x0a90 if not P2"),
        ("BRA.DIV 0x320", "go to 0x0320 unless all lanes of the warp are here"),
        ("BRA.DIV UR4,0x320", "go to 0x0320 unless all lanes of UR4 are here"),
        (
            "LDGSTS.E.BYPASS.128 [R18+0x10],[R24.64]",
            "shared memory at R18 + 16 = global memory at R24:R25, 16 bytes, later",
        ),
    ],
)
def test_lines(line, words):
    opcode, text = line.split(" ", 1)
    assert explain(instruction(opcode, text), name_of) == words


def test_guards():
    assert explain(instruction("MOV", "R13,0x10", "@P0")) == "if P0: R13 = 16"
    assert explain(instruction("MOV", "R13,0x10", "@!UP1")) == "unless UP1: R13 = 16"


def test_a_constant_loaded_by_half_precision_arithmetic():
    encoding = 0x3F800000 << 32  # the immediate's place
    assert explain(instruction("HFMA2.MMA", "R7,-RZ,RZ,1.875,0", encoding=encoding)) == "R7 = 0x3f800000 (the float 1)"


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row[0]} {row[2]} {row[3]}")
def test_every_form_has_a_short_line(row):
    _, offset, opcode, text, encoding = row
    one = instruction(opcode, text, "@!UP0", int(encoding, 16), int(offset, 16))
    line = explain(one, name_of)
    assert 0 < len(line) <= 100
    assert "nothing" not in line.replace("unless UP0: nothing", "")
    assert "  " not in line
    assert not line.endswith(" ")
    if bind(one) is None:
        assert line == f"unless UP0: {opcode} {text}".strip()[:100] or len(line) == 100


MINE = {"integer", "logic", "movement", "floating", "special", "conversion", "half"}


@pytest.mark.parametrize("row", [r for r in ROWS if (f := find(r[2])) and f[0].section in MINE], ids=str)
def test_every_operand_of_the_arithmetic_finds_its_place(row):
    _, offset, opcode, text, encoding = row
    one = instruction(opcode, text, "", int(encoding, 16), int(offset, 16))
    assert bind(one) is not None
    assert "its carry" not in explain(one) or ",P" in text or ",UP" in text
    assert not explain(one).startswith(opcode)
