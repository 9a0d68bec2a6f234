"""Instructions of a warp by pipe, in kernels of one line of PTX each (tests/isa/ptx_forms.py writes them)."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from gpu import Gpu

sys.path.insert(0, str(Path(__file__).parents[2] / "tests" / "isa"))

SOURCE = ""
PIPES = ("adu", "alu", "cbu", "fma", "fma_type_fp16", "fp64", "lsu", "xu")
COUNTERS = {"instructions": "smsp__inst_executed.sum"} | {
    pipe: f"smsp__inst_executed_pipe_{pipe}.sum" for pipe in PIPES
}


def launch(gpu: Gpu, row: dict[str, str]) -> bool | None:
    from ptx_forms import HEAD, forms, inputs

    from warplens.compiler import assemble

    form = next((form for form in forms() if form.line == row["ptx"]), None)
    if form is None:
        return None
    cubin = assemble(HEAD.format(arch="sm_90") + form.text(), "pipe_counts.ptx", "sm_90")
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        Path(file.name).write_bytes(cubin)
        gpu.module = gpu.cupy.RawModule(path=file.name)
        gpu.start(form.kernel, 1, 32, gpu.cupy.asarray(inputs()))  # which loads the file
    return True
