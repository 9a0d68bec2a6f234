"""Vectors in memory between blocks, as in large kernels: results and counts are those of vectors in locals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import warplens as wl
from helpers.kernel_launches import source
from warplens.emulator.jit import compile_module
from warplens.emulator.lowering import kernel_module
from warplens.emulator.lowering.kernel_module import KernelModule

TIERS = ("whole",)
# Registers of all forms are live where lanes part: uniform, affine, pairs, varying ones, and predicates.  Lanes part
# forwards, backwards, at a call and before a barrier, after which the warp is suspended.
PARTING = """
__device__ __noinline__ int deeper(int x, int n) { return n > 3 ? x * 3 : x - n; }
extern "C" __global__ void parting(const int* in, long long* out, int n, float f) {
    __shared__ int s[64];
    int i = blockIdx.x * blockDim.x + threadIdx.x, v = in[i], turns = n * 5;
    long long at = (long long)i * 24 + n;
    bool odd = v & 1;
    float g = f * v;
    while (v > 1) {
        if (v % 3 == 0) { v /= 3; turns += n; } else if (v & 1) v -= 1 + (i & 1 && v > 2); else v >>= 1;
        g = g * f + i;
    }
    if (odd) turns = deeper(turns, v + n);
    s[threadIdx.x] = turns + v;
    __syncthreads();
    if (s[threadIdx.x ^ 33] & 1) turns ^= i; else g -= 1;
    __syncthreads();
    out[i] = at + s[63 - threadIdx.x] * 7 + turns + (odd ? (long long)g : n);
}
"""


def launched(folder: Path, threshold: int, name: str, arch: str, patch: pytest.MonkeyPatch) -> tuple[bytes, Any]:
    """The result, and the exact metrics, with code that this threshold makes."""
    patch.setenv("WARPLENS_CACHE", str(folder))
    patch.setattr(compile_module, "_loaded", {})
    patch.setattr(compile_module, "_absent", set())
    patch.setattr(kernel_module, "WHOLE_IN_MEMORY", threshold)
    patch.setattr(kernel_module, "DIVERGED_IN_MEMORY", threshold)
    rng = np.random.default_rng(3)
    if name == "parting":
        out = np.zeros(256, np.int64)
        arguments = [rng.integers(0, 300, 256, np.int32), out, np.int32(3), np.float32(1.25)]
        run = wl.compile(source=PARTING, arch=arch)[name].launch(4, 64, *arguments, threads=1)
    else:
        out = np.full(1006, 5, np.int32)
        given = rng.integers(1, 40, 1100, np.int32)
        run = wl.compile(source("k18_divergence.cu"), arch=arch)[name].launch(21, 48, given, out, 1003, threads=1)
    return out.tobytes(), {key: m.value for key, m in run.metrics.items() if m.provenance == "exact"}


@pytest.mark.parametrize("name", ["parting", "ifelse"])
def test_results_and_counts_are_the_same(name: str, arch: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    in_locals = launched(tmp_path / "locals", 10**9, name, arch, monkeypatch)
    in_memory = launched(tmp_path / "memory", 0, name, arch, monkeypatch)
    assert in_memory == in_locals
    assert in_memory[1]["smsp__sass_branch_targets_threads_divergent.sum"] > 0  # lanes do part


def test_locals_are_no_vectors(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = wl.compile(source=PARTING, arch="sm_90")["parting"]

    def locals_of(threshold: int) -> int:
        monkeypatch.setattr(kernel_module, "DIVERGED_IN_MEMORY", threshold)
        library = compile_module.library_for(kernel.kernel, kernel.program).signatures
        module = KernelModule(kernel.kernel, kernel.program, 32, library=library)
        text = str(module.build_divergent())
        start = text.index("run_divergent")
        return text[start : text.index("\n}", start)].count("= alloca <32 x i32>")

    assert locals_of(0) < locals_of(10**9) / 2  # what no block passes on is still a local
