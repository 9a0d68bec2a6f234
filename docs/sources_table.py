"""Where the speeds of an H200 come from, as tables for docs/calibration_sources.md.

python docs/sources_table.py           how many there are of each kind
python docs/sources_table.py rest      those that no record of `warplens calibrate` gives, one by one
"""

from __future__ import annotations

import sys

from warplens.machine import machine

KINDS = {
    "derived": "`calibration/derive.py`, from the record and counters of its launches; `test_derive.py` rebuilds them",
    "read": "a measurement file, in one step; `tests/calibration/test_readings.py` reads them again",
    "assumed": "fitted by hand or taken over: no program gives them",
}


def main() -> None:
    sources = {key: text.split(": ", 1) for key, text in machine("h200").speed_sources.items()}
    if sys.argv[1:] == ["rest"]:
        print("| key | where it comes from |\n|---|---|")
        for key, (kind, text) in sources.items():
            if kind != "derived":
                print(f"| `{key}` | {kind}: {text} |")
        return
    print("| kind | speeds | where they come from |\n|---|--:|---|")
    for kind, words in KINDS.items():
        print(f"| {kind} | {sum(found == kind for found, _ in sources.values())} | {words} |")


if __name__ == "__main__":
    main()
