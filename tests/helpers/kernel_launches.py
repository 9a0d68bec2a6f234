"""The kernels that the executor is tried with, and plain C that says what they should have done."""

from __future__ import annotations

import atexit
import ctypes
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import warplens as wl
from helpers.host_compiler import host_cc
from warplens.kernel import LaunchableKernel

ARCHITECTURES = ("sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120")
KERNELS = Path(__file__).parents[1] / "kernels"
VALIDATION = Path(__file__).parents[1] / "validation"
FLAGS = ("-std=c11", "-O1", "-ffp-contract=off", "-fwrapv", "-fno-strict-aliasing", "-shared", "-fPIC")


@cache
def kernel(file: str, name: str, arch: str, *options: str) -> LaunchableKernel:
    """A kernel of a file of tests/kernels or of a validation list."""
    return module(file, arch, *options)[name]


@cache
def module(file: str, arch: str, *options: str) -> wl.Module:
    return wl.compile(source(file), arch=arch, options=options)


def source(file: str) -> Path:
    """A file of tests/kernels or of a validation list."""
    return next(path for folder in (KERNELS, *VALIDATION.iterdir()) if (path := folder / file).is_file())


def written(source: str, name: str, arch: str = "sm_90") -> LaunchableKernel:
    """A kernel given in a test."""
    return written_module(source, arch)[name]


@cache
def written_module(source: str, arch: str = "sm_90") -> wl.Module:
    return wl.compile(source=source, arch=arch)


@cache
def _host() -> ctypes.CDLL:
    folder = Path(tempfile.mkdtemp(prefix="warplens-references-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    library = folder / "references.so"
    sources = [str(path) for path in sorted(Path(__file__).parent.glob("references*.c"))]
    subprocess.run([*host_cc(), *FLAGS, "-o", str(library), *sources, "-lm"], check=True)
    return ctypes.CDLL(str(library))


def on_host(name: str, *args: Any) -> None:
    """Calls a function of references*.c: arrays as pointers, Python numbers as int."""
    getattr(_host(), name)(*map(_passed, args))


def _passed(value: Any) -> Any:
    return ctypes.c_void_p(value.ctypes.data) if isinstance(value, np.ndarray) else ctypes.c_int(value)


def bits(values: NDArray[Any]) -> NDArray[Any]:
    """Floats as the integers that they are stored as: equal to the last bit, NaN and -0 included."""
    return values.view(f"u{values.dtype.itemsize}") if values.dtype.kind == "f" else values


def same(got: NDArray[Any], want: NDArray[Any]) -> None:
    assert got.dtype == want.dtype
    np.testing.assert_array_equal(bits(got), bits(want))


def alike(got: NDArray[Any], want: NDArray[Any]) -> None:
    """As same(), but one NaN is as good as another: the host's differ from the machine's."""
    assert got.dtype == want.dtype
    both = np.isnan(got) & np.isnan(want)
    same(np.where(both, 0, got).astype(got.dtype), np.where(both, 0, want).astype(want.dtype))


def awkward_floats(rng: np.random.Generator, count: int, dtype: Any = np.float32) -> NDArray[Any]:
    """All magnitudes, with zeros, denormals, infinities and NaN among them."""
    info = np.finfo(dtype)
    span = int(-np.log2(float(info.tiny)))
    values = ((rng.random(count) + 1) * np.exp2(rng.integers(-span, span, count))).astype(dtype)
    values[rng.random(count) < 0.5] *= -1
    tiny = float(info.smallest_subnormal)
    corners = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 0.5, float(info.max), -float(info.max), tiny, -5 * tiny]
    places = rng.permutation(count)[: len(corners)]
    values[places] = np.array(corners[: places.size], dtype)
    return values


def awkward_integers(rng: np.random.Generator, count: int, dtype: Any) -> NDArray[Any]:
    """All magnitudes, with the ends of the range at both ends."""
    info = np.iinfo(dtype)
    width = info.bits
    values = rng.integers(info.min, info.max, count, dtype=dtype, endpoint=True)
    values >>= rng.integers(0, width, count).astype(dtype)
    corners = np.array([info.min, info.max, 1, info.max // 2 + 1, info.min + 1, 0], dtype=dtype)
    values[: corners.size] = corners[: values.size]
    values[-corners.size :] = corners[::-1]
    return values


def fractions(rng: np.random.Generator, *shape: int) -> NDArray[np.float32]:
    """Floats whose sums round."""
    return ((rng.random(shape) - 0.5) * 10.0 ** rng.integers(-3, 3, shape)).astype(np.float32)
