"""Kernel cases of `warplens check`: the kernels of a file, their records with and without a launch.

These functions run in worker processes: what they take and give is plain data.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from warplens.commands.kernel_counts import MachineCode, Places, with_counts, with_static_counts
from warplens.commands.kernel_selection import is_source, launches
from warplens.commands.target import Flags, Target, targets
from warplens.core.cubin import SourceLine
from warplens.core.launch import Launch
from warplens.core.run_options import RunOptions
from warplens.errors import CompileError, UsageError, WarplensError
from warplens.kernel import LaunchableKernel
from warplens.machine import machine
from warplens.machine.gpu_choice import DEFAULTS, fitting, same_code
from warplens.regression.check_settings import KernelRule
from warplens.regression.kernel_record import KernelKey, KernelRecord, LineCounts
from warplens.regression.normal_form import NormalForm, normal_form
from warplens.report.launch_view import blocks_of
from warplens.run import tool_versions
from warplens.system import disk_cache

INPUT_LETTERS = 16


@dataclass(frozen=True)
class FileJob:
    """A file, compiled once.

    path, shown   to be opened; in the record, from the folder of the settings
    arch, gpu     None for the default, which is the same on every machine
    words         of --kernel;  rules: tables of the settings;  names: of counts that are needed, by kernel
    """

    path: str
    shown: str
    folder: str
    arch: str | None
    gpu: str | None
    options: tuple[str, ...]
    words: tuple[str, ...] = ()
    rules: tuple[KernelRule, ...] = ()
    sample: int | None = None
    instructions: int | None = None
    settings: tuple[str, ...] = ()

    @property
    def places(self) -> Places:
        return Places(self.path, self.shown, self.folder)


@dataclass(frozen=True)
class CaseError:
    """Why there is no record of a kernel, or of any kernel of a file (name "").

    unmatched   the file has no kernel that --kernel means
    """

    name: str
    message: str
    exit_code: int
    line: SourceLine | None = None
    unmatched: bool = False


@dataclass(frozen=True)
class CompiledCase:
    """A kernel that has not been run: its record has the counts of the machine code alone.

    started   whether its launch is known;  launch_error: why that makes no sense, "" if it does
    line      where it begins
    """

    record: KernelRecord
    flags: Flags
    started: bool
    launch_error: str
    line: SourceLine | None
    source: tuple[str, ...]


@dataclass(frozen=True)
class Counting:
    """What is to be counted of a case: names, whether time must be predicted for them."""

    job: FileJob
    case: CompiledCase
    names: tuple[str, ...]
    predicted: bool
    threads: int


def compiled(job: FileJob, statics: Sequence[str]) -> list[CompiledCase | CaseError]:
    """The kernels of the file, compiled; statics: counts of the machine code that are wanted."""
    found: list[CompiledCase | CaseError] = []
    for loaded in _loaded(job):
        if isinstance(loaded, CaseError):
            found.append(loaded)
            continue
        flags, target = loaded
        try:
            found.append(_case(job, flags, target, statics))
        except WarplensError as error:
            found.append(CaseError(target.title, str(error), error.exit_code))
    return found


def counted(counting: Counting) -> KernelRecord | CaseError:
    """The record with counts of a launch; from the cache where the same launch of the same machine code is there."""
    case, job = counting.case, counting.job
    name = case.record.key.name
    try:
        (target,) = _targets(job.path, case.flags)
        target = _on_usual_gpu(job, target)
        question = json.dumps([
            case.record.checksum, sorted(counting.names), counting.predicted, job.sample, job.instructions, job.shown,
            hashlib.sha256(target.kernel.cubin.data).hexdigest(),
        ])  # fmt: skip
        key = disk_cache.key("check", question)
        if kept := disk_cache.recall("check", key):
            return _from_json(case.record, json.loads(kept))
        run = target.run(RunOptions(counting.threads, job.instructions, job.sample))
        if counting.predicted:
            run = run.timed()
            if run.unpredicted:
                return CaseError(name, f"no time is predicted: {run.unpredicted}", 2, case.line)
        record = with_counts(case.record, run.subject, counting.names, job.places)
        disk_cache.keep("check", key, json.dumps(_to_json(record)).encode())
        return record
    except WarplensError as error:
        return CaseError(name, str(error), error.exit_code, case.line)
    except (MemoryError, RecursionError) as error:
        return CaseError(name, f"{type(error).__name__}: {error or 'not enough memory'}", 4, case.line)


def normal_form_of(job: FileJob, case: CompiledCase) -> NormalForm:
    """The machine code of a compiled kernel."""
    (target,) = _targets(job.path, case.flags)
    return normal_form(target.kernel.program, target.kernel.kernel)


Loaded = tuple[Flags, Target]


def _loaded(job: FileJob) -> list[Loaded | CaseError]:
    """Every kernel of the file; where one cannot be found, the others still are."""
    flags = Flags(
        kernel=job.words or None, arch=job.arch, gpu=_gpu(job), options=job.options, settings=job.settings
    )  # fmt: skip
    try:
        return [_with_rules(job, flags, target) for target in _targets(job.path, flags)]
    except WarplensError as error:
        titles = _titles(job)
        if isinstance(error, CompileError) or not titles:
            unmatched = bool(job.words) and isinstance(error, UsageError) and str(error).startswith("no kernel ")
            return [CaseError("", str(error), error.exit_code, unmatched=unmatched)]
    found: list[Loaded | CaseError] = []
    for title in titles:
        own = replace(flags, kernel=title)
        try:
            found += [_with_rules(job, own, target) for target in _targets(job.path, own)]
        except WarplensError as error:
            found.append(CaseError(title, str(error), error.exit_code))
    return found


def _titles(job: FileJob) -> list[str]:
    """Of the launch block, those that are asked for."""
    try:
        block = launches(job.path) if is_source(job.path) else None
    except WarplensError:
        return []
    return [] if block is None or job.words else list(block.kernels)


def _with_rules(job: FileJob, flags: Flags, target: Target) -> Loaded:
    """The target, launched as the settings say where they do; the flags that find it again."""
    launch = {key: value for rule in job.rules if rule.matches(target.title) for key, value in rule.launch.items()}
    own = replace(flags, kernel=target.title, **launch_flags(launch)) if launch else replace(flags, kernel=target.title)
    if not launch:
        return own, _on_usual_gpu(job, target)
    (again,) = _targets(job.path, own)
    return own, _on_usual_gpu(job, again)


def launch_flags(launch: Mapping[str, Any]) -> dict[str, Any]:
    """Keys of a table [kernels.NAME] as flags of the command line."""

    def text(value: object) -> str:
        return ",".join(map(str, value)) if isinstance(value, list) else str(value)

    flags: dict[str, Any] = {key: text(launch[key]) for key in ("grid", "block", "shared", "cluster") if key in launch}
    if "args" in launch:
        args = launch["args"]
        flags["args"] = tuple(map(str, args if isinstance(args, list) else [args]))
    if isinstance(settings := launch.get("set"), dict):
        flags["settings"] = tuple(f"{name}={value}" for name, value in settings.items())
    return flags


def forget() -> None:
    """Files may have changed since they were compiled in this process."""
    _targets.cache_clear()


@lru_cache(maxsize=16)
def _targets(path: str, flags: Flags) -> tuple[Target, ...]:
    """Compiled and disassembled once a process."""
    return tuple(targets(path, flags))


def _gpu(job: FileJob) -> str:
    """Never the GPU of this machine: verdicts are the same on all."""
    if job.gpu:
        return job.gpu
    if job.arch:
        return next((name for name in DEFAULTS if same_code(machine(name).arch, job.arch)), DEFAULTS[0])
    return DEFAULTS[0]


def _on_usual_gpu(job: FileJob, target: Target) -> Target:
    """On the default GPU of the code's architecture, where none is named."""
    if job.gpu:
        if not same_code(target.kernel.arch, target.machine.arch):
            raise UsageError(
                f"the machine code is for {target.kernel.arch}, {target.machine.title} is {target.machine.arch}"
            )
        return target
    return replace(target, machine=fitting(target.kernel.arch, target.machine, "default")[0])


