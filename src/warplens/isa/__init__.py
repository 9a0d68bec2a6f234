"""Instruction set: one operation an opcode, in files named after the sections of NVIDIA's manual.

An operation is an ordinary function over `Lanes`.  It is used three ways: the executor runs it with an emitter of
vector machine code, the listing runs it with an emitter of English, and the table of opcodes reads its signature.
"""

from warplens.isa.dsl.op import Op, find, operations

__all__ = ["Op", "find", "operations"]
