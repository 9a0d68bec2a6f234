"""cuda.tile kernels: compiled by tileiras for a named GPU, and launched as by cuda.tile.launch, without a GPU."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from io import BytesIO
from typing import Any

from warplens.compiler import read_cubin
from warplens.core.cubin import Parameter
from warplens.errors import UsageError
from warplens.frontend.launch_options import USUAL, LaunchOptions
from warplens.frontend.python_kernel import load_kernel, short_path
from warplens.frontend.tile_arguments import TileArguments, TileArray, tile_arguments
from warplens.frontend.tile_tensor_maps import map_parameters, tensor_maps
from warplens.kernel import LaunchableKernel
from warplens.launchspec.mapped_array import MappedArray
from warplens.machine import Machine, choose
from warplens.run import Run

SPACE = 40  # bits of an address within an array, where the host function makes tensor maps


def cuda_tile(
    kernel: Any, *, gpu: str | None = None, check: Sequence[str] = (), sample: int | None = None
) -> CudaTileKernel:
    """A kernel of cuda.tile (@ct.kernel), to be launched on the CPU: `wl.cuda_tile(add)[grid](x, y, z, 256)`.

    tileiras compiles it, for the architecture of the GPU, sm_80 and later; arrays of NumPy and tensors of torch on the
    CPU are device buffers, updated in place.

    gpu      whose machine code and limits (default: WARPLENS_GPU, the GPU in the machine, h200)
    check, sample   as of LaunchableKernel.launch()
    UsageError where cuda.tile is not installed, or for something else than one of its kernels.

    >>> from tile_matmul import matmul  # doctest: +SKIP
    >>> run = wl.cuda_tile(matmul, gpu="h200")[2, 2](a, b, c, 64, 64, 32)  # doctest: +SKIP
    """
    if not isinstance(kernel, cuda_tile_module().kernel):
        raise UsageError(f"{kernel!r} is no kernel of cuda.tile: decorate it with @ct.kernel")
    return CudaTileKernel(kernel, TileLauncher(choose(gpu, os.environ)[0], LaunchOptions(check, sample)))


@contextmanager
def cuda_tile_launches(
    *, gpu: str | None = None, check: Sequence[str] = (), sample: int | None = None
) -> Iterator[list[Run]]:
    """Within it each cuda.tile.launch(stream, grid, kernel, args) is executed on the CPU and appended to the list.

    Parameters are those of cuda_tile(); the stream may be None.

    >>> with wl.cuda_tile_launches(gpu="h200") as runs:  # doctest: +SKIP
    ...     ct.launch(None, (4,), add, (x, y, z, 256))
    """
    with active_tile(TileLauncher(choose(gpu, os.environ)[0], LaunchOptions(check, sample))) as launcher:
        yield launcher.runs


@dataclass(frozen=True)
class CudaTileKernel:
    """A kernel of cuda.tile that is launched on the CPU: `kernel[grid](...)` is a Run.

    function   cuda.tile's;  launcher: of one GPU, with all runs

    >>> wl.cuda_tile(matmul, gpu="h200")  # doctest: +SKIP
    <CudaTileKernel matmul for sm_90>
    """

    function: Any
    launcher: TileLauncher

    def __repr__(self) -> str:
        return f"<CudaTileKernel {self.function._pyfunc.__name__} for {self.launcher.machine.arch}>"

    def __getitem__(self, grid: int | tuple[int, ...]) -> Callable[..., Run]:
        """The launch with this grid of up to three sizes, in tiles' blocks."""

        def launch(*args: Any) -> Run:
            return self.launcher.launch((grid,) if isinstance(grid, int) else grid, self.function, args)

        return launch


