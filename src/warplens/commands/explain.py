"""Explain: runs with predictions from FILE, flags and a list of GPUs, for `warplens explain`.

Time is predicted for the GPU that the user names with --gpu or WARPLENS_GPU, else for the one of this machine, else
for the default of the code's architecture; --gpu none is quicker, and has counts alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from warplens.advice import advised
from warplens.commands.kernel_selection import is_source
from warplens.commands.target import Flags, Target, targets, unstarted
from warplens.core.run_options import RunOptions
from warplens.errors import UsageError
from warplens.kernel import LaunchableKernel, Progress
from warplens.machine import Machine, machine, same_code
from warplens.machine.gpu_choice import NONE
from warplens.model import WHAT_IF
from warplens.report.terminal.gpu_table import GpuAnswer
from warplens.report.terminal.progress import bar
from warplens.run import Run


@dataclass(frozen=True)
class ExplainRequest:
    """What is asked of each run: checks, causes to be removed, and advice on what is found."""

    host: RunOptions
    check: tuple[str, ...] = ()
    what_if: tuple[str, ...] = ()
    advice: bool = False


class Explained(Protocol):
    """What is explained: a kernel of a file with its launch (a Target), or a launch that a program has made."""

    @property
    def title(self) -> str: ...
    @property
    def kernel(self) -> LaunchableKernel: ...
    @property
    def machine(self) -> Machine: ...
    @property
    def machine_from(self) -> str: ...
    def run(
        self, host: RunOptions = ..., progress: Progress | None = None, check: tuple[str, ...] = ()
    ) -> Run: ...  # fmt: skip


def gpus(named: str | None) -> list[str | None]:
    """ "a100, h200" as two names; [None] where none is given.  UsageError for one that is not known, or named twice."""
    if named is None or named.casefold() == NONE:
        return [named]
    names = [name.strip() for name in named.split(",")]
    keys = [machine(name).key for name in names]
    if twice := [key for key in keys if keys.count(key) > 1]:
        raise UsageError(f"--gpu names {twice[0]} twice")
    return list(keys)


def causes(words: Sequence[str]) -> tuple[str, ...]:
    """The names in --what-if, which may be repeated or separated by commas; UsageError for one that is not known."""
    names = [name.strip() for word in words for name in word.split(",")]
    for name in names:
        if name not in WHAT_IF:
            raise UsageError(f"--what-if: no {name!r} is known; possible are {', '.join(WHAT_IF)}")
    return tuple(dict.fromkeys(names))


def kernels(file: str, flags: Flags, what_if: Sequence[str] = ()) -> list[list[Target]]:
    """The kernels that are meant, each on all the GPUs that are named.

    UsageError where their launch is not given, where code for another architecture is asked for its time on a
    GPU, or --what-if is without a GPU.
    """
    by_gpu = [targets(file, replace(flags, gpu=gpu)) for gpu in gpus(flags.gpu)]
    if len(by_gpu[0]) > 1 and not (by_gpu[0][0].started or flags.grid or flags.block or flags.args):
        raise UsageError(unstarted(by_gpu[0]))
    for target in (target for found in by_gpu for target in found):
        code, wanted = target.kernel.arch, target.machine
        if target.machine_from == "--gpu" and foreign(target):
            source = is_source(file)
            mend = f"--arch {wanted.arch}, or without --arch" if source else "a cubin for it, or the .cu file"
            raise UsageError(f"the machine code is for {code}, {wanted.title} is {wanted.arch}: give {mend}")
        if what_if and not timed(target):
            raise UsageError("--what-if needs a GPU to answer for: add --gpu NAME; `warplens gpus` lists them")
    return [list(same) for same in zip(*by_gpu, strict=True)]


def foreign(target: Explained) -> bool:
    return not same_code(target.kernel.arch, target.machine.arch)


def timed(target: Explained) -> bool:
    """Whether its time is predicted."""
    return target.machine_from != NONE and not foreign(target)


def run(target: Explained, wish: ExplainRequest) -> Run:
    """Executes the kernel, predicts its time unless the request leaves it out, and if asked says what to write
    instead."""
    done = target.run(wish.host, bar(target.title, wish.host.sample is None), wish.check)
    done = done.timed(wish.what_if) if timed(target) else done
    return advised(done) if wish.advice else done


def answers(same: Sequence[Explained], wish: ExplainRequest, for_page: bool = False) -> Iterator[GpuAnswer]:
    """One kernel on one GPU after the other; a GPU that refuses the launch says why.

    for_page   with what pages show beside the numbers: access patterns, the timeline of one SM
    """
    for target in same:
        try:
            done = run(target, wish)
            yield GpuAnswer(target.machine, done.page_subject if for_page else done.subject)
        except UsageError as refusal:
            yield GpuAnswer(target.machine, None, str(refusal))
