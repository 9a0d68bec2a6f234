"""Tensor cores unused: a product of half-precision matrices, tile by tile in shared memory, by HFMA2 or FFMA.

wmma::mma_sync (or mma.sync) does a product of 16 x 16 x 16 for a warp at once, with sums in float: an H100's published
peaks are 989 TFLOP/s so, 134 with HFMA2 and 67 with FFMA.  Products of floats are no fault: on tensor cores they are
TF32, with 10 bits of mantissa.  Nsight Compute: no rule.
"""

from __future__ import annotations

from typing import NamedTuple

from warplens.counters.opcodes import access
from warplens.rules._counted_launch import ISSUE, CountedLaunch, executed, line_with_most, work
from warplens.rules._rule import Finding, rule

FROM_HALF = frozenset({"HADD2", "PRMT", "IMAD", "SHF"})  # HADD2.F32 widens a half; a shift or a permutation a bfloat16
PRODUCTS = 1 / 8  # of the instructions of the loop


class TensorCoresUnusedEvidence(NamedTuple):
    """Multiply-adds of a loop over tiles, as a share of the executed instructions."""

    share: float


@rule(
    threshold=0.05,
    reads=("smsp__inst_executed.sum", "smsp__sass_inst_executed_op_shared_ld.sum"),
    fires="half_products.cu/halves",
    silent="half_products.cu/tensor",
)
def tensor_cores_unused(launch: CountedLaunch) -> Finding | None:
    instructions = launch.program.instructions
    if not launch.program.loops or not any(i.base == "LDS" for i in instructions):
        return None
    looped = {i for loop in launch.program.loops for i in launch.flow.body(loop) if launch.trace.executed[i]}
    products = {i: float(executed(launch, [i])) for i in looped if is_half_product(launch, i)}
    number = sum(products.values())
    if not number or number < PRODUCTS * executed(launch, looped):
        return None
    share = number / int(launch["smsp__inst_executed.sum"])
    weight = ISSUE * number / work(launch)
    return Finding("tensor_cores_unused", weight, TensorCoresUnusedEvidence(share), line_with_most(launch, products))


def is_half_product(launch: CountedLaunch, index: int) -> bool:
    """HFMA2 of two values from shared memory, or FFMA of two that were widened from halves there."""
    instruction, flow = launch.program.instructions[index], launch.flow
    if instruction.base not in ("HFMA2", "FFMA"):
        return False
    factors = [flow.operand_sources(index, operand) for operand in instruction.operands[1:3]]
    return all(any(from_tile(launch, maker, instruction.base) for maker in makers) for makers in factors)


def from_tile(launch: CountedLaunch, maker: int, product: str) -> bool:
    """Whether a factor comes from shared memory: as it is, or through PRMT; for FFMA it must have been a half."""
    flow = launch.flow
    if product == "HFMA2" and reads_shared(launch, maker):
        return True
    narrow = product == "HFMA2" or launch.program.instructions[maker].opcode.startswith("HADD2.F32")
    return flow.base(maker) in FROM_HALF and narrow and any(reads_shared(launch, i) for i in flow.sources(maker))


def reads_shared(launch: CountedLaunch, index: int) -> bool:
    use = access(launch.program.instructions[index])
    return use is not None and (use.space, use.action) == ("shared", "load")
