"""Link libraries: what a program names as -lcuda, -lnvidia-ml, -lnvrtc, where there is no driver and no toolkit.

Those of the driver are empty functions of the names that `warplens run` answers, under the driver's file names, so that
the program also runs with the driver.  Those of NVIDIA's wheels are in the wheels without the names that linkers want.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from warplens.program.shim_library import compiler, empty_library, functions_of, library
from warplens.system import disk_cache
from warplens.system.nvidia_wheels import library_of

DRIVER = {"cuda": ("libcuda.so.1", "cu"), "nvidia-ml": ("libnvidia-ml.so.1", "nvml")}
"""File, and how the names of its functions begin."""
RUNTIME = "cuda"  # how those of the runtime begin, which are no part of libcuda
WHEELS = {"nvrtc": "libnvrtc.so.13", "cudart": "libcudart.so.13"}
PLACES = ("lib64/stubs", "lib64", "lib/stubs", "lib")  # in a toolkit


@contextmanager
def link_options(command: Sequence[str], toolkit: Path) -> Iterator[list[str]]:
    """Context manager: what to add to nvcc's command, so that it finds those of these libraries that it names.

    toolkit   its folder: what is there is taken from there
    """
    named = [name for name in (*DRIVER, *WHEELS) if f"-l{name}" in command]
    missing = [name for name in named if not any((toolkit / place / f"lib{name}.so").exists() for place in PLACES)]
    with tempfile.TemporaryDirectory(prefix="warplens-") as folder:
        options = [f"-L{folder}"] if missing else []
        for name in missing:
            place = Path(folder) / f"lib{name}.so"
            if name in DRIVER:
                place.write_bytes(_driver_library(name))
            elif found := library_of(WHEELS[name]):
                place.symlink_to(found)
                options += ["-Xlinker", f"-rpath={found.parent}"]
        yield options


def _driver_library(name: str) -> bytes:
    file, begin = DRIVER[name]
    with library() as folder:
        data = (folder / DRIVER["cuda"][0]).read_bytes()
    functions = [function for function in functions_of(data) if function.startswith(begin)]
    own = [function for function in functions if not function.startswith(RUNTIME)]
    command = compiler()
    key = disk_cache.key("link library", file, *command, *own)
    return disk_cache.remember("link", key, lambda: empty_library(command, file, own))
