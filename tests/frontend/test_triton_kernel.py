"""Kernels of Triton, compiled and launched; where Triton is installed (it is no dependency of the tests)."""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import warplens as wl

ROOT = Path(__file__).parent.parent.parent


def test_without_triton_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "triton", None)
    with pytest.raises(wl.UsageError, match=r'Triton is not installed .*pip install "warplens\[triton\]"'):
        wl.triton(print)


@pytest.fixture(scope="module")
def example() -> Any:
    pytest.importorskip("triton")
    sys.path.insert(0, str(ROOT / "examples"))
    try:
        import row_softmax
    finally:
        sys.path.pop(0)
    return row_softmax


X = np.random.default_rng(1).standard_normal((4, 1000), np.float32)


def softmax(x: Any, scale: float = 1.0) -> Any:
    power = np.exp(scale * x - scale * x.max(1, keepdims=True))
    return power / power.sum(1, keepdims=True)


def test_arrays_of_numpy_are_buffers(example: Any) -> None:
    y = np.zeros_like(X)
    run = wl.triton(example.row_softmax, gpu="h200")[(4,)](X, y, 1000, np.float32(0.5), BLOCK=1024)
    assert np.allclose(y, softmax(X, 0.5), atol=1e-6)
    assert run.title == "row_softmax"
    assert str(run.subject.file) == "examples/row_softmax.py"


def test_a_grid_may_be_a_function_of_the_arguments(example: Any) -> None:
    y = np.zeros_like(X)
    kernel = wl.triton(example.row_softmax, gpu="h200")
    kernel[lambda named: (named["BLOCK"] // 256,)](X, y, 1000, 1.0, BLOCK=1024)
    assert kernel.runs[-1].launch.grid == (4, 1, 1)


def test_the_kernel_of_a_signature_is_launched_by_hand(example: Any) -> None:
    kernel = wl.triton(example.row_softmax, gpu="a100").compile("*fp32:16, *fp32:16, i32, fp32, 1024", num_warps=8)
    assert kernel.arch == "sm_80"
    y = np.zeros_like(X)
    kernel.launch(4, 256, X, y, 1000, np.float32(1), *[None] * (len(kernel.parameters) - 4), shared=32, gpu="a100")
    assert np.allclose(y, softmax(X), atol=1e-6)


def test_a_wrong_signature_names_the_parameters(example: Any) -> None:
    with pytest.raises(wl.UsageError, match="takes x_ptr, y_ptr, columns, scale, BLOCK: 5 in the signature, not 2"):
        wl.triton(example.row_softmax).compile("*fp32, *fp32")


def test_the_autotuner_takes_what_is_predicted_to_be_fastest(example: Any) -> None:
    import triton

    configs = [triton.Config({"BLOCK": 1024}, num_warps=w) for w in (1, 8)]
    tuned = triton.autotune(configs, key=["columns"])(example.row_softmax)
    kernel = wl.triton(tuned, gpu="h200")
    y = np.zeros_like(X)
    run = kernel[(4,)](X, y, 1000, 1.0)
    assert [r.launch.block[0] for r in kernel.runs[:2]] == [32, 256]
    assert run.predict().time_us == pytest.approx(min(kernel.timings.values()))
    assert tuned.cache == {}
    one = wl.triton(tuned, gpu="h200", config=configs[0])
    assert one[(4,)](X, y, 1000, 1.0).launch.block[0] == 32
    assert len(one.runs) == 1


def test_launches_of_other_code_are_recorded(example: Any) -> None:
    with wl.triton_launches(gpu="h200") as runs:
        example.main()
    assert [run.title for run in runs] == ["row_softmax"]


def test_tensors_of_torch_are_buffers(example: Any) -> None:
    torch = pytest.importorskip("torch")
    x = torch.from_numpy(X.copy())
    y = torch.zeros(8, 1000)
    with wl.triton_launches(gpu="h200") as runs:
        example.row_softmax[(4,)](x, y[4:], 1000, 1.0, BLOCK=1024)
    assert np.allclose(y[4:].numpy(), softmax(X), atol=1e-6)
    assert not y[:4].any()
    assert len(runs) == 1


def test_explain_runs_a_python_file(example: Any, capsys: pytest.CaptureFixture[str]) -> None:
    from warplens.cli.main import main

    assert main(["explain", str(ROOT / "examples" / "row_softmax.py"), "--gpu", "h200"]) == 0
    printed = capsys.readouterr()
    assert "Kernel   row_softmax of examples/row_softmax.py, sm_90" in printed.out
    assert "x = scale * tl.load" in printed.out
    assert "<Run of row_softmax" in printed.err
