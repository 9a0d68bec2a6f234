"""A launch block for a kernel that has none."""

from __future__ import annotations

import re

import numpy as np
import pytest

from warplens.cli import main
from warplens.compiler.suggestion import instances
from warplens.errors import UsageError
from warplens.target import Flags, targets

HOST = """
#define TILE 8
struct Step { float dt; int n; float3 g; };
__global__ void saxpy(int n, float a, const float *x, float *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += a * x[i];
}
__global__ void add2d(const double* a, unsigned char* b, int w, int h) {
  int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
  if (x < w && y < h) b[y * w + x] = a[y * w + x];
}
namespace app { __global__ void rev(int* d, size_t n) {
  extern __shared__ int s[];
  s[threadIdx.x] = d[threadIdx.x]; __syncthreads(); d[threadIdx.x] = s[blockDim.x - 1 - threadIdx.x];
} }
__global__ void move(float4* p, Step s) { if (threadIdx.x < s.n) p[threadIdx.x].x += s.g.x * s.dt; }
int main() {
  const int threads = 4 * 32;
  dim3 tile(TILE, TILE);
  saxpy<<<(n + threads - 1) / threads, threads>>>(n, 2.f, x, y);
  add2d<<<grid, tile, 0, stream>>>(a, b, w, h);
  app::rev<<<1, 64, 64 * sizeof(int)>>>(d, 64);
}
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "mine.cu"
    path.write_text(HOST)
    return path


def suggested(file, capsys):
    assert main(["explain", str(file)]) == 2
    message = capsys.readouterr().err
    assert message.startswith(f"error: {file} does not say how its 4 kernels are started: give --grid, --block")
    return re.search(r"// /// warplens\n.*// ///\n", message, re.DOTALL)[0]


def test_the_suggested_block_is_a_launch(file, capsys):
    """Written into the file, it starts every kernel, with the blocks and the shared memory of the host code."""
    file.write_text(suggested(file, capsys) + HOST)
    found = {target.title: target for target in targets(str(file), Flags(settings=("w=20", "h=30")))}
    assert {title: target.launch.block for title, target in found.items()} == {
        "saxpy": (128, 1, 1), "add2d": (8, 8, 1), "rev": (64, 1, 1), "move": (256, 1, 1),
    }  # fmt: skip
    assert found["add2d"].launch.grid == (3, 4, 1)
    assert found["rev"].launch.shared == 256
    assert found["saxpy"].labels == ("n", "a", "x", "y")
    a, b, *sizes = found["add2d"].values()
    assert (a.dtype, b.dtype, a.size, sizes) == (np.float64, np.uint8, 600, [20, 30])
    assert all(target.values() for target in found.values())


def test_vectors_and_flags_are_no_sizes_and_launch_bounds_hold(tmp_path, capsys):
    source = """__global__ void __launch_bounds__(64) k(float* o, int3 d, float2 v, bool f, unsigned char c) {
      if (f) o[threadIdx.x] = d.y + v.x + c; }"""
    path = tmp_path / "k.cu"
    path.write_text(source)
    assert main(["explain", str(path)]) == 2
    path.write_text(re.search(r"// /// warplens\n.*// ///\n", capsys.readouterr().err, re.DOTALL)[0] + source)
    (target,) = targets(str(path))
    assert target.launch.block == (64, 1, 1)
    target.run()


def test_kernels_bear_the_names_of_the_source(file):
    assert [target.title for target in targets(str(file))] == ["saxpy", "add2d", "rev", "move"]
    (one,) = targets(str(file), Flags(kernel="rev", grid="1", block="32", shared="128"))
    with pytest.raises(UsageError, match=r"rev takes 2 arguments \(int\* d, size_t n\), and none is given"):
        one.run()


def test_templates_are_named_with_arguments(tmp_path):
    source = """template <typename T, int N, bool fast = true>
    __global__ __launch_bounds__(N) void sum(T* x) { x[N] = fast; }
    template <class A> static __global__ void other(A a) {}
    template <class A> __device__ void helper(A a) {}"""
    assert instances(source) == ("sum<float, 256, true>", "other<float>")
    path = tmp_path / "t.cu"
    path.write_text(source)
    with pytest.raises(UsageError, match=re.escape("--kernel 'sum<float, 256, true>'")):
        targets(str(path))
    assert targets(str(path), Flags(kernel="sum<float, 256, true>"))[0].kernel.instructions


def test_a_cubin_tells_sizes(tmp_path, file):
    from warplens import compile

    cubin = tmp_path / "mine.cubin"
    cubin.write_bytes(compile(file).cubin.data)
    with pytest.raises(UsageError, match=r"saxpy takes 4 arguments \(of 4, 4, 8 and 8 bytes\)"):
        targets(str(cubin), Flags(kernel="saxpy"))[0].run()


SQUARE = """#define N 1024
#define BS 32
template <typename T> __global__ void turn(T* to, const T* from, int width) {
  int x = blockIdx.x * BS + threadIdx.x, y = blockIdx.y * BS + threadIdx.y;
  for (int j = 0; j < BS; j += 8) to[x * width + y + j] = from[(y + j) * width + x];
}
template __global__ void turn<float>(float*, const float*, int);
template __global__ void turn<double>(double*, const double*, int);
int main() { dim3 g(N / BS, N / BS), t(BS, 8); turn<double><<<g, t>>>(b, a, N); }
"""


def test_grid_and_sizes_are_those_of_the_host_and_types_those_of_the_instance(tmp_path, capsys):
    path = tmp_path / "square.cu"
    path.write_text(SQUARE)
    assert main(["explain", str(path)]) == 2
    path.write_text(re.search(r"// /// warplens\n.*// ///\n", capsys.readouterr().err, re.DOTALL)[0] + SQUARE)
    found = {target.title: target for target in targets(str(path))}
    assert set(found) == {"turn<float>", "turn<double>"}
    for (title, target), kind in zip(sorted(found.items()), (np.float64, np.float32), strict=True):
        to, source, width = target.values()
        assert (target.launch.grid, target.launch.block, width) == ((32, 32, 1), (32, 8, 1), 1024), title
        assert (to.dtype, source.size) == (kind, 1024 * 1024)
        target.run()  # nothing stray


def test_one_size_in_two_dimensions_is_the_side_of_a_square(tmp_path, capsys):
    path = tmp_path / "square.cu"
    path.write_text(
        SQUARE.split("template __global__")[0] + "template __global__ void turn<int>(int*, const int*, int);"
    )
    assert main(["explain", str(path)]) == 2
    message = capsys.readouterr().err
    assert '// grid = "ceil(width / 16), ceil(width / 16)"' in message
    assert '"to = zeros i32[width * width]"' in message
    assert "// width = 1024" in message
