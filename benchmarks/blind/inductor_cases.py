"""Kernels that PyTorch's inductor writes, made without a GPU: for the third blind list."""

from __future__ import annotations

import os
import runpy
import tempfile
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch
import torch.nn.functional as f

from warplens.frontend.inductor_output import inductor_on_host
from warplens.machine import machine

GPU = "h200"
Module = Callable[..., Any]


def properties() -> Any:
    """Of the GPU, as torch.cuda has them."""
    limits = machine(GPU).limits
    return SimpleNamespace(
        name=GPU, major=9, minor=0, multi_processor_count=machine(GPU).multiprocessors, warp_size=32,
        max_threads_per_block=1024, max_threads_per_multi_processor=2048, gcnArchName="", L2_cache_size=50 << 20,
        regs_per_multiprocessor=limits.registers_per_multiprocessor, total_memory=1 << 37,
        shared_memory_per_block=48 << 10, shared_memory_per_block_optin=limits.shared_bytes_per_block_optin,
    )  # fmt: skip


def written(module: Module, make: Callable[[str], Sequence[torch.Tensor]]) -> str:
    """The text that inductor writes for a function on the GPU, of which torch is told that it is there."""
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
    kept: list[tuple[Any, str, Any]] = []
    for name, answer in told.items():
        for owner in (CudaInterface, CudaInterface.Worker, torch.cuda):
            if owner is torch.cuda and name == "is_available":
                continue
            kept.append((owner, name, owner.__dict__.get(name)))
            setattr(owner, name, answer if owner is torch.cuda else staticmethod(answer))
    version, torch.version.cuda = torch.version.cuda, "13.0"
    try:
        mode = FakeTensorMode()
        with mode:
            fake = make("cuda")
            traced = make_fx(module, decomposition_table=select_decomp_table())(*fake)
        graph = GraphLowering(traced, example_inputs=fake)
        with V.set_debug_handler(DebugContext()), V.set_graph_handler(graph), V.set_fake_mode(mode):
            graph.run(*fake)
            code, _ = graph.codegen()
    finally:
        torch.version.cuda = version
        for owner, name, value in kept:
            setattr(owner, name, value) if value is not None else delattr(owner, name)
    return str(getattr(code, "value", code))


def inductor(module: Module, *shapes: tuple[int, ...], kind: torch.dtype = torch.bfloat16) -> Callable[[Any], object]:
    def start(_: Any) -> object:
        folder = Path(tempfile.gettempdir()) / f"inductor_{zlib.crc32(module.__name__.encode()):08x}"
        folder.mkdir(exist_ok=True)
        os.environ |= {"TORCHINDUCTOR_CACHE_DIR": str(folder), "TORCHINDUCTOR_COMPILE_THREADS": "1"}
        file = folder / "output_code.py"
        file.write_text(written(module, lambda device: [torch.rand(*s, device=device).to(kind) for s in shapes]))
        with inductor_on_host():
            return runpy.run_path(str(file))["call"]([(torch.rand(*s) - 0.5).to(kind) for s in shapes])

    return start


def residual_norm(x: Any, y: Any, w: Any, b: Any) -> Any:
    h = x + y
    return h, f.layer_norm(h, (h.shape[-1],), w, b)


def gated(x: Any) -> Any:
    gate, value = x.chunk(2, -1)
    return f.gelu(gate, approximate="tanh") * value


def entropy(x: Any) -> Any:
    return -(torch.softmax(x.float(), -1) * torch.log_softmax(x.float(), -1)).sum(-1)


def column_means(x: Any) -> Any:
    return x.float().mean(0), x.float().var(0)


def pooled(x: Any) -> Any:
    return f.avg_pool2d(f.silu(x), 2)
