"""Operand text parsed, and printed back.

tests/data/operands.tsv has one line for each form of each opcode that the compiler emitted for a varied set
of kernels, sm_75 to sm_120: architecture, offset, opcode, operands as nvdisasm prints them, and encoding.
"""

from __future__ import annotations

import math
import re
import struct
from pathlib import Path

import pytest

from warplens.core.program import Address, Constant, Immediate, Label, Operand, Register, Special
from warplens.errors import CubinError
from warplens.sass import parse_guard, parse_operands

ROWS = [
    (arch, int(offset, 16), opcode, text, int(encoding, 16))
    for arch, offset, opcode, text, encoding in (
        line.split("\t") for line in (Path(__file__).parents[1] / "data" / "operands.tsv").read_text().splitlines()
    )
]
NAMES = {
    name: 0x1000 + 16 * number
    for number, name in enumerate(
        dict.fromkeys(row[3].split(",")[-1] for row in ROWS if row[2].startswith(("CALL.REL", "RET")))
    )
}
R4, R5, RZ = Register("R", 4), Register("R", 5), Register("R", -1)


def one(opcode: str, text: str, encoding: int = 0) -> Operand:
    (operand,) = parse_operands(opcode, text, encoding, 0, NAMES)
    return operand


def number(value: int) -> str:
    return f"-{-value:#x}" if value < 0 else f"{value:#x}"


def shown_register(r: Register) -> str:
    constant = {"R": "RZ", "UR": "URZ", "P": "PT", "UP": "UPT"}
    name = constant[r.file] if r.index < 0 else f"{r.file}{r.index}"
    return decorated(name, r, "!" if r.file in ("P", "UP") else "~")


def decorated(name: str, o: Register | Constant, inversion: str) -> str:
    name = f"|{name}|" if o.absolute else name
    return ("-" if o.negate else inversion if o.invert else "") + name + (f".{o.part}" if o.part else "")


def shown(operand: Operand, opcode: str, offset: int) -> str:
    match operand:
        case Register():
            return shown_register(operand)
        case Immediate(bits, real):
            return number(bits) if real is None else real
        case Constant(bank, place, index):
            inside = "+".join(
                ([shown_register(index)] if index else []) + ([number(place)] if place or not index else [])
            )
            return decorated(f"c[{bank:#x}][{inside}]", operand, "~")
        case Address(base, uniform, place, scale, _, unsigned):
            terms = (
                [shown_register(base) + (".U32" if unsigned else "") + (f".X{scale}" if scale > 1 else "")]
                if base
                else []
            )
            terms += [shown_register(uniform)] if uniform else []
            terms += [number(place)] if place or not terms else []
            return f"[{'+'.join(terms)}]"
        case Label(place, name):
            return name or number(place - offset - 16 if opcode.startswith("BRX") else place)
        case Special(name):
            return name


def normal(text: str) -> str:
    """nvdisasm's text without what is left out on purpose: reuse, descriptor, zeros in sums, `.64`."""
    text = re.sub(r"\.reuse|desc\[\w+\](?=\[)|\s", "", text).replace("][R", "],[R")
    text = re.sub(r"(c\[\w+\]),\[", r"\1[", text)

    def bracket(match: re.Match[str]) -> str:
        terms = [term.replace(".64", "") for term in match[1].split("+") if term not in ("RZ", "URZ")]
        return f"[{'+'.join(terms) or '0x0'}]"

    return re.sub(r"\[([^\]]+)\]", bracket, text)


def test_every_form_prints_back():
    for _, offset, opcode, text, encoding in ROWS:
        if opcode == "P2R":
            text = text.replace(",", ",PR,", 1)
        operands = parse_operands(opcode, text, encoding, offset, NAMES)
        assert ",".join(shown(o, opcode, offset) for o in operands) == normal(text), (opcode, text)


def test_only_special_registers_are_kept_by_name():
    kept = {
        operand.name
        for _, offset, opcode, text, encoding in ROWS
        for operand in parse_operands(opcode, text, encoding, offset, NAMES)
        if isinstance(operand, Special)
    }
    assert {name for name in kept if not name.startswith("SR_")} <= {"SRZ", "PR"}
    assert "SR_TID.X" in kept


