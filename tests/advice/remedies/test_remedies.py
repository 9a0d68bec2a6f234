"""Remedies: every rule's, on the kernel on which it fires, names something of that kernel or of its launch."""

from __future__ import annotations

import re
from functools import cache

import numpy as np
import pytest

import warplens as wl
from rules.example_kernels import example
from warplens.advice.remedies import Remedy, remedy
from warplens.advice.remedies.faulty_source import FaultySource
from warplens.rules import Rule, described, findings, rules
from warplens.transform.syntax.kernel_source import walk

# Names of CUDA, and words of any sentence: no proof that a text speaks of this kernel.
COMMON = {"x", "y", "a", "threadIdx", "blockIdx", "blockDim", "one", "all", "up", "in", "__syncthreads"}


@cache
def remedied(rule: Rule) -> tuple[wl.Run, Remedy]:
    run = example(rule.fires).run()
    found = rule(run.subject)
    assert found is not None
    return run, remedy(found, run)


@pytest.mark.parametrize("rule", rules(), ids=lambda rule: rule.fault)
def test_it_names_what_the_kernel_or_its_launch_has(rule: Rule) -> None:
    run, found = remedied(rule)
    assert found.expression
    kernel = FaultySource(findings(run.subject)[0], run).kernel
    assert kernel is not None
    called = [kernel.functions.get(kernel.called(call).partition("<")[0]) for call in kernel.find("call_expression")]
    nodes = (node for part in (kernel.function, *called) for node in walk(part))
    words = {kernel[node] for node in nodes if node.type.endswith(("identifier", "literal"))} - COMMON
    sizes = {f"{size:,}" for size in (*run.launch.grid, *run.launch.block, run.launch.blocks, run.kernel.registers)}
    own = set(re.findall(r"[A-Za-z_]\w*|\d[\d,.]*", found.instead.replace("f,", ","))) & (words | sizes)
    assert own, found.instead


@pytest.mark.parametrize("rule", rules(), ids=lambda rule: rule.fault)
def test_it_is_not_the_general_advice_of_the_rule(rule: Rule) -> None:
    _, found = remedied(rule)
    about = described(rule.check)
    assert found.instead != about.instead.rstrip(".")
    assert found.nsight == about.nsight
    assert found.rung == ("" if ".cu/" in rule.silent else rule.silent)


def advice(source: str, fault: str, arguments: list[object], grid: int = 256, block: int = 256) -> Remedy:
    return remedy_of(wl.compile(source=source)["f"].launch(grid, block, *arguments, gpu="h200"), fault)


def remedy_of(run: wl.Run, fault: str) -> Remedy:
    """As `wl.advise` gives it, without the predictions."""
    (found,) = (one for one in findings(run.subject) if one.fault == fault)
    return remedy(found, run)


def floats(size: int) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    return np.zeros(size, np.float32)


def test_a_row_for_each_thread_is_told_the_loop_that_lanes_should_share() -> None:
    source = """__global__ void f(const float* in, float* out, int rows, int cols) {
        int r = blockIdx.x * blockDim.x + threadIdx.x;
        if (r >= rows) return;
        float sum = 0;
        for (int c = 0; c < cols; c++)
            sum += in[r * cols + c];
        out[r] = sum;
    }"""
    found = advice(source, "uncoalesced_access", [floats(65536 * 8), floats(65536), np.int32(65536), np.int32(8)])
    assert found.expression == "in[r * cols + c]"
    assert "elements of in that are cols (32 bytes) apart" in found.instead
    assert "share the loop over c, one warp for each r" in found.instead


def test_axes_behind_macros_are_seen() -> None:
    source = """
    #define IDX(r, c, w) ((r) * (w) + (c))
    #define ROW (blockIdx.x * blockDim.x + threadIdx.x)
    __global__ void f(const float* in, float* out, int w) {
        int r = ROW;
        out[IDX(r, 0, w)] = in[IDX(r, 0, w)];
    }"""
    found = advice(source, "uncoalesced_access", [floats(65536 * 8), floats(65536 * 8), np.int32(8)])
    assert "apart" in found.instead
    assert "(32 bytes)" in found.instead


def test_an_array_of_structs_becomes_an_array_for_each_field() -> None:
    source = """
    struct Particle { float x, y, z, vx, vy, vz, mass, charge; };
    __global__ void f(Particle* p, float dt) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        p[i].x += p[i].vx * dt;
    }"""
    found = advice(source, "uncoalesced_access", [floats(65536 * 8), np.float32(0.1)])
    assert "p is an array of structs: neighbouring threads are 32 bytes apart" in found.instead
    assert "(float *p_x, p_y, p_z, ...; p_" in found.instead
    assert "struct alignas(16) Particle" in found.instead


def test_an_array_in_a_struct_becomes_its_slow_index() -> None:
    source = """
    #define SIZE 4
    struct Tree { int apples[SIZE * 2]; };
    __global__ void f(const Tree* trees, int* out) {
        int i = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;
        for (int k = 0; k < SIZE; k++) sum += trees[i].apples[k];
        out[i] = sum;
    }"""
    found = advice(source, "uncoalesced_access", [np.zeros(65536 * 8, np.int32), np.zeros(65536, np.int32)])
    assert "neighbouring threads are 32 bytes apart" in found.instead
    assert "trees_apples[k][i] instead of trees[i].apples[k]" in found.instead


