"""What the host code of a file tells of its launches."""

from __future__ import annotations

from warplens.compiler.host_launch import allocations, constants, expanded, instance_of_launch, launched

SOURCE = """
#include <cstdio>
#define TILE 16 // of both sides
#define CEIL_DIV(a, b) (((a) + (b) - 1) / (b))
static inline int half_of(int n) { return n / 2; }
int again(int n) { return n ? again(n - 1) : 0; }
template <int B> __global__ void product(const float* a, const float* b, double* c, int m, int n, int k, float scale);
__global__ void mark(unsigned char* data, int4* fours, int n, float f);
int main(int argc, char** argv) {
  const int m = 512, n = 256, k{1024};
  int asked = atoi(argv[1]);
  size_t bytes_a = (size_t)m * k * sizeof(float), bytes_b = n * k * sizeof(float);
  float *da, *db; double* dc; unsigned char* data; int4* fours;
  // mark<<<1, 1>>>(nothing);
  cudaMalloc(&da, bytes_a);
  CHECK(cudaMalloc((void**)&db, bytes_b));
  cudaMallocManaged(reinterpret_cast<void **>(&dc), sizeof(double) * m * n);
  cudaMalloc(&data, asked);
  cudaMalloc(&fours, 64 * sizeof(int4));
  dim3 block(TILE, TILE);
  dim3 grid = dim3(CEIL_DIV(n, TILE), CEIL_DIV(m, block_of(3)));
  dim3 right{CEIL_DIV(n, TILE), CEIL_DIV(m, TILE)};
  product<TILE><<<right, block, 2 * TILE * TILE * sizeof(float)>>>(da, db, dc, m, n, k, 0.5f);
  mark<<<half_of(64), 128>>>(data, fours, asked, -1.5f);
}
"""


def test_constants_follow_from_constants():
    found = constants(SOURCE, expanded(SOURCE))
    assert {name: found[name] for name in ("TILE", "m", "n", "k", "bytes_a", "bytes_b")} == {
        "TILE": 16, "m": 512, "n": 256, "k": 1024, "bytes_a": 512 * 1024 * 4, "bytes_b": 256 * 1024 * 4,
    }  # fmt: skip
    assert "asked" not in found


def test_memory_is_as_large_as_it_was_asked_for():
    plain = expanded(SOURCE)
    assert allocations(plain, constants(SOURCE, plain)) == {
        "da": 512 * 1024 * 4, "db": 256 * 1024 * 4, "dc": 512 * 256 * 8, "fours": 64 * 16,
    }  # fmt: skip


def test_a_launch_is_read_through_macros_and_functions():
    one = launched("product", SOURCE)
    assert one is not None
    assert (one.block, one.grid, one.shared) == ((16, 16), (16, 32), "2048")
    assert one.values == (None, None, None, 512, 256, 1024, 0.5)
    assert one.given == (512 * 1024 * 4, 256 * 1024 * 4, 512 * 256 * 8, None, None, None, None)
    other = launched("mark", SOURCE)
    assert other is not None
    assert (other.block, other.grid, other.shared) == ((128,), (32,), "")
    assert other.values == (None, None, None, -1.5)


def test_templates_are_those_that_are_launched():
    assert instance_of_launch("product", SOURCE) == "product<16>"
    assert instance_of_launch("mark", SOURCE) == instance_of_launch("nothing", SOURCE) == ""


def test_vectors_of_thrust_and_separated_digits():
    source = """__global__ void scale(double* out, const double* in, size_t n);
    int main() {
      const size_t n = 1'000'000;
      thrust::device_vector<double> a(n, 1.0), b(n);
      scale<<<(n + 255) / 256, 256>>>(thrust::raw_pointer_cast(b.data()), (double*)a.data().get(), n);
    }"""
    one = launched("scale", source)
    assert one is not None
    assert (one.grid, one.values[2], one.given) == ((3907,), 1_000_000, (8_000_000, 8_000_000, None))


def test_what_is_no_constant_is_not_known():
    assert launched("nothing", SOURCE) is None
    assert launched("mark", "__global__ void mark(int);\nvoid f(int n) { mark<<<n, n>>>(n); }") is None
