"""Partial sectors and lines: cost of filling or reading them in parts."""

from __future__ import annotations

from collections.abc import Iterator

from warplens.calibration.trial import MIB, SINK, Arguments, Buffer, Trial

BLOCK = 256


def trials(multiprocessors: int) -> Iterator[Trial]:
    grid = multiprocessors * 8
    for mib in (16, 256):
        size, n = mib * MIB, mib * MIB // 4
        for run, apart in ((1, 8), (1, 32), (1, 1024), (1, 4096), (1, 4128), (8, 8), (8, 1024), (8, 4096)):
            label = f"runs of {run} every {apart}, {mib} MiB"
            args: Arguments = (Buffer(size, "zeros"), n, run, apart)
            yield Trial(f"write {label}", "write_runs", grid, BLOCK, args, moves=size)
        for run, apart in ((1, 32), (8, 8), (16, 16), (32, 32), (8, 1024), (16, 4096)):
            label = f"runs of {run} every {apart}, {mib} MiB"
            args = (Buffer(size), SINK, n, run, apart)
            yield Trial(f"read {label}", "read_runs", grid, BLOCK, args, moves=size)
        for apart in (1, 2, 4, 8, 16):
            args = (Buffer(size), n, apart)
            yield Trial(f"update every {apart}, {mib} MiB", "update_parts", n // apart // BLOCK, BLOCK, args)
        for row in (64, 256, 1024, 4096):
            args = (Buffer(size), Buffer(128 * (n // row), "zeros"), row)
            yield Trial(f"sum rows of {row}, {mib} MiB", "sum_rows", n // row, 32, args, moves=size)
    for few in (1, 8, 33, 66, multiprocessors):
        label, size = f"runs of 1 every 1024, 4 MiB of {few}", 4 * MIB
        args = (Buffer(size, "zeros"), MIB, 1, 1024)
        yield Trial(f"write {label}", "write_runs", few, 1024, args, moves=size)
        args = (Buffer(size), SINK, MIB, 1, 1024)
        yield Trial(f"read {label}", "read_runs", few, 1024, args, moves=size, warm=True)
    for threads in (2048, 8192, 32768, 131072):
        rows = 16 * MIB // threads
        args = (Buffer(64 * MIB), Buffer(4 * threads, "zeros"), min(rows, 1024), threads)
        yield Trial(f"columns, {threads} of {min(rows, 1024)}", "columns", threads // BLOCK, BLOCK, args)
