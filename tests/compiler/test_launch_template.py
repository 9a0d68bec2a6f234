"""Launch templates: a launch block for kernels that have none."""

from __future__ import annotations

import re

import numpy as np
import pytest

import warplens as wl
from warplens.cli.main import main
from warplens.commands.target import Flags, targets
from warplens.errors import UsageError

KERNELS = """
struct Step { float dt; int n; };
__global__ void saxpy(int n, float a, const float *x, float *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += a * x[i];
}
__global__ void __launch_bounds__(64) add2d(const double* a, unsigned char* b, int w, int h, bool on) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < w * h && on) b[i] = a[i];
}
namespace app { __global__ void rev(int* d, size_t count) { if (threadIdx.x < count) d[threadIdx.x] = 1; } }
__global__ void move(float4* p, Step s) { if (threadIdx.x < s.n) p[threadIdx.x].x += s.dt; }
__global__ void nothing() {}
"""
COUNT = """__global__ void count(const unsigned char* data, int n, unsigned int* bins) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&bins[data[i]], 1);
}
"""
BLOCK = re.compile(r"// /// warplens\n.*// ///\n", re.DOTALL)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "mine.cu"
    path.write_text(KERNELS)
    return path


def test_the_template_is_a_launch_block(file, capsys):
    assert main(["explain", str(file)]) == 2
    message = capsys.readouterr().err
    assert message.startswith(f"error: {file} does not say how its 5 kernels are started: give --grid, --block")
    file.write_text(BLOCK.search(message)[0] + KERNELS)
    found = {target.title: target for target in targets(str(file), Flags(settings=("w=20", "h=30")))}
    assert {title: (target.launch.grid[0], target.launch.block[0]) for title, target in found.items()} == {
        "saxpy": (4096, 256), "add2d": (10, 64), "rev": (4096, 256), "move": (4096, 256), "nothing": (4096, 256),
    }  # fmt: skip
    assert found["saxpy"].labels == ("n", "a", "x", "y")
    a, b, *sizes = found["add2d"].values()
    assert (a.dtype, b.dtype, a.size, sizes) == (np.float64, np.uint8, 600, [20, 30, 1])
    assert a.any()
    assert not b.any()
    for target in found.values():
        target.run()  # nothing out of bounds


def test_a_program_is_to_be_run(tmp_path, capsys):
    path = tmp_path / "whole.cu"
    path.write_text(COUNT + "int main() { count<<<4, 256>>>(nullptr, 0, nullptr); }")
    assert main(["explain", str(path)]) == 2
    message = capsys.readouterr().err
    assert message.startswith(f"error: {path} is a program: `warplens run {path}` runs it")
    assert "[count]" in message


def test_kernels_bear_the_names_of_the_source(file):
    assert [target.title for target in targets(str(file))] == ["saxpy", "add2d", "rev", "move", "nothing"]
    (one,) = targets(str(file), Flags(kernel="rev", grid="1", block="32", shared="128"))
    with pytest.raises(UsageError, match=r"rev takes 2 arguments \(int\* d, size_t count\), and none is given"):
        one.run()


def test_templates_need_an_instance(tmp_path):
    path = tmp_path / "t.cu"
    path.write_text("template <typename T> __global__ void sum(T* x) { x[0] = 1; }")
    with pytest.raises(UsageError, match="only templates: say which instance, such as --kernel 'sum<float>'"):
        targets(str(path))
    assert targets(str(path), Flags(kernel="sum<float>"))[0].kernel.instructions


def test_a_cubin_tells_sizes(tmp_path, file):
    cubin = tmp_path / "mine.cubin"
    cubin.write_bytes(wl.compile(file).cubin.data)
    with pytest.raises(UsageError, match=r"saxpy takes 4 arguments \(of 4, 4, 8 and 8 bytes\)"):
        targets(str(cubin), Flags(kernel="saxpy"))[0].run()


def test_a_named_number_among_the_arguments_says_sizes(tmp_path, capsys):
    path = tmp_path / "count.cu"
    path.write_text(COUNT)
    flags = Flags("count", "ceil(n / 256)", "256", ("zeros u8[n]", "n = 1000", "zeros u32[256]"))
    (one,) = targets(str(path), flags)
    assert (one.launch.grid, [np.size(value) for value in one.values()]) == ((4, 1, 1), [1000, 1, 256])
    (other,) = targets(str(path), Flags("count", "4", "256", ("zeros u8[k]", "n = 1000", "zeros u32[256]")))
    with pytest.raises(UsageError, match=r"no name 'k'; known names: n$"):
        other.values()
    assert main(["explain", str(path), "--kernel", "count", "--grid", "n / 2", "--block", "32"]) == 2
    assert "an argument 'n = 1024' or --set n=1024 makes one" in capsys.readouterr().err


def test_blocks_of_a_kernel_that_uses_y_have_two_dimensions(tmp_path, capsys):
    path = tmp_path / "transpose.cu"
    path.write_text("""__global__ void transpose(const float* in, float* out, int n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < n && y < n) out[x * n + y] = in[y * n + x];
}
__global__ void fill(float* out, int n) { if (threadIdx.x < n) out[threadIdx.x] = 1; }  // no threadIdx.y
""")
    assert main(["explain", str(path)]) == 2
    path.write_text(BLOCK.search(capsys.readouterr().err)[0] + path.read_text())
    found = {target.title: target for target in targets(str(path), Flags(settings=("n=40",)))}
    assert found["transpose"].launch.grid == (3, 3, 1)
    assert found["transpose"].launch.block == (16, 16, 1)
    assert found["fill"].launch.block == (256, 1, 1)
    found["transpose"].run()  # nothing out of bounds
    assert targets(str(path))[0].known["n"] == 1024
