"""SASS: reads a cubin as a Program: instructions with operands, control codes, flow graph."""

from warplens.sass.code_text import disassemble_ahead
from warplens.sass.control_codes import control
from warplens.sass.flow_graph import basic_blocks, dominators, natural_loops
from warplens.sass.listing import disassemble
from warplens.sass.operand_parser import parse_guard, parse_operands

__all__ = [
    "basic_blocks",
    "control",
    "disassemble",
    "disassemble_ahead",
    "dominators",
    "natural_loops",
    "parse_guard",
    "parse_operands",
]
