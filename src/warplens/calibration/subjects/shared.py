"""Shared memory: rates by width and by bank conflicts, latencies, atomics."""

from __future__ import annotations

from collections.abc import Iterator

from warplens.calibration.trial import SINK, TICKS, Trial

DYNAMIC = 48 << 10


def trials(multiprocessors: int) -> Iterator[Trial]:
    del multiprocessors
    for kernel, label, least in (
        ("shared_4", "shared load 4 B", 1), ("shared_8", "shared load 8 B", 2), ("shared_16", "shared load 16 B", 4),
        ("shared_store", "shared store", 1), ("shared_store_16", "shared store 16 B", 4),
    ):  # fmt: skip
        for warps in (1, 2, 4, 8, 16, 32):
            yield _rate(f"{label}, step {least}, {warps} warps", kernel, warps, least)
        for step in (2, 4, 8, 16, 32):
            if step > least:
                yield _rate(f"{label}, step {step}, 32 warps", kernel, 32, step)
        if kernel != "shared_store":
            for warps in (1, 2, 4, 5, 8):
                yield _rate(f"{label}, step 32, {warps} warps", kernel, warps, 32)
    for kernel, label in (("shared_add", "shared add"), ("shared_add_float", "shared add float")):
        for step in (0, 1, 2, 4, 8):
            yield _rate(f"{label}, step {step}, 1 warps", kernel, 1, step)
            yield _rate(f"{label}, step {step}, 8 warps", kernel, 8, step)
    for what in ("4", "8", "16", "atomic"):
        name = f"chain shared {what}" + (" B" if what != "atomic" else "")
        yield Trial(name, f"chain_shared_{what}", 1, 32, (TICKS, SINK, 64, 128), "ticks", 64 * 16)
    yield Trial("chase shared", "chase_shared", 1, 32, (TICKS, SINK, 64, 32), "ticks", 64 * 16)
    yield Trial("chase shared atomic", "chase_shared_atomic", 1, 32, (TICKS, SINK, 64), "ticks", 64 * 16)


def _rate(name: str, kernel: str, warps: int, step: int) -> Trial:
    return Trial(name, kernel, 1, 32 * warps, (TICKS, SINK, 64, step), "ticks", 64 * 16, DYNAMIC)