def decoded(bits: int, opcode: str, halves: bool) -> float:
    if not halves:
        word = struct.pack("<I", bits)
        pair = b"\0\0\0\0" + word
        return float(struct.unpack("<d", pair)[0] if opcode[0] == "D" else struct.unpack("<f", word)[0])
    if "BF16" in opcode:
        return float(struct.unpack("<f", struct.pack("<I", bits << 16))[0])
    return float(struct.unpack("<e", struct.pack("<H", bits))[0])


def test_bits_of_floats_are_the_printed_numbers():
    """Printed decimals are rounded; the bits come from the encoding, so this ties the two together."""
    seen = {"single": 0, "half": 0, "double": 0}
    for _, offset, opcode, text, encoding in ROWS:
        operands = parse_operands(opcode, text, encoding, offset, NAMES)
        floats = [o for o in operands if isinstance(o, Immediate) and o.real]
        for immediate in floats:
            assert immediate.real is not None
            value = decoded(immediate.bits, opcode, len(floats) == 2)
            if "NAN" in immediate.real:
                assert math.isnan(value)
                continue
            printed = float(immediate.real)
            assert value == pytest.approx(printed, rel=1e-6, abs=1e-46), (opcode, text, hex(immediate.bits))
            assert math.copysign(1, value) == math.copysign(1, printed)
            seen["half" if len(floats) == 2 else "double" if opcode[0] == "D" else "single"] += 1
    assert min(seen.values()) > 10, seen


def test_halves_high_first():
    upper, lower = parse_operands("HFMA2", "R2,-RZ,RZ,1.875,0", 0x3F800000 << 32, 0, {})[3:]
    assert upper == Immediate(0x3F80, "1.875")
    assert lower == Immediate(0, "0")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("R4", R4),
        ("RZ", RZ),
        ("R4.reuse", R4),
        ("-R4", Register("R", 4, negate=True)),
        ("|R4|", Register("R", 4, absolute=True)),
        ("-|R4|", Register("R", 4, negate=True, absolute=True)),
        ("~UR63", Register("UR", 63, invert=True)),
        ("!PT", Register("P", -1, invert=True)),
        ("UP6", Register("UP", 6)),
        ("B15", Register("B", 15)),
        ("SB0", Register("SB", 0)),
        ("-R4.reuse.H1_H1", Register("R", 4, negate=True, part="H1_H1")),
        ("|R4|.H0_H0", Register("R", 4, absolute=True, part="H0_H0")),
        ("R4.reuse.F32x2.HI_LO", Register("R", 4, part="F32x2.HI_LO")),
        ("0x1f", Immediate(31)),
        ("-0x80000000", Immediate(-(1 << 31))),
        ("c[0x0][0x160]", Constant(0, 0x160)),
        ("c[0x0][RZ]", Constant(0, 0)),
        ("c[0x3][UR4+0x400]", Constant(3, 0x400, Register("UR", 4))),
        ("c[0x2][R5+-0x8]", Constant(2, -8, R5)),
        ("-|c[0x0][0x8]|", Constant(0, 8, negate=True, absolute=True)),
        ("c[0x0][0x8].H1_H1", Constant(0, 8, part="H1_H1")),
        ("SR_CTAID.X", Special("SR_CTAID.X")),
        ("gdesc[UR4].A_KEEP", Register("UR", 4)),
        ("tmem[UR5+0x20]", Address(None, Register("UR", 5), 32)),
        ("frob[UR4]", Special("frob[UR4]")),
    ],
)
def test_operand(text, expected):
    assert one("FOO", text) == expected


