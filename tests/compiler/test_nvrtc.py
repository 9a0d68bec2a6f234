"""compile_source: headers, names, errors, cache."""

from __future__ import annotations

import subprocess
import sys

import pytest

from warplens.compiler import compile_source, read_cubin
from warplens.errors import CompileError, UsageError


@pytest.fixture
def empty_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("WARPLENS_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_headers_of_the_wheels_are_found():
    source = """
    #include <cuda_fp16.h>
    #include <cooperative_groups.h>
    #include <cuda/std/limits>
    extern "C" __global__ void f(__half *y) { y[0] = __float2half(cuda::std::numeric_limits<float>::max()); }
    """
    data, _ = compile_source(source, "f.cu", "sm_90")
    assert "f" in read_cubin(data).kernels


@pytest.mark.skipif(sys.platform != "linux", reason="NVRTC has 128-bit integers on Linux alone")
def test_integers_of_128_bits_as_nvcc_has_them():
    source = 'extern "C" __global__ void f(unsigned __int128* y) { y[0] *= y[1]; }'
    data, _ = compile_source(source, "f.cu", "sm_90")
    assert "f" in read_cubin(data).kernels


def test_local_header_is_found_and_its_changes_are_seen(tmp_path, empty_cache):
    source = """
    #include "size.h"
    extern "C" __global__ void f(int *y) { __shared__ volatile int t[SIZE]; *y = t[1] = 2; }
    """
    for size in (8, 16):
        (tmp_path / "size.h").write_text(f"#define SIZE {size}\n")
        data, _ = compile_source(source, str(tmp_path / "f.cu"), "sm_80")
        assert read_cubin(data).kernels["f"].shared_bytes == 4 * size


def test_lowered_names():
    source = "template <int N> __global__ void fill(int *y) { *y = N; }"
    data, names = compile_source(source, "f.cu", "sm_90", names=["fill<3>", "fill<4>"])
    assert set(names) == {"fill<3>", "fill<4>"}
    assert set(names.values()) == set(read_cubin(data).kernels)


def test_options_reach_the_compiler():
    source = 'extern "C" __global__ void f(int *y) { __shared__ volatile int t[SIZE]; *y = t[1] = 2; }'
    data, _ = compile_source(source, "f.cu", "sm_90", options=["-DSIZE=32"])
    assert read_cubin(data).kernels["f"].shared_bytes == 128


def test_the_log_names_file_and_line():
    with pytest.raises(CompileError, match=r"wrong\.cu\(2\): error:.*undefined"):
        compile_source('extern "C" __global__ void f(int *y) {\n*y = undefined; }', "wrong.cu", "sm_90")


def test_unknown_architecture():
    with pytest.raises(UsageError, match=r"sm_91.*sm_75.*sm_120"):
        compile_source("", "f.cu", "sm_91")


def test_a_second_time_the_compiler_is_not_loaded(empty_cache):
    program = """
import sys
from warplens.compiler import compile_source
data, _ = compile_source('extern "C" __global__ void f(int *y) { *y = 1; }', "f.cu", "sm_90")
print(len(data), any(name.startswith("cuda") for name in sys.modules))
"""
    answers = [
        subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
        for _ in range(2)
    ]
    assert answers[0][1] == "True"
    assert answers[1] == [answers[0][0], "False"]


def test_headers_beside_the_file_are_part_of_what_the_cache_knows(tmp_path, empty_cache, monkeypatch):
    (tmp_path / "size.h").write_text('#include "more.h"\n#include "cuda_runtime.h"\n')
    (tmp_path / "more.h").write_text("#define SIZE 16\n")
    source = '#include "size.h"\nextern "C" __global__ void f(int *y) { *y = SIZE; }'
    first = compile_source(source, str(tmp_path / "f.cu"), "sm_90")
    monkeypatch.setattr("warplens.compiler.nvrtc._compile", lambda *a: pytest.fail("compiled again"))
    assert compile_source(source, str(tmp_path / "f.cu"), "sm_90") == first
    (tmp_path / "more.h").write_text("#define SIZE 32\n")
    with pytest.raises(pytest.fail.Exception):
        compile_source(source, str(tmp_path / "f.cu"), "sm_90")


def test_an_option_of_nvcc_is_told_from_one_of_nvrtc():
    with pytest.raises(CompileError, match=r"unrecognized option -O3 found; NVRTC does not take all options of nvcc"):
        compile_source("__global__ void f() {}\nint main() {}", "f.cu", "sm_90", options=["-O3"])


def test_code_for_debuggers_leaves_what_is_compiled_later_as_it_is():
    """NVRTC's own state after -G: the next kernel had 40 instructions instead of 32, and read parameters elsewhere."""
    source = """
    struct P { int a[20]; };
    extern "C" __global__ void gc(const __grid_constant__ P p, int *o, int n) { o[n] = p.a[threadIdx.x % 20]; }
    """

    def code(text, options=()):
        return read_cubin(compile_source(text, "gc.cu", "sm_86", options)[0]).kernels["gc"].code

    before = code(source)
    assert code(source, ["-G"]) != before
    assert code(source + "// again") == before
    with pytest.raises(CompileError, match='identifier "nonsense" is undefined'):
        code(source + "__device__ int wrong() { return nonsense; }", ["-G"])
