"""The micro-benchmarks: which kernel, launched how, and what is read.  F5.

They calibrate the model of time and nothing validates on them; validation uses other kernels (benchmarks/validation).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

KERNELS = Path(__file__).with_name("kernels.cu")
Kind = Literal["ticks", "time"]
MIB = 1 << 20


@dataclass(frozen=True)
class Buffer:
    """An argument: device memory of so many bytes, filled with what `fill` says ("chain 4": p[i] = (i + 4) % n)."""

    bytes: int
    fill: str = "numbers"


@dataclass(frozen=True)
class Trial:
    """One launch.

    reads   "ticks": clock cycles that warps wrote into the first argument; "time": of the whole kernel
    per     the number of things that the ticks are of, for a warp
    warm    the same launch ran right before it; else L2 has been swept
    """

    name: str
    kernel: str
    grid: int
    block: int
    args: tuple[Buffer | int | float, ...] = ()
    reads: Kind = "time"
    per: int = 1
    shared: int = 0
    warm: bool = False


Arguments = tuple[Buffer | int | float, ...]
TICKS = Buffer(1 << 16, "zeros")
SINK = Buffer(4096, "zeros")


def trials(multiprocessors: int) -> Iterator[Trial]:
    yield from _pipes()
    yield from _latencies()
    yield from _shared()
    yield from _launches(multiprocessors)
    yield from _streams(multiprocessors)
    yield from _one_multiprocessor(multiprocessors)
    yield from _atomics(multiprocessors)


def _pipes() -> Iterator[Trial]:
    for name in ("fma", "imad", "lop", "half", "double", "mufu", "convert", "popc", "shuffle", "vote"):
        for warps in (1, 4, 8, 16, 32):
            args = (TICKS, SINK, 64)
            yield Trial(f"pipe {name}, {warps} warps", f"pipe_{name}", 1, 32 * warps, args, "ticks", 64 * 64)
    for name in ("mufu", "shuffle"):
        yield Trial(f"chain {name}", f"chain_{name}", 1, 32, (TICKS, SINK, 32), "ticks", 32 * 32)
    for warps in (1, 4, 16):
        yield Trial(f"branch, {warps} warps", "loop_branch", 1, 32 * warps, (TICKS, SINK, 16), "ticks", 16 * 64)
    for warps in (1, 2, 4, 8, 16, 32):
        yield Trial(f"barrier, {warps} warps", "loop_barrier", 1, 32 * warps, (TICKS, SINK, 64), "ticks", 64 * 16)
    for name, count in (("code_long", 800), ("code_longer", 4000)):
        yield Trial(f"cold code, {count}", name, 1, 32, (TICKS, SINK, 2.0), "ticks", count)
        yield Trial(f"warm code, {count}", name, 1, 32, (TICKS, SINK, 2.0), "ticks", count, warm=True)


def _latencies() -> Iterator[Trial]:
    for kib, stride in ((16, 128), (128, 128), (1024, 128), (8192, 128), (24576, 128), (49152, 256)):
        buffer = Buffer(kib << 10, f"chain {stride // 4}")
        rounds = min(max((kib << 10) // stride // 16, 8), 2048)
        args = (TICKS, buffer, SINK, rounds, 0)
        yield Trial(f"chase {kib} KiB", "chase_warm", 1, 1, args, "ticks", 16 * rounds, warm=True)
    for mib, stride in ((64, 4096), (512, 65536 + 256), (1024, (2 << 20) + 256)):
        buffer = Buffer(mib * MIB, f"chain {stride // 4}")
        yield Trial(f"chase {mib} MiB cold, step {stride}", "chase", 1, 1, (TICKS, buffer, SINK, 16, 0), "ticks", 256)
    yield Trial("chase shared", "chase_shared", 1, 32, (TICKS, SINK, 64, 32), "ticks", 64 * 16)
    yield Trial("chase shared atomic", "chase_shared_atomic", 1, 32, (TICKS, SINK, 64), "ticks", 64 * 16)
    yield Trial("chase atomic", "chase_atomic", 1, 1, (TICKS, Buffer(4096, "zeros"), SINK, 16), "ticks", 256, warm=True)


def _shared() -> Iterator[Trial]:
    for warps in (1, 4, 8, 32):
        for step in (1, 2, 8, 32) if warps == 32 else (1,):
            for width in (4, 8, 16) if step < 8 else (4,):
                yield Trial(
                    f"shared load {width} B, step {step}, {warps} warps", f"shared_{width}", 1, 32 * warps,
                    (TICKS, SINK, 64, step), "ticks", 64 * 16, 32768,
                )  # fmt: skip
            yield Trial(
                f"shared store, step {step}, {warps} warps", "shared_store", 1, 32 * warps, (TICKS, SINK, 64, step),
                "ticks", 64 * 16, 32768,
            )  # fmt: skip
    for step in (0, 1, 2):
        yield Trial(
            f"shared add, step {step}", "shared_add", 1, 256, (TICKS, SINK, 16, step), "ticks", 16 * 16, 32768
        )


def _launches(multiprocessors: int) -> Iterator[Trial]:
    for a_multiprocessor in (0, 1, 8, 64, 512):
        for block in (32, 256, 1024):
            grid = max(multiprocessors * a_multiprocessor, 1)
            yield Trial(f"empty, {grid} blocks of {block}", "empty", grid, block)
    for cycles in (2_000, 20_000, 200_000):
        yield Trial(f"spin {cycles}", "spin", 1, 32, (TICKS, cycles), "time")


def _streams(multiprocessors: int) -> Iterator[Trial]:
    big = 256 * MIB
    words = big // 4
    for name in ("1_1", "1_2", "1_4", "1_8", "2_1", "2_4", "4_1", "4_2", "4_4"):
        for blocks in (1, 2, 4, 8):
            grid = multiprocessors * blocks
            yield Trial(f"read {name}, {blocks} x 256", f"read_{name}", grid, 256, (Buffer(big), SINK, words))
    for name in ("1_1", "1_4", "4_1", "4_4"):
        for blocks in (2, 8):
            grid = multiprocessors * blocks
            args = (Buffer(big), Buffer(big, "zeros"), words)
            yield Trial(f"copy {name}, {blocks} x 256", f"copy_{name}", grid, 256, args)
    for width in (1, 4):
        yield Trial(f"write {width}", f"write_{width}", multiprocessors * 8, 256, (Buffer(big, "zeros"), words))
    for stride in (2, 4, 8, 16, 32):
        yield Trial(
            f"read strided {stride}", "read_strided", multiprocessors * 8, 256, (Buffer(big), SINK, words, stride)
        )
    for mib in (1, 4, 16, 64, 256):
        n = mib * MIB // 4
        for block in (128, 256, 1024):
            yield Trial(f"once read {mib} MiB, {block}", "once_read", n // block, block, (Buffer(4 * n), SINK, n))
        yield Trial(f"once write {mib} MiB", "once_write", n // 256, 256, (Buffer(4 * n, "zeros"), n))
        yield Trial(
            f"once scale {mib} MiB", "once_scale", n // 1024, 256, (Buffer(4 * n), Buffer(4 * n, "zeros"), n // 4)
        )
    for mib in (4, 16, 32, 48):
        n = mib * MIB // 4
        grid = multiprocessors * 8
        yield Trial(f"read 4_4 warm {mib} MiB", "read_4_4", grid, 256, (Buffer(4 * n), SINK, n), warm=True)
        yield Trial(f"read 1_4 warm {mib} MiB", "read_1_4", grid, 256, (Buffer(4 * n), SINK, n), warm=True)


def _one_multiprocessor(multiprocessors: int) -> Iterator[Trial]:
    """L1 and the way to L2, of one multiprocessor alone and of all."""
    for grid in (1, multiprocessors):
        for name, size in (("again", 4), ("again_4", 16)):
            for threads in (128, 512, 1024):
                span = 65536 // size
                args: Arguments = (Buffer(MIB), SINK, span, 0, 64)
                yield Trial(f"{name} L1, {grid} x {threads}", name, grid, threads, args)
            span = 2 * MIB // size
            args = (Buffer(2 * MIB), SINK, span, 0, 8)
            yield Trial(f"{name} L2, {grid} x 1024", name, grid, 1024, args, warm=True)
    for blocks in (1, 2, 4, 8):
        for name in ("1_1", "1_4", "4_1", "4_4"):
            n = 4 * MIB // 4
            args = (Buffer(4 * n), SINK, n)
            what = f"one multiprocessor reads {name}, {blocks} warps"  # a sub-partition
            yield Trial(what, f"read_{name}", 1, 128 * blocks, args, warm=True)


def _atomics(multiprocessors: int) -> Iterator[Trial]:
    places = ((0, 0, "one word"), (1, 0, "one line"), (0, 32, "a word a warp"), (1, 32, "a line a warp"))
    for grid in (1, multiprocessors):
        for step, apart, what in places:
            args = (Buffer(4 * MIB, "zeros"), step, apart, 16)
            yield Trial(f"global add {what}, {grid} blocks", "global_add", grid, 256, args, warm=True)
