"""Every metric with unit, provenance and meaning, a table for each unit of the GPU, for docs/metric_list.md."""

from __future__ import annotations

from itertools import groupby

from warplens.report.definitions import Definition, definitions

UNITS = {
    "derived": "Derived from several counters",
    "dram": "DRAM",
    "gpc": "Clock of the processing clusters (GPC)",
    "gpu": "The whole GPU",
    "l1tex": "L1 and texture cache",
    "launch": "Launch",
    "lts": "L2 cache",
    "memory": "L1, shared memory and L2, as the memory tables have them",
    "sass": "Machine code",
    "sm": "SM",
    "smsp": "Sub-partition of an SM (SMSP)",
}
"""Heading of each prefix; a prefix that is not here has its own name."""


def main() -> None:
    for unit, found in groupby(sorted(definitions(), key=lambda each: (unit_of(each), each.name)), unit_of):
        title = UNITS.get(unit)
        print(f"## {f'{title}: `{unit}`' if title else f'`{unit}`'}\n")
        print("| metric | meaning (unit, provenance) |\n|---|---|")
        for each in found:
            labels = ", ".join(filter(None, (each.unit, each.provenance, "predicted" * each.predicted)))
            print(f"| `{each.name}` | {each.means.replace('|', chr(92) + '|')} ({labels}) |")
        print()


def unit_of(definition: Definition) -> str:
    """What stands before the two underscores; of names without them, before the first."""
    name, separator, _ = definition.name.partition("__")
    return name if separator else name.partition("_")[0]


if __name__ == "__main__":
    main()
