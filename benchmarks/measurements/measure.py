"""Measures files of measurements/h200 again: each row of a file is launched anew, by the program of the same name.

    python benchmarks/measurements/measure.py OUT [NAME ...] [--seconds N]   on a machine with a GPU, CuPy and ncu
    python benchmarks/measurements/measure.py --compare OUT [NAME ...]       what it found beside what is kept, a column
                                                                             a line

A program NAME.py has SOURCE, the CUDA C++ of its kernels, and one of
    read(gpu, row)     launches what a row stands for; the columns measured, by name
    launch(gpu, row)   likewise, for Nsight Compute: COUNTERS says which counter a column is, where its name is none
Both return None for a row that they have no kernel for.  Rows are done in an order like chance, as many as N seconds
for each file admit.
"""

from __future__ import annotations

import csv
import json
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict, deque
from collections.abc import Iterator, Mapping
from datetime import date
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

FOLDER = Path(__file__).parent
ROOT = FOLDER.parents[1]
KEPT = ROOT / "measurements" / "h200"
sys.path[:0] = [str(FOLDER), str(ROOT / "src")]
Row = dict[str, str]
ABOUT = ("gpu", "date", "driver", "tools")
NEAR = 0.1


# Parts, and programs of their own, which need PyTorch.
OTHERS = (
    "gpu", "measure", "cubin_loops",
    "bulk_copies", "matrix_clocks", "warpgroup_overlap",  # of PyTorch
)  # fmt: skip


def programs() -> dict[str, ModuleType]:
    """By the file that they make."""
    found = {}
    for path in sorted(FOLDER.glob("*.py")):
        module = None if path.stem in OTHERS else import_module(path.stem)
        if module:
            found |= dict.fromkeys(getattr(module, "FILES", (path.stem,)), module)
    return found


def rows_of(path: Path) -> list[Row]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def in_chance_order(rows: list[Row]) -> list[tuple[int, Row]]:
    numbered = list(enumerate(rows))
    random.Random(0).shuffle(numbered)
    return numbered


def timed(module: ModuleType, rows: list[Row], seconds: float) -> dict[int, Mapping[str, Any]]:
    from gpu import Gpu

    gpu, until = Gpu(module.SOURCE), time.monotonic() + seconds
    found = {}
    for number, row in in_chance_order(rows):
        if time.monotonic() > until:
            break
        values = module.read(gpu, row)
        if values is not None:
            found[number] = values
    return found


def counters(module: ModuleType, columns: list[str]) -> dict[str, str]:
    named = {column: column for column in columns if "__" in column}
    return named | dict(getattr(module, "COUNTERS", {}))


def counted(name: str, module: ModuleType, rows: list[Row], seconds: float) -> dict[int, Mapping[str, Any]]:
    from warplens.hardware.ncu import CACHES, KEEP, read_csv

    wanted = counters(module, list(rows[0]))
    with tempfile.TemporaryDirectory() as folder:
        log, done = Path(folder, "ncu.csv"), Path(folder, "done.json")
        subprocess.run([
            "ncu", *KEEP, *CACHES[getattr(module, "COLD", True)], "--profile-from-start", "off", "--csv", "--page",
            "raw", "--print-units", "base", "--log-file", str(log), "--metrics", ",".join(set(wanted.values())),
            sys.executable, str(Path(__file__)), "--launch", name, str(seconds), str(done),
        ], check=False)  # fmt: skip
        if not done.exists():
            return {}
        numbers = json.loads(done.read_text(encoding="utf-8"))
        metrics = list(read_csv(log.read_text(encoding="utf-8")))
    found = {}
    for number, values in zip(numbers, metrics, strict=False):
        had = {column: values[m].value for column, m in wanted.items() if m in values}
        found[number] = module.values(had) if hasattr(module, "values") else had
    return found


def launched(name: str, seconds: float, done: Path) -> None:
    """Within Nsight Compute."""
    from gpu import Gpu

    module = programs()[name]
    gpu, until = Gpu(module.SOURCE, profiled=True), time.monotonic() + seconds
    numbers = []
    for number, row in in_chance_order(rows_of(KEPT / f"{name}.csv")):
        if time.monotonic() > until:
            break
        if module.launch(gpu, row) is not None:
            numbers.append(number)
            done.write_text(json.dumps(numbers), encoding="utf-8")


