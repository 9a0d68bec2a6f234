"""What every instruction means: one sentence an opcode, in files named after the sections of NVIDIA's manual.

A sentence is an ordinary function over `Lanes`.  It is read three ways: the executor runs it with an emitter that
writes vector machine code, the listing runs it with one that writes English, and the table of opcodes reads its
signature.  F3.
"""

from warplens.isa.dsl.op import Op, find, operations

__all__ = ["Op", "find", "operations"]
