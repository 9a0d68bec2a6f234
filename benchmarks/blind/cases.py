"""Launches of the blind list: kernels of Triton's tutorials, which are not part of this repository, at sizes that take
an H100 or H200 5 to 200 microseconds, and kernels of ours (own.py).

Each launch is made on the CPU's tensors with Triton's driver replaced; `config` is the number of the configuration
that an autotuned kernel takes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import own
import torch

HALF, SINGLE, BRAIN, TINY = torch.float16, torch.float32, torch.bfloat16, torch.float8_e5m2


@dataclass(frozen=True)
class Case:
    """name: family, then what differs;  module: of the tutorials, "" for ours;  start: makes the launches."""

    name: str
    module: str
    config: int
    start: Callable[[Any], object]


def noise(*shape: int, kind: torch.dtype = HALF) -> torch.Tensor:
    return (torch.rand(*shape) - 0.5).to(kind)


def matmul(rows: int, columns: int, depth: int, kind: torch.dtype = HALF) -> Callable[[Any], object]:
    def start(module: Any) -> object:
        a, b = noise(rows, depth, kind=kind), noise(columns, depth, kind=kind)
        return module.matmul(a, b.T if kind == TINY else noise(depth, columns))

    return start


def persistent(name: str, *flags: bool) -> Callable[[Any], object]:
    return lambda module: getattr(module, name)(noise(4096, 512), noise(*OPERAND[name]), *flags)


OPERAND = {
    "matmul": (512, 4096), "matmul_persistent": (512, 4096), "matmul_tma": (4096, 512),
    "matmul_tma_persistent": (4096, 512), "matmul_descriptor_persistent": (4096, 512),
}  # fmt: skip


def attention(length: int, depth: int, causal: bool, backward: bool = False) -> Callable[[Any], object]:
    def start(module: Any) -> object:
        q, k, v = (noise(2, 8, length, depth).requires_grad_() for _ in range(3))
        out = module.attention(q, k, v, causal, 0.5, False)
        return out.backward(noise(2, 8, length, depth)) if backward else out

    return start


def layer_norm(rows: int, columns: int) -> Callable[[Any], object]:
    def start(module: Any) -> object:
        x, w, b = (noise(*shape).requires_grad_() for shape in ((rows, columns), (columns,), (columns,)))
        return module.LayerNorm.apply(x, (columns,), w, b, 1e-5).backward(noise(rows, columns))

    return start


def blocked(name: str, size: int, depth: int, *numbers: int) -> Callable[[Any], object]:
    def start(module: Any) -> object:
        a, b, c = noise(size, depth), noise(depth, size), torch.empty(size, size, dtype=HALF)
        more = (module.PersistentTileScheduler,) if "persistent" in name else ()
        return getattr(module, name)(a, b, c, *numbers, *more)

    return start


def added(name: str) -> Callable[[Any], object]:
    return lambda module: getattr(module, name)(
        noise(2048, 2048, kind=SINGLE), noise(2048, 2048, kind=SINGLE), torch.zeros(2048, 2048)
    )


def copied(name: str, count: int, block: int) -> Callable[[Any], object]:
    return lambda module: getattr(module, name)(noise(count, kind=SINGLE), torch.zeros(count), XBLOCK=block)


def product(kind: torch.dtype, precision: str | None, rows: int = 64, columns: int = 64, **options: int) -> Any:
    def start(_: Any) -> object:
        a, b, c = noise(1024, 1024, kind=kind), noise(1024, 1024, kind=kind), torch.zeros(1024, 1024)
        grid = (1024 // rows, 1024 // columns)
        return own.product[grid](a, b, c, 1024, 1024, 1024, rows, columns, 32, precision, **options)

    return start


def extern(module: Any) -> object:
    n = 1 << 22
    return module.asin_kernel[(n // 1024,)](noise(n, kind=SINGLE), torch.zeros(n), n, BLOCK_SIZE=1024)


CASES = (
    *(Case(f"matmul/1024^3 config {n}", "t03_matrix_multiplication", n, matmul(1024, 1024, 1024)) for n in range(8)),
    *(Case(f"matmul/2048^2x1024 config {n}", "t03_matrix_multiplication", n, matmul(2048, 2048, 1024)) for n in (0, 2)),
    Case("matmul/512^2x4096 config 2", "t03_matrix_multiplication", 2, matmul(512, 512, 4096)),
    *(Case(f"matmul fp8/1024^3 config {n}", "t03_matrix_multiplication", n, matmul(1024, 1024, 1024, TINY))
      for n in (8, 12, 14)),
    *(Case(f"persistent/{name}{' specialised' * any(flags)}", "t09_persistent_matmul", 0, persistent(name, *flags))
      for name, *flags in (("matmul",), ("matmul_persistent",), ("matmul_tma", False), ("matmul_tma_persistent", False),
                           ("matmul_tma_persistent", True), ("matmul_descriptor_persistent", False))),
    *(Case(f"attention/{depth}{' causal' * causal} config {n}", "t06_fused_attention", n,
           attention(1024, depth, causal))
      for n in (0, 4) for depth in (64, 128) for causal in (False, True)),
    Case("attention backward/64 causal", "t06_fused_attention", 0, attention(1024, 64, True, True)),
    *(Case(f"layer norm/{rows}x{columns}", "t05_layer_norm", 0, layer_norm(rows, columns))
      for rows, columns in ((4096, 1024), (1024, 8192))),
    *(Case(f"add/{n}", "t01_vector_add", 0, lambda m, n=n: m.add(noise(n, kind=SINGLE), noise(n, kind=SINGLE)))
      for n in (1 << 20, 1 << 24)),
    *(Case(f"softmax/{r}x{c}", "t02_fused_softmax", 0, lambda m, r=r, c=c: m.softmax(noise(r, c, kind=SINGLE)))
      for r, c in ((4096, 781), (1823, 4096))),
    Case("dropout", "t04_low_memory_dropout", 0, lambda m: m.seeded_dropout(noise(1 << 22, kind=SINGLE), 0.5, 123)),
    Case("asin", "t07_extern_functions", 0, extern),
    Case("gluon/cp.async", "t03_async_copy", 0, copied("memcpy_1d_cpasync", 1 << 22, 1024)),
    Case("gluon/add pipelined", "t03_async_copy", 0, added("elementwise_add_pipelined")),
    Case("gluon/copy tma", "t04_tma", 0, copied("memcpy_1d_tma", 1 << 22, 2048)),
    Case("gluon/add tma", "t04_tma", 0, added("elementwise_add_tma")),
    Case("gluon/add specialised", "t08_warp_specialization", 0, added("elementwise_add_warp_specialized")),
    Case("gluon/wgmma", "t05_wgmma", 0, blocked("blocked_matmul", 1024, 1024, 128, 128, 64, False, 4)),
    Case("gluon/wgmma pipelined", "t05_wgmma", 0, blocked("blocked_matmul_pipelined", 1024, 1024, 128, 128, 64, 4)),
    Case("gluon/persistent", "t07_persistence", 0, blocked("persistent_matmul", 2048, 512, 128, 128, 64, 3, 4)),
    Case("gluon/softmax clusters", "t14_multicta", 0, lambda m: m.multicta_softmax_f32(noise(256, 8192, kind=SINGLE))),
    Case("own/scan", "", 0, lambda _: own.row_scan[(4096,)](
        noise(4096, 1024, kind=SINGLE), torch.zeros(4096, 1024), 1024)),
    Case("own/sort", "", 0, lambda _: own.sort_rows[(512,)](
        noise(512, 1024, kind=SINGLE), torch.zeros(512, 1024), 1024)),
    Case("own/argmax", "", 0, lambda _: own.best[(8192,)](
        noise(8192, 512, kind=SINGLE), torch.zeros(8192, dtype=torch.int32), torch.zeros(8192), 512)),
    Case("own/product tf32", "", 0, product(SINGLE, "tf32")),
    Case("own/product bf16", "", 0, product(BRAIN, None)),
    Case("own/product mma", "", 0, product(HALF, None, 32, 32, num_warps=2)),
    Case("own/transpose", "", 0, lambda _: own.turn[(64, 64)](
        noise(4096, 4096, kind=SINGLE), torch.zeros(4096, 4096), 4096, 4096, 64)),
    Case("own/elementwise", "", 0, lambda _: own.elementwise[(4096,)](
        noise(1 << 22), torch.zeros(1 << 22, dtype=HALF), 1 << 22, 1024)),
)  # fmt: skip
