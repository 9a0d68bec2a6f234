"""Code generation: the operations of `Lanes` as LLVM vector IR.

In: values of 32 lanes (`<32 x i32>`, `<32 x i1>`) and an IR builder.
Out: IR that computes them; structures and loops for helpers that are written by hand.

It does not know instructions, memory spaces or the state of a warp.
"""