@dataclass
class TileLauncher:
    """Launcher of cuda.tile's kernels for one GPU; `runs` are the launches so far."""

    machine: Machine
    options: LaunchOptions = USUAL
    runs: list[Run] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._compiled: dict[tuple[Any, str], CompiledTile] = {}

    def launch(self, grid: Sequence[int], kernel: Any, args: Sequence[Any]) -> Run:
        """UsageError for arguments that do not fit; cuda.tile's own error for what it does not compile."""
        given = tile_arguments(kernel, args)
        found = self._compile(kernel, given)
        labels = [argument.name for argument in given.passed] + ["tensor map"] * len(found.maps)
        clusters = found.kernel.kernel.cluster
        run = found.kernel.launch(
            [blocks * size for blocks, size in zip((*grid, 1, 1), clusters, strict=False)],
            found.kernel.kernel.block or 1, *found.arguments(given), gpu=self.machine.key, labels=labels,
            **self.options.given,
        )  # fmt: skip
        file = short_path(kernel._pyfunc.__code__.co_filename)
        self.runs.append(replace(run, title=kernel._pyfunc.__name__, file=file))
        return self.runs[-1]

    def _compile(self, kernel: Any, given: TileArguments) -> CompiledTile:
        from cuda.tile.compilation import CallingConvention, KernelSignature

        signature = KernelSignature(given.constraints, CallingConvention.cutile_python_v2())
        signature = signature.with_mangled_symbol(kernel._pyfunc.__name__)
        known = kernel, signature.symbol
        if known not in self._compiled:
            self._compiled[known] = compiled(kernel, signature, self.machine.arch)
        return self._compiled[known]


@dataclass(frozen=True)
class CompiledTile:
    """Compiled tile kernel; `maps` are the parameters behind its own ones that tensor maps are."""

    kernel: LaunchableKernel
    maps: tuple[Parameter, ...]

    def arguments(self, given: TileArguments) -> list[Any]:
        """As launch() takes them."""
        sizes = [parameter.size for parameter in self.kernel.parameters][: len(given.passed)]
        values = [argument.converted(size) for argument, size in zip(given.passed, sizes, strict=True)]
        return values + ([*self._mapped(given, sizes)] if self.maps else [])

    def _mapped(self, given: TileArguments, sizes: Sequence[int]) -> Iterator[MappedArray]:
        """Each tensor map with its array, which the host function is told by an address that counts arrays."""
        block = bytearray(self.maps[0].offset)
        arrays = given.arrays
        addresses = iter((n << SPACE) + array.offset for n, array in enumerate(arrays, 1))
        for argument, parameter, size in zip(given.passed, self.kernel.parameters, sizes, strict=False):
            value = argument.value
            data = next(addresses).to_bytes(8, "little") if isinstance(value, TileArray) else argument.converted(size)
            block[parameter.offset : parameter.offset + size] = data
        for layout in tensor_maps(self.kernel.cubin.data, self.kernel.kernel, self.maps, bytes(block)):
            layout.check()
            array = arrays[(layout.address >> SPACE) - 1]
            yield MappedArray(array.storage, replace(layout, address=layout.address & (1 << SPACE) - 1))


def compiled(kernel: Any, signature: Any, arch: str) -> CompiledTile:
    """UsageError without tileiras."""
    from cuda.tile import __version__
    from cuda.tile.compilation import export_kernel

    file = BytesIO()
    try:
        export_kernel(kernel, [signature], file, gpu_code=arch, output_format="cubin")
    except FileNotFoundError as error:
        raise UsageError(f"{error}") from None
    return loaded(file.getvalue(), signature.symbol, kernel._pyfunc.__code__.co_filename, __version__)


def loaded(code: bytes, symbol: str, source: str, version: str) -> CompiledTile:
    """The kernel of a cubin that cuda.tile of this version has made of a function in the file `source`."""
    cubin = read_cubin(code)
    own = cubin.kernels[symbol]
    maps = map_parameters(own)
    own = replace(own, parameters=(*own.parameters, *maps))
    kernel = load_kernel(replace(cubin, kernels={symbol: own}), symbol, source, ("cuda.tile", version))
    return CompiledTile(kernel, maps)


@contextmanager
def active_tile(launcher: TileLauncher) -> Iterator[TileLauncher]:
    """cuda.tile.launch with this launcher, in all threads."""
    module = cuda_tile_module()
    before = module.launch

    def launch(stream: object, grid: Sequence[int], kernel: Any, args: Sequence[Any], /, **_: object) -> None:
        launcher.launch(grid, kernel, args)

    module.launch = launch
    try:
        yield launcher
    finally:
        module.launch = before


def cuda_tile_module() -> Any:
    try:
        import cuda.tile
    except ImportError as error:
        raise UsageError(f'cuda.tile is not installed ({error}): pip install "warplens[cuda-tile]"') from None
    return cuda.tile


def cuda_tile_installed() -> bool:
    return find_spec("cuda") is not None and find_spec("cuda.tile") is not None
