"""Names of parameters, from source text."""

from __future__ import annotations

import pytest

from warplens.compiler.signature import parameter_names, plain_name

SOURCE = r"""
// __global__ void k(int wrong)
#define OPEN "("
#define MORE \
  __global__ void k(int macro)
template <typename T, int N = (3 > 2)> __global__ void __launch_bounds__(128, 2)
scale(T* __restrict__ data, const T by = T(1), /* int c, */ int n,
      std::array<int, 4> const& arr, float (*fn)(int, int), int (&m)[4], const P, P q, unsigned int, long long z[]) {}
extern "C" __global__ void k(const float* in, float *out) { char c = '('; }
namespace app { __global__ static void divs(const int *in, app::P);
__global__ void divs(const int *in, int*, int o = 1'000) {} }
__global__ void none(void) {}
__device__ void helper(int a) {}
__global__ __attribute__((noinline)) void late(unsigned long long seed, struct P point) {}
"""


@pytest.mark.parametrize(
    ("kernel", "count", "names"),
    [
        ("k", 2, ("in", "out")),
        ("k", 1, ()),  # in a comment and in a macro
        ("_Z5scaleIfLi3EEvPT_S0_i", 10, ("data", "by", "n", "arr", "fn", "m", "", "q", "", "z")),
        ("_ZN3app4divsEPKi1P", 2, ("in", "")),
        ("_ZN3app4divsEPKiPii", 3, ("in", "", "o")),
        ("_Z4nonev", 0, ()),
        ("helper", 1, ()),
        ("_Z4latey1P", 2, ("seed", "point")),
        ("unknown", 1, ()),
    ],
)
def test_parameter_names(kernel: str, count: int, names: tuple[str, ...]) -> None:
    assert parameter_names(SOURCE, kernel, count) == names


@pytest.mark.parametrize(
    ("symbol", "name"),
    [
        ("main", "main"),
        ("_Z3fooi", "foo"),
        ("_ZL3foov", "foo"),
        ("_ZN12_GLOBAL__N_14kernEv", "kern"),
        ("_ZN3app5inner5scaleIfEEvPT_", "scale"),
        ("_Z", "_Z"),
    ],
)
def test_plain_name(symbol: str, name: str) -> None:
    assert plain_name(symbol) == name


@pytest.mark.parametrize("text", ["", "__global__", "__global__ void k(int a", "__global__ void k(int a, (", '"'])
def test_broken_source_gives_no_names_or_some(text: str) -> None:
    assert len(parameter_names(text, "k", 1)) in (0, 1)
