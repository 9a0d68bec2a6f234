"""Times of suggested versions on this machine's GPU: `measure.py JOBS.pickle OUT.csv`, JOBS written by run.py."""

from __future__ import annotations

import csv
import pickle
import sys
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np

from warplens.hardware import Job, open_gpu, time
from warplens.launchspec.arguments import parse_arguments

POINTER = 8  # bytes


def made(job: dict[str, Any]) -> Job:
    arguments: list[int | bytes] = []
    buffers = []
    for argument, size in zip(parse_arguments(job["args"], job["names"]), job["sizes"], strict=True):
        value = np.asarray(argument.make(size))
        if value.ndim and size == POINTER:
            arguments.append(len(buffers))
            buffers.append(value.reshape(-1).view(np.uint8).copy())
        else:
            arguments.append(value.tobytes()[:size].ljust(size, b"\0"))
    return Job(job["cubin"], job["kernel"], "sm_90", job["launch"], tuple(arguments), tuple(buffers))


def main() -> None:
    gpu = open_gpu()
    with Path(sys.argv[2]).open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["case", "version", "cold_us", "low_us", "high_us", "warm_us", "gpu", "date", "driver"])
        for job in pickle.loads(Path(sys.argv[1]).read_bytes()):
            timing = time(made(job), gpu)
            values = (timing.microseconds, timing.low, timing.high, timing.warm)
            about = (gpu.name, str(date.today()), gpu.driver)
            writer.writerow([job["case"], job["version"], *(f"{value:.3f}" for value in values), *about])
            file.flush()


if __name__ == "__main__":
    main()
