"""Ablation: errors of predicted times without each rule of the time model.

    ablation.py run OUT.csv [EVERY] [--part I/N]   every EVERY-th launch of all lists (20), without each rule of
                                                   ablation.toml; launches that OUT has already are not run again
    ablation.py table OUT.csv                      Markdown: change of median, p90 and worst error

A rule is switched off by numbers of the GPU's description; the launch is executed and recorded once.
"""

from __future__ import annotations

import csv
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import warplens as wl
from warplens import run as runs
from warplens.errors import Unpredictable
from warplens.machine import Machine, machine

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))
from validation.lists import LISTS, Configuration, kernels

HERE = Path(__file__).parent
GPU, ALL = "h200", "all rules"
Rule = dict[str, Any]


def variants(rules: list[Rule]) -> dict[str, Machine]:
    """The GPU without each rule, by the rule's name; as it is by the name ALL."""
    whole = machine(GPU)
    made = {ALL: whole}
    offs = {rule["name"]: rule["off"] for rule in rules if "off" in rule}
    for rule in rules:
        off = {field: value for name in rule.get("together", [rule["name"]]) for field, value in offs[name].items()}
        values = {
            field: float(getattr(whole.speeds, value) if isinstance(value, str) else value)
            for field, value in off.items()
        }
        made[rule["name"]] = replace(whole, speeds=replace(whole.speeds, **values))
    return made


def sample(every: int) -> Iterator[tuple[Configuration, wl.Kernel, float]]:
    """Every so many launches of all lists that have a measured time, in microseconds, with their kernels."""
    number = -1
    for one in (one for one in LISTS.values() if one.predicted):
        with (one.folder / "h200" / "times.csv").open(encoding="utf-8") as file:
            measured = {row["name"]: float(row["cold_us"]) for row in csv.DictReader(file)}
        wanted = []
        for launch in one.configurations():
            if launch.name in measured:
                number += 1
                if number % every == every // 2:
                    wanted.append(launch.name)
        for launch, kernel in kernels([f"--{one.name}", *wanted] if wanted else []):
            if launch.name in wanted:
                yield launch, kernel, measured[launch.name]


def rows(out: Path) -> list[list[str]]:
    with out.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def run(out: Path, every: int, part: tuple[int, int]) -> None:
    rules = tomllib.loads((HERE / "ablation.toml").read_text(encoding="utf-8"))["rule"]
    gpus = variants(rules)
    runs.described = gpus.__getitem__  # type: ignore[assignment]
    done = {row[0] for row in rows(out)} if out.exists() else set()
    for number, (launch, kernel, measured) in enumerate(sample(every)):
        if launch.name in done or number % part[1] != part[0]:
            continue
        launched = kernel.launch(launch.grid, launch.block, *launch.arguments(), shared=launch.shared)
        try:
            predicted = {name: launched.predict(name).time_us for name in gpus}
        except Unpredictable:
            continue
        with open(out, "a", encoding="utf-8", newline="") as file:
            lines = csv.writer(file, lineterminator="\n")
            lines.writerows([launch.name, name, f"{measured:.3f}", f"{time:.3f}"] for name, time in predicted.items())
        print(launch.name, flush=True)


def table(out: Path) -> None:
    rules = tomllib.loads((HERE / "ablation.toml").read_text(encoding="utf-8"))["rule"]
    errors: dict[str, dict[str, float]] = {}
    for launch, rule, measured, predicted in rows(out):
        errors.setdefault(rule, {})[launch] = 100 * abs(float(predicted) / float(measured) - 1)
    whole = errors[ALL]
    print("| Rule | Unit | Median | p90 | Worst | Launches that change |\n|---|---|--:|--:|--:|--:|")
    print(f"| all rules | | {_at(whole, 50):.2f} % | {_at(whole, 90):.2f} % | {_at(whole, 100):.1f} % | {len(whole)} |")
    for rule in (rule for rule in rules if rule["name"] in errors):
        without = errors[rule["name"]]
        changes = (f"{_at(without, at) - _at(whole, at):+.{digits}f}" for at, digits in ((50, 2), (90, 2), (100, 1)))
        moved = sum(abs(without[name] - whole[name]) > 0.05 for name in whole)
        print(f"| {rule['name']} | `{rule['unit']}` | {' | '.join(changes)} | {moved} |")


def _at(errors: dict[str, float], percent: float) -> float:
    return float(np.percentile(list(errors.values()), percent))


def main() -> None:
    words = sys.argv[1:]
    if len(words) < 2 or words[0] not in ("run", "table"):
        sys.exit(__doc__)
    if words[0] == "table":
        table(Path(words[1]))
        return
    part = (0, 1)
    if "--part" in words:
        at = words.index("--part")
        first, _, count = words[at + 1].partition("/")
        part = int(first), int(count)
        del words[at : at + 2]
    run(Path(words[1]), int(words[2]) if len(words) > 2 else 20, part)


if __name__ == "__main__":
    main()
