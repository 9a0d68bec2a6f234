"""Pipes: how often a sub-partition can issue to them, and after how long a result is there."""

from __future__ import annotations

from collections.abc import Iterator

from warplens.calibration.trial import SINK, TICKS, Trial

# convert, popc, vote, special, root, to_half and to_double are two instructions or three: see their steps
PIPES = (
    "fma", "imad", "lop", "shift", "half", "double", "mufu", "convert", "popc", "shuffle", "vote",
    "special", "reduce", "tensor", "tensor8", "tensor_bf16", "tensor_tf32", "tensor_int", "tensor_half",
    "tensor_double", "permute", "fadd", "fleast", "dadd", "root", "to_half", "to_double", "leading", "high",
)  # fmt: skip
BOTH = ("fma_lop", "fma_imad", "fma_half", "fma_double", "fma_mufu")


def trials(multiprocessors: int) -> Iterator[Trial]:
    del multiprocessors
    for name in PIPES:
        for warps in (1, 4, 8, 16, 32):
            yield _rate(f"pipe {name}, {warps} warps", f"pipe_{name}", warps)
        yield Trial(f"chain {name}", f"chain_{name}", 1, 32, (TICKS, SINK, 32), "ticks", 32 * 32)
    for name in BOTH:
        for warps in (4, 16, 32):
            yield _rate(f"both {name}, {warps} warps", f"both_{name}", warps)
    yield Trial("chain constant", "chain_constant", 1, 32, (TICKS, SINK, 32), "ticks", 32 * 32, warm=True)
    yield Trial("single special", "single_special", 1, 32, (TICKS, SINK), "ticks")
    yield Trial("single nothing", "single_nothing", 1, 32, (TICKS, SINK), "ticks")


def _rate(name: str, kernel: str, warps: int) -> Trial:
    return Trial(name, kernel, 1, 32 * warps, (TICKS, SINK, 64), "ticks", 64 * 64)
