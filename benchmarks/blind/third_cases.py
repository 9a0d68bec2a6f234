"""Launches of the third blind list: attention, grouped products, stream-K, scaled products, and what inductor writes.

CuTe's kernels of this list are programs: third_cute.cu.
"""

from __future__ import annotations

from typing import Any

import third_own as own
import torch
from cases import BRAIN, SINGLE, Case, attention, noise
from inductor_cases import column_means, entropy, gated, inductor, pooled, residual_norm
from second_cases import empty

SMS = 132
E4M3 = torch.float8_e4m3fn


def bytes_of(*shape: int) -> torch.Tensor:
    return torch.randint(-9, 9, shape, dtype=torch.int8)


def grouped(experts: int, columns: int, depth: int, sizes: tuple[int, ...], rows: int = 64) -> Any:
    """`sizes`: rows of each expert; each is padded to whole tiles."""

    def start(_: Any) -> object:
        tiles = [-(-size // rows) for size in sizes]
        of_tile = [expert for expert, count in enumerate(tiles) for _ in range(count)]
        starts = [sum(tiles[:expert]) * rows for expert in range(experts)]
        ends = torch.tensor([start + size for start, size in zip(starts, sizes, strict=True)], dtype=torch.int32)
        a, b = noise(sum(tiles) * rows, depth, kind=BRAIN), noise(experts, columns, depth, kind=BRAIN)
        c = empty(sum(tiles) * rows, columns, kind=BRAIN)
        return own.grouped_product[(sum(tiles), columns // 128)](
            a, b, c, ends, torch.tensor(of_tile, dtype=torch.int32), columns, depth, rows, 128, 64, num_stages=4
        )

    return start


def streamed(rows: int, columns: int, depth: int, stages: int) -> Any:
    def start(_: Any) -> object:
        a, b, c = noise(rows, depth), noise(columns, depth), empty(rows, columns, kind=SINGLE)
        tiles, rounds = (rows // 128) * (columns // 128), depth // 64
        return own.stream_k[(SMS,)](
            a, b, c, columns, depth, columns // 128, rounds, tiles * rounds // SMS, 128, 128, 64, num_warps=8,
            num_stages=stages,
        )  # fmt: skip

    return start


def scaled(rows: int, columns: int, depth: int, tile: tuple[int, int, int], **options: int) -> Any:
    def start(_: Any) -> object:
        c = empty(rows, columns)
        return own.scaled_product[(rows // tile[0], columns // tile[1])](
            bytes_of(rows, depth), bytes_of(columns, depth), noise(rows, kind=SINGLE), noise(columns, kind=SINGLE), c,
            columns, depth, *tile, **options,
        )  # fmt: skip

    return start


def block_scaled(rows: int, columns: int, depth: int, tile: tuple[int, int], **options: int) -> Any:
    def start(_: Any) -> object:
        blocks = depth // 128
        return own.block_scaled_product[(rows // tile[0], columns // tile[1])](
            noise(rows, depth, kind=E4M3), noise(columns, depth, kind=E4M3), noise(rows, blocks, kind=SINGLE),
            noise(columns // 128, blocks, kind=SINGLE), empty(rows, columns, kind=BRAIN), columns, depth, *tile,
            **options,
        )  # fmt: skip

    return start


def windowed(length: int, window: int, depth: int, tile: tuple[int, int], **options: int) -> Any:
    def start(_: Any) -> object:
        q, k, v = noise(16, length, depth), noise(8, length, depth), noise(8, length, depth)
        return own.windowed_attention[(length // tile[0], 16)](
            q, k, v, empty(16, length, depth), length, 0.1, window, depth, *tile, **options
        )

    return start


def linear(heads: int, length: int, depth: int, chunk: int, **options: int) -> Any:
    def start(_: Any) -> object:
        q, k, v, out = (noise(heads, length, depth) for _ in range(4))
        return own.linear_attention[(heads,)](q, k, v, out, length, depth, chunk, **options)

    return start


CASES = (
    *(Case(f"attention/{length}x{depth}{' causal' * causal} config {c}", "t06_fused_attention", c,
           attention(length, depth, causal)) for length, depth, causal, c in (
        (1536, 64, False, 2), (1536, 64, True, 2), (1024, 64, False, 3), (2048, 128, True, 0), (1536, 128, False, 1),
        (768, 128, True, 3))),
    Case("attention/window 512", "", 0, windowed(2048, 512, 64, (128, 64), num_warps=8, num_stages=3)),
    Case("attention/window 256", "", 0, windowed(2048, 256, 128, (64, 64), num_stages=2)),
    Case("linear attention/64", "", 0, linear(96, 1024, 64, 64, num_stages=2)),
    Case("grouped/8 experts", "", 0, grouped(8, 1024, 512, (200, 64, 31, 300, 128, 90, 5, 250))),
    Case("grouped/16 experts", "", 0, grouped(16, 512, 1024, (17, 64, 31, 100, 128, 90, 5, 25) * 2)),
    Case("scaled/stream-K 3 stages", "", 0, streamed(768, 1408, 2048, 3)),
    Case("scaled/stream-K 4 stages", "", 0, streamed(1408, 384, 4096, 4)),
    Case("scaled/int8 128x128", "", 0, scaled(1024, 2048, 2048, (128, 128, 128), num_warps=8, num_stages=3)),
    Case("scaled/int8 64x128", "", 0, scaled(512, 1024, 4096, (64, 128, 64), num_stages=4)),
    Case("scaled/fp8 blocks", "", 0, block_scaled(1024, 1024, 2048, (128, 128), num_warps=8, num_stages=3)),
    Case("scaled/fp8 small", "", 0, block_scaled(512, 1536, 1024, (64, 128), num_stages=4)),
    Case("inductor/residual norm", "", 0, inductor(residual_norm, (2048, 3072), (2048, 3072), (3072,), (3072,))),
    Case("inductor/gated", "", 0, inductor(gated, (2048, 8192))),
    Case("inductor/entropy", "", 0, inductor(entropy, (512, 32000))),
    Case("inductor/column means", "", 0, inductor(column_means, (4096, 2048))),
    Case("inductor/pooled", "", 0, inductor(pooled, (16, 64, 112, 112))),
)  # fmt: skip
