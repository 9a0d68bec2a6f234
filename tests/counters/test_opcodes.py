"""Classes of opcodes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from helpers.hand_made_traces import instruction
from warplens.counters.opcodes import CATEGORIES, MemoryAccess, access, category
from warplens.sass import parse_operands


@pytest.mark.parametrize(
    ("opcode", "expected"),
    [
        ("LDG.E", MemoryAccess("global", "load", 32)),
        ("LDG.E.U8.SYS", MemoryAccess("global", "load", 8)),
        ("LDG.E.S16", MemoryAccess("global", "load", 16)),
        ("LDG.E.NA.LTC128B.128.CONSTANT", MemoryAccess("global", "load", 128)),
        ("LDG.E.LTC128B", MemoryAccess("global", "load", 32)),
        ("STG.E.ENL2.256", MemoryAccess("global", "store", 256)),
        ("LDS.U.64", MemoryAccess("shared", "load", 64)),
        ("LDL.LU.64", MemoryAccess("local", "load", 64)),
        ("LDSM.16.M88.4", MemoryAccess("shared", "load", 128)),
        ("LDSM.16.MT88.2", MemoryAccess("shared", "load", 128)),
        ("STSM.16.M88", MemoryAccess("shared", "store", 128)),
        ("LDGSTS.E.BYPASS.128", MemoryAccess("global", "copy", 128)),
        ("LD.E.STRONG.GPU", MemoryAccess("generic", "load", 32)),
        ("ATOMG.E.CAS.64.STRONG.GPU", MemoryAccess("global", "atomic", 64)),
        ("ATOMS.POPC.INC.32", MemoryAccess("shared", "atomic", 32)),
        ("REDG.E.ADD.F64.RN.STRONG.GPU", MemoryAccess("global", "reduction", 64)),
        ("REDG.E.MIN.S64.STRONG.GPU", MemoryAccess("global", "reduction", 64)),
        ("RED.E.ADD.F32.FTZ.RN.STRONG.GPU", MemoryAccess("global", "reduction", 32)),
        ("ATOM.E.ADD.F16x2.RN.STRONG.GPU", MemoryAccess("generic", "atomic", 32)),
        ("LDC.U8", MemoryAccess("constant", "load", 8)),
        ("IMAD.WIDE", None),
    ],
)
def test_access(opcode: str, expected: MemoryAccess | None) -> None:
    assert access(instruction(0, [opcode])) == expected


def test_an_opcode_stands_in_one_category() -> None:
    listed = [opcode for opcodes in CATEGORIES.values() for opcode in opcodes]
    assert len(listed) == len(set(listed))


@pytest.mark.parametrize(
    ("opcode", "expected"),
    [
        ("IMAD.MOV.U32", "move and select"),
        ("IMAD.WIDE", "integer"),
        ("ULEA", "uniform"),
        ("ULDC.64", "constant memory"),
        ("BSSY.RECONVERGENT", "control"),
        ("LDGSTS.E.128", "main memory"),
        ("HFMA2.MMA", "half precision"),
        ("MUFU.RCP", "special function"),
        ("HMMA.16816.F32", "tensor"),
        ("NANOSLEEP", "control"),
        ("NEWOP", "other"),
    ],
)
def test_category(opcode: str, expected: str) -> None:
    assert category(instruction(0, [opcode])) == expected


def test_a_constant_loaded_on_the_half_pipe_is_a_move() -> None:
    text = "R9,-RZ,RZ,0,1.78813934326171875e-07"
    loads = replace(instruction(0, ["HFMA2.MMA"]), operands=parse_operands("HFMA2.MMA", text, 3 << 32, 0, {}))
    assert category(loads) == "move and select"
