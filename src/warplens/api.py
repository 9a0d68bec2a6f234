"""Public API: compile, load and launch: from a CUDA file to counts."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
from numpy.typing import DTypeLike, NDArray

from warplens.compiler import (
    assemble,
    check_architecture,
    compile_source,
    extract_cubins,
    is_cubin,
    is_ptx,
    read_cubin,
)  # fmt: skip
from warplens.control_characters import visible
from warplens.core.cubin import Cubin, chip_number
from warplens.core.demangle import cpp_names, demangled, same_name
from warplens.core.device_variables import Variables
from warplens.errors import CubinError, UsageError
from warplens.kernel import LaunchableKernel
from warplens.launchspec.mapped_array import MappedArray, mapped
from warplens.launchspec.pitched_array import Pitched, allocate, padded
from warplens.machine import choose
from warplens.run import Run
from warplens.sass import disassemble


def compile(
    path: str | Path | None = None, *, source: str | None = None, arch: str = "sm_90",
    options: Sequence[str] = (), names: Sequence[str] = (),
) -> Module:  # fmt: skip
    """CUDA C++ to a module, or PTX: the content of a file whose name ends in .ptx, or text that begins as PTX does.

    path or source   the code; `options` go to NVRTC (of PTX: to ptxas) as they are
    names            name expressions of templates ("copy<float>"), which are then found under these names
    Raises CompileError with the compiler's own log, UsageError for an unknown architecture or a missing file.

    >>> module = wl.compile("examples/copy.cu", arch="sm_90")
    >>> module
    <Module for sm_90: ccopy, nccopy>
    >>> source = "template <class T> __global__ void fill(T* x, T v) { x[threadIdx.x] = v; }"
    >>> wl.compile(source=source, names=["fill<double>"])["fill<double>"].arch
    'sm_90'
    """
    if (path is None) == (source is None):
        raise UsageError("compile() takes either a path or source=")
    check_architecture(arch)
    name = str(path) if path is not None else "source.cu"
    text = source if source is not None else read_source(Path(name))
    if is_ptx(name, text):
        return Module(_placed(read_cubin(assemble(text, name, arch, options)), path), {})
    data, lowered = compile_source(text, name, arch, options, names)
    return Module(read_cubin(data, {name: text}), dict(lowered))


_UNSAVED: ContextVar[Mapping[str, str]] = ContextVar("unsaved", default=MappingProxyType({}))


@contextmanager
def unsaved_file(name: str, text: str) -> Iterator[None]:
    """Source text that is read under this name, as if such a file stood in the working directory."""
    token = _UNSAVED.set({**_UNSAVED.get(), name: text})
    try:
        yield
    finally:
        _UNSAVED.reset(token)


def read_source(path: Path) -> str:
    """Source text, decoded as UTF-8 or else Latin-1.  UsageError."""
    if (unsaved := _UNSAVED.get().get(str(path))) is not None:
        return unsaved
    data = read_code(path)
    if b"\0" in data:
        raise UsageError(f"cannot read {path} as text: it holds bytes of 0; a cubin needs a name that ends in .cubin")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def load(path: str | Path | bytes, arch: str | None = None, kernel: str | None = None) -> Module:
    """A finished cubin, by path or as bytes; or one of those that nvcc has put into a program, library or fatbin.

    arch     which code is meant where the file has some for several architectures; else the newest
    kernel   one that the module must have, where the file has several of the same architecture
    CubinError if there is none, UsageError if it is not said which.

    >>> cubin = wl.compile("examples/copy.cu").cubin.data
    >>> wl.load(cubin)["nccopy"].registers
    12
    """
    found = load_all(path, arch)
    meant = [module for module in found if kernel is None or kernel in module]
    if len(meant) == 1:
        return meant[0]
    names = " | ".join(", ".join(module) for module in found)
    raise UsageError(f"say one kernel, load(..., kernel=...), of those in the file's modules: {names}")


def load_all(path: str | Path | bytes, arch: str | None = None, usual: str | None = None) -> list[Module]:
    """The modules with kernels of a file for one architecture: `arch`, or else `usual`, or else the newest.

    A cubin is one module, of its own architecture.  CubinError or UsageError.
    """
    data, said = (path, "") if isinstance(path, bytes) else (read_code(path), f"{path}: ")
    try:
        within = {} if is_cubin(data) else extract_cubins(data)
        chosen = arch or (usual if usual in within else max(within, key=chip_number, default=""))
        place = None if isinstance(path, bytes) else path
        made = [Module(_placed(read_cubin(code), place), {}) for code in within.get(chosen, [] if within else [data])]
        if arch and arch not in {module.arch for module in made}:
            held = ", ".join(within or [module.arch for module in made])
            raise UsageError(f"{said}it holds code for {held}, none for {arch}; --arch compiles source files only")
        return [module for module in made if len(module)] or made[:1]
    except CubinError as error:
        raise CubinError(f"{said}{error}") from None


def _placed(cubin: Cubin, path: str | Path | None) -> Cubin:
    """The cubin of the file at this path."""
    return cubin if path is None else replace(cubin, folder=Path(path).absolute().parent)


def read_code(path: str | Path) -> bytes:
    try:
        return Path(path).read_bytes()
    except FileNotFoundError:
        raise UsageError(f"no such file: {path}") from None
    except IsADirectoryError:
        raise UsageError(f"{path} is a directory; give a .cu file, a .ptx file or a cubin") from None
    except (OSError, ValueError) as error:  # ValueError: a path with a NUL byte
        raise UsageError(f"cannot read {path}: {getattr(error, 'strerror', error)}") from None


class Module:
    """The kernels of one cubin: a mapping of name to LaunchableKernel.

    variables   `__device__` and `__constant__` variables by name, which can be read and set
    cubin       what the file holds: `cubin.data` are its bytes, `cubin.sources` the text that was compiled

    >>> module = wl.compile("examples/copy.cu")
    >>> list(module), "ccopy" in module
    (['ccopy', 'nccopy'], True)
    >>> module = wl.compile(source="__device__ float table[4]; __global__ void k(float* x) { *x = table[1]; }")
    >>> module.variables["table"] = np.ones(4, np.float32)
    >>> module.variables["table"]
    <__device__ variable table: 16 bytes>
    """

    def __init__(self, cubin: Cubin, lowered: Mapping[str, str]) -> None:
        self.cubin = cubin
        self.variables = Variables(cubin)
        self._lowered = dict(lowered)
        self._programs = disassemble(cubin)
        self._found: dict[str, LaunchableKernel] = {}

    def __repr__(self) -> str:
        return visible(f"<Module for {self.arch}: {', '.join(self) or 'no kernels'}>")

    @property
    def arch(self) -> str:
        """What the code is compiled for: "sm_90"."""
        return self.cubin.arch

    def __iter__(self) -> Iterator[str]:
        """C++ names of the kernels: "copy<float>"."""
        return map(self.spoken, self.cubin.kernels)

    def __len__(self) -> int:
        return len(self.cubin.kernels)

    def _symbol(self, name: str) -> str:
        """The kernel's name in the cubin; a function without `extern "C"` is found by its C++ name too."""
        if name in self.cubin.kernels or name in self._lowered:
            return self._lowered.get(name, name)
        wanted = same_name(name)
        alike = [symbol for symbol in self.cubin.kernels if wanted in map(same_name, cpp_names(symbol))]
        whole = [symbol for symbol in alike if wanted.removeprefix("::") == same_name(demangled(symbol))]
        return next((found[0] for found in (whole, alike) if len(found) == 1), name)

    def spoken(self, symbol: str) -> str:
        """What a reader calls this kernel, and finds it by: its C++ name, where only one kernel has that."""
        return next((name for name in cpp_names(symbol) if self._symbol(name) == symbol), symbol)

    def __contains__(self, name: str) -> bool:
        return self._symbol(name) in self.cubin.kernels

    def __getitem__(self, name: str) -> LaunchableKernel:
        symbol = self._symbol(name)
        if symbol not in self.cubin.kernels:
            known = ", ".join(dict.fromkeys([*self._lowered, *map(self.spoken, self.cubin.kernels)])) or "none"
            raise UsageError(f"no kernel {name!r} here; there are: {known}")
        if symbol not in self._found:
            kernel = self.cubin.kernels[symbol]
            self._found[symbol] = LaunchableKernel(self.cubin, kernel, name, self.variables, self._programs)
        return self._found[symbol]


