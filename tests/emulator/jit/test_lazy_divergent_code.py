"""Lanes apart are translated when a warp first parts, and not before."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import warplens as wl
from warplens.emulator.jit import compile_module
from warplens.errors import UnsupportedInstruction

pytestmark = pytest.mark.usefixtures("every_thread_works")

TIERS = ("whole",)
SOURCE = """
extern "C" __global__ void collatz(const int* in, int* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, n = in[i], steps = 0;
    while (n > 1) {
        if (n & 1) n = 3 * n + 1; else n >>= 1;
        steps++;
    }
    __syncwarp();
    out[i] = steps + __shfl_xor_sync(~0u, steps, 1);
}
"""


def steps_of(n: int) -> int:
    count = 0
    while n > 1:
        n, count = 3 * n + 1 if n & 1 else n >> 1, count + 1
    return count


@pytest.fixture
def translated(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> list[str]:
    """What was translated since the test began, from nothing."""
    made: list[str] = []
    monkeypatch.setenv("WARPLENS_CACHE", str(tmp_path))
    monkeypatch.setattr(compile_module, "_loaded", {})
    for name in ("compile_object", "compile_divergent"):
        real = getattr(compile_module, name)
        monkeypatch.setattr(compile_module, name, lambda *a, name=name, real=real: made.append(name) or real(*a))
    return made


def launch(numbers: np.ndarray[Any, Any], threads: int = 1) -> tuple[np.ndarray[Any, Any], wl.Run]:
    kernel = wl.compile(source=SOURCE, arch="sm_90")["collatz"]
    out = np.zeros_like(numbers)
    return out, kernel.launch((numbers.size // 64,), (64,), numbers, out, threads=threads)


def test_only_when_a_warp_parts(translated: list[str]) -> None:
    out, run = launch(np.full(256, 6, np.int32))
    assert out.tolist() == [16] * 256
    assert run["smsp__sass_branch_targets_threads_divergent.sum"] == 0
    assert translated == ["compile_object"]
    numbers = np.arange(1, 257, dtype=np.int32)
    out, run = launch(numbers, threads=2)
    steps = np.array([steps_of(int(n)) for n in numbers])
    assert out.tolist() == (steps + steps.reshape(-1, 2)[:, ::-1].reshape(-1)).tolist()
    assert run["smsp__sass_branch_targets_threads_divergent.sum"] > 0
    assert translated == ["compile_object", "compile_divergent"]


def test_counts_do_not_depend_on_what_was_translated_before(translated: list[str]) -> None:
    numbers = np.arange(1, 257, dtype=np.int32)
    _, first = launch(numbers)
    _, second = launch(numbers)
    assert translated == ["compile_object", "compile_divergent"]
    assert first.metrics == second.metrics


def test_what_goes_wrong_then_reaches_who_launched(translated: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: Any) -> bytes:
        raise UnsupportedInstruction("no meaning for this")

    monkeypatch.setattr(compile_module, "compile_divergent", fails)
    with pytest.raises(UnsupportedInstruction, match="no meaning for this"):
        launch(np.arange(1, 257, dtype=np.int32))
