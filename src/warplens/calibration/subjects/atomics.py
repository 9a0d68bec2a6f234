"""Atomics on global memory: latency, one word, distinct words."""

from __future__ import annotations

from collections.abc import Iterator

from warplens.calibration.trial import MIB, SINK, TICKS, Buffer, Trial

PATTERNS = (
    (0, 0, "one word"), (1, 0, "one line"), (0, 32, "a word a warp"), (1, 32, "a line a warp"),
    (8, 256, "32 sectors a warp"),
)  # fmt: skip
ROUNDS = 16


def trials(multiprocessors: int) -> Iterator[Trial]:
    zeros = Buffer(16 * MIB, "zeros")
    yield Trial("chase atomic", "chase_atomic", 1, 1, (TICKS, Buffer(MIB, "zeros"), SINK, 16), "ticks", 256, warm=True)
    for grid in (1, 4, multiprocessors, 4 * multiprocessors):
        for step, apart, what in PATTERNS:
            name, args = f"{what}, {grid} blocks", (zeros, step, apart, ROUNDS)
            yield Trial(f"global add {name}", "global_add", grid, 256, args, warm=True)
            if grid >= multiprocessors:
                yield Trial(f"global add float {name}", "global_add_float", grid, 256, args, warm=True)
                exchange = (zeros, SINK, step, apart, ROUNDS)
                yield Trial(f"global exchange {name}", "global_exchange", grid, 256, exchange, warm=True)
        label = f"global add float once a warp, {grid} blocks"
        yield Trial(label, "global_add_once", grid, 256, (zeros, ROUNDS), warm=True)
