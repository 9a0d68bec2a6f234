"""Gains of each change, predicted and measured: prints the table of docs/suggest_measured.md from h100.csv, with
`--common` that of docs/suggest_common_styles.md, with `--more` and `--third` those of suggest_more_styles.md and
suggest_third_styles.md."""

from __future__ import annotations

import csv
import re
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
CLOSE = 0.15  # of the time before: how far a predicted gain may be from the measured one


class Gain(NamedTuple):
    """of: kernel, or program and kernel;  predicted, measured: share of the time that the change saves"""

    of: str
    change: str
    before_us: float
    after_us: float
    predicted: float

    @property
    def title(self) -> str:
        """The first words of the change."""
        return re.split(", |;|:", self.change)[0]

    @property
    def measured(self) -> float:
        return 1 - self.after_us / self.before_us


def kernels(name: str) -> Iterator[Gain]:
    """Each step of a search against the version before it, where both are measured."""
    with (HERE / name).open(newline="", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["version"] != "by hand"]
    for before, after in pairwise(rows):
        if before["case"] == after["case"] and before["cold_us"] and after["cold_us"]:
            predicted = 1 - float(after["predicted_us"]) / float(before["predicted_us"])
            change = after["version"].partition(": ")[2]
            yield Gain(after["case"], change, float(before["cold_us"]), float(after["cold_us"]), predicted)


def programs() -> Iterator[Gain]:
    with (HERE / "h100_programs.csv").open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            times = float(row["before_us"]), float(row["after_us"])
            yield Gain(f"{row['program']}, `{row['kernel']}`", row["change"], *times, float(row["predicted_gain"]))


def main() -> None:
    styles = {"--common": "common_styles.csv", "--more": "more_styles.csv", "--third": "third_styles.csv"}
    chosen = [file for option, file in styles.items() if option in sys.argv]
    gains = [gain for file in chosen for gain in kernels(file)] or [*kernels("h100.csv"), *programs()]
    print("| Kernel | Change | Measured µs | Gain predicted | measured |")
    print("|---|---|--:|--:|--:|")
    for gain in gains:
        times = f"{gain.before_us:,.1f} → {gain.after_us:,.1f}"
        print(f"| {gain.of} | {gain.title} | {times} | {_percent(gain.predicted)} | {_percent(gain.measured)} |")
    same = sum(gain.measured > 0 for gain in gains)
    close = sum(abs(gain.predicted - gain.measured) <= CLOSE for gain in gains)
    print(
        f"\n{same} of {len(gains)} changes save time, as predicted; {close} gains are off by {_percent(CLOSE)} or less."
    )


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


if __name__ == "__main__":
    main()
