"""One kernel on several GPUs: a row each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from warplens.machine import Machine
from warplens.report.json.document import VERSION, Document, prediction_part, what_if_part
from warplens.report.launch_view import LaunchView, blocks_of
from warplens.report.prediction_view import interval, spoken
from warplens.report.terminal.console_layout import GAP, titled


@dataclass(frozen=True)
class GpuAnswer:
    """One kernel on one GPU; without a subject where the GPU refuses the launch, and why."""

    machine: Machine
    subject: LaunchView | None
    refused: str = ""

    @property
    def unpredicted(self) -> str:
        """Why there is no time, "" where there is one."""
        if self.subject is None:
            return self.refused
        return "" if self.subject.prediction else self.subject.unpredicted


def show(title: str, answers: Sequence[GpuAnswer], out: Console) -> None:
    """The rows in the order of the GPUs; the fastest in the headline."""
    out.print(Text(f"{title}: {fastest(answers)}", style="bold"))
    if (subject := next((a.subject for a in answers if a.subject), None)) is not None:
        launch = subject.launch
        out.print(Text(f"{subject.file}, {blocks_of(launch)}", "dim"))
    table = Table(box=None, padding=(0, GAP, 0, 0), pad_edge=False, header_style="dim", expand=True)
    for head in ("GPU", "Arch", "Event time", "Interval"):
        table.add_column(head, no_wrap=True)
    table.add_column("Limit", ratio=1)
    for answer in answers:
        table.add_row(*(Text(cell) for cell in cells(answer)))
    out.print(titled("Time", "modelled", table))
    if any(a.subject and a.subject.what_if for a in answers):
        out.print(titled("What If", "modelled", what_if_table(answers)))
    if any(cells(answer)[0].endswith("*") for answer in answers):
        remark = "* uncalibrated: this GPU's speeds are published numbers, not measured; its interval is assumed"
        out.print(Text(remark, "dim"))


def cells(answer: GpuAnswer) -> tuple[str, str, str, str, str]:
    key, arch = answer.machine.key, answer.machine.arch
    prediction = answer.subject.prediction if answer.subject else None
    if prediction is None:
        return key, arch, "–", "", f"no prediction: {answer.unpredicted}"
    star = "" if prediction.calibrated else "*"
    span = interval(prediction.low_us, prediction.high_us)
    return key + star, arch, spoken(prediction.time_us), span, prediction.limit


def what_if_table(answers: Sequence[GpuAnswer]) -> Table:
    """A row for each GPU that has a time, a column for each cause removed."""
    subjects = [(cells(a)[0], a.subject) for a in answers if a.subject and a.subject.prediction]
    causes = list(dict.fromkeys(name for _, subject in subjects for name in subject.what_if))
    table = Table(box=None, padding=(0, GAP, 0, 0), pad_edge=False, header_style="dim")
    for head in ("GPU", "Now", *causes):
        table.add_column(head, no_wrap=head == "GPU", overflow="fold")
    for name, subject in subjects:
        assert subject.prediction is not None
        then = [spoken(subject.what_if[cause].time_us) for cause in causes]
        table.add_row(name, spoken(subject.prediction.time_us), *then)
    return table


def fastest(answers: Sequence[GpuAnswer]) -> str:
    """ "83.0 µs on the NVIDIA H200 SXM, the fastest of 3 (modelled)"."""
    times = [(a.subject.prediction.time_us, a) for a in answers if a.subject and a.subject.prediction]
    if not times:
        return f"no time can be predicted on any of {len(answers)} GPUs"
    best, answer = min(times, key=lambda pair: pair[0])
    return f"{spoken(best)} on the {answer.machine.title}, the fastest of {len(times)} (modelled)"


def document(title: str, answers: Sequence[GpuAnswer]) -> Document:
    """The prediction of each GPU as in the document of a run."""
    return {"version": VERSION, "kernel": title, "gpus": [row(answer) for answer in answers]}


def row(answer: GpuAnswer) -> Document:
    found: dict[str, Any] = {"gpu": answer.machine.key, "arch": answer.machine.arch, "prediction": None}
    if answer.subject and answer.subject.prediction:
        found["prediction"] = prediction_part(answer.subject.prediction, answer.subject.program)
        found["what_if"] = what_if_part(answer.subject.what_if)
    return {**found, "unpredicted": answer.unpredicted or None}
