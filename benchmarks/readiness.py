"""How long it takes until a kernel can run: as steps, with and without pieces kept from other kernels, and as a whole.

    python benchmarks/readiness.py

The columns are explained in README.md beside this file.
"""

from __future__ import annotations

import multiprocessing
import os
import shutil
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

LABS = Path(__file__).parent.parent / "src" / "warplens" / "labs"
KERNELS = (
    LABS / "reduction" / "14_float.cu",
    LABS / "sgemm" / "5_square.cu",
    LABS / "sgemm" / "10_eight_by_sixteen.cu",
)


def ready(file: Path, cache: str, tier: str, libraries: bool) -> tuple[int, int, float]:
    """Instructions, forms, and seconds of the processor until the kernel in this file can run; compiled beforehand.

    libraries   whether the routines that all kernels share are compiled beforehand, too
    """
    os.environ["WARPLENS_CACHE"] = cache
    import warplens as wl
    from warplens.emulator.jit import compile_module
    from warplens.emulator.state.check_set import NO_CHECKS
    from warplens.emulator.threaded import baseline_compiler
    from warplens.emulator.threaded.threaded_code import threaded_code
    from warplens.isa import operations
    from warplens.system.disk_cache import fingerprint

    module = wl.compile(file, arch="sm_90")
    (name,) = module._programs
    kernel, program = module.cubin.kernels[name], module._programs[name]
    operations()
    fingerprint()
    if libraries:
        compile_module.library_for(kernel, program)
    start = time.process_time()
    if tier == "steps":
        assert baseline_compiler.compile_threaded(kernel, program, NO_CHECKS) is not None
    else:
        compile_module.compile_kernel(kernel, program, 32)
    seconds = time.process_time() - start
    return len(program.instructions), len(set(threaded_code(kernel, program, NO_CHECKS).templates)), seconds


def alone(work: Callable[[], tuple[int, int, float]]) -> tuple[int, int, float]:
    """In a process of its own: nothing is left of what was done before."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(work)


def main() -> None:
    print(f"{'kernel':28} instructions forms    known      new    first    whole")
    for file in KERNELS:
        cache = tempfile.mkdtemp()
        try:
            instructions, forms, first = alone(partial(ready, file, cache, "steps", False))
            _, _, known = alone(partial(ready, file, cache, "steps", True))
            shutil.rmtree(Path(cache) / "handler")
            _, _, new = alone(partial(ready, file, cache, "steps", True))
            _, _, whole = alone(partial(ready, file, cache, "whole", True))
        finally:
            shutil.rmtree(cache)
        name = f"{file.parent.name}/{file.stem}"
        print(f"{name:28} {instructions:12} {forms:5} {known:8.3f} {new:8.3f} {first:8.3f} {whole:8.3f}")


if __name__ == "__main__":
    main()
