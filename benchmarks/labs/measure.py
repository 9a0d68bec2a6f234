"""Times of the labs' rungs and of the libraries, in one process.

    measure.py OUT.csv [LAB[:RUNG,RUNG][@NAME=VALUE,...]]...

Each result is compared with the lab's truth before it is timed.  Rungs and libraries take turns:

    warm   right behind another launch
    cold   after eight times L2 was read through, as in `warplens measure`

Without labs: those that end at the limit of the hardware, at the sizes of README.md.
"""

from __future__ import annotations

import csv
import statistics
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import torch
from libraries import LIBRARIES, Start, cub

from kernels import Kernel
from warplens.labs.python_file import function, keywords, load
from warplens.launchspec.expression import evaluate
from warplens.launchspec.lab_toml import LabFile, RungEntry, read_lab_file

LABS = Path(__file__).parents[2] / "src" / "warplens" / "labs"
GIB = 1 << 28  # elements of 4 bytes
WANTED = (
    f"coalescing:1_ccopy,9_limit@n={GIB}", f"wide:9_limit@n={GIB}", "reduction",
    f"reduction@n={GIB}", "transpose", "softmax", "sgemm",
)  # fmt: skip
ROUNDS = 25
SLOW = 20_000.0  # microseconds: above, a fifth of the rounds
SWEPT = 8  # times L2
HEAD = (
    "lab", "size", "rung", "kind", "warm_us", "low_us", "high_us", "cold_us", "rounds", "rate", "unit", "date", "gpu",
    "driver", "torch", "cuda", "cub",
)  # fmt: skip


@dataclass(frozen=True)
class Wanted:
    """lab:rung,rung@name=value"""

    lab: LabFile
    rungs: tuple[RungEntry, ...]
    size: Mapping[str, int]

    @classmethod
    def parse(cls, text: str) -> Wanted:
        head, _, size = text.partition("@")
        name, _, rungs = head.partition(":")
        lab = read_lab_file(LABS / name)
        chosen = [lab.rungs[rung] for rung in rungs.split(",")] if rungs else lab.rungs.values()
        return cls(lab, tuple(chosen), {k: int(v) for k, v in (part.split("=") for part in size.split(",") if part)})


