"""Files with host code: what nvcc takes, NVRTC gets the device's part of."""

from __future__ import annotations

import re

import pytest

from warplens.compiler import compile_source, read_cubin
from warplens.compiler.host_code import strip_host_code
from warplens.compiler.signature import plain_name
from warplens.errors import CompileError

EVERYDAY = """\
#include <iostream>
#include <vector>
#include <cstdint>
#include <some_library/that_is_not_here.h>
#include "cuda_runtime.h"
using namespace std;
cudaStream_t stream;
float *d_in, *d_out;
static vector<float> kept;
class Image {
 public:
  Image(int w, int h) : w_(w), h_(h) { cudaMalloc(&p_, w * h); }
  ~Image() { cudaFree(p_); }
  int w() const { return w_; }
  __host__ __device__ int size() const { return w_ * h_; }
 private:
  int w_, h_; unsigned char* p_;
};
constexpr int next(int n) { return n + 1; }
namespace app { extern "C" {
__global__ void plain(uint8_t* x, float* y, int64_t n, Image im) {
  auto i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
  if (i < n && i < im.size()) y[i] = x[i] * M_PI + next(2) + std::sqrt(std::max(y[i], FLT_MIN)) + min(1, 2);
} } }
int main(int argc, char** argv) {
  app::plain<<<1, 256>>>(nullptr, nullptr, 3, Image(1, 2));
  string s = R"(})"; char c = '}'; // }
  cout << s << endl;
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
"""


def kernels(source, **more):
    data, _ = compile_source(source, more.pop("name", "f.cu"), "sm_90", **more)
    return [plain_name(symbol) for symbol in read_cubin(data).kernels]


def test_a_file_with_main_and_headers_of_the_host_compiles():
    assert kernels(EVERYDAY) == ["plain"]


def test_lines_keep_their_numbers_and_host_functions_are_named():
    part = strip_host_code(EVERYDAY)
    assert part.left_out == ["Image", "~Image", "w", "main", "PYBIND11_MODULE"]
    for number, (was, left) in enumerate(zip(EVERYDAY.split("\n"), part.text.split("\n"), strict=True), 1):
        if 19 <= number <= 24 or "__host__ __device__" in was:
            assert left == was


@pytest.mark.parametrize(
    "function",
    [
        "#define HD __host__ __device__\nHD float f(float x) { return x; }",
        "template <typename T = int, int N = (3 > 2)> struct V { T v[N]; __device__ T get() const { return v[0]; } };",
        "__device__ float table[] = {1, 2, 3};",
        "__device__ auto f(int x) -> decltype(x + 1) { return x; }",
        "struct __align__(16) P { float x, y; }; __device__ P operator+(P a, P b) { return {a.x + b.x, a.y + b.y}; }",
        "enum class E : int { a, b }; union U { int i; float f; };",
        "MY_DEVICE_INLINE float f() { return 1; }",
        "__constant__ float w[2] = {1.f, 2.f}; __device__ int g{3};",
        "template <class T> struct A<T, if_t<sizeof(T) == 4>> { __device__ int f() { return 1; } };",
        "struct A : public B<sizeof(int)> { __device__ int f() { return 1; } };",
        "#define ALIGN(n) __align__(n)\nstruct ALIGN(16) V { float a; };",
        "struct S { int a, b; __device__ S(int x) : a{x}, b(x) { a++; } __device__ S() : B<int>{1}, a{0}, b{1} {} };",
        "#define HD __host__ __device__\n#define UNARY(n) HD float n(float x) { return x; }\nUNARY(same)",
    ],
)
def test_what_is_for_the_device_stays(function):
    assert strip_host_code(function).text == function


@pytest.mark.parametrize(
    "function", ["void f() {}", "template <class T> std::vector<T> g(const T& x = {}) { return {x}; }",
                 'extern "C" int h(void) { return "}"[0]; }', "static inline bool operator<(A a, B b) { return 1; }",
                 "__host__ void only() { }", "struct S make() { return S{1}; }"],
)  # fmt: skip
def test_what_is_for_the_host_goes(function):
    part = strip_host_code(function)
    assert not part.text.strip()
    assert len(part.left_out) == 1


