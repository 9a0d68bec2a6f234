"""Times and counters of a list on this machine's GPU: `measure.py OUT [--LIST] [--cubins FILE]`.

The list is a folder of tests/validation ("--settlers"), the first if none is named.  OUT/LIST.csv: times by CUDA
events, L2 swept (cold) and with the same launch before (warm), with Nsight Compute's counters (caches emptied before
each pass, clocks left alone) where `ncu` is found.  It is kept as the list's h200/times.csv.
Cubins may be compiled beforehand on another machine: `measure.py --compile FILE [--LIST]`.
"""

from __future__ import annotations

import csv
import pickle
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))
from validation.lists import Configuration, List, asked
from warplens.core.launch import Launch
from warplens.hardware import Gpu, Job, launch, open_gpu, time
from warplens.hardware.ncu import CACHES, KEEP, read_csv

STALLS = (
    "barrier", "branch_resolving", "dispatch_stall", "drain", "gmma", "imc_miss", "lg_throttle", "long_scoreboard",
    "math_pipe_throttle", "membar", "mio_throttle", "misc", "no_instruction", "not_selected", "selected",
    "short_scoreboard", "sleeping", "tex_throttle", "wait",
)  # fmt: skip
COUNTERS = (
    "gpu__time_duration.sum", "dram__bytes_read.sum", "dram__bytes_write.sum", "l1tex__t_sector_hit_rate.pct",
    "lts__t_sector_hit_rate.pct", "sm__warps_active.avg.pct_of_peak_sustained_active",
    "sm__inst_executed.avg.per_cycle_elapsed", "smsp__cycles_active.avg", "sm__cycles_elapsed.max",
    "smsp__inst_executed.sum",
    *(f"smsp__average_warps_issue_stalled_{reason}_per_issue_active.ratio" for reason in STALLS),
)  # fmt: skip
POINTER = 8  # bytes
HEAD = ("name", "family", "cold_us", "low_us", "high_us", "warm_us", "megahertz")
TAIL = ("gpu", "date", "driver", "tools")


@dataclass(frozen=True)
class Code:
    """cubin: of a file;  sizes: of each kernel's parameters, in bytes."""

    cubin: bytes
    sizes: Mapping[str, tuple[int, ...]]


def compiled(chosen: List) -> dict[str, Code]:
    import warplens as wl

    found = {}
    for file in {wanted.file for wanted in chosen.configurations()}:
        module = wl.compile(chosen.file(f"{file}.cu"))
        found[file] = Code(module.cubin.data, {k: tuple(p.size for p in module[k].parameters) for k in module})
    return found


def job(wanted: Configuration, code: Code) -> Job:
    """Arrays become buffers; an array as small as the parameter is its bytes, unless that has the size of a pointer."""
    arguments: list[int | bytes] = []
    buffers = []
    for value, size in zip(wanted.arguments(), code.sizes[wanted.kernel], strict=True):
        made = np.asarray(value)
        if made.ndim and (made.nbytes != size or size == POINTER):
            arguments.append(len(buffers))
            buffers.append(made.reshape(-1).view(np.uint8))
        else:
            arguments.append(made.tobytes()[:size].ljust(size, b"\0"))
    grid, block = (tuple(size) + (1,) * (3 - len(size)) for size in (wanted.grid, wanted.block))
    shape = Launch(grid, block, wanted.shared)  # type: ignore[arg-type]
    return Job(code.cubin, wanted.kernel, "sm_90", shape, tuple(arguments), tuple(buffers))


def times(found: Mapping[str, Code], gpu: Gpu, chosen: List) -> Iterator[list[Any]]:
    for wanted in chosen.configurations():
        timing = time(job(wanted, found[wanted.file]), gpu)
        spread = (timing.microseconds, timing.low, timing.high, timing.warm, timing.megahertz)
        yield [wanted.name, wanted.family, *(f"{value:.4g}" if value < 10 else f"{value:.6g}" for value in spread)]
        print(wanted.name, *(f"{value:.2f}" for value in spread), flush=True)


def counters(cubins: Path, folder: Path, chosen: List) -> list[dict[str, Any]]:
    """Of one launch each, in a process under Nsight Compute."""
    log = folder / "ncu.csv"
    again = [sys.executable, __file__, "--once", "--cubins", str(cubins), f"--{chosen.name}"]
    profiler = ["ncu", *KEEP, *CACHES[True], "--csv", "--page", "raw", "--print-units", "base", "--log-file", str(log)]
    subprocess.run([*profiler, "--metrics", ",".join(COUNTERS), *again], check=True)
    return [{name: metric.value for name, metric in row.items()} for row in read_csv(log.read_text())]


def main(words: list[str]) -> None:
    chosen = asked(words)
    if words[0] == "--compile":
        Path(words[1]).write_bytes(pickle.dumps(compiled(chosen)))
        return
    cubins = Path(words[words.index("--cubins") + 1]) if "--cubins" in words else None
    found = pickle.loads(cubins.read_bytes()) if cubins else compiled(chosen)
    gpu = open_gpu()
    if words[0] == "--once":
        for wanted in chosen.configurations():
            launch(job(wanted, found[wanted.file]), gpu)
        return
    folder = Path(words[0])
    rows = list(times(found, gpu, chosen))
    counted: list[dict[str, Any]] = [{}] * len(rows)
    if shutil.which("ncu") and cubins:
        counted = counters(cubins, folder, chosen)
    tools = "NVRTC 13.0.88, CUDA events, ncu 2025.3.1 --cache-control all"
    tail = (gpu.name, str(date.today()), gpu.driver, tools)
    with (folder / f"{chosen.name}.csv").open("w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow([*HEAD, *COUNTERS, *TAIL])
        for row, values in zip(rows, counted, strict=True):
            out.writerow([*row, *(f"{values[n]:.6g}" if n in values else "" for n in COUNTERS), *tail])


if __name__ == "__main__":
    main(sys.argv[1:])
