"""The table of README.md, from h200.csv: the fastest rung of each lab beside the fastest library."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

HERE = Path(__file__).parent
Row = dict[str, str]


def told(rows: list[Row]) -> str:
    ours = min((row for row in rows if row["rung"][0].isdigit()), key=lambda row: float(row["warm_us"]))
    library = min((row for row in rows if not row["rung"][0].isdigit()), key=lambda row: float(row["warm_us"]))
    ratio = float(library["warm_us"]) / float(ours["warm_us"])
    kind = ours["kind"].removeprefix("torch.")
    cells = (
        ours["lab"], kind, ours["size"], ours["rung"], speed(ours), library["rung"], speed(library), f"{ratio:.3f}",
    )  # fmt: skip
    return f"| {' | '.join(cells)} |"


def speed(row: Row) -> str:
    return f"{float(row['rate']):,} {row['unit']}"


def lines() -> Iterator[str]:
    with (HERE / "h200.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    yield "| lab | type | size | fastest rung | | fastest library | | times as fast |"
    yield "|---|---|---|---|--:|---|--:|--:|"
    for _, group in groupby(rows, key=lambda row: (row["lab"], row["size"], row["kind"])):
        yield told(list(group))


if __name__ == "__main__":
    print("\n".join(lines()))
