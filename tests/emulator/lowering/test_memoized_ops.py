"""Slow operations on one number for all lanes, remembered: nothing else comes out."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from helpers.kernel_launches import written
from warplens.emulator.lowering import memoized_ops

pytestmark = pytest.mark.usefixtures("every_thread_works")

TIERS = ("whole",)  # steps remember nothing
SOURCE = """
extern "C" __global__ void divided(const int *a, const int *by, int *quotient, int *rest, float *part, int n) {
  int i = blockIdx.x * 32 + threadIdx.x, d = by[blockIdx.x];  // one divisor a block
  quotient[i] = a[i] / d + a[i] / n;
  rest[i] = a[i] % d - a[i] % n;
  part[i] = (float)(int)(blockIdx.x * 0.7f);
}
"""


@pytest.mark.parametrize("threads", [1, 2])
def test_divisors_of_all_threads_of_a_block_may_change_from_block_to_block(threads: int) -> None:
    blocks, n = 64, -37
    random = np.random.default_rng(5)
    a = random.integers(-(2**31), 2**31, 32 * blocks, np.int32)
    by = np.repeat(np.array([3, -7, 1, 2**30, 3, 3, 11, 2**31 - 1], np.int32), 8)
    random.shuffle(by)
    quotient, rest, part = np.zeros_like(a), np.zeros_like(a), np.zeros(a.size, np.float32)
    written(SOURCE, "divided").launch(blocks, 32, a, by, quotient, rest, part, np.int32(n), threads=threads)
    wide, each = a.astype(np.int64), np.repeat(by, 32).astype(np.int64)

    def divide(x: NDArray[np.int64], y: NDArray[np.int64] | int) -> NDArray[np.int64]:
        return np.sign(x) * np.sign(y) * (abs(x) // abs(y))

    first, second = divide(wide, each), divide(wide, n)
    assert np.array_equal(quotient, (first + second).astype(np.int32))
    assert np.array_equal(rest, ((wide - first * each) - (wide - second * n)).astype(np.int32))
    number = np.repeat(np.arange(blocks), 32).astype(np.float32)
    assert np.array_equal(part, np.trunc(number * np.float32(0.7)))


def test_such_a_kernel_remembers(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    one_word = memoized_ops._one_word

    def watched(at, binding, arguments):  # type: ignore[no-untyped-def]
        node = one_word(at, binding, arguments)
        seen.extend([at.base] * (node is not None))
        return node

    monkeypatch.setattr(memoized_ops, "_one_word", watched)
    monkeypatch.setenv("WARPLENS_CACHE", "off")
    kernel = written(SOURCE.replace("divided", "remembered"), "remembered")
    a = np.arange(32, dtype=np.int32)
    kernel.launch(1, 32, a, np.array([5], np.int32), a.copy(), a.copy(), np.zeros(32, np.float32), np.int32(7))
    assert {"I2F", "F2I", "MUFU"} <= set(seen)