def test_a_gather_names_the_array_that_the_index_comes_from() -> None:
    source = """__global__ void f(const float* table, const int* key, float* out) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        out[i] = table[key[i]];
    }"""
    keys = np.random.default_rng(0).permutation(65536).astype(np.int32)
    found = advice(source, "uncoalesced_access", [floats(65536), keys, floats(65536)])
    assert found.expression == "table[key[i]]"
    assert "sort key" in found.instead


def test_bins_of_a_thread_go_to_shared_memory() -> None:
    source = """__global__ void f(const unsigned char* data, int* out) {
        int t = blockIdx.x * blockDim.x + threadIdx.x;
        int bins[8] = {};
        for (int i = 0; i < 64; i++)
            bins[data[t * 64 + i] & 7]++;
        for (int i = 0; i < 8; i++) out[t * 8 + i] = bins[i];
    }"""
    data = np.zeros(65536 * 64, np.uint8)
    found = advice(source, "local_memory", [data, np.zeros(65536 * 8, np.int32)])
    assert found.expression.startswith("bins[data[")
    assert "__shared__ int bins[8][256]" in found.instead


def test_a_row_that_is_read_for_each_round_is_loaded_once() -> None:
    source = """__global__ void f(const float* points, const float* centres, float* out, int k, int d) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        float best = 0;
        for (int c = 0; c < k; c++)
            for (int j = 0; j < d; j++)
                best += points[i * d + j] * centres[c * d + j];
        out[i] = best;
    }"""
    arrays: list[object] = [floats(65536 * 16), floats(16 * 16), floats(65536)]
    found = advice(source, "uncoalesced_access", [*arrays, np.int32(16), np.int32(16)])
    assert found.expression == "points[i * d + j]"
    assert "each c reads the same again: let the block load its part of points" in found.instead


def test_one_thread_that_works_for_its_block_is_told_so() -> None:
    source = """__global__ void f(const float* in, float* out, int n) {
        __shared__ float mean;
        if (threadIdx.x == 0) {
            float s = 0;
            for (int i = 0; i < n; i++)
                s += in[blockIdx.x * n + i];
            mean = s / n;
        }
        __syncthreads();
        for (int i = threadIdx.x; i < n; i += blockDim.x) out[blockIdx.x * n + i] = mean;
    }"""
    found = advice(source, "inactive_lanes", [floats(256 * 512), floats(256 * 512), np.int32(512)])
    assert found.expression == "threadIdx.x == 0"
    assert "one thread does `for (int i = 0; i < n; i++)` while the block waits" in found.instead


def test_two_sides_of_a_condition_share_sectors() -> None:
    source = """__global__ void f(const int* mask, const float* a, const float* b, float* out) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (mask[i])
            out[i] = a[i] * 2.0f;
        else
            out[i] = b[i];
    }"""
    mask = np.random.default_rng(0).integers(0, 2, 65536).astype(np.int32)
    found = advice(source, "uncoalesced_access", [mask, floats(65536), floats(65536), floats(65536)])
    assert "choose the value first (mask[i] ? a : b) and access out once" in found.instead


def test_an_index_of_the_block_along_rows_changes_places_with_the_threads() -> None:
    source = """__global__ void f(const float* src, float* dst, int w) {
        int y = blockIdx.x * blockDim.x + threadIdx.x;
        int x = blockIdx.y;
        dst[y * w + x] = src[y * w + x];
    }"""
    run = wl.compile(source=source)["f"].launch((1, 256), 256, floats(65536), floats(65536), np.int32(256), gpu="h200")
    found = remedy_of(run, "uncoalesced_access")
    assert "let the threads of a block run along what blockIdx.y counts now" in found.instead


def test_a_kernel_without_source_gets_the_rules_own_words() -> None:
    source = "__global__ void f(const float* in, float* out) { out[threadIdx.x] = in[threadIdx.x * 8]; }"
    cubin = wl.compile(source=source).cubin.data
    run = wl.load(cubin)["f"].launch(1, 256, floats(2048), floats(256), gpu="h200")
    found = remedy_of(run, "uncoalesced_access")
    assert found.instead.startswith("Neighbouring lanes should access neighbouring addresses")


def test_a_narrow_index_is_named_and_not_what_it_points_to() -> None:
    source = """__global__ void spread(const unsigned char* data, float* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(&out[data[i] * 64 + threadIdx.x % 32], 1.0f);
}"""
    run = wl.compile(source=source)["spread"].launch(
        512, 256, np.zeros(1 << 17, np.uint8), np.zeros(1 << 14, np.float32)
    )
    assert remedy_of(run, "narrow_access").expression == "data[i]"


@pytest.mark.parametrize(("step", "mask"), [("k *= 2", True), ("k <<= 1", True), ("k += 1", False)])
def test_a_divisor_that_doubles_becomes_a_mask(step: str, mask: bool) -> None:
    source = f"""__global__ void halves(float* x, int n) {{
  for (int k = 1; k < n; {step})
    if (threadIdx.x % (2 * k) == 0) x[threadIdx.x] += x[threadIdx.x + k];
}}"""
    run = wl.compile(source=source)["halves"].launch(512, 128, np.zeros(256, np.float32), np.int32(64))
    assert ("threadIdx.x & (2 * k - 1)" in remedy_of(run, "division_by_variable").instead) == mask
