"""The tables of docs/validation.md: times and counters predicted for an H200, beside what was measured there.

    python docs/validation_table.py summary | counters | launches | again | ladders | guests | lengths | visitors |
        visitors_lengths | travellers | travellers_lengths | newcomers | newcomers_lengths |
        wanderers | wanderers_lengths | settlers | settlers_lengths | long | stalls

Predictions and measurements are in tests/validation/LIST/h200/; predictions.csv was written down before the launches
were measured, again.csv after.  The measured time is the median of CUDA events with L2 swept before each run.
"""

from __future__ import annotations

import csv
import re
import statistics
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from pathlib import Path

from warplens.machine import machine
from warplens.model.result.prediction_metrics import interval

ROOT = Path(__file__).parent.parent
VALIDATION = ROOT / "tests" / "validation"
LISTS = {
    "first list": "first", "second list": "second", "third list": "practice", "fourth list": "field",
    "fifth list": "ladders", "sixth list": "guests", "seventh list": "visitors", "eighth list": "travellers",
    "ninth list": "newcomers", "tenth list": "wanderers", "eleventh list": "settlers", "twelfth list": "long",
}  # fmt: skip
"""Each is a folder of tests/validation."""
LADDERS, GUESTS, VISITORS, TRAVELLERS, NEWCOMERS, WANDERERS, SETTLERS, TWELFTH = list(LISTS)[4:]
AGAIN = {f"{title}, again": name for title, name in list(LISTS.items())[:3]}
ALIKE = 0.03  # variants whose measured times differ by less have no order
SHORT = 8  # microseconds: half of it is the launch itself
MANY = 0.75  # of a list
LENGTHS = (0, 30, 300)  # microseconds, from which launches are short, of middle length, long
SMALL = 1e6  # bytes of DRAM: of less the share means nothing
MULTIPROCESSORS = 132  # of an H200
SMALL_WRITES = 1e7  # a kernel that stores nothing writes 2 MB, as Nsight Compute counts
COUNTERS = (
    ("DRAM bytes", "dram_bytes", "dram__bytes.sum", 10),
    ("DRAM bytes read", "dram_read_bytes", "dram__bytes_read.sum", 10),
    ("DRAM bytes written", "dram_write_bytes", "dram__bytes_write.sum", 10),
    ("L1 hit rate", "l1_hit_percent", "l1tex__t_sector_hit_rate.pct", 5),
    ("L2 hit rate", "l2_hit_percent", "lts__t_sector_hit_rate.pct", 10),
    ("achieved occupancy", "warps_active_percent", "sm__warps_active.avg.pct_of_peak_sustained_active", 5),
    ("executed IPC", "ipc_elapsed", "sm__inst_executed.avg.per_cycle_elapsed", 15),
)
STALLED = re.compile(r"smsp__average_warps_issue_stalled_(\w+)_per_issue_active\.ratio")

Row = Mapping[str, str]


@dataclass(frozen=True)
class Launch:
    name: str
    predicted: Row
    measured: Row

    @property
    def times(self) -> tuple[float, float]:
        """Predicted and measured, in microseconds."""
        return float(self.predicted["time_us"]), float(self.measured["cold_us"])

    @property
    def error(self) -> float:
        """Signed, as a share of the measured time."""
        predicted, measured = self.times
        return predicted / measured - 1

    @property
    def inside(self) -> bool:
        """Whether the interval holds the measured time."""
        return float(self.predicted["low_us"]) <= self.times[1] <= float(self.predicted["high_us"])


def rows(path: Path) -> dict[str, Row]:
    with path.open(encoding="utf-8", newline="") as file:
        return {row["name"]: row for row in csv.DictReader(line for line in file if not line.startswith("#"))}


