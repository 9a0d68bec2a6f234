"""Vendor libraries: those of NVIDIA that need its own driver, by the names of their files."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

DRIVER_TABLE = b"cuGetExportTable"  # they ask for the driver's private tables
LIBRARIES = {
    "cublas": "cuBLAS", "cublasLt": "cuBLASLt", "cudnn": "cuDNN", "cufft": "cuFFT", "cusparse": "cuSPARSE",
    "cusolver": "cuSOLVER", "curand": "cuRAND", "nccl": "NCCL", "cutensor": "cuTENSOR", "nvinfer": "TensorRT",
    "nppc": "NPP", "nvjpeg": "nvJPEG",
}  # fmt: skip
NAME = re.compile(r"/(?P<file>lib(?P<name>[A-Za-z]+)[\w.-]*\.so[.\d]*)$", re.MULTILINE)


def loaded(process: int) -> frozenset[str]:
    """Names of the files that a process has mapped, of these libraries; none where it has gone."""
    try:
        mapped = Path(f"/proc/{process}/maps").read_text(errors="replace")
    except OSError:
        return frozenset()
    return frozenset(found["file"] for found in NAME.finditer(mapped) if found["name"] in LIBRARIES)


def sentence(files: Iterable[str]) -> str:
    """What to know and to do about them; "" where there are none."""
    found = {file: LIBRARIES[match["name"]] for file in sorted(files) if (match := NAME.search(f"/{file}"))}
    if not found:
        return ""
    named = ", ".join(f"{name} ({file})" for file, name in found.items())
    return (
        f"the program uses {named}: such a library needs NVIDIA's own driver, and its calls fail here.  Leave it out "
        "for the run, or call kernels that have their source (CUTLASS, or your own) in its place"
    )
