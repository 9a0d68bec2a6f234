"""Constant memory: its caches, and what constant loads share with other instructions."""

from __future__ import annotations

from collections.abc import Iterator

from warplens.calibration.trial import SINK, TICKS, Arguments, Buffer, Trial

KIB = 256  # words
TURNS = (
    "ldc", "ldg", "lds", "shfl", "mufu", "ldc_ldg", "ldc_lds", "ldc_shfl", "ldc_mufu", "ldg_lds", "ldg_mufu",
    "ldg_shfl",
)  # fmt: skip


def trials(multiprocessors: int) -> Iterator[Trial]:
    yield from _walks(multiprocessors)
    yield from _anywhere(multiprocessors)
    for count in (16, 24, 32, 40, 64, 128, 256, 512):
        rounds = 4096 // count
        for warps in (1, 4, 16):
            name = f"constant operands, {count} lines of 64 bytes, {warps} warps"
            yield Trial(name, f"operands_{count}", 1, 32 * warps, (TICKS, SINK, rounds, 1.5), "ticks", rounds * count)
    for kernel in TURNS:
        for off in (0, 1):
            for warps in (1, 4, 16, 32):
                args: Arguments = (TICKS, Buffer(65536, "zeros"), SINK, 16, 4 * off, 0)
                name = f"turns {kernel.replace('_', ' and ')}, {4 * off} bytes off, {warps} warps"
                yield Trial(name, f"turns_{kernel}", 1, 32 * warps, args, "ticks", 16 * 16)


def _walks(multiprocessors: int) -> Iterator[Trial]:
    for words in (128, 256, 512, KIB * 4, KIB * 8, KIB * 16, KIB * 32, KIB * 64):
        for step in (16, 64):
            for warps in (1, 16):
                args: Arguments = (TICKS, SINK, 256, 1, step, words - 1)
                name = f"constant walk, {4 * words} bytes by {4 * step}, {warps} warps"
                yield Trial(name, "constant_walk", 1, 32 * warps, args, "ticks", 256)
    for step in (4, 8, 16, 32, 64):
        args = (TICKS, SINK, 64, 0, step, KIB * 64 - 1)
        yield Trial(f"constant walk, cold, by {4 * step} bytes", "constant_walk", 1, 32, args, "ticks", 64)
    for words in (512, KIB * 4, KIB * 8, KIB * 16, KIB * 32, KIB * 64):
        args = (TICKS, SINK, 256, 1, 16, words - 1)
        name = f"constant walk, {4 * words} bytes by 64, all multiprocessors"
        yield Trial(name, "constant_walk", multiprocessors, 128, args, "ticks", 256)


def _anywhere(multiprocessors: int) -> Iterator[Trial]:
    for kernel in ("constant_chain", "constant_together"):
        for words in (256, 512, 640, 768, KIB * 4, KIB * 8, KIB * 16, KIB * 64):
            if words & (words - 1):
                continue
            for groups, warps in ((1, 1), (8, 1), (32, 1), (32, 4), (32, 8), (32, 32)):
                args: Arguments = (TICKS, SINK, 16, groups, words - 1)
                name = f"{kernel.replace('_', ' ')}, {groups} of {4 * words} bytes, {warps} warps"
                each = 4 if kernel == "constant_together" else 1
                yield Trial(name, kernel, 1, 32 * warps, args, "ticks", 64 * each)
    for words in (KIB * 4, KIB * 16):
        args = (TICKS, SINK, 16, 32, words - 1)
        name = f"constant chain, 32 of {4 * words} bytes, 8 warps, all multiprocessors"
        yield Trial(name, "constant_chain", multiprocessors, 256, args, "ticks", 64)
