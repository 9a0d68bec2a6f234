"""What the labs' last rungs are measured against: the same work by PyTorch, cuBLAS and CUB.

One function a lab: from a rung's arguments on the GPU (tensors and numbers) to the name of each library's function
and what starts it.
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch

Start = Callable[[], Any]


def coalescing(source: torch.Tensor, out: torch.Tensor, n: int) -> dict[str, Start]:
    return {"torch.Tensor.copy_": lambda: out.copy_(source)}


def wide(x: torch.Tensor, y: torch.Tensor, z: torch.Tensor, n: int) -> dict[str, Start]:
    return {"torch.add": lambda: torch.add(x, y, out=z)}


def transpose(matrix: torch.Tensor, out: torch.Tensor, rows: int, columns: int) -> dict[str, Start]:
    source, target = matrix.view(rows, columns).t(), out.view(columns, rows)
    return {"torch.Tensor.copy_ of .t()": lambda: target.copy_(source)}


def softmax(x: torch.Tensor, out: torch.Tensor, rows: int, columns: int) -> dict[str, Start]:
    source, target = x.view(rows, columns), out.view(rows, columns)
    return {"torch.softmax": lambda: torch.softmax(source, -1, out=target)}


def sgemm(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor, n: int) -> dict[str, Start]:
    torch.backends.cuda.matmul.allow_tf32 = False
    of_a, of_b, of_c = (matrix.view(n, n) for matrix in (a, b, c))
    return {"torch.mm (cuBLAS, fp32)": lambda: torch.mm(of_a, of_b, out=of_c)}


def reduction(data: torch.Tensor, sums: torch.Tensor, n: int) -> dict[str, Start]:
    out = torch.zeros(1, dtype=data.dtype, device="cuda")
    found: dict[str, Start] = {"torch.sum": lambda: torch.sum(data)}
    if library := cub():
        call = library.sum_float if data.is_floating_point() else library.sum_int
        needed = ctypes.c_size_t(0)
        pointers = [ctypes.c_void_p(tensor.data_ptr()) for tensor in (data, out)]
        call(None, ctypes.byref(needed), *pointers, ctypes.c_int(n), None)
        scratch = torch.empty(needed.value, dtype=torch.uint8, device="cuda")
        at = ctypes.c_void_p(scratch.data_ptr())

        def start(scratch: torch.Tensor = scratch) -> None:
            call(at, ctypes.byref(needed), *pointers, ctypes.c_int(n), None)

        found["cub::DeviceReduce::Sum"] = start
    return found


LIBRARIES: Mapping[str, Callable[..., dict[str, Start]]] = {
    f.__name__: f for f in (coalescing, wide, transpose, softmax, sgemm, reduction)
}
_built: list[Any] = []


def cub() -> Any:
    """The library of cub.cu, built once; None where there is no nvcc."""
    if not _built:
        target = Path(tempfile.mkdtemp()) / "libcub_sums.so"
        source = Path(__file__).with_name("cub.cu")
        command = ["nvcc", "-O3", "-arch=sm_90", "-shared", "-Xcompiler", "-fPIC", "-o", str(target), str(source)]
        if shutil.which("nvcc"):
            subprocess.run(command, check=True)
        _built.append(ctypes.CDLL(str(target)) if target.is_file() else None)
    return _built[0]