@pytest.mark.parametrize(
    ("before", "stays"),
    [
        # without its line the template's general form would be taken in silence
        ("#define SPEC(T, n) template <> struct Size<T> { enum { v = n }; };", "SPEC(float, 4)"),
        ("#define HD __device__\n#define UNARY(n) HD float n(float x) { return x; }", "UNARY(same)"),
    ],
)
def test_a_macro_that_writes_code_stays_although_a_function_of_the_host_follows(before, stays):
    part = strip_host_code(f"{before}\n{stays}\nint main() {{ return 0; }}")
    assert part.left_out == ["main"]
    assert part.text.rstrip() == f"{before}\n{stays}"


def test_a_kernel_behind_brackets_of_two_branches_stays():
    kernel = "template <class T>\n__global__ void k(T* x) { x[0] = 1; }"
    part = strip_host_code(f"#if A\nint main() {{\n#else\nint main(int a) {{\n#endif\n  return 0;\n}}\n{kernel}")
    assert part.left_out == ["main"]
    assert part.text.endswith(kernel)


def test_constructors_of_the_host_with_braces_in_their_lists_leave_declarations():
    part = strip_host_code("struct S { int a, b; S(int x) : a{x}, b(x) { f(); } int g() const { return a; } };")
    assert part.left_out == ["S", "g"]
    assert "".join(part.text.split()) == "structS{inta,b;S(intx);intg()const;};"


def test_marks_of_a_header_beside_the_file_hold_in_it(tmp_path):
    (tmp_path / "common.h").write_text("#include <vector>\n#define both __host__ __device__\nstd::vector<int> kept;\n")
    source = '#include "common.h"\nboth float one(float x) { return x; }\n__global__ void k(float* x) { *x = one(*x); }'
    assert kernels(f"{source}\nint main() {{ k<<<1, 1>>>(0); }}", name=str(tmp_path / "k.cu")) == ["k"]


def test_headers_beside_the_file_lose_their_host_code_too(tmp_path):
    (tmp_path / "check.h").write_text("#include <cstdio>\ninline void check(cudaError_t e) { if (e) abort(); }\n")
    (tmp_path / "gelu.cuh").write_text('#include "check.h"\n__device__ float gelu(float x) { return x * INFINITY; }\n')
    source = '#include "gelu.cuh"\n__global__ void k(float* x) { x[0] = gelu(x[0]); }\nint main() { k<<<1, 1>>>(0); }'
    assert kernels(source, name=str(tmp_path / "k.cu")) == ["k"]


@pytest.mark.long
def test_block_wide_cub_through_its_one_header():
    source = """
    #include <cub/cub.cuh>
    __global__ void k(float* x) {
        __shared__ cub::WarpReduce<float>::TempStorage t;
        x[0] = cub::WarpReduce<float>(t).Sum(x[threadIdx.x]);
    }"""
    assert kernels(source) == ["k"]


def test_an_error_of_the_kernel_is_told_with_what_was_left_out():
    source = "#include <nowhere.h>\nint main() {}\n__global__ void k(float* x) { x[0] = y; }"
    with pytest.raises(CompileError, match=re.escape('f.cu(3): error: identifier "y" is undefined')) as refused:
        kernels(source)
    assert "left out as host code: main" in str(refused.value)
    assert "not found: nowhere.h; if a kernel needs it, add its folder: --option=-IFOLDER" in str(refused.value)


def test_a_file_of_host_code_alone_says_so():
    with pytest.raises(CompileError, match=r"f\.cu has no __global__ function.*nvcc -cubin"):
        kernels("#include <thrust/device_vector.h>\nint main() { thrust::device_vector<int> v(3); }")
