"""Code diff: blocks and instructions that belong together are found, whatever stands between them."""

from __future__ import annotations

from warplens.core.cubin import SourceLine
from warplens.regression.code_diff import code_diff
from warplens.regression.normal_form import NormalForm, NormalInstruction


def form(*blocks: str) -> NormalForm:
    """Of opcodes with one operand: "LDG a; FADD b"."""

    def instruction(text: str, number: int) -> NormalInstruction:
        opcode = text.split()[0]
        return NormalInstruction(opcode, f"{text} | {number} -> 1", "1", text, SourceLine("k.cu", number))

    return NormalForm(tuple(tuple(instruction(t, n) for n, t in enumerate(b.split("; "), 1)) for b in blocks))


def signs(old: NormalForm, new: NormalForm) -> list[str]:
    return ["".join(line.sign for line in block.lines) for block in code_diff(old, new).blocks]


def test_the_same_instructions_with_other_registers_and_branches() -> None:
    old, new = form("S2R; BRA block 2+0", "EXIT"), form("S2R; BRA block 3+0", "EXIT")
    assert signs(old, new) == ["==", "="]
    assert not code_diff(old, new).opcodes


def test_an_inserted_instruction() -> None:
    assert signs(form("S2R; LDG R; STG R"), form("S2R; LDG R; FADD R; STG R")) == ["==+="]


def test_an_inserted_block_does_not_shift_the_others() -> None:
    old, new = form("S2R", "LDG", "EXIT"), form("S2R", "BAR; BAR", "LDG", "EXIT")
    diff = code_diff(old, new)
    assert [(b.old, b.new) for b in diff.blocks] == [(0, 0), (None, 1), (1, 2), (2, 3)]
    assert [b.changed for b in diff.blocks] == [False, True, False, False]


def test_another_operand_is_a_change_and_no_opcode_is() -> None:
    old, new = form("IADD3 4; EXIT"), form("IADD3 8; EXIT")
    assert signs(old, new) == ["-+="]
    assert not code_diff(old, new).opcodes


def test_opcodes_are_counted_the_largest_change_first() -> None:
    diff = code_diff(form("LDG.E.128; FADD; EXIT"), form("LDG.E; LDG.E; LDG.E; LDG.E; FMUL; EXIT"))
    assert [(c.opcode, c.old, c.new) for c in diff.opcodes] == [
        ("LDG.E", 0, 4), ("FADD", 1, 0), ("FMUL", 0, 1), ("LDG.E.128", 1, 0),
    ]  # fmt: skip
    assert diff.instructions == (3, 6)
