"""Instruction mixes: two or three kinds in turn, 64-bit integers, doubles, half pairs, forward branches."""

from __future__ import annotations

from collections.abc import Iterator

from warplens.calibration.trial import SINK, TICKS, Trial

WIDE = ("wide", "sum", "times", "less", "wide_sum", "wide_less")
NARROW = (
    "wide_lop", "wide_lop_imad", "wide_lop_sel", "wide_lop_high", "high", "highsum", "sel", "imad_lop", "imad_shf",
    "imad_sel", "imad_high", "high_lop", "high_sel", "lop_shf", "ffma_sel", "ffma_high", "ffma_imad_lop",
    "imad_lop_shf", "imad_sel_lop", "mufu_lop", "mufu_imad", "popc_imad", "popc_lop", "cvt_imad", "cvt_mufu",
    "ffma_ffma_imad", "ffmas_mufu_ffmas", "ffmas_popc_ffmas", "half", "half_ffma", "half_imad", "half_lop",
    "halfsum_imad", "add_lop", "add_imad", "high_ffma_ffma",
)  # fmt: skip
DOUBLES = ("same_1", "same_4", "one_4", "own_4", "add_4", "mul_4", "floats_4")
ROUNDS, STEPS = 32, 64


def trials(multiprocessors: int) -> Iterator[Trial]:
    del multiprocessors
    for name in (*WIDE, *NARROW):
        yield _of(f"mixture {name}, one chain, 1 warps", f"mixed_{name}_1", 1)
        for warps in (4, 16, 32):
            yield _of(f"mixture {name}, {warps} warps", f"mixed_{name}_4", warps)
    for name in DOUBLES:
        for warps in (1, 4, 16, 32):
            yield _of(f"doubles {name}, {warps} warps", f"doubles_{name}", warps)
    for taken, flip, label in ((0, 0, "never"), (1, 0, "always"), (0, 1, "every other time")):
        for warps in (1, 4, 16, 32):
            args = (TICKS, SINK, ROUNDS, taken, flip)
            yield Trial(f"hops taken {label}, {warps} warps", "hops", 1, 32 * warps, args, "ticks", 16 * ROUNDS)


def _of(name: str, kernel: str, warps: int) -> Trial:
    return Trial(name, kernel, 1, 32 * warps, (TICKS, SINK, ROUNDS, 12345, 6789), "ticks", ROUNDS * STEPS)
