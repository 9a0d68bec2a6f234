"""A kernel that Triton has compiled (examples/row_softmax.py), launched as Triton's own code launches it."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from warplens.errors import UsageError
from warplens.frontend.host_tensor import ALIGNED, HostTensor
from warplens.frontend.launch_options import LaunchOptions
from warplens.frontend.triton_arguments import im2col_map, tiled_map, wrapped
from warplens.frontend.triton_driver import TritonDriver
from warplens.machine import machine

ROOT = Path(__file__).parent.parent
EXAMPLE = ROOT.parent / "examples" / "row_softmax.py"
COLUMNS = 1000


@pytest.fixture(scope="module")
def compiled() -> Any:
    return json.loads((ROOT / "data" / "row_softmax.json").read_text())


def launch(compiled: Any, rows: int, x: Any, y: Any, options: LaunchOptions = LaunchOptions()) -> Any:  # noqa: B008
    driver = TritonDriver(machine("h200"), options)
    function = SimpleNamespace(file_name=str(EXAMPLE))
    source = SimpleNamespace(signature=dict(compiled["signature"]), fn=function)
    launcher = driver.launcher_cls(source, SimpleNamespace(**compiled["metadata"]))
    code = (ROOT / "data" / "row_softmax.sm_90.cubin").read_bytes()
    _, kernel, registers, spilled, threads = driver.utils.load_binary("row_softmax", code, 16, "")
    assert (registers, spilled, threads) == (29, 0, 1024)
    launcher(rows, 1, 1, 0, kernel, (), None, None, None, wrapped(x), wrapped(y), COLUMNS, 0.5, 1024)
    return driver.runs[-1]


def softmax(x: Any) -> Any:
    power = np.exp(0.5 * x - 0.5 * x.max(1, keepdims=True))
    return power / power.sum(1, keepdims=True)


def test_a_compiled_kernel_computes_what_numpy_does(compiled: Any) -> None:
    x = np.random.default_rng(1).standard_normal((3, COLUMNS), np.float32)
    y = np.zeros_like(x)
    run = launch(compiled, 3, x, y)
    assert np.allclose(y, softmax(x), atol=1e-6)
    assert run.launch.block == (128, 1, 1)
    assert run.launch.shared == 16
    assert run.labels == ("x_ptr", "y_ptr", "columns", "scale", "global_scratch", "profile_scratch")
    assert run["launch__block_size"] == 128
    assert run.predict("h200").time_us > 1


def test_the_lines_of_the_python_file_stand_beside_the_machine_code(compiled: Any) -> None:
    run = launch(compiled, 1, np.zeros((1, COLUMNS), np.float32), np.zeros((1, COLUMNS), np.float32))
    (text,) = (text for name, text in run.subject.sources.items() if name.endswith(EXAMPLE.name))
    assert text == EXAMPLE.read_text()
    (load,) = {i.source.line for i in run.kernel.program.instructions if i.opcode.startswith("LDG") and i.source}
    assert "tl.load" in text.splitlines()[load - 1]
    assert run.subject.file == str(EXAMPLE.relative_to(Path.cwd()))
    assert run.subject.tools["Triton"] == "3.9.0"


def test_views_of_one_array_are_one_buffer(compiled: Any) -> None:
    both = np.random.default_rng(1).standard_normal((4, COLUMNS), np.float32)
    expected = softmax(both[:2])
    run = launch(compiled, 2, both[:2], both[2:])
    assert np.allclose(both[2:], expected, atol=1e-6)
    assert len({a.start for a in run.again.memory.allocations}) == 1


def test_checks_and_samples_are_passed_on(compiled: Any) -> None:
    x = np.zeros((64, COLUMNS), np.float32)
    run = launch(compiled, 64, x, np.zeros_like(x), LaunchOptions(check=("all",), sample=4))
    assert run.checks
    assert run.metrics["smsp__inst_executed.sum"].provenance == "sampled"


def test_a_view_is_aligned_as_on_the_device() -> None:
    array = np.zeros((8, 9), np.float32)
    assert HostTensor(array).data_ptr() == ALIGNED
    assert HostTensor(array[1:]).data_ptr() % 16 == 4
    assert HostTensor(array.T).stride() == (1, 9)


def test_a_tiled_descriptor_is_a_tensor_map() -> None:
    array = np.zeros((256, 64), np.float16)
    found = tiled_map(0, 3, 2, 6, [32, 64], [128, 64], [64, 1], 1)(HostTensor(array[128:]))
    layout = found.layout
    assert (layout.sizes, layout.strides, layout.box) == ((64, 128), (128,), (64, 32))
    assert (layout.swizzle.span, layout.fill_nan, layout.address) == (128, True, 128 * 128)
    assert found.storage.ctypes.data == array.ctypes.data


def test_a_descriptor_of_pixels_is_an_im2col_map() -> None:
    array = np.zeros((2, 8, 8, 64), np.float16)
    made = im2col_map(
        0, 3, 2, 6, [16, 64], [2, 8, 8, 64], [4096, 512, 64, 1], 0, [-1, -2], [1, 2], [1] * 4
    )  # fmt: skip
    column = made(HostTensor(array)).layout.im2col
    assert (column.lower, column.upper, column.channels, column.pixels) == ((-2, -1), (2, 1), 64, 16)


def test_what_the_tensor_map_unit_refuses_is_an_error() -> None:
    with pytest.raises(UsageError, match="box 512"):
        tiled_map(0, 0, 2, 6, [512], [1024], [1], 0)(HostTensor(np.zeros(1024, np.float16)))


def test_a_tensor_on_a_gpu_is_refused() -> None:
    from warplens.frontend.host_tensor import device_view

    with pytest.raises(UsageError, match=r"a tensor on cuda:0: .*\.cpu\(\)"):
        device_view(SimpleNamespace(untyped_storage=None, device="cuda:0"))
