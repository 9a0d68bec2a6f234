"""Blocks that read on where their neighbours do, beside lines that nobody else reads and lines that L2 holds."""

from __future__ import annotations

from pathlib import Path

from gpu import Gpu

READS = ("next_us", "never_us", "ever_us", "late")
SOURCE = (Path(__file__).parents[2] / "tests" / "kernels" / "seams.cu").read_text(encoding="utf-8")
HELD = 4 << 20  # bytes of lines that L2 holds


def read(gpu: Gpu, row: dict[str, str]) -> dict[str, float]:
    blocks, threads, steps, delta = (int(row[key]) for key in ("blocks", "threads", "steps", "delta"))
    region = 32 * steps
    pool = blocks * threads // 32 * region
    x = gpu.zeros(4 * 2 * pool + HELD)
    following, never, ever = (
        gpu.times("seam", blocks, threads, x, gpu.sink, steps, delta, what, region, pool, runs=3,
                  read_before=x[2 * pool :])[1]
        for what in range(3)
    )  # fmt: skip
    late = (following - ever) / (never - ever) if never != ever else 0.0
    return {"next_us": following, "never_us": never, "ever_us": ever, "late": late}
