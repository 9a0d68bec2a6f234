"""Where the numbers of an H200 come from: how many there are of each kind, for docs/calibration_sources.md."""

from __future__ import annotations

from warplens.calibration.derive import TABLES
from warplens.machine import machine

ROWS = {
    "derived": "`calibration/derive.py`, from the record and counters of its launches; `test_derive.py` rebuilds them",
    "measured": "a measurement file; `tests/calibration/test_readings.py` reads it again, or names its test",
    "assumed": "fitted by hand or taken over: no program gives them",
}


def main() -> None:
    derived = {f"{table}.{key}" for table, formulas in TABLES.items() for key in formulas}
    derived.add("launch_cost.event_microseconds")
    kinds = ["derived" if p.name in derived else p.kind for p in machine("h200").parameters]
    print("| kind | numbers | where they come from |\n|---|--:|---|")
    for kind, words in ROWS.items():
        print(f"| {kind} | {kinds.count(kind)} | {words} |")


if __name__ == "__main__":
    main()