def _case(job: FileJob, flags: Flags, target: Target, statics: Sequence[str]) -> CompiledCase:
    kernel, places = target.kernel, job.places
    began = next((i.source for i in kernel.program.instructions if i.source), None)
    started, error, launch = bool(target.started or flags.grid), "", None
    if started:
        try:
            launch = target.launch
            target.kernel.check(launch, target.machine)
        except WarplensError as refusal:
            error = str(refusal)
    source = kernel.cubin.sources
    compiler = "nvrtc" if source else "ptxas" if job.path.endswith(".ptx") else ""
    key = KernelKey(job.shown, target.title, kernel.arch, target.machine.key)
    inputs = "" if launch is None else _inputs(target, launch, job.sample)
    record = KernelRecord(
        key, _digest(kernel), blocks_of(launch) if launch else "", inputs, tool_versions(compiler), {}
    )  # fmt: skip
    least = target.machine.limits.registers_per_thread_minimum
    code = MachineCode(kernel.kernel, kernel.program, source)
    record = with_static_counts(record, code, statics, places, least)
    text = tuple(source.get(job.path, "").split("\n")) if source else ()
    return CompiledCase(record, flags, started, error, began and places(began), text)


def _digest(kernel: LaunchableKernel) -> str:
    """Kept: def-use chains of a large kernel take seconds."""

    def made() -> bytes:
        return normal_form(kernel.program, kernel.kernel).digest.encode()

    name = disk_cache.key("normal form", kernel.cubin.data, kernel.kernel.name)
    return disk_cache.remember("digest", name, made).decode()


