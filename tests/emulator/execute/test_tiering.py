"""Steps and whole translations do and count the same, wherever one takes over from the other."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

import warplens as wl
from warplens.emulator.execute import tiering
from warplens.emulator.jit import compile_module
from warplens.emulator.threaded.template_cache import TemplateCache
from warplens.emulator.threaded.threaded_code import setting_of

pytestmark = pytest.mark.usefixtures("every_thread_works")

TIERS = ("steps",)  # and within the tests the other
SOURCE = """
extern "C" __global__ void mixed(const int* in, float* out, int* total, int n) {
    __shared__ float row[64];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t, steps = 0;
    for (int k = in[i]; k > 1; steps++) {
        if (k % 7 == 3) break;
        k = k & 1 ? 3 * k + 1 : k >> 1;
    }
    row[t] = sqrtf((float)steps) + in[i] % 5;
    __syncthreads();
    float sum = 0;
    for (int k = 0; k < 16; k++) sum += row[(t * k) & 63] / (k + 1.0f);
    sum += __shfl_xor_sync(~0u, sum, 3);
    if (i < n) out[i] = sum;
    if (__any_sync(~0u, steps > 20)) atomicAdd(total, steps);
}
"""


def launch(bad: int = 0, **how: Any) -> tuple[np.ndarray[Any, Any], wl.Run]:
    kernel = wl.compile(source=SOURCE, arch="sm_90")["mixed"]
    numbers = (np.arange(2048, dtype=np.int32) * 37) % 1000 + 1
    out, total = np.zeros(2048 - bad, np.float32), np.zeros(1, np.int32)
    run = kernel.launch((32,), (64,), numbers, out, total, np.int32(2040), **how)
    return np.concatenate([out, total]), run


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was translated as a whole since the test began; nothing was before, and every launch chooses by itself."""
    seen: list[str] = []
    real = compile_module.compile_object
    monkeypatch.delenv("WARPLENS_TIER", raising=False)
    monkeypatch.setattr(compile_module, "_loaded", {})
    monkeypatch.setattr(tiering, "cached_code", lambda *_: None)
    monkeypatch.setattr(tiering, "_executed", Counter())
    monkeypatch.setattr(compile_module, "compile_object", lambda *a: seen.append("whole") or real(*a))
    monkeypatch.setattr(compile_module, "cached_code", lambda *_: None)
    return seen


def both(monkeypatch: pytest.MonkeyPatch, **how: Any) -> list[tuple[np.ndarray[Any, Any], wl.Run]]:
    got = []
    for tier in ("steps", "whole"):
        monkeypatch.setenv("WARPLENS_TIER", tier)
        got.append(launch(**how))
    return got


@pytest.mark.parametrize("check", [(), ("races", "init", "barriers")])
def test_results_and_counts_are_the_same(monkeypatch: pytest.MonkeyPatch, check: tuple[str, ...]) -> None:
    (steps, counted), (whole, expected) = both(monkeypatch, check=check)
    assert steps.tobytes() == whole.tobytes()
    assert counted.metrics == expected.metrics
    assert counted.hazards == expected.hazards


def test_what_the_model_is_told_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    (_, first), (_, second) = both(monkeypatch)
    times = []
    for tier, run in (("steps", first), ("whole", second)):
        monkeypatch.setenv("WARPLENS_TIER", tier)
        times.append(run.predict("h200").time_us)
    assert times[0] == times[1]


def test_faults_are_told_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    told = []
    for tier in ("steps", "whole"):
        monkeypatch.setenv("WARPLENS_TIER", tier)
        with pytest.raises(wl.KernelFault) as fault:
            launch(bad=9)
        told.append(str(fault.value))
    assert told[0] == told[1]


def test_little_work_is_never_translated_as_a_whole(made: list[str]) -> None:
    launch()
    assert made == []


def test_the_blocks_behind_the_first_go_on_faster(made: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    expected, run = launch()
    monkeypatch.setattr(tiering, "BREAK_EVEN", 0)
    monkeypatch.setattr(tiering, "_executed", Counter())
    got, again = launch(threads=2)
    assert made == ["whole"]
    assert got.tobytes() == expected.tobytes()
    assert again.metrics == run.metrics


def test_a_launch_that_takes_long_begins_again(made: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    spin = """extern "C" __global__ void spin(int* out, int n) {
        int x = out[threadIdx.x]; for (int k = 0; k < n; k++) x = x * 5 + k; out[threadIdx.x] = x; }"""
    kernel = wl.compile(source=spin, arch="sm_90")["spin"]
    runs = []
    for patient in (True, False):
        monkeypatch.setattr(tiering, "MIN_THREADED_SECONDS", 1000 if patient else 0)
        monkeypatch.setattr(tiering, "THREADED_SECONDS", 0)
        monkeypatch.setattr(tiering, "_executed", Counter())
        out = np.arange(256, dtype=np.int32)
        runs.append((kernel.launch((1,), (256,), out, np.int32(5_000_000)), out))
    assert made == ["whole"]
    assert runs[0][1].tolist() == runs[1][1].tolist()
    assert runs[0][0].metrics == runs[1][0].metrics


def test_what_was_translated_before_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARPLENS_TIER", "whole")
    launch()
    monkeypatch.delenv("WARPLENS_TIER")
    monkeypatch.setattr(tiering, "compile_threaded", None)  # which would be called for steps
    launch()


def test_instructions_that_differ_in_numbers_alone_have_one_form() -> None:
    source = """extern "C" __global__ void f(float* x, float a, float b) {
        x[0] = x[1] * a + 2.5f; x[7] = x[9] * b + 3.5f; }"""
    module = wl.compile(source=source, arch="sm_90")
    (program,) = module._programs.values()
    forms = TemplateCache(setting_of(program, frozenset()))
    found: dict[str, set[Any]] = {}
    for instruction in program.instructions:
        if instruction.base in ("LDG", "STG", "FFMA"):
            found.setdefault(instruction.base, set()).add(forms.of(instruction)[0])
    assert {base: len(kinds) for base, kinds in found.items()} == {"LDG": 1, "STG": 1, "FFMA": 1}
