"""Check: the kernels of files against their budgets and the baseline, for `warplens check`.

Files are compiled in parallel; a kernel is executed only where its machine code or launch is not the baseline's, or
where a budget reads what the baseline has not got.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path

from warplens.commands.case_pool import answers
from warplens.commands.checked_kernel import CheckedKernel
from warplens.commands.kernel_case import CaseError, CompiledCase, Counting, FileJob, compiled, counted, forget
from warplens.commands.program_case import ProgramJob, run_program_case
from warplens.commands.target import Flags
from warplens.emulator import available_threads
from warplens.errors import UsageError
from warplens.machine import machine
from warplens.machine.gpu_choice import DEFAULTS
from warplens.regression.baseline import Baseline, baseline_text, read_baseline
from warplens.regression.budget import CountBudget, Vocabulary, parse_budget
from warplens.regression.check_settings import CheckSettings
from warplens.regression.kernel_record import KernelKey, KernelRecord
from warplens.regression.tracked_counts import DEFAULT_BUDGETS, is_static
from warplens.regression.verdict import UNUSABLE, KernelUnderTest, KernelVerdict, Policy, Verdict, gone, judge
from warplens.report.definitions import definitions
from warplens.report.regression_views.check_view import CheckView
from warplens.run import write_text

DIED = 4  # exit code of a kernel whose process ended: it cannot be executed here
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class CheckRequest:
    """What is asked.

    files      instead of those of the settings;  words: of --kernel;  require: budgets of the command line
    save       write the baseline;  processes: None for as many as this machine has processors
    """

    settings: CheckSettings
    files: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    require: tuple[str, ...] = ()
    save: bool = False
    across_versions: bool = False
    processes: int | None = None


def check(request: CheckRequest, progress: Progress) -> CheckView:
    """UsageError where nothing can be checked; what is wrong with one kernel is in its verdict."""
    forget()
    return _Check(request, progress).view()


@dataclass
class _Check:
    request: CheckRequest
    progress: Progress
    problems: list[str] = field(default_factory=list)
    errors: list[KernelVerdict] = field(default_factory=list)

    @property
    def settings(self) -> CheckSettings:
        return self.request.settings

    @cached_property
    def processes(self) -> int:
        return self.request.processes or available_threads()

    @cached_property
    def vocabulary(self) -> Vocabulary:
        defined = definitions()
        return Vocabulary({d.name: d.unit for d in defined}, frozenset(d.name for d in defined if d.predicted))

    @cached_property
    def tracked(self) -> tuple[CountBudget, ...]:
        return tuple(parse_budget(text, self.vocabulary) for text in DEFAULT_BUDGETS)

    @cached_property
    def baseline_path(self) -> Path:
        return self.settings.folder / self.settings.baseline

    @cached_property
    def baseline(self) -> Baseline | None:
        """None where there is none; where it is unreadable that is a problem, unless a new one is written."""
        shown = os.path.relpath(self.baseline_path)
        if not self.baseline_path.exists():
            return None
        try:
            return read_baseline(self.baseline_path, shown)
        except UsageError as error:
            if not self.request.save or self.partial:
                self.problems.append(str(error))
            return None

    @property
    def partial(self) -> bool:
        """Whether only some of the files or kernels are asked for."""
        return bool(self.request.files or self.request.words)

    def view(self) -> CheckView:
        budgets = self._parsed((*self.settings.budgets, *self.request.require))
        by_rule = {rule.pattern: self._parsed(rule.budgets) for rule in self.settings.kernels}
        jobs = self._jobs()
        statics = sorted({
            name for own in (budgets, *by_rule.values(), self.tracked) for budget in own for name in budget.names
            if is_static(name)
        })  # fmt: skip
        before = self.baseline
        if before is None and not self.request.save and not budgets and not any(by_rule.values()):
            if self.problems:
                return self._view([], jobs)
            raise UsageError(
                "nothing to check against: there are no budgets and no baseline; `warplens check --save` writes "
                f"{os.path.relpath(self.baseline_path)}, --require 'gld_efficiency >= 95' is a budget"
            )
        found = [*self._compile(jobs, statics, budgets, by_rule), *self._programs(statics, budgets)]
        self._count(found)
        if self.request.save:
            self._save(found)
        return self._view(found, jobs)

    def _parsed(self, texts: Iterable[str]) -> tuple[CountBudget, ...]:
        """The budgets; one that makes no sense is a problem, and the others are checked."""
        made = []
        for text in texts:
            try:
                made.append(parse_budget(text, self.vocabulary))
            except UsageError as error:
                self.problems.append(str(error))
        return tuple(made)

    def _jobs(self) -> list[FileJob]:
        settings = self.settings
        for gpu in settings.gpu:
            machine(gpu)  # UsageError for one that is not known
        paths = [Path(file) for file in self.request.files] or settings.paths()
        if not paths and not settings.programs:
            raise UsageError(
                'no files are named: give FILES, or `files = ["*.cu"]` in warplens.toml or [tool.warplens]'
            )
        options = tuple(_beside(option, settings.folder) for option in settings.options)
        return [
            FileJob(
                os.path.relpath(path), _shown(path, settings.folder), str(settings.folder), arch, gpu, options,
                self.request.words, settings.kernels, settings.sample, settings.instructions,
            )
            for path in paths
            for arch in settings.arch or (None,)
            for gpu in settings.gpu or (None,)
        ]  # fmt: skip

    def _compile(
        self, jobs: Sequence[FileJob], statics: Sequence[str], budgets: tuple[CountBudget, ...],
        by_rule: dict[str, tuple[CountBudget, ...]],
    ) -> list[CheckedKernel]:  # fmt: skip
        def died(job: FileJob) -> list[CompiledCase | CaseError]:
            return [CaseError("", "the process that compiled it ended", DIED)]

        compiled_by: dict[int, list[CompiledCase | CaseError]] = {}
        for number, cases in answers(partial(compiled, statics=statics), jobs, self.processes, died):
            compiled_by[number] = cases
            self.progress(f"compiling {jobs[number].shown}", len(compiled_by), len(jobs))
        made, used = [], set()
        matched = any(isinstance(case, CompiledCase) for cases in compiled_by.values() for case in cases)
        for number, job in enumerate(jobs):
            for case in compiled_by[number]:
                if isinstance(case, CaseError):
                    if not (case.unmatched and matched):
                        self.errors.append(_failed(_key(job, case.name), case))
                    continue
                rules = self.settings.rules_of(case.record.key.name)
                used |= {rule.pattern for rule in rules}
                if any(rule.skip for rule in rules):
                    continue
                own = (*budgets, *(budget for rule in rules for budget in by_rule[rule.pattern]))
                before = self.baseline.records.get(case.record.key) if self.baseline else None
                made.append(CheckedKernel(job, case, own or self.tracked, before))
        self._unused(used, [one.key.name for one in made])
        return made

    def _programs(self, statics: Sequence[str], budgets: tuple[CountBudget, ...]) -> list[CheckedKernel]:
        """The launches of whole programs: these are always run, as only a run tells what they launch."""
        made = []
        for number, rule in enumerate(() if self.partial else self.settings.programs, 1):
            self.progress(f"running {rule.name}", number, len(self.settings.programs))
            own = (*budgets, *self._parsed(rule.budgets)) or self.tracked
            names = sorted({n for b in (*own, *self.tracked) for n in b.names if not is_static(n)})
            gpu = machine(self.settings.gpu[0] if self.settings.gpu else DEFAULTS[0])
            job = ProgramJob(rule, str(self.settings.folder), gpu, names, statics, self.settings.instructions)
            file = FileJob(rule.name, rule.name, str(self.settings.folder), None, None, ())
            for case in run_program_case(job):
                if isinstance(case, CaseError):
                    self.errors.append(_failed(_key(file, case.name), case))
                    continue
                before = self.baseline.records.get(case.record.key) if self.baseline else None
                whole = CompiledCase(case.record, Flags(), True, "", case.line, ())
                made.append(CheckedKernel(file, whole, own, before, case.record, True))
        return made

    def _unused(self, used: set[str], names: Sequence[str]) -> None:
        """Tables of the settings that no kernel has: a name may be wrong."""
        for rule in self.settings.kernels:
            if rule.pattern not in used and not self.partial:
                close = difflib.get_close_matches(rule.pattern, names, 3, 0.6)
                hint = f"did you mean {', '.join(close)}?" if close else f"there are {', '.join(names[:8]) or 'none'}"
                self.problems.append(f"{self.settings.source}: [kernels.{rule.pattern}] matches no kernel; {hint}")

    def _count(self, found: Sequence[CheckedKernel]) -> None:
        """Records of today: from the baseline where nothing changed, else of a launch."""
        waiting = []
        for one in found:
            names, predicted = self._names(one)
            if one.now is not None:
                continue
            if (damage := self.baseline and self.baseline.damaged.get(one.key)) and not self.request.save:
                one.error = CaseError(one.key.name, damage, 2, one.case.line)
            elif not names:
                one.now = one.case.record
            elif one.reusable(names):
                one.reuse()
            elif one.case.launch_error:
                one.error = CaseError(one.key.name, one.case.launch_error, 2, one.case.line)
            elif not one.case.started:
                one.error = CaseError(
                    one.key.name, f"{names[0]} needs a launch: write a launch block into the file, or "
                    f"[kernels.{one.key.name}] with grid, block and args into warplens.toml", 2, one.case.line,
                )  # fmt: skip
            else:
                waiting.append((one, Counting(one.job, one.case, names, predicted, 1)))
        self._execute(waiting)

    def _execute(self, waiting: Sequence[tuple[CheckedKernel, Counting]]) -> None:
        spread = max(1, self.processes // max(len(waiting), 1))
        jobs = [replace(counting, threads=spread) for _, counting in waiting]

        def died(job: Counting) -> KernelRecord | CaseError:
            return CaseError(job.case.record.key.name, "the process that executed it ended", DIED, job.case.line)

        for done, (number, answer) in enumerate(answers(counted, jobs, self.processes, died), 1):
            one = waiting[number][0]
            self.progress(f"executed {one.key.name}", done, len(jobs))
            if isinstance(answer, CaseError):
                one.error = answer
            else:
                one.now, one.executed = answer, True

    def _names(self, one: CheckedKernel) -> tuple[tuple[str, ...], bool]:
        """Counts that are needed of a launch, and whether a prediction is."""
        kept = self.tracked if one.case.started and (self.request.save or one.before is not None) else ()
        names = {name for budget in (*one.budgets, *kept) for name in budget.names if not is_static(name)}
        if not one.case.started and one.budgets == self.tracked:
            names = set()
        predicted = bool(names & self.vocabulary.predicted)
        return tuple(sorted(names)), predicted

    def _save(self, found: Sequence[CheckedKernel]) -> None:
        fresh = {one.key: one.to_keep for one in found if one.now is not None}
        old = dict(self.baseline.records) if self.baseline else {}
        asked = {job.shown for job in self._jobs()}
        if not self.request.words:
            whole = not self.partial
            failing = {error.key.file for error in self.errors} | {one.key.file for one in found if one.error}
            old = {k: r for k, r in old.items() if k.file in failing or not (whole or k.file in asked)}
        records = {**old, **{key: record for key, record in fresh.items() if record is not None}}
        write_text(self.baseline_path, baseline_text(records.values()))

    def _view(self, found: Sequence[CheckedKernel], jobs: Sequence[FileJob]) -> CheckView:
        policy = Policy(
            self.tracked, self.vocabulary.units, "predictions" in self.settings.fail_on,
            "samples" in self.settings.fail_on, self.request.across_versions,
            "" if self.baseline is None else self.baseline.path,
        )  # fmt: skip
        verdicts = [*self.errors]
        missing = self._gone(found, jobs) if self.baseline and not self.request.save else []
        elsewhere = {(r.key.file, r.key.name): f"{r.key.arch}, {r.key.gpu}" for r in missing}
        present = {(one.key.file, one.key.name) for one in found}
        for one in found:
            if one.now is None:
                assert one.error is not None
                verdicts.append(_failed(one.key, one.error))
                continue
            before = one.now if self.request.save else one.before
            under_test = KernelUnderTest(one.now, before, one.case.line, one.executed)
            verdict = judge(under_test, self._applicable(one), policy)
            if self.request.save and one.before is None and verdict.verdict is Verdict.UNCHANGED:
                verdict = replace(verdict, verdict=Verdict.NEW)  # to the baseline that was there
            if verdict.verdict is Verdict.NEW and (others := elsewhere.get((one.key.file, one.key.name))):
                note = f"the baseline has it for {others}; check that, or `warplens check --save` for this one"
                verdict = replace(verdict, verdict=Verdict.NOT_COMPARABLE, note=note, exit_code=UNUSABLE)
            verdicts.append(verdict)
        if not self.request.words:
            verdicts += [gone(record) for record in missing if (record.key.file, record.key.name) not in present]
        verdicts.sort(key=lambda v: (v.key.file, v.key.name, v.key.arch, v.key.gpu))
        tools = {k: v for one in found for k, v in one.case.record.tools.items()}
        return CheckView(
            os.path.relpath(self.settings.folder), tuple(verdicts), tuple(self.problems),
            dict(sorted(tools.items())), os.path.relpath(self.baseline_path) if self.baseline_path.exists() else "",
            self.request.save,
        )  # fmt: skip

    def _applicable(self, one: CheckedKernel) -> list[CountBudget]:
        """The default budgets on what this kernel has: without a launch the static ones."""
        assert one.now is not None
        has = one.now.counts.keys()
        usual = one.budgets == self.tracked
        return [b for b in one.budgets if not usual or set(b.names) <= has]

    def _gone(self, found: Sequence[CheckedKernel], jobs: Sequence[FileJob]) -> list[KernelRecord]:
        assert self.baseline is not None
        present = {one.key for one in found}
        broken = {(error.key.file, error.key.name) for error in self.errors}
        asked = {job.shown for job in jobs}

        def missing(key: KernelKey) -> bool:
            if key in present or broken & {(key.file, ""), (key.file, key.name)}:
                return False
            skipped = any(rule.skip for rule in self.settings.rules_of(key.name))
            return not skipped and (not self.partial or key.file in asked)

        return [record for key, record in self.baseline.records.items() if missing(key)]


def _failed(key: KernelKey, error: CaseError) -> KernelVerdict:
    return KernelVerdict(key, Verdict.ERROR, error.message, line=error.line, exit_code=error.exit_code)


def _key(job: FileJob, name: str) -> KernelKey:
    return KernelKey(job.shown, name, job.arch or "", job.gpu or "")


def _shown(path: Path, folder: Path) -> str:
    """The file from the folder of the settings."""
    return Path(os.path.relpath(path.resolve(), folder.resolve())).as_posix()


def _beside(option: str, folder: Path) -> str:
    """-Iinclude from the folder of the settings, wherever the command is given."""
    if option.startswith("-I") and not os.path.isabs(option[2:]):
        return f"-I{folder / option[2:]}"
    return option