@pytest.mark.parametrize(
    ("opcode", "text", "expected"),
    [
        ("LDG.E", "desc[UR4][R4.64+0x10]", Address(R4, None, 16, wide=True)),
        ("LDG.E.SYS", "[R4]", Address(R4, None, 0, wide=True)),
        ("QSPC.E.S", "[R4+0x8]", Address(R4, None, 8, wide=True)),
        ("LDG.E.SYS", "[R4.64+UR4]", Address(R4, Register("UR", 4), 0, wide=True)),
        ("LDG.E.SYS", "[R4.U32+UR4+-0x8]", Address(R4, Register("UR", 4), -8, unsigned=True)),
        ("LDG.E.SYS", "[UR4]", Address(None, Register("UR", 4), 0)),
        ("LDS", "[R4]", Address(R4, None, 0)),
        ("LDS.64", "[R4.X8+0x10]", Address(R4, None, 16, scale=8)),
        ("LDS", "[RZ]", Address(None, None, 0)),
        ("LDS", "[RZ+UR4]", Address(None, Register("UR", 4), 0)),
        ("LDS", "[0x20]", Address(None, None, 32)),
        ("STL", "[R4+UR4]", Address(R4, Register("UR", 4), 0)),
    ],
)
def test_address(opcode, text, expected):
    assert one(opcode, text) == expected


@pytest.mark.parametrize(
    ("text", "follows"),
    [
        ("gdesc[UR6],gdesc[UR8],tmem[UR4],tmem[UR4],idesc[UR5],UP0", Register("UR", -1)),
        ("gdesc[UR6],gdesc[UR8],tmem[UR4],tmem[UR4],idesc[UR5],UR8,UP0", Register("UR", 8)),
        ("gdesc[UR6],gdesc[UR8],tmem[UR4],tmem[UR4],idesc[UR5],tmem[UR8],UP0", Address(None, Register("UR", 8), 0)),
    ],
)
def test_products_in_tensor_memory(text, follows):
    """Without the instruction descriptor, which is in the register after that of the metadata's place."""
    at = Address(None, Register("UR", 4), 0)
    known = parse_operands("UTCQMMA", text, 0, 0, {})
    assert known == (Register("UR", 6), Register("UR", 8), at, at, follows, Register("UP", 0))


@pytest.mark.parametrize("policy", ["desc[UR8]", "desc[URZ]"])
def test_how_caches_treat_a_copy_is_no_operand(policy):
    operands = parse_operands("UTMALDG.2D", f"[UR12],[UR10],{policy}", 0, 0, {})
    assert operands == (Address(None, Register("UR", 12), 0), Address(None, Register("UR", 10), 0))


def test_a_set_of_scoreboards_is_one_operand():
    operands = parse_operands("DEPBAR.LE", "SB1,0x0,{3,2}", 0, 0, {})
    assert operands == (Register("SB", 1), Immediate(0), Special("{3,2}"))


def test_asynchronous_copy_has_two_addresses():
    shared, generic = parse_operands("LDGSTS.E", "[R5][R4.64]", 0, 0, {})
    assert shared == Address(R5, None, 0)
    assert generic == Address(R4, None, 0, wide=True)


@pytest.mark.parametrize(
    ("opcode", "text", "expected"),
    [
        ("BRA", "0x40", Label(0x40)),
        ("BRA.U", "!UP0,0x40", Label(0x40)),
        ("BSSY", "B0,0x40", Label(0x40)),
        ("WARPSYNC.COLLECTIVE", "R4,0x40", Label(0x40)),
        ("LEPC", "R4,0x40", Label(0x40)),
        ("CALL.REL.NOINC", "there", Label(0x30, "there")),
        ("RET.REL.NODEC", "R4,there", Label(0x30, "there")),
        ("RET.REL.NODEC", "R4,P1", Label(0x50, "P1")),
        ("BRX", "R4,-0x30", Label(0x20 + 16 - 0x30)),
        ("WARPSYNC", "0x40", Immediate(0x40)),
        ("BPT.TRAP", "0x1", Immediate(1)),
        ("BAR.SYNC", "0x0", Immediate(0)),
        ("CALL.ABS.NOINC", "R4", R4),
    ],
)
def test_places(opcode, text, expected):
    functions = {"there": 0x30, "P1": 0x50, "R4": 0x60}
    assert parse_operands(opcode, text, 0, 0x20, functions)[-1] == expected


def test_call_of_something_else():
    with pytest.raises(CubinError, match="elsewhere"):
        parse_operands("CALL.REL.NOINC", "elsewhere", 0, 0, {})


@pytest.mark.parametrize(
    ("text", "expected"),
    [("", None), ("@P0", Register("P", 0)), ("@!UP3", Register("UP", 3, invert=True))],
)
def test_guard(text, expected):
    assert parse_guard(text) == expected
