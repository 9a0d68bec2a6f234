"""Store path to L2: by lines and sectors, whole or partial, and repeated stores to the same."""

from __future__ import annotations

from collections.abc import Iterator

from warplens.calibration.trial import SINK, TICKS, Buffer, Trial

SPAN = 16384  # bytes that a warp stores to again and again
ROUNDS, ROUND = 32, 16
WORDS = 64  # of a row
ROWS = ["row_of_2", "row_of_4", "row_of_8", "turns_of_2", "turns_of_4", "turns_of_8", "loads_in_2", "loads_in_8"]


def trials(multiprocessors: int) -> Iterator[Trial]:
    for lines in (1, 2, 4, 8, 16, 32):
        for sectors in (1, 2, 4):
            for kernel, lanes in (("stored_words", 32), ("stored_fours", 16)):
                if lines * sectors <= lanes:
                    for many in (1, multiprocessors):
                        label = f"lines of a store, {kernel} to {lines} of {sectors}, {many} multiprocessors"
                        yield _trial(label, kernel, lines, sectors, 8, many)
    for lines in (4, 8, 16, 32):
        label = f"lines of a store, stored_bytes to {lines} of 1, {multiprocessors} multiprocessors"
        yield _trial(label, "stored_bytes", lines, 1, 8, multiprocessors)
    for kernel in ROWS:
        for lines, sectors in ((1, 1), (4, 4), (8, 1), (32, 1)):
            for warps in (1, 8):
                label = f"stores in a row, {kernel} to {lines} of {sectors}, {warps} warps"
                yield _trial(label, kernel, lines, sectors, warps, multiprocessors)
    yield from _gapped(multiprocessors)
    yield from _rows(multiprocessors)


def _gapped(multiprocessors: int) -> Iterator[Trial]:
    for between in ("nothing", "sums", "shared"):
        for lines, sectors in ((4, 4), (8, 1), (8, 4), (16, 2), (32, 1)):
            for warps, rounds in ((1, 64), (4, 64), (64, 16)):
                label = f"stores with {between} between, to {lines} of {sectors}, {warps} warps"
                block = 32 * min(warps, 8)
                grid = warps * multiprocessors * 32 // block
                args = (Buffer(4096 * (grid * block // 32 + 1), "zeros"), SINK, lines, sectors, rounds)
                yield Trial(label, f"gapped_{between}", grid, block, args)


def _rows(multiprocessors: int) -> Iterator[Trial]:
    for other in ("nothing", "row", "row_past"):
        for warps in (4, 8, 16, 32):
            block = 32 * min(warps, 8)
            grid = warps * multiprocessors * 32 // block
            size = 4 * WORDS * grid * block
            args = (Buffer(size, "zeros"), Buffer(size), WORDS)
            yield Trial(f"rows stored and {other} loaded, {warps} warps", f"row_and_{other}", grid, block, args)


def _trial(label: str, kernel: str, lines: int, sectors: int, warps: int, many: int) -> Trial:
    args = (TICKS, Buffer(SPAN * warps * many + 4 * SPAN, "zeros"), SINK, lines, sectors, ROUNDS)
    return Trial(label, kernel, many, 32 * warps, args, "ticks", ROUND * ROUNDS * warps, warm=True)