def launches(lists: Mapping[str, str] = LISTS, predictions: str = "predictions.csv") -> dict[str, list[Launch]]:
    """By list, those that were measured."""
    found = {}
    for title, name in lists.items():
        paths = (VALIDATION / name / "h200" / file for file in (predictions, "times.csv"))
        predicted, measured = map(rows, paths)
        told = {name: row for name, row in predicted.items() if row["time_us"]}  # the others were refused
        found[title] = [Launch(name, row, measured[name]) for name, row in told.items() if name in measured]
    return found


def order(found: list[Launch]) -> tuple[float, int]:
    """(Kendall's tau over pairs of variants of one program at one size, how many pairs)."""
    votes = []
    for a, b in combinations(found, 2):
        if a.predicted["family"] and a.predicted["family"] == b.predicted["family"]:
            predicted, measured = (one / other for one, other in zip(a.times, b.times, strict=True))
            if abs(measured - 1) >= ALIKE:
                votes.append(1 if (predicted > 1) == (measured > 1) else -1)
    return (sum(votes) / len(votes) if votes else 1.0), len(votes)


def ladders(lists: Mapping[str, list[Launch]], title: str = LADDERS) -> Iterator[str]:
    """A row a ladder and size, and what it costs to take the rung that the model calls the fastest."""
    yield "| ladder, size | rungs | median | largest | tau (pairs) | predicted fastest: slower than the fastest by |"
    yield "|---|--:|--:|--:|--:|---|"
    if title not in lists:
        yield "| not measured yet | | | | | |"
    for family, rungs in by_family(lists.get(title, [])).items():
        sizes = [abs(rung.error) for rung in rungs]
        tau, pairs = order(rungs)
        told = f"{tau:.2f} ({pairs})" if pairs else "– (0)"
        chosen = min(rungs, key=lambda rung: rung.times[0])
        lost = chosen.times[1] / min(rung.times[1] for rung in rungs) - 1
        cells = (f"{100 * cell:.1f} %" for cell in (statistics.median(sizes), max(sizes)))
        name = chosen.name.partition("/")[0]
        yield f"| {family} | {len(rungs)} | {' | '.join(cells)} | {told} | `{name}`: {100 * lost:.0f} % |"


def by_family(found: list[Launch]) -> dict[str, list[Launch]]:
    """Variants of one program at one size, in the order in which they stand; without programs of one variant."""
    families: dict[str, list[Launch]] = {}
    for launch in found:
        if launch.predicted["family"]:
            families.setdefault(launch.predicted["family"], []).append(launch)
    return families


def lengths(lists: Mapping[str, list[Launch]], title: str = GUESTS) -> Iterator[str]:
    """Launches by how long they took, and those that are no rungs of ladders."""
    found = lists.get(title, [])
    parts = {"rungs of ladders": [launch for launch in found if launch.predicted["family"]]}
    parts["kernels by themselves"] = [launch for launch in found if not launch.predicted["family"]]
    for low, high in zip(LENGTHS, (*LENGTHS[1:], float("inf")), strict=True):
        middle = f"{low} to {high} µs" if high < float("inf") else f"from {low} µs"
        parts[middle if low else f"below {high} µs"] = [launch for launch in found if low <= launch.times[1] < high]
    yield from figures((name, part) for name, part in parts.items() if part)
    if not found:
        yield "| not measured yet | | | | | | | | |"


def summary(lists: Mapping[str, list[Launch]]) -> Iterator[str]:
    yield from figures(parts(lists))


def figures(parts: Iterable[tuple[str, list[Launch]]]) -> Iterator[str]:
    yield "| | launches | median | mean | 90 % below | largest | bias | in the interval | Kendall's tau (pairs) |"
    yield "|---|--:|--:|--:|--:|--:|--:|--:|--:|"
    for title, found in parts:
        sizes = sorted(abs(launch.error) for launch in found)
        bias = statistics.mean(launch.error for launch in found)
        tau, pairs = order(found)
        cells = (statistics.median(sizes), statistics.mean(sizes), sizes[int(0.9 * len(sizes))], sizes[-1])
        inside = sum(launch.inside for launch in found)
        told = " | ".join(f"{100 * cell:.1f} %" for cell in cells)
        ordered = f"{tau:.2f} ({pairs})" if pairs else "– (0)"
        yield f"| {title} | {len(found)} | {told} | {100 * bias:+.1f} % | {inside} | {ordered} |"


