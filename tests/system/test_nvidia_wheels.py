"""Headers of CUTLASS are found where its wheel is installed."""

import shutil
from pathlib import Path

import pytest

import warplens as wl
from warplens.compiler.nvrtc import header_directories
from warplens.system.nvidia_wheels import cutlass_headers


@pytest.fixture
def wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A wheel with one header, of version 4.2.0."""
    include = tmp_path / "cutlass_library" / "source" / "include"
    (include / "cute").mkdir(parents=True)
    (tmp_path / "cutlass_library" / "__init__.py").touch()
    (include / "cute" / "tensor.hpp").write_text("namespace cute { __device__ int size() { return 7; } }\n")
    notes = tmp_path / "nvidia_cutlass-4.2.0.dist-info"
    notes.mkdir()
    (notes / "METADATA").write_text("Metadata-Version: 2.1\nName: nvidia-cutlass\nVersion: 4.2.0\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    return include


def test_headers_of_the_wheel_are_compiled(wheel: Path) -> None:
    folders, version = cutlass_headers()
    assert (folders[0], version) == (wheel, "4.2.0")
    assert wheel in header_directories()
    source = '#include <cute/tensor.hpp>\nextern "C" __global__ void k(int* x) { *x = cute::size(); }\n'
    assert list(wl.compile(source=source)) == ["k"]


def test_without_its_notes_the_wheel_is_not_used(wheel: Path) -> None:
    shutil.rmtree(wheel.parents[2] / "nvidia_cutlass-4.2.0.dist-info")
    if cutlass_headers() != ([], ""):  # another wheel of this name is installed here
        pytest.skip("nvidia-cutlass is installed")
    assert wheel not in header_directories()


def test_helpers_for_the_host_are_left_out_with_it(wheel: Path) -> None:
    (wheel / "cutlass" / "util").mkdir(parents=True)
    (wheel / "cutlass" / "util" / "clock.hpp").write_text("#error for the host\n")
    source = "#include <cutlass/util/clock.hpp>\n__global__ void k(int* x) { *x = 1; }\nint main() { Clock c; }\n"
    assert list(wl.compile(source=source)) == ["k"]
