"""Kernel session: what a worker process does for one request after the other: compile, count, predict, report.

Arrays of arguments that a request shares with the last one are not made again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from warplens.api import unsaved_file
from warplens.commands.explain import timed
from warplens.commands.kernel_selection import launches
from warplens.commands.target import Flags, Made, Target, targets
from warplens.core.run_options import RunOptions
from warplens.errors import UsageError
from warplens.labs.lab import Lab
from warplens.labs.reference_check import ReferenceCheck
from warplens.labs.run_lab import Size
from warplens.launchspec.lab_toml import RungEntry
from warplens.launchspec.launch_block import LaunchFile
from warplens.machine import machine
from warplens.report.html import launch_page, live_result
from warplens.run import Run
from warplens.serve.include_check import check_argument_file, check_includes, check_options
from warplens.serve.kernel_request import KernelRequest

MOST_KERNELS = 8
Document = dict[str, Any]


@dataclass(frozen=True, slots=True)
class OpenRung:
    """The rung whose text is edited."""

    lab: Lab
    entry: RungEntry
    size: Size

    @classmethod
    def of(cls, request: KernelRequest, folder: Path) -> OpenRung | None:
        if not request.lab:
            return None
        lab = Lab.of(folder)
        (rung,) = lab.chosen([request.rung])
        return cls(lab, rung.entry, Size.parse(request.size or "small"))

    @property
    def settings(self) -> dict[str, str]:
        found = self.lab.file.settings(self.entry, self.size.names)
        return {name: str(value) for name, value in found.items()}

    @property
    def sample(self) -> int | None:
        return None if self.size.names is None else self.lab.file.sample


class KernelSession:
    """Kernel session.  files are read in `folder` and below."""

    def __init__(self, host: RunOptions) -> None:
        self.host = host
        self.kept: dict[Made, Any] = {}
        self.targets: list[Target] = []
        self.runs: dict[int, Run] = {}
        self.rung: OpenRung | None = None
        self.file = Path()
        self.source = ""

    def open(self, request: KernelRequest, file: Path) -> Document:
        """Compiles the text under the file's name; the kernels with their launches.  WarplensError."""
        self.runs.clear()
        if file != self.file:
            self.kept.clear()
        self.file, self.source = file, request.source
        self.rung = OpenRung.of(request, file.parent)
        with unsaved_file(str(file), request.source):
            block = launches(str(file))
            names = {**(self.rung.settings if self.rung else {}), **request.names}
            self._check_files(block, names)
            flags = Flags(
                kernel=self.rung.entry.title if self.rung else request.kernel or None, arch=request.arch or None,
                gpu=request.gpu or None,
                settings=tuple(f"{name}={text}" for name, text in names.items() if text.strip()),
            )  # fmt: skip
            found = targets(str(file), flags)
        if len(found) > MOST_KERNELS:
            titles = ", ".join(target.title for target in found)
            raise UsageError(f"{len(found)} kernels are more than {MOST_KERNELS} at a time; choose one of {titles}")
        self.targets = [replace(target, kept=self.kept) for target in found]
        for target in found:
            _ = target.kernel.program  # disassembled now: what follows is the launch alone
        gpu = machine(request.gpu) if request.gpu and request.gpu != "none" else found[0].machine
        return {
            "kernels": [self._described(target) for target in self.targets],
            "names": [{"name": name, "text": str(text)} for name, text in (block.names if block else {}).items()],
            "values": {name: str(value) for name, value in found[0].names.items()},
            "gpu": gpu.title,
        }

    def _check_files(self, block: LaunchFile | None, names: Mapping[str, str]) -> None:
        """UsageError for files outside of the kernel's folder."""
        entries = list(block.kernels.values()) if block else []
        options = [option for entry in entries for option in entry.options]
        check_options(options, self.file)
        check_includes(self.source, self.file, options)
        for entry in entries:
            for text in (*entry.args, *entry.variables.values()):
                check_argument_file(text, self.file, entry.line if entry.file == str(self.file) else 1)
        for text in names.values():
            check_argument_file(text, self.file, 1)

    def _described(self, target: Target) -> Document:
        launch, kernel = target.launch, target.kernel
        dims = (",".join(map(str, dim)).removesuffix(",1").removesuffix(",1") for dim in (launch.grid, launch.block))
        grid, block = dims
        return {
            "title": target.title, "arch": kernel.arch, "grid": grid, "block": block, "registers": kernel.registers,
            "threads": launch.blocks * launch.threads_per_block,
        }  # fmt: skip

    def count(self, index: int) -> Document:
        """Executes a kernel; what the page shows of it.  WarplensError, TimeLimitReached."""
        target = self.targets[index]
        wrong: Sequence[str] = ()
        with unsaved_file(str(self.file), self.source):
            if self.rung and not self.rung.sample:
                run, wrong = self._checked_run(target, self.rung)
            else:
                sample = self.rung.sample if self.rung else None
                run = target.run(replace(self.host, sample=sample))
        self.runs[index] = run
        return {**self._result(index, run), "wrong": list(wrong)}

    def _checked_run(self, target: Target, rung: OpenRung) -> tuple[Run, Sequence[str]]:
        """The run, and how its results differ from those of truth.py."""
        target.kernel.check(target.launch, target.machine)
        before, after = target.values(), target.fresh_values()
        check = ReferenceCheck(rung.lab.folder, rung.entry, before, rung.lab.file.names(rung.entry, rung.size.names))
        return target.run_with(after, self.host), check.differences(after)

    def predict(self, index: int) -> Document:
        """Predicts the time of a kernel that was counted."""
        if timed(self.targets[index]):
            self.runs[index] = self.runs[index].timed()
        return self._result(index, self.runs[index])

    def report(self) -> Document:
        """The page of `warplens explain --html` of all kernels."""
        views = []
        for index, target in enumerate(self.targets):
            self.count(index)
            run = self.runs[index].timed() if timed(target) else self.runs[index]
            views.append(run.page_subject)
        return {"html": launch_page.page(views)}

    def _result(self, index: int, run: Run) -> Document:
        return {"index": index, "title": self.targets[index].title, **live_result.document(run.subject, f"k{index}")}