_WORD = re.compile(r"[A-Za-z_]\w*")
_FILE = re.compile(r"file\s*[:\s]\s*(\S+)")


def _inputs(target: Target, launch: Launch, sample: int | None) -> str:
    """Digest of everything but the machine code that counts depend on: launch, arguments with the numbers in them,
    contents of files, variables of the module."""
    texts = [argument.text for argument in target.arguments] + [f"{k}={v}" for k, v in sorted(target.variables.items())]
    words = {word for text in texts for word in _WORD.findall(text)}
    numbers = sorted((name, str(value)) for name, value in target.known.items() if name in words)
    base = Path(target.file).parent
    held = [
        hashlib.sha256((base / found[1]).read_bytes()).hexdigest()
        for text in texts if (found := _FILE.match(text)) and (base / found[1]).is_file()
    ]  # fmt: skip
    asked = [
        launch.grid, launch.block, launch.shared, launch.cooperative, target.kernel.kernel.cluster, texts, numbers,
        held, _module_data(target.kernel), sample,
    ]  # fmt: skip
    return hashlib.sha256(json.dumps(asked).encode()).hexdigest()[:INPUT_LETTERS]


def _module_data(kernel: LaunchableKernel) -> list[str]:
    """Digests of the variables' initial values that are not 0; names and places do not matter."""
    cubin, constants = kernel.cubin, kernel.kernel.constants.get(3, b"")
    held = [cubin.globals_image[v.offset : v.offset + v.size] for v in cubin.globals.values()]
    held += [constants[v.offset : v.offset + v.size] for v in cubin.constants.values()]
    return sorted(hashlib.sha256(data).hexdigest()[:INPUT_LETTERS] for data in held if any(data))


def _to_json(record: KernelRecord) -> list[object]:
    lines = [[line.place.file, line.place.line, line.text, dict(line.counts)] for line in record.lines]
    return [dict(record.counts), lines, record.sampled]


def _from_json(record: KernelRecord, kept: list[object]) -> KernelRecord:
    counts, rows, sampled = kept
    assert isinstance(counts, dict)
    assert isinstance(rows, list)
    lines = tuple(LineCounts(SourceLine(file, line), text, own) for file, line, text, own in rows)
    return replace(record, counts=counts, lines=lines, sampled=bool(sampled))
