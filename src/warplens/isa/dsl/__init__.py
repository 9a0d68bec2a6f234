"""Operation language: typed lanes, the `op` decorator, operand decoding, and English for an operation.

In: the operations of isa/ (functions over `Lanes`) and instructions with operands.
Out: operations that an emitter can run, and one line of English for an instruction.

It does not know opcodes: they are defined in the files of isa/, one section of NVIDIA's manual each.
"""