class Bench:
    """The rungs of one lab that share their arguments, and the libraries on the same data."""

    def __init__(self, lab: LabFile, rungs: Sequence[RungEntry], size: Mapping[str, int]) -> None:
        self.folder, self.lab, self.rungs, self.size = lab.path.parent, lab, rungs, size
        names = lab.names(rungs[0], size)
        self.host = [argument.make() for argument in rungs[0].launch.arguments(names)]
        self.first = [torch.from_numpy(a).cuda() if isinstance(a, np.ndarray) else a for a in self.host]
        self.arguments = [a.clone() if isinstance(a, torch.Tensor) else a for a in self.first]
        self.expected: dict[str, Mapping[str, Any]] = {}
        properties = torch.cuda.get_device_properties(0)
        self.sweep = torch.ones(SWEPT * properties.L2_cache_size // 4, device="cuda")

    def starts(self) -> Iterator[tuple[str, Start]]:
        """What is compared with the truth is made ready to be timed; what is wrong is told and left out."""
        for rung in self.rungs:
            kernel = Kernel(self.folder / rung.file, rung.launch)
            launch = rung.launch.launch(self.lab.names(rung, self.size))
            self.renew()
            kernel.start(launch, self.arguments)
            torch.cuda.synchronize()
            if wrong := self.wrong(rung):
                print(f"{self.folder.name} {rung.title}: {wrong}", flush=True)
            else:
                yield rung.title, lambda kernel=kernel, launch=launch: kernel.start(launch, self.arguments)
        yield from LIBRARIES[self.folder.name](*self.arguments).items()

    def renew(self) -> None:
        for argument, first in zip(self.arguments, self.first, strict=True):
            if isinstance(argument, torch.Tensor):
                argument.copy_(first)

    def wrong(self, rung: RungEntry) -> str:
        """ "" where a rung has computed what it should."""
        module, names = load(self.folder / "truth.py"), self.lab.names(rung, self.size)
        truth, result = function(module, rung.truth), function(module, rung.result)
        if rung.truth not in self.expected:
            self.expected[rung.truth] = truth(*self.host, **keywords(truth, names))
        if result:
            after = [a.cpu().numpy() if isinstance(a, torch.Tensor) else a for a in self.arguments]
            found = {k: torch.as_tensor(v) for k, v in result(*after, **keywords(result, names)).items()}
        else:
            labels = truth.__code__.co_varnames
            found = {k: a for k, a in zip(labels, self.arguments, strict=False) if isinstance(a, torch.Tensor)}
        tolerance = getattr(module, "TOLERANCE", 0)
        told = (differing(k, e, found[k], tolerance) for k, e in self.expected[rung.truth].items())
        return "; ".join(filter(None, told))

    def rate(self, rung: RungEntry) -> tuple[float, str]:
        """Work that any rung has to do, and its unit a second."""
        kind = "flops" if "flops" in rung.work else "bytes"
        work = float(evaluate(rung.work[kind], self.lab.names(rung, self.size)))
        return work, "TFLOP/s" if kind == "flops" else "GB/s"


def differing(name: str, expected: Any, found: torch.Tensor, tolerance: float) -> str:
    wanted = torch.as_tensor(expected).to(found.device).reshape(-1)
    got = found.reshape(-1)
    if not tolerance or not got.is_floating_point():
        count = int((wanted != got).sum())
    else:
        near = (got.double() - wanted).abs() <= tolerance * (wanted.abs() + wanted.abs().double().mean())
        count = int((~near).sum())
    return f"{name}: {count} of {got.numel()} differ" if count else ""


def microseconds(start: Start) -> float:
    before, behind = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    before.record()
    start()
    behind.record()
    behind.synchronize()
    return 1000 * before.elapsed_time(behind)


def taken_in_turns(starts: Mapping[str, Start], sweep: torch.Tensor) -> Iterator[tuple[str, list[float], list[float]]]:
    """name, warm and cold microseconds."""
    warm: dict[str, list[float]] = {name: [] for name in starts}
    cold: dict[str, list[float]] = {name: [] for name in starts}
    for turn in range(ROUNDS):
        for name, start in starts.items():
            if turn % 5 and warm[name][0] > SLOW:
                continue
            start()
            warm[name].append(microseconds(start))
            torch.sum(sweep)
            cold[name].append(microseconds(start))
    for name in starts:
        yield name, sorted(warm[name]), sorted(cold[name])


def rows(wanted: Wanted) -> Iterator[dict[str, Any]]:
    groups: dict[tuple[str, ...], list[RungEntry]] = {}
    for rung in wanted.rungs:
        groups.setdefault(rung.launch.args, []).append(rung)
    for rungs in groups.values():
        bench = Bench(wanted.lab, rungs, wanted.size)
        starts = dict(bench.starts())
        of_rung = {rung.title: rung for rung in rungs}
        for name, warm, cold in taken_in_turns(starts, bench.sweep):
            work, unit = bench.rate(of_rung.get(name, rungs[0]))
            median, tenth = statistics.median(warm), len(warm) // 10
            yield {
                "lab": bench.folder.name, "size": " ".join(f"{k}={v}" for k, v in wanted.size.items()) or "full",
                "rung": name, "kind": str(next(a.dtype for a in bench.first if isinstance(a, torch.Tensor))),
                "warm_us": f"{median:.2f}", "low_us": f"{warm[tenth]:.2f}", "high_us": f"{warm[-1 - tenth]:.2f}",
                "cold_us": f"{statistics.median(cold):.2f}", "rounds": len(warm),
                "rate": f"{work / median / (1e6 if unit == 'TFLOP/s' else 1e3):.1f}", "unit": unit,
            }  # fmt: skip


def circumstances() -> dict[str, Any]:
    command = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    driver = subprocess.run(command, capture_output=True, text=True).stdout.strip()
    library = cub()
    version = library.cub_version() if library else 0
    return {
        "date": date.today(), "gpu": torch.cuda.get_device_name(), "driver": driver, "torch": torch.__version__,
        "cuda": torch.version.cuda, "cub": f"{version // 100000}.{version // 100 % 1000}.{version % 100}",
    }  # fmt: skip


def main(out: str, *texts: str) -> None:
    torch.zeros(1, device="cuda")
    told = circumstances()
    with open(out, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, HEAD)
        writer.writeheader()
        for text in texts or WANTED:
            for row in rows(Wanted.parse(text)):
                writer.writerow({**row, **told})
                shown = (f"{row[key]!s:>10}" for key in ("lab", "size", "warm_us", "cold_us", "rate", "unit"))
                print(*shown, row["rung"], flush=True)
            file.flush()
            torch.cuda.empty_cache()


if __name__ == "__main__":
    main(*sys.argv[1:])
