"""Predictions of a list, without a GPU: `python benchmarks/validation/predict.py [--LIST] [NAMES] > predictions.csv`.

The list is a folder of tests/validation ("--settlers"), the first if none is named; with NAMES only the launches whose
names begin so.
"""

from __future__ import annotations

import csv
import sys
import time
from pathlib import Path

from warplens.errors import Unpredictable

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))
from validation.lists import kernels

METRICS = {
    "dram_read_bytes": "dram__bytes_read.sum",
    "dram_write_bytes": "dram__bytes_write.sum",
    "l1_hit_percent": "l1tex__t_sector_hit_rate.pct",
    "l2_hit_percent": "lts__t_sector_hit_rate.pct",
    "warps_active_percent": "sm__warps_active.avg.pct_of_peak_sustained_active",
    "ipc_elapsed": "sm__inst_executed.avg.per_cycle_elapsed",
}


def main() -> None:
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(["name", "family", "time_us", "low_us", "high_us", *METRICS, "seconds", "limit"])
    for wanted, kernel in kernels(sys.argv[1:]):
        run = kernel.launch(wanted.grid, wanted.block, *wanted.arguments(), shared=wanted.shared)
        start = time.perf_counter()
        try:
            found = run.predict("h200")
        except Unpredictable as why:
            out.writerow([wanted.name, wanted.family, *[""] * (4 + len(METRICS)), f"not predicted: {why}"])
            continue
        seconds = time.perf_counter() - start
        values = [f"{found.metrics[name].value:.6g}" if name in found.metrics else "" for name in METRICS.values()]
        times = [f"{value:.3f}" for value in (found.time_us, found.low_us, found.high_us)]
        out.writerow([wanted.name, wanted.family, *times, *values, f"{seconds:.2f}", found.limit])
        sys.stdout.flush()


if __name__ == "__main__":
    main()
