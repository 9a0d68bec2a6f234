"""Every form of every opcode that the compiler emitted for varied kernels has a meaning or is told as absent."""

from __future__ import annotations

from pathlib import Path

import pytest

from warplens.core.cubin import SourceLine
from warplens.core.program import Instruction, Program
from warplens.emulator.lowering.instruction_context import unsupported
from warplens.isa.dsl.decode import bind
from warplens.isa.dsl.not_emulated import absent
from warplens.sass import parse_operands
from warplens.sass.control_codes import control

ROWS = [
    (arch, int(offset, 16), opcode, text, int(encoding, 16))
    for arch, offset, opcode, text, encoding in (
        line.split("\t") for line in (Path(__file__).parents[1] / "data" / "operands.tsv").read_text().splitlines()
    )
]
NAMES = {row[3].split(",")[-1]: 0x1000 for row in ROWS if row[2].startswith(("CALL.REL", "RET"))}
WITHOUT_ITS_FILE = ("P2R", "R2P")  # the file of predicates stands in another column of the listing


def instruction(offset: int, opcode: str, text: str, encoding: int) -> Instruction:
    operands = parse_operands(opcode, text, encoding, offset, NAMES)
    return Instruction(offset, opcode, None, operands, text, control(encoding), encoding, SourceLine("k.cu", 7))


def test_a_meaning_or_the_name_of_what_is_missing() -> None:
    forms = [instruction(*row[1:]) for row in ROWS if row[2] not in WITHOUT_ITS_FILE]
    assert len({form.opcode for form in forms}) > 500
    nothing = {f"{form.opcode} {form.text}" for form in forms if bind(form) is None and not absent(form.opcode)}
    assert nothing == set()


@pytest.mark.parametrize(
    ("opcode", "text", "missing"),
    [
        ("UTMALDG.W.2D", "[UR4],[UR6]", "(TMA)"),
        ("UTCHMMA", "gdesc[UR4],gdesc[UR6],tmem[UR5]", "(tcgen05)"),
        ("TEX.LL", "R0,R1,R2,R3", "texture"),
        ("FROB.X", "R0,R1", "no meaning for FROB.X R0,R1"),
    ],
)
def test_the_message_names_instruction_line_and_what_is_missing(opcode: str, text: str, missing: str) -> None:
    form = instruction(0x40, opcode, text, 0)
    assert bind(form) is None
    told = str(unsupported(Program("k", "sm_90", (form,), (), ()), form))
    assert f"{opcode} {text} (sm_90, k at 0x40, k.cu:7)" in told
    assert missing in told
