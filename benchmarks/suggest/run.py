"""Suggestions for first rungs of the labs beside the rungs by hand: `run.py OUT [NAME ...]`.

OUT/predicted.csv has the predicted times before, after and by hand, OUT/NAME.cu each changed file, OUT/jobs.pickle what
measure.py launches on a GPU.
"""

from __future__ import annotations

import csv
import pickle
import sys
import time
import tomllib
from pathlib import Path
from typing import Any

from warplens.commands.suggest import suggest
from warplens.commands.suggestion.version_evaluator import SuggestRequest
from warplens.commands.target import Flags, Target, targets
from warplens.core.run_options import RunOptions

ROOT = Path(__file__).parents[2]


def target_of(file: str, kernel: str | None) -> Target:
    (found,) = targets(str(ROOT / file), Flags(kernel=kernel, gpu="h200"))
    return found


def job(name: str, version: str, target: Target) -> dict[str, Any]:
    """What measure.py needs: machine code, launch, and the texts of the arguments."""
    kernel = target.kernel
    return {
        "case": name, "version": version, "cubin": kernel.cubin.data, "kernel": kernel.kernel.name,
        "launch": target.launch, "args": target.flags.args or target.entry.args, "names": dict(target.known),
        "sizes": [parameter.size for parameter in kernel.parameters],
    }  # fmt: skip


def main() -> None:
    out, chosen = Path(sys.argv[1]), sys.argv[2:]
    out.mkdir(parents=True, exist_ok=True)
    cases = tomllib.loads((Path(__file__).parent / "cases.toml").read_text(encoding="utf-8"))["case"]
    jobs, rows = [], []
    for case in cases:
        if chosen and case["name"] not in chosen:
            continue
        start, target = time.perf_counter(), target_of(case["file"], case.get("kernel"))
        found = suggest(
            target,
            SuggestRequest(RunOptions(), tuple(case.get("scratch", ())), tuple(case.get("totals", ()))),
            lambda *_: None,
        )
        seconds = time.perf_counter() - start
        path = out / f"{case['name'].replace(' ', '_')}.cu"
        path.write_text(found.source, encoding="utf-8")
        hand = target_of(case["hand"], case.get("hand_kernel"))
        by_hand = hand.run_with(hand.fresh_values()).predict("h200").time_us
        changes = "; ".join(step.change.title for step in found.suggestion.steps)
        times = (found.suggestion.begin.time_us, found.suggestion.time_us, by_hand)
        rows.append([case["name"], *(f"{value:.3f}" for value in times if value), f"{seconds:.1f}", changes])
        jobs += [job(case["name"], "before", target), job(case["name"], "after", found.changed)]
        jobs.append(job(case["name"], "by hand", hand))
        print(*rows[-1], flush=True)
        (out / "jobs.pickle").write_bytes(pickle.dumps(jobs))
    with (out / "predicted.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["case", "before_us", "after_us", "by_hand_us", "seconds", "changes"])
        writer.writerows(rows)


if __name__ == "__main__":
    main()