def parts(lists: Mapping[str, list[Launch]]) -> Iterator[tuple[str, list[Launch]]]:
    """Each list, and its longer launches by themselves where there are many short ones."""
    for title, found in lists.items():
        yield title, found
        longer = [launch for launch in found if launch.times[1] >= SHORT]
        if len(longer) < MANY * len(found):
            yield f"its launches of {SHORT} µs and more", longer


def counters(lists: Mapping[str, list[Launch]]) -> Iterator[str]:
    yield "| | counter | median difference | within |"
    yield "|---|---|--:|--:|"
    for title, found in lists.items():
        for name, ours, theirs, most in COUNTERS:
            points = "percent" in ours
            off = sorted(differences(found, ours, theirs, points))
            if not off:  # not counted
                continue
            unit = "points" if points else "%"
            within = f"{sum(size <= most for size in off)} of {len(off)} within {most} {unit}"
            yield f"| {title} | {name} | {statistics.median(off):.1f} {unit} | {within} |"


def differences(found: list[Launch], ours: str, theirs: str, points: bool) -> Iterator[float]:
    """In points of percent, or in percent of what was measured."""
    least = {"dram_write_bytes": SMALL_WRITES}.get(ours, SMALL) if ours.endswith("bytes") else 0.0
    for launch in found:
        predicted, measured = counted(launch.predicted, ours), counted(launch.measured, theirs)
        if predicted is None or measured is None:
            continue
        if points:
            yield abs(predicted - measured)
        elif max(predicted, measured) >= least:
            yield 100 * abs(predicted / measured - 1) if measured else 100.0


def counted(row: Row, name: str) -> float | None:
    """A column, or both columns of DRAM together; None where there is nothing.

    IPC was printed with two digits, of which a slow kernel has one: where known, both sums tell it.
    """
    if "inst_executed" in name and row.get("sm__cycles_elapsed.max"):
        return float(row["smsp__inst_executed.sum"]) / MULTIPROCESSORS / float(row["sm__cycles_elapsed.max"])
    both = {
        "dram_bytes": ("dram_read_bytes", "dram_write_bytes"),
        "dram__bytes.sum": ("dram__bytes_read.sum", "dram__bytes_write.sum"),
    }
    values = [row.get(column) for column in both.get(name, (name,))]
    return sum(float(value) for value in values if value) if all(values) else None


def told(launch: Launch) -> bool:
    """Whether the interval that is printed today around the predicted time holds the measured one."""
    predicted, measured = launch.times
    low, high = interval(predicted, machine("h200").speeds.launch_microseconds, True)
    return low <= measured <= high


def long_launches(lists: Mapping[str, list[Launch]]) -> Iterator[str]:
    """Launches whose predicted time is 300 µs or more: of the fifth to eleventh list, the twelfth, and all of these."""
    yield "| predicted 300 µs and more | launches | median | mean | 90 % below | in the printed interval |"
    yield "|---|--:|--:|--:|--:|--:|"
    by_list = {title: [one for one in found if one.times[0] >= LENGTHS[-1]] for title, found in lists.items()}
    before = [one for title in list(LISTS)[4:-1] for one in by_list.get(title, [])]
    after = by_list.get(TWELFTH, [])
    for title, found in ("fifth to eleventh list", before), (TWELFTH, after), ("fifth to twelfth list", before + after):
        sizes = sorted(abs(one.error) for one in found)
        cells = (statistics.median(sizes), statistics.mean(sizes), sizes[int(0.9 * len(sizes))])
        inside = sum(map(told, found))
        shares = " | ".join(f"{100 * cell:.1f} %" for cell in cells)
        yield f"| {title} | {len(found)} | {shares} | {inside} ({100 * inside / len(found):.0f} %) |"


