"""Global memory latency: L1, L2 near and far, DRAM, distant pages, and under load."""

from __future__ import annotations

from collections.abc import Iterator

from warplens.calibration.trial import MIB, SINK, TICKS, Arguments, Buffer, Trial


def trials(multiprocessors: int) -> Iterator[Trial]:
    yield from _by_index()
    yield from _by_address()
    for step_mib, gib in ((2, 1), (2, 4), (2, 16), (2, 48), (32, 48)):
        buffer, step, words = Buffer(gib << 30, "zeros"), (step_mib * MIB + 512) // 4, (gib << 30) // 4
        args: Arguments = (TICKS, buffer, SINK, 16384, step, words)
        yield Trial(f"pages, {gib} GiB every {step_mib} MiB", "chase_pages", 1, 1, args, "ticks", 16384, warm=True)
    for block in (0, 1, multiprocessors // 2):
        for rounds, state in ((2, "in L2"), (1, "in DRAM")):
            args = (TICKS, Buffer(8 * MIB, "zeros"), SINK, 2048, 3968, block, rounds)
            yield Trial(f"lines {state}, from block {block}", "lines", multiprocessors, 32, args, "each", count=2048)
    yield from _loaded(multiprocessors)


def _by_index() -> Iterator[Trial]:
    for kib, stride in ((16, 128), (128, 128), (1024, 128), (8192, 128), (24576, 128), (49152, 256)):
        buffer = Buffer(kib << 10, f"chain {stride // 4}")
        rounds = min(max((kib << 10) // stride // 16, 8), 2048)
        args = (TICKS, buffer, SINK, rounds, 0)
        yield Trial(f"chase {kib} KiB", "chase_warm", 1, 1, args, "ticks", 16 * rounds, warm=True)
    for mib, stride in ((64, 4096), (512, 65536 + 256), (1024, (2 << 20) + 256)):
        buffer = Buffer(mib * MIB, f"chain {stride // 4}")
        args = (TICKS, buffer, SINK, 16, 0)
        yield Trial(f"chase {mib} MiB cold, step {stride}", "chase", 1, 1, args, "ticks", 256)


def _by_address() -> Iterator[Trial]:
    """With footprints around the size of each cache; the steps spread over lines and pages."""
    for kernel, what, sizes in (
        ("pointers", "through L1", (16, 64, 128, 192, 224, 256, 512)),
        ("pointers_l2", "past L1", (16, 256, 1024, 4096, 16384, 24576, 32768, 40960, 49152, 57344, 65536, 131072)),
    ):
        for kib in sizes:
            elements = (kib << 10) // 8
            step = 16 if kernel == "pointers" else elements // 4096 // 16 * 16 + 16  # words of 8 bytes; whole lines
            rounds = min(elements // step // 16 + 1, 512)
            args = (TICKS, Buffer(kib << 10, f"pointers {step}"), SINK, rounds)
            yield Trial(f"pointers {what}, {kib} KiB", kernel, 1, 1, args, "ticks", 16 * rounds, warm=True)


def _loaded(multiprocessors: int) -> Iterator[Trial]:
    """The latency of one warp while the other multiprocessors read a GiB; the same launch gives its bandwidth."""
    chain, streamed = Buffer(1024 * MIB, f"pointers {(2 * MIB + 4096) // 8}"), Buffer(1024 * MIB)
    for ahead, a_multiprocessor, block in (
        (1, 1, 32), (1, 1, 64), (1, 1, 128), (1, 1, 256), (1, 1, 512), (1, 2, 512), (1, 4, 512), (4, 2, 512),
        (4, 4, 512),
    ):  # fmt: skip
        grid = 1 + multiprocessors * a_multiprocessor
        args = (TICKS, chain, SINK, 12, streamed, 1024 * MIB // 16, ahead)
        label = f"{a_multiprocessor} x {block} threads with {ahead} x 16 B"
        yield Trial(f"loaded latency, {label}", "loaded", grid, block, args, "ticks", 12 * 16)
        yield Trial(f"loaded bandwidth, {label}", "loaded", grid, block, args, moves=1024 * MIB)
