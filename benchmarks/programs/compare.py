"""Counts and times of programs of others beside those of an H200 (h200/counters.csv), as Markdown.

compare.py OUT     the folder that run.py wrote
"""

from __future__ import annotations

import csv
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

HERE = Path(__file__).parent
DURATION = "gpu__time_duration.sum"
LONG_US = 10.0
ROUNDED = 0.005  # percentages are read with few digits
KEYS = ("program", "kernel", "grid", "block")


class Compared(NamedTuple):
    """us, predicted_us   duration;  counters, equal: how many that are labelled exact;  differences: of these the name,
    what was read on the H200, and ours;  modelled, modelled_equal: likewise of those that depend on time or order"""

    program: str
    kernel: str
    us: float
    predicted_us: float
    counters: int
    equal: int
    differences: list[tuple[str, float, float]]
    modelled: int
    modelled_equal: int

    @property
    def error(self) -> float:
        return 100 * (self.predicted_us / self.us - 1)


def short(name: str) -> str:
    """Name of a kernel without return type, scope, template arguments and parameters."""
    return re.split(r"[<(]", re.sub(r"^void ", "", name))[0].split("::")[-1].strip()


def size(text: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", text)]


def compared(out: Path) -> Iterator[Compared]:
    with (HERE / "h200" / "counters.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    left: dict[str, list[Any]] = {}
    for row in rows:
        name, path = row["program"], out / f"{row['program']}.json"
        if name not in left:
            left[name] = json.loads(path.read_text(encoding="utf-8"))["kernels"] if path.exists() else []
        for kernel in left[name]:
            shape = kernel["launch"]
            if (short(kernel["kernel"]), shape["grid"], shape["block"]) == (
                short(row["kernel"]), size(row["grid"]), size(row["block"]),
            ):  # fmt: skip
                left[name].remove(kernel)
                yield of_kernel(row, kernel["metrics"])
                break


def of_kernel(row: dict[str, str], metrics: dict[str, Any]) -> Compared:
    read = {name: float(value) for name, value in row.items() if name not in KEYS and name != DURATION}
    known = {name: value for name, value in read.items() if name in metrics}
    exact = [name for name in known if metrics[name]["provenance"] == "exact"]
    different = [
        name for name, value in known.items()
        if abs(metrics[name]["value"] - value) > (ROUNDED * value if name.endswith(".pct") else 0)
    ]  # fmt: skip
    differences = [(name, known[name], metrics[name]["value"]) for name in exact if name in different]
    modelled = [name for name in known if name not in exact]
    duration = metrics.get(DURATION, {"value": float("nan")})["value"]
    return Compared(
        row["program"], short(row["kernel"]), float(row[DURATION]) / 1000, duration / 1000, len(exact),
        len(exact) - len(differences), differences, len(modelled), sum(name not in different for name in modelled),
    )  # fmt: skip


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    found = list(compared(Path(sys.argv[1])))
    counters, equal = sum(one.counters for one in found), sum(one.equal for one in found)
    modelled, modelled_equal = sum(one.modelled for one in found), sum(one.modelled_equal for one in found)
    names = {one.program for one in found}
    print(f"{equal:,} of {counters:,} exact counters of {len(found)} kernels of {len(names)} programs are equal, "
          f"and {modelled_equal:,} of {modelled:,} that depend on time or on the order of warps.\n")  # fmt: skip
    for one in found:
        for name, value, ours in one.differences:
            print(f"- {one.program}, {one.kernel}: {name} {value:,.0f} on the H200, {ours:,.0f} here")
    for least in (0.0, LONG_US):
        errors = [abs(one.error) for one in found if one.us >= least and one.predicted_us > 0]
        print(f"\nDurations of {least:.0f} us and more: {len(errors)}, error median {np.median(errors):.1f} %, "
              f"mean {np.mean(errors):.1f} %, p90 {np.percentile(errors, 90):.1f} %")  # fmt: skip
    print("\n| Program | Kernel | Counters equal | Measured us | Predicted us | |\n|---|---|--:|--:|--:|--:|")
    for one in found:
        print(f"| {one.program} | `{one.kernel}` | {one.equal} of {one.counters} | {one.us:.2f} | "
              f"{one.predicted_us:.2f} | {one.error:+.0f} % |")  # fmt: skip


if __name__ == "__main__":
    main()
