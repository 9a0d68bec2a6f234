"""Names of kernels as C++ writes them."""

from __future__ import annotations

import pytest

import warplens as wl
from warplens.core.demangle import demangled, full_name, parameter_types, plain_name, same_name

SOURCE = """#include <cuda_fp16.h>
namespace app { struct T {}; enum E { A, B }; template<class X> struct Op { int x; };
                __device__ float sq(float a) { return a * a; } }
template<typename T, typename U, int N> __global__ void k1(T* p, U u) { p[0] = T(); }
namespace app { template<typename T, bool B, unsigned N> __global__ void k2(T* p) { p[0] = T(); }
template<template<class> class O, typename T> __global__ void k3(T* p) { p[0] = T(); } }
template<class... Ts> __global__ void k4(Ts*... p) { }
template<long L, char C> __global__ void k5(int* p) { p[0] = L; }
template<float (*F)(float)> __global__ void k6(float* p) { p[0] = F(p[0]); }
"""
INSTANCES = (
    "k1<app::T, app::T, 4>",
    "k1<float const*, float const*, -4>",
    "k1<app::Op<app::T>, app::Op<app::T>*, 4>",
    "k1<app::Op<app::T>*, app::Op<app::T>, 4>",
    "k1<__half, app::Op<float>, 4>",
    "app::k2<app::T, true, 7u>",
    "app::k2<unsigned long long, false, 7u>",
    "app::k3<app::Op, float>",
    "app::k3<app::Op, app::Op<app::Op<int>>>",
    "k4<int, float, app::T>",
    "k5<5l, (char)97>",
    "k6<&app::sq>",
)


@pytest.fixture(scope="module")
def module():
    """Each instance, named as the compiler names it."""
    return wl.compile(source=SOURCE, arch="sm_90", names=INSTANCES)


@pytest.mark.parametrize("name", INSTANCES)
def test_the_compilers_symbol_is_read_back(module, name):
    symbol = module[name].kernel.name
    assert symbol.startswith("_Z")
    assert demangled(symbol) == name


def test_instances_of_a_cubin_have_names_and_are_found_by_them(module):
    loaded = wl.load(module.cubin.data)
    many = {name.removeprefix("app::") for name in INSTANCES if name[:2] == "k1" or "::k" in name}
    assert {loaded.spoken(symbol) for symbol in loaded} == {*many, "k4", "k5", "k6"}
    assert loaded["k2<app::T,true,7>"].kernel.name == module["app::k2<app::T, true, 7u>"].kernel.name


def test_what_cannot_be_read_keeps_its_symbol():
    for symbol in ("main", "_Z", "_Z4noneIXT_EE", "_Z1kIUlvE_EvT_", "_ZN3app", "_Z9", "_Z1kIS5_E"):
        assert demangled(symbol) == symbol


def test_parameter_types_of_instances_and_packs():
    assert parameter_types("_Z2k1IPKfS1_Lin4EEvPT_T0_") == ("float const**", "float const*")
    assert parameter_types("_ZN3app2k3INS_2OpENS1_INS1_IiEEEEEEvPT0_") == ("app::Op<app::Op<int>>*",)
    assert parameter_types("_Z2k4IJifN3app1TEEEvDpPT_") == ("int*", "float*", "app::T*")
    assert parameter_types("_Z1kPA4_iPFvifE") == ("int (*) [4]", "void (*)(int, float)")
    assert parameter_types("_Z1kv") == parameter_types("_ZN3app5tableE") == parameter_types("k") == ()


def test_names_without_template_arguments_and_namespaces():
    for symbol, full, plain in (
        ("_ZN3app2k3INS_2OpENS1_INS1_IiEEEEEEvPT0_", "app::k3", "k3"),
        ("_ZN41_GLOBAL__N__00000000_9_source_cu_c6e5af832anIfEEvPT_", "(anonymous namespace)::an", "an"),
        ("_Z3addB2v1Pi", "add", "add"),
        ("_ZL5table", "table", "table"),
        ("k", "k", "k"),
    ):
        assert (full_name(symbol), plain_name(symbol)) == (full, plain)


def test_spellings_of_one_name():
    assert same_name("k<unsigned int, 4u, const T *>") == same_name("k<unsigned int,4,const T*>")
    assert same_name("k<x4u>") != same_name("k<x4>")
