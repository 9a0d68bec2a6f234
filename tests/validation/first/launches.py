"""The launches on which predicted times are compared with measured ones.

None of these kernels takes part in the calibration (src/warplens/calibration): they are the lessons' and the later ones
of the executor's test kernels.  A family is a lesson's variants of one job, which a prediction has to put in order.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from validation.lists import Configuration

SEED = 2026


def floats(n: int) -> Any:
    return np.random.default_rng(SEED).random(n, np.float32) - np.float32(0.5)


def integers(n: int) -> Any:
    return np.random.default_rng(SEED).integers(0, 1000, n, np.int32)


def configurations() -> Iterator[Configuration]:
    yield from _copies()
    yield from _additions()
    yield from _products()
    yield from _reductions()
    yield from _others()


def _copies() -> Iterator[Configuration]:
    for power in (18, 20, 22, 24, 26):
        n = 1 << power
        for kernel in ("ccopy", "nccopy"):
            yield Configuration(
                f"{kernel} 2^{power}", "lessons", kernel, (n // 128,), (128,),
                lambda n=n: [floats(n), np.zeros(n, np.float32), np.int32(n)], family=f"copy 2^{power}",
            )  # fmt: skip


def _additions() -> Iterator[Configuration]:
    for power in (20, 24):
        n = 1 << power
        for kernel in ("add1", "add2", "add4", "add_unroll4", "add_nounroll"):
            yield Configuration(
                f"{kernel} 2^{power}", "lessons", kernel, (512,), (512,),
                lambda n=n: [floats(n), floats(n), np.zeros(n, np.float32), np.int32(n)], family=f"add 2^{power}",
            )  # fmt: skip
    n = 1 << 26
    for kernel in ("add1", "add4"):
        yield Configuration(
            f"{kernel} 2^26", "lessons", kernel, (1056,), (256,),
            lambda: [floats(n), floats(n), np.zeros(n, np.float32), np.int32(n)], family="add 2^26",
        )  # fmt: skip


def _products() -> Iterator[Configuration]:
    for n in (256, 512, 1024, 2048):
        for kernel, columns in (("matmul_naive", 16), ("matmul_tiled", 16), ("matmul_coarse2", 32)):
            yield Configuration(
                f"{kernel} {n}", "lessons", kernel, (n // columns, n // 16), (16, 16),
                lambda n=n: [floats(n * n), floats(n * n), np.zeros(n * n, np.float32), np.int32(n)],
                family=f"product {n}",
            )  # fmt: skip
    for n in (512, 1024, 2048):
        yield Configuration(
            f"sgemm {n}", "k27_sgemm_tiled", "sgemm", (n // 64, n // 64), (16, 16),
            lambda n=n: [floats(n * n), floats(n * n), np.zeros(n * n, np.float32), *[np.int32(n)] * 3],
            family=f"product {n}",
        )  # fmt: skip


def _reductions() -> Iterator[Configuration]:
    for power in (18, 22, 24):
        n = 1 << power
        for kernel in ("reduce_strided", "reduce_modulo", "reduce_sequential"):
            yield Configuration(
                f"{kernel} 2^{power}", "lessons", kernel, (n // 256,), (256,),
                lambda n=n: [integers(n), np.zeros(n // 256, np.int32), np.int32(n)], family=f"reduce 2^{power}",
            )  # fmt: skip
        yield Configuration(
            f"reduce_unroll8_warp 2^{power}", "lessons", "reduce_unroll8_warp", (n // 2048,), (256,),
            lambda n=n: [integers(n), np.zeros(n // 2048, np.int32), np.uint32(n)], family=f"reduce 2^{power}",
            restore=True,
        )  # fmt: skip
    for power in (20, 24, 26):
        n = 1 << power
        yield Configuration(
            f"reduce 2^{power}", "k28_reduce_scan", "reduce", (1056,), (256,),
            lambda n=n: [floats(n), np.zeros(1, np.float32), np.int32(n)],
        )  # fmt: skip


def sparse(rows: int, each: int) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(SEED)
    starts = np.arange(0, rows * each + 1, each, dtype=np.int32)
    return starts, rng.integers(0, rows, rows * each, np.int32), rng.random(rows * each, np.float32)


def _others() -> Iterator[Configuration]:
    one, i = Configuration, np.int32
    for w in (1024, 4096):
        yield one(
            f"st2 {w}", "k29_stencil_conv", "st2", (w // 32, w // 16), (32, 16),
            lambda w=w: [floats(w * w), np.zeros(w * w, np.float32), i(w), i(w)],
        )  # fmt: skip
    for w in (128, 256):
        yield one(
            f"st3 {w}", "k29_stencil_conv", "st3", (w // 32, w // 8), (32, 8),
            lambda w=w: [floats(w**3).astype(np.float64), np.zeros(w**3), i(w), i(w), i(w)],
        )  # fmt: skip
    rows = 1 << 18
    for kernel, threads in (("spmv", rows), ("spmvv", 32 * rows)):
        yield one(
            f"{kernel} 2^18 x 16", "k30_spmv_bfs", kernel, (threads // 256,), (256,),
            lambda: [*sparse(rows, 16), floats(rows), np.zeros(rows, np.float32), i(rows)],
            family="sparse",
        )  # fmt: skip
    for n in (4096, 16384):
        yield one(
            f"nb {n}", "k31_nbody", "nb", (n // 256,), (256,),
            lambda n=n: [floats(4 * n), np.zeros(4 * n, np.float32), i(n)],
        )  # fmt: skip
    for count, n in ((4096, 1024), (16384, 256)):
        yield one(
            f"softmax {count} x {n}", "k31_nbody", "softmax", (count,), (32,),
            lambda count=count, n=n: [floats(count * n), np.zeros(count * n, np.float32), i(n)],
        )  # fmt: skip
    yield one("pi", "k32_rng_crypto", "pi", (1056,), (256,), lambda: [np.zeros(1, np.uint32), i(1000), np.uint32(7)])
    yield one(
        "philox 2^22", "k32_rng_crypto", "philox", (1 << 14,), (256,),
        lambda: [np.zeros(4 << 22, np.uint32), np.array([1, 2], np.uint32), i(1 << 22)],
    )  # fmt: skip
    yield one(
        "crck 2^18 x 64", "k32_rng_crypto", "crck", (1 << 10,), (256,),
        lambda: [integers(1 << 22), np.zeros(1 << 18, np.uint32), i(64)],
    )  # fmt: skip
    yield one(
        "bitonic 1024 x 1024", "k33_sort", "bitonic", (1024,), (1024,),
        lambda: [integers(1 << 20), i(1024)], shared=4096, restore=True,
    )  # fmt: skip
    yield one(
        "bsearch 2^20 in 2^22", "k33_sort", "bsearch", (1 << 12,), (256,),
        lambda: [
            np.arange(1 << 22, dtype=np.int32) // 4, i(1 << 22), 1000 * integers(1 << 20), np.zeros(1 << 20, np.int32),
        ],
    )  # fmt: skip
    yield one(
        "uni", "k35_uniform", "uni", (1056,), (128,),
        lambda: [floats(1 << 20), np.zeros(1056 * 128, np.float32), i(256), i(2048), np.float32(0.5)],
    )  # fmt: skip
    w = 4096
    yield one(
        "life 4096", "k38_predication", "life", (w // 32, w // 8), (32, 8),
        lambda: [np.random.default_rng(SEED).integers(0, 2, w * w, np.uint8), np.zeros(w * w, np.uint8), i(w), i(w)],
    )  # fmt: skip
    for power in (20, 24):
        n = 1 << power
        yield one(
            f"gs 2^{power}", "k40_idioms", "gs", (1056,), (256,),
            lambda n=n: [floats(n), np.zeros(n, np.float32), np.uint64(n)],
        )  # fmt: skip
    for w in (1024, 4096):
        yield one(
            f"tr {w}", "k40_idioms", "tr", (w // 32, w // 32), (32, 8),
            lambda w=w: [floats(w * w), np.zeros(w * w, np.float32), i(w), i(w)],
        )  # fmt: skip
    n = 1 << 20
    yield one(
        "aos 2^20", "k40_idioms", "aos", (n // 256,), (256,),
        lambda: [floats(4 * n), np.zeros(8 * n, np.uint8), i(n)], restore=True,
    )  # fmt: skip
    yield one(
        "gray 4096", "k40_idioms", "gray", (4096 // 32, 4096 // 8), (32, 8),
        lambda: [
            np.random.default_rng(SEED).integers(0, 256, 3 << 24, np.uint8), np.zeros(1 << 24, np.uint8), i(w), i(w),
        ],
    )  # fmt: skip
