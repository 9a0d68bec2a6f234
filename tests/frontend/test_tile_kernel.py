"""Kernels of cuda.tile: a compiled one everywhere, others where cuda.tile and tileiras are installed."""

import platform
import shutil
import sys
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import warplens as wl
from warplens.compiler import read_cubin
from warplens.frontend.tile_arguments import PassedArgument, TileArguments, TileArray
from warplens.frontend.tile_kernel import CompiledTile, cuda_tile_installed, loaded
from warplens.frontend.tile_tensor_maps import map_parameters

ROOT = Path(__file__).parent.parent.parent
DATA = ROOT / "tests" / "data"
CODE = (DATA / "tile_product.sm_90.cubin").read_bytes()


def passed(name: str, array: Any) -> list[PassedArgument]:
    steps = [step // array.itemsize for step in array.strides]
    tile = TileArray(array, str(array.dtype), array.shape, tuple(steps), array.itemsize)
    return [PassedArgument(name, value) for value in (tile, *array.shape, *steps)]


@pytest.fixture(scope="module")
def product() -> CompiledTile:
    return loaded(CODE, "tile_product", str(DATA / "tile_product.py"), "1.7.0")


def test_block_and_source_are_in_the_cubin(product: CompiledTile) -> None:
    assert product.kernel.kernel.block == (256, 1, 1)
    assert [text for name, text in product.kernel.cubin.sources.items() if name.endswith("tile_product.py")]
    assert product.kernel.cubin.made_by == ("cuda.tile", "1.7.0")


def test_tensor_maps_stand_behind_the_arguments(product: CompiledTile) -> None:
    own = read_cubin(CODE).kernels["tile_product"]
    assert own.parameter_bytes == 3 * (8 + 4 * 4)
    assert [(p.offset, p.size) for p in product.maps] == [(112, 128), (240, 128), (368, 128)]
    assert map_parameters(product.kernel.kernel) == ()


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the cubin has host code for x86-64")
def test_the_host_function_makes_the_tensor_maps(product: CompiledTile) -> None:
    a, b = np.zeros((192, 48), np.float16), np.zeros((48, 128), np.float16)
    c = np.zeros((192, 128), np.float32)
    arguments = (*passed("a", a), *passed("b", b), *passed("c", c))
    maps = product.arguments(TileArguments((), arguments))[-3:]
    assert [m.storage is array for m, array in zip(maps, (a, b, c), strict=True)] == [True] * 3
    assert [(m.layout.sizes, m.layout.strides, m.layout.box) for m in maps[:2]] == [
        ((48, 192), (96,), (16, 64)),
        ((128, 48), (256,), (64, 16)),
    ]
    assert {m.layout.address for m in maps} == {0}


def test_other_bytes_behind_the_arguments_are_refused() -> None:
    own = read_cubin(CODE).kernels["tile_product"]
    odd = replace(own, constants={0: own.constants[0] + bytes(8)})
    with pytest.raises(
        wl.UnsupportedInstruction, match=r"tile_product \(sm_90\) has .* bytes behind .*allow_tma=False"
    ):
        map_parameters(odd)


@pytest.mark.parametrize(
    ("shape", "strides", "overlap"),
    [((64, 128), (128, 1), False), ((4, 1), (1, 1), False), ((4, 4), (0, 1), True), ((3, 3), (2, 1), True)],
)
def test_overlapping_elements(shape: Any, strides: Any, overlap: bool) -> None:
    assert TileArray(np.zeros(1), "float64", shape, strides, 8).overlaps == overlap


def test_without_cuda_tile_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cuda.tile", None)
    with pytest.raises(wl.UsageError, match=r'cuda.tile is not installed .*pip install "warplens\[cuda-tile\]"'):
        wl.cuda_tile(print)


def tileiras_installed() -> bool:
    try:
        version("nvidia-cuda-tileiras")
    except PackageNotFoundError:
        return shutil.which("tileiras") is not None
    return True


needs_cuda_tile = pytest.mark.skipif(
    not (cuda_tile_installed() and tileiras_installed()), reason="cuda.tile or tileiras is not installed"
)


@needs_cuda_tile
@pytest.mark.parametrize(
    ("array", "name"),  # names that cuda.tile 1.7's own launcher gave to such arrays
    [
        (np.zeros(1000, np.float32), "A1f32_1t1_p16"),
        (np.zeros(1025, np.float32)[1:], "A1f32_1i16t1"),
        (np.zeros((64, 128), np.float16), "A2f16_1v8l0_2t1_3i16_p16"),
        (np.zeros((64, 100), np.float16), "A2f16_1i16l0_2t1_p16"),
        (np.zeros((64, 128), np.float16).T, "A2f16_1t1_2v8l0_3i16_p16"),
        (np.zeros((1, 128), np.float32), "A2f32_1s1v4l0_2i16t1_p16"),
        (np.broadcast_to(np.zeros(4, np.float32), (4, 4)), "A2f32_1v4l0_2t1_p16i"),
        (3, "Si32"),
        (3.5, "Sf32"),
        ((3, 2.0), "T2Si32Sf32"),
    ],
)
def test_the_signature_is_that_of_cuda_tile(array: Any, name: str) -> None:
    import cuda.tile as ct
    from cuda.tile.compilation import CallingConvention, KernelSignature

    from warplens.frontend.tile_arguments import tile_arguments

    @ct.kernel
    def f(x: Any) -> None: ...

    signature = KernelSignature(tile_arguments(f, (array,)).constraints, CallingConvention.cutile_python_v2())
    assert signature.with_mangled_symbol("f").symbol == f"f_Kt2_{name}"


@needs_cuda_tile
def test_explain_runs_a_python_file(capsys: pytest.CaptureFixture[str]) -> None:
    """The file compares the product with NumPy's."""
    from warplens.cli.main import main

    assert main(["explain", str(ROOT / "examples" / "tile_matmul.py"), "--gpu", "h200"]) == 0
    printed = capsys.readouterr().out
    assert "Kernel   matmul of examples/tile_matmul.py, sm_90" in printed
    assert "total = ct.mma" in printed


@needs_cuda_tile
def test_what_cannot_be_launched_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    from tile_matmul import matmul

    kernel = wl.cuda_tile(matmul, gpu="a100")
    assert repr(kernel) == "<CudaTileKernel matmul for sm_80>"
    with pytest.raises(wl.UsageError, match="matmul takes a, b, c, m, n, k: 6 arguments, not 1"):
        kernel[1](np.zeros(4))
    with pytest.raises(wl.UsageError, match="a is a list: arrays, numbers and tuples"):
        kernel[1]([np.zeros(4)], 1, 1, 1, 1, 1)
    with pytest.raises(wl.UsageError, match="no arrays of complex64"):
        kernel[1](np.zeros(4, np.complex64), 1, 1, 1, 1, 1)
