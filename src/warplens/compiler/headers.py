"""Headers: those of the C and C++ libraries that .cu files include and no wheel has.

The compiler knows printf, malloc, memcpy, __assertfail and the mathematical functions by itself; of the headers
that device code needs only assert.h has content (HEADERS).  Files that nvcc compiles lean on more, since it
includes cuda_runtime.h, and with it half the C library, into each of them: PRELUDE replaces that.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

ASSERT = """\
#undef assert
#ifdef NDEBUG
#define assert(e) ((void)0)
#else
#define assert(e) ((e) ? (void)0 : __assertfail(#e, __FILE__, __LINE__, __PRETTY_FUNCTION__, 1))
#endif
"""
KNOWN_TO_THE_COMPILER = "stdio stdlib string math"

HEADERS = {"assert.h": ASSERT, "cassert": ASSERT}
for name in KNOWN_TO_THE_COMPILER.split():
    HEADERS |= {f"{name}.h": "", f"c{name}": ""}

INTEGERS = {
    "8": ("signed char", "unsigned char", "0x7f", "0xff"),
    "16": ("short", "unsigned short", "0x7fff", "0xffff"),
    "32": ("int", "unsigned int", "0x7fffffff", "0xffffffffu"),
    "64": ("long long", "unsigned long long", "0x7fffffffffffffffll", "0xffffffffffffffffull"),  # as libcu++
}
CONSTANTS = """\
CHAR_BIT 8; SCHAR_MAX 127; SCHAR_MIN (-128); UCHAR_MAX 255; CHAR_MAX 127; CHAR_MIN (-128)
SHRT_MAX 32767; SHRT_MIN (-32768); USHRT_MAX 65535
INT_MAX 2147483647; INT_MIN (-2147483647 - 1); UINT_MAX 4294967295u
LONG_MAX 9223372036854775807l; LONG_MIN (-9223372036854775807l - 1); ULONG_MAX 18446744073709551615ul
LLONG_MAX 9223372036854775807ll; LLONG_MIN (-9223372036854775807ll - 1); ULLONG_MAX 18446744073709551615ull
SIZE_MAX 18446744073709551615ul; RAND_MAX 2147483647; EXIT_SUCCESS 0; EXIT_FAILURE 1
FLT_MAX 3.402823466e38f; FLT_MIN 1.175494351e-38f; FLT_EPSILON 1.192092896e-07f; FLT_DIG 6; FLT_MANT_DIG 24
DBL_MAX 1.7976931348623157e308; DBL_MIN 2.2250738585072014e-308; DBL_EPSILON 2.2204460492503131e-16; DBL_DIG 15
HUGE_VALF __int_as_float(0x7f800000); INFINITY __int_as_float(0x7f800000); NAN __int_as_float(0x7fffffff)
HUGE_VAL __longlong_as_double(0x7ff0000000000000ll)
M_E 2.7182818284590452354; M_LOG2E 1.4426950408889634074; M_LOG10E 0.43429448190325182765
M_LN2 0.69314718055994530942; M_LN10 2.30258509299404568402; M_PI 3.14159265358979323846
M_PI_2 1.57079632679489661923; M_PI_4 0.78539816339744830962; M_1_PI 0.31830988618379067154
M_2_PI 0.63661977236758134308; M_2_SQRTPI 1.12837916709551257390; M_SQRT2 1.41421356237309504880
M_SQRT1_2 0.70710678118654752440"""
IN_STD = """\
abs acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp2 expm1 fabs fdim floor fma fmax
fmin fmod frexp hypot ilogb isfinite isinf isnan ldexp lgamma llrint llround log log10 log1p log2 logb lrint lround
modf nearbyint nextafter pow remainder rint round signbit sin sinh sqrt tan tanh tgamma trunc memcpy memset size_t"""
# Types of the host's library that declarations outside of functions mention: enough of them that these compile.
HOST_TYPES = """\
vector map set unordered_map unordered_set list deque queue stack unique_ptr shared_ptr function"""
HOST_CLASSES = "string mutex thread ofstream ifstream stringstream mt19937 random_device"
# What a header of the C++ library has for device code too: the CUDA C++ core libraries have it under cuda/std.
CUDA_STD = """\
array bit cmath complex cstddef functional limits numeric optional ratio span tuple type_traits utility variant"""
IN_CUDA_STD = {name: f"cuda/std/__{name}_" for name in ("algorithm", "memory", "new")}
for name in CUDA_STD.split():
    IN_CUDA_STD[name] = f"cuda/std/{name}"
IN_KERNELS = ("block", "warp", "thread")  # what of CUB runs inside of a kernel
FOR_HOSTS = ("thrust/", "cub/device/", "cutlass/util/")  # what mostly host code uses, and takes seconds to compile


def _as_nvcc() -> str:
    lines = ["#pragma once", "typedef unsigned int uint;", "typedef unsigned short ushort;"]
    lines += ["typedef unsigned long ulong;", "typedef long ptrdiff_t;", "typedef long ssize_t;"]
    for bits, (signed, unsigned, most, all_bits) in INTEGERS.items():
        for kind in ("", "_least", "_fast"):
            lines += [f"typedef {signed} int{kind}{bits}_t;", f"typedef {unsigned} uint{kind}{bits}_t;"]
        lines += [f"#define INT{bits}_MAX {most}", f"#define INT{bits}_MIN (-{most} - 1)"]
        lines += [f"#define UINT{bits}_MAX {all_bits}"]
    lines += ["typedef long long intptr_t;", "typedef unsigned long long uintptr_t;"]
    lines += ["typedef long long intmax_t;", "typedef unsigned long long uintmax_t;"]
    for constant in CONSTANTS.replace("\n", ";").split(";"):
        lines += [f"#ifndef {constant.split()[0]}", f"#define {constant.strip()}", "#endif"]
    lines += ["namespace std {", *(f"using ::{name};" for name in IN_STD.split())]
    lines += [f"using ::{sign}int{bits}_t;" for sign in ("", "u") for bits in INTEGERS]
    for name, sign in (("min", "b < a"), ("max", "a < b")):
        lines += [f"template <class T> __host__ __device__ constexpr const T& {name}(const T& a, const T& b)"]
        lines += [f"{{ return {sign} ? b : a; }}"]
    lines += ["template <class T> __host__ __device__ constexpr void swap(T& a, T& b) { T c = a; a = b; b = c; }"]
    made = "{ template <class... A> constexpr %s(A&&...) {} };"
    lines += [f"template <class...> struct {name} {made % name}" for name in HOST_TYPES.split()]
    lines += [f"struct {name} {made % name}" for name in HOST_CLASSES.split()]
    return "\n".join([*lines, "}", ""])


PRELUDE = _as_nvcc()


def stand_in(name: str, directories: Sequence[Path], whole: bool) -> str | None:
    """What is compiled in place of a header; None: the header itself.

    With `whole` a header has all that there is of it for devices, otherwise nothing that takes long to compile.
    """
    if name == "cub/cub.cuh":
        return "".join(f"#include <{file}>\n" for part in IN_KERNELS for file in _headers(f"cub/{part}", directories))
    if any((directory / name).is_file() for directory in directories):
        return "" if name.startswith(FOR_HOSTS) and not whole else None
    instead = IN_CUDA_STD.get(name)
    if whole and instead and any((directory / instead).is_file() for directory in directories):
        return f"#include <{instead}>\nnamespace cuda::std {{}}\nnamespace std {{ using namespace cuda::std; }}\n"
    return HEADERS.get(name, "")


def _headers(folder: str, directories: Sequence[Path]) -> list[str]:
    found = [file for directory in directories for file in (directory / folder).glob("*.cuh")]
    return sorted(f"{folder}/{file.name}" for file in found)