def measured_stalls(row: Row) -> dict[str, float]:
    """Warp cycles per issued instruction by reason, as Nsight Compute read them."""
    found = ((STALLED.fullmatch(name), value) for name, value in row.items())
    return {name[1]: float(value) for name, value in found if name and value}


def top_stalls(title: str = SETTLERS) -> list[tuple[str, str, str, float, float]]:
    """Of each launch: its name, the reason that warps wait for most, predicted by the version of today (`again`) and
    measured, and the measured shares of both."""
    again = rows(VALIDATION / LISTS[title] / "h200" / "stalls.csv")
    found = []
    for name, row in rows(VALIDATION / LISTS[title] / "h200" / "times.csv").items():
        stalls = measured_stalls(row)
        total, predicted = sum(stalls.values()), again[name]["top"]
        worst = max((reason for reason in stalls if reason != "selected"), key=lambda reason: stalls[reason])
        found.append((name, predicted, worst, stalls.get(predicted, 0.0) / total, stalls[worst] / total))
    return found


def stalls(lists: Mapping[str, list[Launch]]) -> Iterator[str]:
    """How often the top reason is right, and what was predicted where it is not."""
    found = top_stalls()
    yield "| measured first | launches | predicted, too | launches where another is predicted |"
    yield "|---|--:|--:|---|"
    reasons = [worst for _, _, worst, *_ in found]
    for reason in sorted(set(reasons), key=lambda reason: (-reasons.count(reason), reason)):
        wrong = [one for one in found if one[2] == reason != one[1]]
        others = "; ".join(
            f"`{name}`: {predicted} ({100 * share:.0f} % measured, {reason} {100 * most:.0f})"
            for name, predicted, _, share, most in wrong
        )
        yield f"| {reason} | {reasons.count(reason)} | {reasons.count(reason) - len(wrong)} | {others} |"
    yield f"| all | {len(found)} | {sum(one[1] == one[2] for one in found)} | |"


def table(lists: Mapping[str, list[Launch]]) -> Iterator[str]:
    yield "| launch | predicted µs | measured µs | difference | limit, as predicted |"
    yield "|---|--:|--:|--:|---|"
    for found in lists.values():
        for launch in found:
            predicted, measured = launch.times
            limit = launch.predicted["limit"].split(":")[0].split(" (")[0]
            yield f"| {launch.name} | {predicted:,.1f} | {measured:,.1f} | {100 * launch.error:+.0f} % | {limit} |"


def main() -> None:
    tables: dict[str, Callable[[Mapping[str, list[Launch]]], Iterator[str]]] = {
        "summary": summary, "counters": counters, "launches": table, "again": summary, "ladders": ladders,
        "guests": partial(ladders, title=GUESTS), "lengths": lengths, "visitors": partial(ladders, title=VISITORS),
        "visitors_lengths": partial(lengths, title=VISITORS), "travellers": partial(ladders, title=TRAVELLERS),
        "travellers_lengths": partial(lengths, title=TRAVELLERS), "newcomers": partial(ladders, title=NEWCOMERS),
        "newcomers_lengths": partial(lengths, title=NEWCOMERS), "wanderers": partial(ladders, title=WANDERERS),
        "wanderers_lengths": partial(lengths, title=WANDERERS), "settlers": partial(ladders, title=SETTLERS),
        "settlers_lengths": partial(lengths, title=SETTLERS), "long": long_launches, "stalls": stalls,
    }  # fmt: skip
    found = launches(AGAIN, "again.csv") if sys.argv[1] == "again" else launches()
    for line in tables[sys.argv[1]](found):
        print(line)


if __name__ == "__main__":
    main()
