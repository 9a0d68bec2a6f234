"""The same expressions as a compiler of the host understands them (`probes/host*.h`), for the same inputs."""

from __future__ import annotations

import atexit
import ctypes
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from probe_kernels import COUNT, FOLDER, Probe, inputs, probes

# Not optimised: the rounding that is set for one operation is not to be folded away.
FLAGS = (
    "-x", "c++", "-std=c++17", "-O0", "-fno-exceptions", "-fwrapv", "-ffp-contract=off", "-fno-sanitize=undefined",
    "-w",
)  # fmt: skip
HEADERS = ("host.h", "host_integers.h", "host_floats.h", "host_halves.h")

# Kind of a result as host.h numbers them: width of a number in bits, all exponent bits of it.
NUMBERS = {
    1: (32, 0x7F800000),
    2: (64, 0x7FF << 52),
    3: (16, 0x7C00),
    4: (16, 0x7F80),
    5: (32, 0x7F800000),
    6: (16, 0x7C00),
    7: (16, 0x7F80),
}


@cache
def library() -> ctypes.CDLL:
    """All probes, compiled by the Clang that the wheel `ziglang` brings."""
    folder = Path(tempfile.mkdtemp(prefix="warplens-probes-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    lines = [f'#include "{FOLDER / name}"' for name in HEADERS]
    lines += [f"PROBE({probe.kernel}, {probe.host})" for probe in probes() if probe.host]
    source, made = folder / "probes.cc", folder / "probes.so"
    source.write_text("\n".join(lines) + "\n", encoding="utf-8")
    compiler = [sys.executable, "-m", "ziglang", "cc", *FLAGS, "-shared", "-fPIC"]
    subprocess.run([*compiler, "-o", str(made), str(source), "-lm"], check=True)
    return ctypes.CDLL(str(made))


@dataclass(frozen=True)
class Told:
    """What the host says of a probe: a result a row, of which kind, and whether C tells it."""

    results: NDArray[np.uint64]
    compared: NDArray[np.bool_]
    kind: int

    def differs(self, other: NDArray[np.uint64]) -> NDArray[np.intp]:
        """Rows in which other results differ.  Every NaN is as good as another: which one comes out, the host's
        processor knows for itself only."""
        return np.flatnonzero(self.compared & (one_nan(self.results, self.kind) != one_nan(other, self.kind)))


def on_host(probe: Probe) -> Told:
    results, compared = np.zeros(COUNT, np.uint64), np.zeros(COUNT, np.bool_)
    pointers = [ctypes.c_void_p(array.ctypes.data) for array in (inputs(), results, compared)]
    return Told(results, compared, getattr(library(), probe.kernel)(*pointers, COUNT))


def one_nan(words: NDArray[np.uint64], kind: int) -> NDArray[np.uint64]:
    if kind not in NUMBERS:
        return words
    bits, exponent = NUMBERS[kind]
    parts = words.view({16: np.uint16, 32: np.uint32, 64: np.uint64}[bits]).copy()
    parts[(parts & ((1 << bits - 1) - 1)) > exponent] = (1 << bits - 1) - 1
    return parts.view(np.uint64)
