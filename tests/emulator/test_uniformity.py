"""Uniformity analysis: covers every form of every opcode that the compiler emitted (analysis/uniformity.py)."""

from __future__ import annotations

from pathlib import Path

from warplens.core.program import Block, Instruction, Program
from warplens.emulator.analysis.abstract_interpreter import AbstractWarp
from warplens.emulator.analysis.uniformity import analyze_uniformity
from warplens.isa.dsl.decode import bind
from warplens.isa.dsl.warp_interface import Warp
from warplens.sass import parse_operands
from warplens.sass.control_codes import control

TIERS = ("whole",)
FORMS = (Path(__file__).parents[1] / "data" / "operands.tsv").read_text().splitlines()
PREDICATE_FILE = ("P2R", "R2P")  # the listing has the file of predicates in another column


def test_the_abstract_warp_has_every_operation_of_a_warp() -> None:
    operations = {name for name in vars(Warp) if not name.startswith("_")}
    assert len(operations) > 40
    assert {name for name in operations if not hasattr(AbstractWarp, name)} == set()


def test_every_form_is_analysed() -> None:
    analysed = set()
    for form in FORMS:
        arch, offset, opcode, text, encoding = form.split("\t")
        if opcode in PREDICATE_FILE:
            continue
        names = {text.split(",")[-1]: 0}
        operands = parse_operands(opcode, text, int(encoding, 16), int(offset, 16), names)
        instruction = Instruction(0, opcode, None, operands, text, control(int(encoding, 16)), 0, None)
        binding = bind(instruction)
        if binding is None:
            continue
        block = Block(0, 0, ())
        program = Program("k", arch, (instruction,), (block,), ())
        analyze_uniformity(program, [binding], [block], 32, {0: []})
        analysed.add(opcode)
    assert len(analysed) > 450
