"""Matrix instructions by shape and type, and MATCH."""

from __future__ import annotations

from collections.abc import Iterator

from warplens.calibration.trial import SINK, TICKS, Trial

SHAPES = (
    "tf32_1684", "bf16_1688", "half_1688", "int_8816", "int_16816", "bits_88128", "bits_168128", "bits_168256",
    "double_1684", "double_1688", "double_16816",
)  # fmt: skip


def trials(multiprocessors: int) -> Iterator[Trial]:
    del multiprocessors
    for shape in SHAPES:
        for warps in (4, 16):
            name = f"matrix {shape}, {warps} warps"
            yield Trial(name, f"matrix_{shape}", 1, 32 * warps, (TICKS, SINK, 64), "ticks", 64 * 64)
        yield Trial(f"matrix {shape} in a chain", f"matrix_chain_{shape}", 1, 32, (TICKS, SINK, 32), "ticks", 32 * 32)
    for name in ("any", "any_long", "all", "any_chain", "any_long_chain", "all_chain"):
        for kinds in (1, 2, 4, 8, 16, 32):
            for warps in (4, 16):
                label = f"equals {name} of {kinds} kinds, {warps} warps"
                args = (TICKS, SINK, 64, kinds)
                yield Trial(label, f"equals_{name}", 1, 32 * warps, args, "ticks", 64 * 16)
