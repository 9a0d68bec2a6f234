"""Synchronisation: blocks and warps that wait for each other."""

from __future__ import annotations

from collections.abc import Iterator

from warplens.calibration.trial import TICKS, Buffer, Trial


def trials(multiprocessors: int) -> Iterator[Trial]:
    ticket = Buffer(4, "cleared")
    for a_multiprocessor in (1, 4, 8, 32):
        grid = a_multiprocessor * multiprocessors
        words, longs = Buffer(4 * grid, "cleared"), Buffer(8 * grid, "cleared")
        for block, work in ((32, 0), (256, 0), (256, 500)):
            label = f"{grid} blocks of {block}, {work} steps"
            yield Trial(f"chain of blocks, {label}", "chain_of_blocks", grid, block, (words, work))
            yield Trial(f"chain with tickets, {label}", "chain_with_tickets", grid, block, (ticket, words, work))
            yield Trial(f"look back, {label}", "look_back", grid, block, (ticket, longs, work))
    for grid in (1, 8, multiprocessors, 2 * multiprocessors):
        for rounds in (1, 8):
            yield Trial(f"meeting of {grid}, {rounds} rounds", "meeting", grid, 128, (ticket, rounds))
        args = (ticket, Buffer(4, "cleared"), 4)
        yield Trial(f"lock taken by {grid}, 4 rounds", "lock", grid, 32, args)
    for warps in (2, 8):
        for work in (0, 1000):
            name = f"flag of the block, {warps} warps, {work} steps"
            yield Trial(name, "wait_in_block", 1, 32 * warps, (TICKS, work), "ticks")