def pitched(array: NDArray[Any], *, gpu: str | None = None) -> Pitched:
    """A copy of a 2-D or 3-D array, as a device buffer whose rows begin at multiples of the GPU's pitch alignment.

    gpu   whose alignment it is (default: WARPLENS_GPU, the GPU in the machine, h200).  UsageError for another shape.

    >>> picture = wl.pitched(np.ones((3, 5), np.float32))
    >>> picture, picture.array.shape
    (<Pitched float32 array of shape (3, 5), pitch 512 bytes>, (3, 5))
    """
    return padded(np.asarray(array), _alignment(gpu))


def empty_pitched(shape: Sequence[int], dtype: DTypeLike, *, gpu: str | None = None) -> Pitched:
    """A device buffer with padded rows whose contents are not set: NaN in floats, -1 in signed integers.

    gpu   whose alignment it is, as for pitched().  UsageError for a shape of other than 2 or 3 sizes.

    >>> wl.empty_pitched((4, 100), np.int32).pitch
    512
    """
    return allocate(shape, dtype, _alignment(gpu))


def tensor_map(
    array: NDArray[Any] | Pitched, box: Sequence[int], *, swizzle: int = 0, interleave: int = 0,
    element_strides: Sequence[int] = (), fill: Literal["zero", "nan"] = "zero", l2_promotion: int = 0,
    element_type: str = "",
) -> MappedArray:  # fmt: skip
    """An array with a tensor map (CUtensorMap), through which a kernel copies boxes of it (TMA).

    launch() takes it for the kernel's parameter, and changes the array in place.

    box              sizes of the box in elements, in the order of the array's axes
    swizzle          0, 32, 64 or 128 bytes;  interleave: 0, 16 or 32 bytes
    element_strides  of the box every which element is copied, 1 unless given
    fill             what the box holds outside of the array: zeros, or NaN
    l2_promotion     0, 64, 128 or 256 bytes
    element_type     "bf16", "tf32" ...: where it is not that of the array
    UsageError for what cuTensorMapEncodeTiled refuses.

    >>> wl.tensor_map(np.zeros((64, 128), np.float16), box=(32, 64), swizzle=128)
    <MappedArray float16 array of shape (64, 128), box (32, 64), swizzle 128>
    """
    return mapped(
        array, box, swizzle=swizzle, interleave=interleave, element_strides=element_strides, fill=fill,
        l2_promotion=l2_promotion, element_type=element_type,
    )  # fmt: skip


def _alignment(gpu: str | None) -> int:
    return choose(gpu, os.environ)[0].limits.pitch_alignment_bytes


def report(run: Run, path: str | Path) -> None:
    """Writes a run to `path`: a page for .html, the document for .json.  UsageError for another ending.

    >>> x = np.zeros(128, np.float32)
    >>> run = wl.compile("examples/copy.cu")["ccopy"].launch(1, 128, x, x.copy(), np.int32(128))
    >>> wl.report(run, "/dev/stdout")
    Traceback (most recent call last):
      ...
    warplens.errors.UsageError: a report cannot be written to /dev/stdout: .html and .json are possible endings
    """
    run.report(path)
