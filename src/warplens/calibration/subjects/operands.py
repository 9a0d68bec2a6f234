"""Register reads: cost of instructions with three sources."""

from __future__ import annotations

from collections.abc import Iterator

from warplens.calibration.trial import SINK, TICKS, Argument, Trial

KERNELS = (
    "fma_same_1", "fma_same_2", "fma_same_4", "fma_same_8", "fma_own_1", "fma_own_2", "fma_own_4", "fma_own_8",
    "fma_add_4", "fma_add_8", "fma_outer_16", "lop_own_4", "lop_own_8", "add_own_4", "imad_own_4", "both_own_4",
)  # fmt: skip
ROUNDS, UNROLL = 32, 64


def trials(multiprocessors: int) -> Iterator[Trial]:
    for kernel in KERNELS:
        whole = kernel.startswith(("lop", "add", "imad"))
        factors: tuple[Argument, Argument] = (3, 5) if whole else (0.5, 1.5)
        for warps in (1, 4, 16, 32):
            name = f"operands {kernel}, {warps} warps"
            yield Trial(name, kernel, 1, 32 * warps, (TICKS, SINK, ROUNDS, *factors), "ticks", ROUNDS * UNROLL)
