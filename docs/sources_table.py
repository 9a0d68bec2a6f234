"""Where the speeds of an H200 come from, as tables for docs/calibration_sources.md.

python docs/sources_table.py           how many there are of each kind
python docs/sources_table.py rest      those that no record of `warplens calibrate` gives, one by one
"""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

from warplens.machine import catalog, machine

ROWS = {
    "derived": "`calibration/derive.py`, from the record and counters of its launches; `test_derive.py` rebuilds them",
    "measured": "a measurement file, in one step; `tests/calibration/test_readings.py` reads them again",
    "assumed": "fitted by hand or taken over: no program gives them",
}


def main() -> None:
    h200 = machine("h200")
    text = (Path(catalog.__file__).parent / catalog.REFERENCE).read_text(encoding="utf-8")
    own = {f"{table}.{key}" for table, content in tomllib.loads(text).items() for key in content.get("sources", ())}
    if sys.argv[1:] == ["rest"]:
        print("| key | where it comes from |\n|---|---|")
        for parameter in h200.parameters:
            if parameter.name in own:
                print(f"| `{parameter.name}` | {parameter.source} |")
        return
    kinds = [p.kind if p.name in own else "derived" for p in h200.parameters]
    print("| kind | numbers | where they come from |\n|---|--:|---|")
    for kind, words in ROWS.items():
        print(f"| {kind} | {kinds.count(kind)} | {words} |")


if __name__ == "__main__":
    main()
