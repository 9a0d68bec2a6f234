"""Files that PyTorch's inductor writes, made here without a GPU; where torch and Triton are installed."""

from collections.abc import Iterator
from pathlib import Path
from runpy import run_path
from typing import Any

import pytest

import warplens as wl
from warplens.frontend.inductor_output import IMPORT, inductor_on_host

GPU = "h200"
INDUCTOR = Path(__file__).parents[2] / "benchmarks/blind/inductor_cases.py"  # makes such files without a GPU


def normalized(x: Any, weight: Any, bias: Any) -> Any:
    import torch

    h = torch.nn.functional.layer_norm(x, (x.shape[-1],), weight, bias)
    return torch.softmax(torch.nn.functional.gelu(h), -1), (h * h).sum(0)


def arguments(device: str) -> Any:
    import torch

    return [torch.rand(16, 1000, device=device), torch.rand(1000, device=device), torch.rand(1000, device=device)]


@pytest.fixture(scope="module")
def output_code(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    pytest.importorskip("torch")
    pytest.importorskip("triton")
    folder = tmp_path_factory.mktemp("inductor")
    file = folder / "output_code.py"
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(folder))
        written = run_path(str(INDUCTOR))["written"]
        with wl.triton_launches(gpu=GPU):
            file.write_text(written(normalized, arguments))
        yield file


def test_its_results_are_those_of_torch_on_the_cpu(output_code: Path) -> None:
    import torch

    assert IMPORT in output_code.read_text()
    given = arguments("cpu")
    with wl.triton_launches(gpu=GPU) as runs, inductor_on_host():
        results = run_path(str(output_code))["call"](list(given))
        assert torch.empty(4, device="cuda").device.type == "cpu"
    for result, wanted in zip(results, normalized(*given), strict=True):
        assert torch.allclose(result, wanted, rtol=1e-4, atol=1e-6)
    assert len({run.title for run in runs}) == 2


def test_explain_runs_the_file(output_code: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from warplens.cli.main import main

    assert main(["explain", str(output_code), "--gpu", GPU, "--kernel", "triton_per_fused_0"]) == 0
    assert "Kernel   triton_per_fused_0 of" in capsys.readouterr().out
