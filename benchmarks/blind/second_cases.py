"""Launches of the second blind list: other kernels, configurations and sizes than those of cases.py."""

from __future__ import annotations

from typing import Any

import second_own as own
import torch
import triton
import triton.language as tl
from cases import BRAIN, HALF, SINGLE, TINY, Case, attention, blocked, matmul, noise

TUTORIAL = "t03_matrix_multiplication"


def empty(*shape: int, kind: torch.dtype = HALF) -> torch.Tensor:
    return torch.zeros(*shape, dtype=kind)


def numbers(high: int, count: int) -> torch.Tensor:
    return torch.randint(0, high, (count,), dtype=torch.int32)


def persistent(name: str, rows: int, columns: int, depth: int, *flags: bool) -> Any:
    straight = name in ("matmul", "matmul_persistent")
    return lambda module: getattr(module, name)(
        noise(rows, depth), noise(*((depth, columns) if straight else (columns, depth))), *flags
    )


def grouped(name: str, sizes: tuple[tuple[int, int, int], ...]) -> Any:
    def start(module: Any) -> object:
        left = [noise(m, k) for m, _, k in sizes]
        right = [noise(k, n) for _, n, k in sizes]
        return getattr(module, name)(left, right)

    return start


def product(rows: int, columns: int, depth: int, kind: torch.dtype, tile: tuple[int, int, int], **options: int) -> Any:
    integers = kind == torch.int8

    def start(_: Any) -> object:
        a, b = (torch.randint(-9, 9, (n, depth), dtype=kind) if integers else noise(n, depth, kind=kind)
                for n in (rows, columns))  # fmt: skip
        c = empty(rows, columns, kind=torch.int32 if integers else SINGLE)
        grid = (rows // tile[0], columns // tile[1])
        return own.transposed_product[grid](
            a, b, c, rows, columns, depth, *tile, tl.int32 if integers else tl.float32, **options
        )

    return start


def split(_: Any) -> object:
    a, b, c = noise(512, 4096), noise(4096, 512), empty(512, 512, kind=SINGLE)
    return own.split_product[(4, 4, 8)](a, b, c, 512, 512, 4096, 128, 128, 64, 8, num_warps=8)


def weight_only(_: Any) -> object:
    a, q = noise(256, 2048), torch.randint(-99, 99, (2048, 2048), dtype=torch.int8)
    scales, c = noise(2048, kind=SINGLE), empty(256, 2048)
    return own.weight_only_product[(2, 32)](a, q, scales, c, 256, 2048, 2048, 128, 64, 64, num_stages=3)


def two(warps: int) -> Any:
    def start(_: Any) -> object:
        a, b, d, c = noise(8192, 64), noise(64, 1024), noise(1024, 64), empty(8192, 64)
        return own.two_products[(64,)](a, b, d, c, 8192, 64, 1024, 128, 64, 64, num_warps=warps)

    return start


def decode(_: Any) -> object:
    heads, length, depth = 64, 4096, 128
    parts = empty(heads, 8, depth, kind=SINGLE)
    return own.decode[(heads, 8)](
        noise(heads, depth), noise(heads, length, depth), noise(heads, length, depth), parts, length, depth, 32, 16
    )


def row_wise(kernel: str, rows: int, columns: int) -> Any:
    def start(_: Any) -> object:
        x, w, y = noise(rows, columns, kind=BRAIN), noise(columns, kind=BRAIN), empty(rows, columns, kind=BRAIN)
        block = triton.next_power_of_2(columns)
        return getattr(own, kernel)[(rows,)](x, w, y, columns, 1e-6, block, num_warps=min(max(block // 512, 1), 16))

    return start


def entropy(_: Any) -> object:
    return own.cross_entropy[(1024,)](
        noise(1024, 32000, kind=BRAIN), numbers(32000, 1024), empty(1024, kind=SINGLE), 32000, 4096, num_warps=8
    )


def simple(kernel: str, grid: tuple[int, ...], *make: Any, **options: int) -> Any:
    """The launch of a kernel of ours; arrays are made when it starts."""
    return lambda _: getattr(own, kernel)[grid](*(one() if callable(one) else one for one in make), **options)


def floats(*shape: int, kind: torch.dtype = SINGLE) -> Any:
    return lambda: noise(*shape, kind=kind)


def zeros(*shape: int, kind: torch.dtype = SINGLE) -> Any:
    return lambda: empty(*shape, kind=kind)


def copied(module: Any) -> object:
    return module.memcpy_2d_inout(noise(2048, 2048, kind=SINGLE), empty(2048, 2048, kind=SINGLE))


CASES = (
    *(Case(f"matmul/{m}x{n}x{k} config {c}", TUTORIAL, c, matmul(m, n, k)) for m, n, k, c in (
        (1536, 1536, 768, 0), (1536, 1536, 768, 1), (1536, 1536, 768, 3), (1536, 1536, 768, 4), (1536, 1536, 768, 5),
        (256, 4096, 2048, 1), (256, 4096, 2048, 6), (768, 768, 3072, 4))),
    *(Case(f"matmul fp8/1536^2x2048 config {c}", TUTORIAL, c, matmul(1536, 1536, 2048, TINY)) for c in (9, 11, 13)),
    *(Case(f"persistent/{name} {m}x{n}x{k} config {c}", "t09_persistent_matmul", c, persistent(name, m, n, k, *flags))
      for name, m, n, k, c, *flags in (
        ("matmul", 2048, 2048, 1024, 5), ("matmul_persistent", 2048, 3072, 1024, 3),
        ("matmul_tma", 2048, 2048, 1024, 9, False), ("matmul_tma_persistent", 2048, 3072, 1024, 1, False),
        ("matmul_tma_persistent", 3072, 2048, 512, 6, False),
        ("matmul_descriptor_persistent", 2048, 3072, 1024, 3, False))),
    *(Case(f"attention/{length}x{depth}{' causal' * causal} config {c}", "t06_fused_attention", c,
           attention(length, depth, causal)) for length, depth, causal, c in (
        (2048, 64, False, 1), (2048, 64, True, 5), (1024, 128, False, 2), (1024, 128, True, 6), (512, 128, False, 8))),
    Case("grouped/512 and 1024", "t08_grouped_gemm", 0,
         grouped("group_gemm_fn", ((512, 512, 1024), (1024, 512, 512), (256, 1024, 1024)))),
    Case("gluon/wgmma 512", "t05_wgmma", 0, blocked("blocked_matmul", 1024, 512, 64, 128, 64, False, 4)),
    Case("gluon/wgmma pipelined 256", "t05_wgmma", 0,
         blocked("blocked_matmul_pipelined", 2048, 512, 128, 256, 64, 8)),
    Case("gluon/persistent 1024", "t07_persistence", 0, blocked("persistent_matmul", 2048, 1024, 128, 256, 64, 3, 8)),
    Case("product/int8", "", 0, product(1024, 1024, 2048, torch.int8, (128, 128, 64), num_warps=8)),
    Case("product/tf32 K-major", "", 0, product(1024, 1024, 1024, SINGLE, (64, 128, 32), num_stages=4)),
    Case("product/fp8", "", 0, product(2048, 1024, 2048, torch.float8_e4m3fn, (128, 128, 128), num_stages=3)),
    Case("product/bf16 small tiles", "", 0, product(1024, 1024, 1024, BRAIN, (64, 32, 64), num_stages=5)),
    Case("product/split", "", 0, split),
    Case("product/weights of 8 bits", "", 0, weight_only),
    Case("two products/4 warps", "", 0, two(4)),
    Case("two products/8 warps", "", 0, two(8)),
    Case("decode", "", 0, decode),
    Case("rows/rms norm 4096x2048", "", 0, row_wise("rms_norm", 4096, 2048)),
    Case("rows/rms norm 1000x5120", "", 0, row_wise("rms_norm", 1000, 5120)),
    Case("rows/cross entropy", "", 0, entropy),
    Case("rows/rotary", "", 0, simple("rotary", (2048, 16), floats(2048, 16, 128, kind=HALF), floats(2048, 64),
                                      floats(2048, 64), zeros(2048, 16, 128, kind=HALF), 16, 64, num_warps=1)),
    Case("rows/swiglu", "", 0, simple("swiglu", (2048, 4), floats(2048, 8192, kind=BRAIN),
                                      zeros(2048, 4096, kind=BRAIN), 4096, 1024)),
    Case("rows/products", "", 0, simple("row_products", (256,), floats(2048, 4096, kind=HALF), floats(4096),
                                        zeros(2048), 4096, 8, 512)),
    Case("columns/sums", "", 0, simple("column_sums", (128,), floats(2048, 4096), zeros(4096), 2048, 4096, 32, 32)),
    Case("columns/convolution", "", 0, simple("convolved", (64, 32), floats(4096, 2048, kind=HALF), floats(4, 2048),
                                              zeros(4096, 2048, kind=HALF), 4096, 2048, 4, 64, 64)),
    Case("words/gathered", "", 0, simple("gathered", (8192,), floats(32768, 512), lambda: numbers(32768, 8192),
                                         zeros(8192, 512), 512)),
    Case("words/scattered", "", 0, simple("scattered", (8192,), floats(8192, 256), lambda: numbers(4096, 8192),
                                          zeros(4096, 256), 256)),
    Case("words/counted", "", 0, simple("counted", (1024,), lambda: numbers(256, 1 << 21), zeros(256, kind=torch.int32),
                                        2048, 256)),
    Case("words/adam", "", 0, simple("adam", (2048,), *(floats(1 << 21) for _ in range(3)), zeros(1 << 21), 1 << 21,
                                     0.001, 1024)),
)  # fmt: skip
