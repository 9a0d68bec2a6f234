"""A launch block for a kernel that has none."""

from __future__ import annotations

import re

import numpy as np
import pytest

from warplens.cli.main import main
from warplens.commands.target import Flags, targets
from warplens.compiler.suggestion import instances
from warplens.errors import UsageError

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


WHOLE = """
#define TILE 16
template <int B> __global__ void scaled(const float* a, float* c, int m, int n, float by) {
  int i = blockIdx.y * B + threadIdx.y, j = blockIdx.x * B + threadIdx.x;
  if (i < m && j < n) c[i * n + j] = by * a[i * n + j];
}
__global__ void count(const unsigned char* data, int n, unsigned int* bins) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&bins[data[i]], 1);
}
int main() {
  int m = 64, n = 48;
  float *a, *c; unsigned char* d; unsigned int* b;
  cudaMalloc(&a, m * n * sizeof(float)); cudaMalloc(&c, m * n * sizeof(float));
  cudaMalloc(&d, 1000); cudaMalloc(&b, 256 * sizeof(unsigned int));
  scaled<TILE><<<dim3(n / TILE, m / TILE), dim3(TILE, TILE)>>>(a, c, m, n, 2.5f);
  count<<<4, 256>>>(d, 1000, b);
}
"""


def test_a_guess_starts_all_kernels_as_the_host_does(tmp_path, capsys):
    path = tmp_path / "whole.cu"
    path.write_text(WHOLE)
    found = {target.title: target for target in targets(str(path), Flags(guess=True))}
    assert set(found) == {"scaled<16>", "count"}
    one, other = found["scaled<16>"], found["count"]
    assert (one.launch.grid, one.launch.block) == ((3, 4, 1), (16, 16, 1))
    assert [np.size(value) if np.ndim(value) else value for value in one.values()] == [64 * 48, 64 * 48, 64, 48, 2.5]
    assert [np.size(value) for value in other.values()] == [1000, 1, 256]
    assert one.guessed == other.guessed
    assert main(["explain", str(path), "--guess"]) == 0
    said = capsys.readouterr()
    assert said.err == f"guessed; write it into {path} with your sizes:\n\n{one.guessed}\n\n"
    assert "scaled<16> of" in said.out
    assert "count of" in said.out


def test_a_launch_block_leaves_nothing_to_guess(tmp_path, capsys):
    path = tmp_path / "whole.cu"
    path.write_text(f"// /// warplens\n// [count]\n// grid = 1\n// block = 32\n// args = ['zeros u8[32]', '32', "
                    f"'zeros u32[256]']\n// ///\n{WHOLE}")  # fmt: skip
    assert main(["explain", str(path), "--guess"]) == 0
    said = capsys.readouterr()
    assert said.err == ""
    assert "1 block of 32 threads" in said.out


def test_a_named_number_among_the_arguments_says_sizes(tmp_path, capsys):
    path = tmp_path / "whole.cu"
    path.write_text(WHOLE)
    flags = Flags("count", "ceil(n / 256)", "256", ("zeros u8[n]", "n = 1000", "zeros u32[256]"))
    (one,) = targets(str(path), flags)
    assert (one.launch.grid, [np.size(value) for value in one.values()]) == ((4, 1, 1), [1000, 1, 256])
    (other,) = targets(str(path), Flags("count", "4", "256", ("zeros u8[k]", "n = 1000", "zeros u32[256]")))
    with pytest.raises(UsageError, match=r"no name 'k'; known names: n$"):
        other.values()
    assert main(["explain", str(path), "--kernel", "count", "--grid", "n / 2", "--block", "32"]) == 2
    assert "an argument 'n = 1024' or --set n=1024 makes one" in capsys.readouterr().err


def test_fields_of_a_structure_are_those_of_its_declaration(tmp_path):
    path = tmp_path / "step.cu"
    path.write_text("""struct Step { float dt, dx; int w; double e; };
    struct Far { float* p; int n; };
    __global__ void go(float* a, Step s, Far f) { a[threadIdx.x] = s.dt * s.dx + s.w + s.e + f.n; }
    int main() { go<<<1, 64>>>(a, s, f); }""")
    (target,) = targets(str(path), Flags(guess=True))
    assert "struct(f32 1, f32 1, i32 n, f64 1)" in target.guessed
    assert "struct(f32 0, f32 0, f32 0, f32 0)" in target.guessed  # a pointer is no number
    target.run()


def test_a_guess_is_in_sizes_where_these_give_what_the_host_says(tmp_path):
    path = tmp_path / "scale.cu"
    path.write_text("""__global__ void scale(float* x, int n) { int i = blockIdx.x * 64 + threadIdx.x; x[i] *= i < n; }
    int main() { int n = 1000; scale<<<(n + 63) / 64, 64>>>(x, n); }""")
    (target,) = targets(str(path), Flags(guess=True, settings=("n=100",)))
    assert target.launch.grid == (2, 1, 1)
    cubin = tmp_path / "scale.cubin"
    cubin.write_bytes(target.kernel.cubin.data)
    with pytest.raises(UsageError, match="--guess are for source files"):
        targets(str(cubin), Flags(guess=True))


def test_where_the_host_says_all_no_size_is_made_up(tmp_path):
    path = tmp_path / "one.cu"
    path.write_text("""__global__ void one(int* a) { a[threadIdx.x] = blockIdx.x; }
    int main() { int* a; cudaMalloc(&a, 32 * sizeof(unsigned int)); one<<<3, 32>>>(a); }""")
    (target,) = targets(str(path), Flags(guess=True))
    assert (target.launch.grid, target.values()[0].size) == ((3, 1, 1), 32)
    assert "n =" not in target.guessed


def test_two_kernels_are_compared_as_the_host_starts_them(tmp_path, capsys):
    path = tmp_path / "whole.cu"
    path.write_text(WHOLE)
    assert main(["compare", str(path), "count", "count", "--guess"]) == 0
    said = capsys.readouterr()
    assert said.err.count("guessed; write it into") == 1
    assert said.out
