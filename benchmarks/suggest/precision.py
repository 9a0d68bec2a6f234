"""Precision of the rules: on how many launches of the validation lists a finding may be worth something.

    precision.py OUT.csv [SECONDS]      goes on with OUT.csv where it ended, for so long
    precision.py OUT.csv --table        a line a rule

The sample is fixed: of each list the first launch of each kernel, in an order by the digest of its name, so that the
first N are a sample of all.  A finding counts as worth it if its upper bound, the time predicted without its cause, is
less by more than a predicted ratio may be off; where the model cannot take the cause away there is no upper bound.
"""

from __future__ import annotations

import csv
import hashlib
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests"))
import warplens as wl  # noqa: E402
from validation.lists import KERNELS, LISTS, Case, Configuration  # noqa: E402
from warplens.advice import NOISE  # noqa: E402
from warplens.core.run_options import RunOptions  # noqa: E402
from warplens.errors import WarplensError  # noqa: E402
from warplens.model.result.prediction import Prediction  # noqa: E402
from warplens.run import Run, launch_model  # noqa: E402

FIRST = "first"  # the list whose launches are in Python
BLOCKS = 50  # that are run: counts are scaled
EFFORT = 0.1  # of each prediction, as in the trials of `suggest`
COLUMNS = ("list", "launch", "rule", "weight", "gain", "worth_it")


@dataclass(frozen=True)
class SampledLaunch:
    """list, name: of the launch;  run: executes it"""

    list: str
    name: str
    run: Callable[[], wl.Run]


class QuickRun(Run):
    """A run whose predictions take a tenth of the usual effort."""

    @classmethod
    def of(cls, run: Run) -> QuickRun:
        return cls(**{field.name: getattr(run, field.name) for field in fields(run)})

    def predict(self, gpu: str | None = None, what_if: Sequence[str] = ()) -> Prediction:
        return launch_model(self, gpu, what_if, EFFORT).prediction()


def sample() -> list[SampledLaunch]:
    found = [
        SampledLaunch(name, case.name, partial(_run_case, case))
        for name, one in LISTS.items() if name != FIRST for case in one.first_cases().values()
    ]  # fmt: skip
    first = {launch.kernel: launch for launch in reversed(list(LISTS[FIRST].configurations()))}
    found += [SampledLaunch(FIRST, launch.name, partial(_run_first, launch)) for launch in first.values()]
    return sorted(found, key=lambda of: hashlib.sha256(f"{of.list} {of.name}".encode()).digest())


def _run_case(case: Case) -> wl.Run:
    return case.target("h200").run(RunOptions(sample=BLOCKS))


def _run_first(launch: Configuration) -> wl.Run:
    kernel = wl.compile(KERNELS / f"{launch.file}.cu")[launch.kernel]
    return kernel.launch(
        launch.grid, launch.block, *launch.arguments(), shared=launch.shared, sample=BLOCKS, gpu="h200"
    )  # fmt: skip


def rows(launch: SampledLaunch) -> Iterator[dict[str, object]]:
    """A row a finding; one without a rule where nothing is found, or where the launch has no prediction."""
    about = {"list": launch.list, "launch": launch.name}
    try:
        advice = wl.advise(QuickRun.of(launch.run()), gpu="h200")
    except WarplensError as error:
        yield {**about, "weight": str(error).splitlines()[0]}
        return
    for found in advice:
        gain = "" if found.gain is None else f"{found.gain:.4f}"
        yield {
            **about, "rule": found.finding.fault, "weight": f"{found.finding.weight:.4f}", "gain": gain,
            "worth_it": int(found.worth_it),
        }  # fmt: skip
    if not advice:
        yield about


def measure(out: Path, seconds: float) -> None:
    done = set()
    if out.exists():
        with out.open(newline="", encoding="utf-8") as file:
            done = {(row["list"], row["launch"]) for row in csv.DictReader(file)}
    began = time.monotonic()
    with out.open("a", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        if not done:
            writer.writeheader()
        for launch in sample():
            if time.monotonic() - began > seconds:
                break
            if (launch.list, launch.name) not in done:
                writer.writerows(rows(launch))
                file.flush()


def table(out: Path) -> None:
    fired, bounded, worth, launches = defaultdict(int), defaultdict(int), defaultdict(int), set()
    with out.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if not row["rule"] and row["weight"]:  # it was not executed
                continue
            launches.add((row["list"], row["launch"]))
            if row["rule"]:
                fired[row["rule"]] += 1
                bounded[row["rule"]] += row["gain"] != ""
                worth[row["rule"]] += row["worth_it"] == "1"
    print(f"| Rule | Fired, of {len(launches)} launches | With an upper bound | of these above {100 * NOISE:.0f} % |")
    print("|---|--:|--:|--:|")
    for rule in sorted(fired, key=lambda rule: (-fired[rule], rule)):
        share = f"{worth[rule]} ({100 * worth[rule] / bounded[rule]:.0f} %)" if bounded[rule] else ""
        print(f"| `{rule}` | {fired[rule]} | {bounded[rule] or ''} | {share} |")


def main() -> None:
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    out = Path(sys.argv[1])
    if "--table" in sys.argv:
        table(out)
    else:
        measure(out, float(sys.argv[2]) if len(sys.argv) > 2 else 1e9)


if __name__ == "__main__":
    main()
