"""Files that PyTorch's inductor writes, made here without a GPU; where torch and Triton are installed."""

from collections.abc import Iterator
from pathlib import Path
from runpy import run_path
from types import SimpleNamespace
from typing import Any

import pytest

import warplens as wl
from warplens.frontend.inductor_output import IMPORT, inductor_on_host
from warplens.machine import machine

GPU = "h200"


def normalized(x: Any, weight: Any, bias: Any) -> Any:
    import torch

    h = torch.nn.functional.layer_norm(x, (x.shape[-1],), weight, bias)
    return torch.softmax(torch.nn.functional.gelu(h), -1), (h * h).sum(0)


def arguments(device: str) -> Any:
    import torch

    return [torch.rand(16, 1000, device=device), torch.rand(1000, device=device), torch.rand(1000, device=device)]


def properties() -> Any:
    """Of the GPU, as torch.cuda has them."""
    limits = machine(GPU).limits
    return SimpleNamespace(
        name=GPU, major=9, minor=0, multi_processor_count=machine(GPU).multiprocessors, warp_size=32,
        max_threads_per_block=1024, max_threads_per_multi_processor=2048, gcnArchName="", L2_cache_size=50 << 20,
        regs_per_multiprocessor=limits.registers_per_multiprocessor, total_memory=1 << 37,
        shared_memory_per_block=48 << 10, shared_memory_per_block_optin=limits.shared_bytes_per_block_optin,
    )  # fmt: skip


def written(monkeypatch: pytest.MonkeyPatch) -> str:
    """The text that inductor writes for `normalized` on the GPU, of which torch is told that it is there."""
    import torch
    from torch._dynamo.device_interface import CudaInterface
    from torch._inductor.debug import DebugContext
    from torch._inductor.decomposition import select_decomp_table
    from torch._inductor.graph import GraphLowering
    from torch._inductor.virtualized import V
    from torch._subclasses.fake_tensor import FakeTensorMode
    from torch.fx.experimental.proxy_tensor import make_fx

    told = {
        "get_device_properties": lambda device=None: properties(), "get_device_capability": lambda device=None: (9, 0),
        "get_compute_capability": lambda device=None: 90, "current_device": lambda: 0, "device_count": lambda: 1,
        "is_available": lambda: True, "is_triton_capable": lambda device=None: True,
    }  # fmt: skip
    for name, answer in told.items():
        for owner in (CudaInterface, CudaInterface.Worker):
            monkeypatch.setattr(owner, name, staticmethod(answer), raising=False)
        if name != "is_available":
            monkeypatch.setattr(torch.cuda, name, answer, raising=False)
    monkeypatch.setattr(torch.version, "cuda", "13.0")
    mode = FakeTensorMode()
    with mode:
        fake = arguments("cuda")
        module = make_fx(normalized, decomposition_table=select_decomp_table())(*fake)
    graph = GraphLowering(module, example_inputs=fake)
    with V.set_debug_handler(DebugContext()), V.set_graph_handler(graph), V.set_fake_mode(mode):
        graph.run(*fake)
        code, _ = graph.codegen()
    monkeypatch.undo()
    return str(getattr(code, "value", code))


@pytest.fixture(scope="module")
def output_code(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    pytest.importorskip("torch")
    pytest.importorskip("triton")
    folder = tmp_path_factory.mktemp("inductor")
    file = folder / "output_code.py"
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(folder))
        with wl.triton_launches(gpu=GPU), pytest.MonkeyPatch.context() as inner:
            file.write_text(written(inner))
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
