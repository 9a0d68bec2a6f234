"""Lab runner: reference check, counts, prediction, then time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from warplens.core.run_options import USUAL, RunOptions
from warplens.errors import UsageError
from warplens.labs.lab import Lab
from warplens.labs.opcode_claims import code_mismatches
from warplens.labs.result_files import ResultRecord, read_measured, record
from warplens.labs.result_table import recorded, sheet
from warplens.labs.rung import Rung, RungResult
from warplens.launchspec.expression import Names, evaluate_ratio, parse_setting
from warplens.report.lab.lab_table import LabTable, MeasuredTime

SIZES = ("small", "full")


@dataclass(frozen=True)
class Size:
    """Size: "small", "full" or "n=1024,m=2" as typed, and the names that it replaces: None for the small ones."""

    text: str
    names: Names | None

    @classmethod
    def parse(cls, text: str) -> Size:
        """Parses a size.  UsageError if it is none."""
        if text in SIZES:
            return cls(text, None if text == "small" else {})
        if "=" not in text:
            raise UsageError(f"--size {text}: possible are small, full, or names of the lab such as n=1048576")
        return cls(text, dict(parse_setting(part) for part in text.split(",")))


@dataclass(frozen=True)
class FinishedRung:
    """Finished rung: ran for each GPU.  wrong: text of results or counts that differ from the expected ones."""

    rung: Rung
    outcomes: Mapping[str, RungResult] = field(repr=False)
    wrong: tuple[str, ...]


def runs(
    lab: Lab, rungs: Sequence[Rung], size: Size, gpus: Sequence[str], host: RunOptions = USUAL, predict: bool = True
) -> Iterator[FinishedRung]:
    """Runs each rung for each GPU, in order."""
    for rung in rungs:
        outcomes = {gpu: rung.run(gpu, size.names, host, predict) for gpu in gpus}
        results = [text for outcome in outcomes.values() for text in outcome.wrong]
        first = next(iter(outcomes.values()))
        counts = count_mismatches(lab, rung, size, first)
        code = code_mismatches(rung, lab.file.names(rung.entry, size.names), first)
        yield FinishedRung(rung, outcomes, (*dict.fromkeys(results), *counts, *code))


def count_mismatches(lab: Lab, rung: Rung, size: Size, outcome: RungResult) -> tuple[str, ...]:
    """The expected counts of lab.toml that are not met."""
    names = lab.file.names(rung.entry, size.names)
    told = []
    for metric, text in rung.entry.counts.items():
        if metric not in outcome.metrics:
            raise UsageError(f"{lab.file.path}: [{rung.entry.title}.counts] there is no metric {metric} here")
        wanted, found = evaluate_ratio(text, names), outcome.metrics[metric]
        if found.provenance != "sampled" and found.value != wanted:
            told.append(f"{metric}: expected {text} = {wanted}, found {found.value}")
    return tuple(told)


def table_of(
    lab: Lab, done: Sequence[ResultRecord], rungs: Sequence[Rung], size: Size, gpus: Sequence[str],
    unpredicted: Mapping[str, str], fresh: Mapping[str, MeasuredTime] = {},
) -> LabTable:  # fmt: skip
    """The table of finished rungs: with times measured now, or else those recorded for the first GPU."""
    measured = {**recorded(read_measured(lab.folder), size.text, gpus[0]), **fresh}
    records = {rung.entry.title: kept for rung, kept in zip(rungs, done, strict=True)}
    return sheet(lab, size.text, size.names, gpus, rungs, records, measured, unpredicted)


def kept(lab: Lab, done: FinishedRung) -> ResultRecord:
    return record(done.outcomes, lab.metrics_of(done.rung.entry))
