"""Matrix products: instructions of the tensor pipe, operations by type of the factors, bytes of wgmma's operands.

Read on an H200 for each shape of `mma.sync` and each type of `wgmma` (ncu 2025.3.1, 2026-11-27): an operation is a
multiplication or an addition, of sparse products as if they were dense; each warp counts its rows of A and its share
of B.  WARPGROUP.ARRIVE and WARPGROUP.DEPBAR are not of this pipe.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from warplens.core.program import Instruction, Register
from warplens.counters.vocabulary import (
    EXECUTED,
    Formula,
    Quantity,
    Selection,
    exact,
    only,
    opcode,
    opcode_beginning,
    weighted,
)

GROUP = ("HGMMA", "QGMMA", "IGMMA", "BGMMA")
PAIRS = opcode_beginning("HFMA2.MMA")  # multiply-adds of half pairs, also where they load a constant
PRODUCTS = {
    "": opcode("HMMA", "IMMA", "BMMA", "DMMA", *GROUP) | PAIRS,
    "_op_hmma": opcode("HMMA", "HGMMA", "QGMMA") | PAIRS,
    "_op_imma": opcode("IMMA", "BMMA", "IGMMA", "BGMMA"),
    "_op_dmma": opcode("DMMA"),
    "_op_gmma": opcode(*GROUP),
}
WARPS = 4  # of a warpgroup
ROW_BYTES = 32  # along K of both matrices; of B twice as many where A is sparse

hopper = only(90)


def shape(instruction: Instruction) -> tuple[int, ...]:
    """Rows, columns and depth: of "16816", "8832", "16x8x16", "64x16x16"; none if no modifier is one."""
    for modifier in instruction.modifiers:
        if "x" in modifier and modifier.replace("x", "").isdigit():
            return tuple(map(int, modifier.split("x")))
        for rows in ("16", "8"):
            if modifier.isdigit() and modifier.startswith(f"{rows}8"):
                return int(rows), 8, int(modifier.removeprefix(f"{rows}8"))
    return ()


def operations(instruction: Instruction) -> int:
    """Of one warp: multiplications and additions."""
    found = shape(instruction)
    warps = WARPS if instruction.base in GROUP else 1
    return 2 * prod(found) // warps if found else 0


def operand_bytes(instruction: Instruction) -> int:
    """Of one warp: its rows of A, if they are in shared memory, and its share of B."""
    rows, columns, _ = shape(instruction)
    in_registers = isinstance(instruction.operands[1], Register) and instruction.operands[1].file == "R"
    depth = ROW_BYTES * (2 if "SP" in instruction.modifiers else 1)
    return (rows * ROW_BYTES * (not in_registers) + columns * depth) // WARPS


def modified(*names: str) -> Selection:
    """Instructions with one of these modifiers."""
    return Selection(lambda site: not set(names).isdisjoint(site.opcode.split(".")))


SPARSE = modified("SP")
BRAIN, TF32, TINY, INTO_SINGLE = modified("BF16"), modified("TF32"), modified("E4M3", "E5M2"), modified("F32")
HALF = ~BRAIN & ~TF32 & ~TINY
HMMA, HGMMA, QGMMA = opcode("HMMA"), opcode("HGMMA"), opcode("QGMMA")
OPERATIONS = weighted(EXECUTED, operations)

WITH_SPARSITY = {
    "op_hmma_src_fp16_dst_fp16": HMMA & HALF & ~INTO_SINGLE,
    "op_hmma_src_fp16_dst_fp32": HMMA & HALF & INTO_SINGLE,
    "op_hmma_src_bf16_dst_fp32": HMMA & BRAIN,
    "op_hmma_src_tf32_dst_fp32": HMMA & TF32,
    "op_hgmma_src_fp16": HGMMA & HALF,
    "op_hgmma_src_bf16_dst_fp32": HGMMA & BRAIN,
    "op_hgmma_src_tf32_dst_fp32": HGMMA & TF32,
    "op_imma_src_int8": opcode("IMMA"),
    "op_igmma_src_int8": opcode("IGMMA"),
    "src_fp8": QGMMA,
}
WHOLE = WITH_SPARSITY | {
    "op_hmma_src_fp16": HMMA & HALF,
    "op_bmma_src_int1": opcode("BMMA"),
    "op_bgmma_src_int1": opcode("BGMMA"),
    "src_fp16": (HMMA | HGMMA) & HALF,
    "src_bf16_dst_fp32": (HMMA | HGMMA) & BRAIN,
    "src_tf32_dst_fp32": (HMMA | HGMMA) & TF32,
    "src_fp64": opcode("DMMA"),
    "src_int8": opcode("IMMA", "IGMMA"),
    "src_int1": opcode("BMMA", "BGMMA"),
}
BYTES = weighted(EXECUTED, operand_bytes)[opcode(*GROUP)]


def both(name: str, unit: str, quantity: Quantity) -> Iterator[Formula]:
    for prefix in ("smsp", "sm"):
        yield exact(f"{prefix}__{name}.sum", unit, quantity, hopper)


METRICS: tuple[Formula, ...] = (
    *(
        formula
        for name, chosen in PRODUCTS.items()
        for formula in both(f"inst_executed_pipe_tensor{name}", "inst", EXECUTED[chosen])
    ),
    *both("sass_inst_executed_op_shared_gmma", "inst", EXECUTED[opcode(*GROUP)]),
    *both("sass_data_bytes_mem_shared_op_gmma", "byte", BYTES),
    *(exact(f"sm__ops_path_tensor_{name}.sum", "", OPERATIONS[kind], hopper) for name, kind in WHOLE.items()),
    *(
        exact(f"sm__ops_path_tensor_{name}_sparsity_{state}.sum", "", OPERATIONS[kind & chosen], hopper)
        for name, kind in WITH_SPARSITY.items()
        for state, chosen in (("off", ~SPARSE), ("on", SPARSE))
    ),
)