def about(counters_read: bool) -> Row:
    import cupy

    said = subprocess.run(
        ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"], check=True, capture_output=True,
        text=True,
    ).stdout.splitlines()[0].split(", ")  # fmt: skip
    tools = f"NVRTC of CuPy {cupy.__version__}, {'Nsight Compute' if counters_read else 'CUDA events or clock64'}"
    return dict(zip(ABOUT, (said[0], str(date.today()), said[1], tools), strict=True))


def write(path: Path, rows: list[Row], found: Mapping[int, Mapping[str, Any]], said: Row) -> None:
    columns = [column for column in rows[0] if column not in ABOUT]
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, [*columns, *ABOUT], extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        for number in sorted(found):
            writer.writerow(rows[number] | said | dict(found[number]))


def key_of(row: Row, measured: list[str]) -> tuple[str, ...]:
    return tuple(row[column] for column in row if column not in measured and column not in ABOUT)


def compared(kept: list[Row], again: list[Row], measured: list[str]) -> Iterator[str]:
    """A column a line: rows, median of new by old, share of rows within a tenth.  Rows of the same key in turn."""
    left: dict[tuple[str, ...], deque[Row]] = defaultdict(deque)
    for row in kept:
        left[key_of(row, measured)].append(row)
    pairs = [(left[key_of(row, measured)].popleft(), row) for row in again]
    for column in measured:
        ratios = [ratio(old[column], new[column]) for old, new in pairs if old[column] and new.get(column)]
        if ratios:
            near = sum(abs(r - 1) <= NEAR for r in ratios) / len(ratios)
            yield f"{column} | {len(ratios)} | {statistics.median(ratios):.2f} | {100 * near:.0f} %"


def ratio(old: str, new: str) -> float:
    """New by old; of lists how many places agree."""
    if " " in old:
        return statistics.mean(a == b for a, b in zip(old.split(), new.split(), strict=True))
    a, b = float(old), float(new)
    return b / a if a else 1.0 + b


def measured(module: ModuleType, columns: list[str]) -> list[str]:
    return [c for c in columns if c in (getattr(module, "READS", ()) or counters(module, columns))]


def measure(out: Path, names: list[str], seconds: float) -> None:
    out.mkdir(parents=True, exist_ok=True)
    for name, module in programs().items():
        if names and name not in names:
            continue
        rows, timing = rows_of(KEPT / f"{name}.csv"), hasattr(module, "read")
        began = time.monotonic()
        try:
            found = timed(module, rows, seconds) if timing else counted(name, module, rows, seconds)
        except Exception as error:  # what one program cannot do does not stop the others
            print(f"{name}: {type(error).__name__}: {error}", flush=True)
            continue
        write(out / f"{name}.csv", rows, found, about(not timing))
        print(f"{name}: {len(found)} of {len(rows)} rows in {time.monotonic() - began:.0f} s", flush=True)


def compare(out: Path, names: list[str]) -> None:
    print("| file | column | rows | median of new / kept | within 10 % |\n|---|---|--:|--:|--:|")
    for name, module in programs().items():
        if (out / f"{name}.csv").exists() and (not names or name in names):
            kept = rows_of(KEPT / f"{name}.csv")
            for line in compared(kept, rows_of(out / f"{name}.csv"), measured(module, list(kept[0]))):
                print(f"| {name} | {line} |")


def main() -> None:
    words = sys.argv[1:]
    if words[0] == "--launch":
        launched(words[1], float(words[2]), Path(words[3]))
        return
    seconds = float(words.pop(words.index("--seconds") + 1)) if "--seconds" in words else 3600.0
    words = [word for word in words if word != "--seconds"]
    if words[0] == "--compare":
        compare(Path(words[1]), words[2:])
    else:
        measure(Path(words[0]), words[1:], seconds)


if __name__ == "__main__":
    main()
