"""Cell magic: `%%warplens` explains the CUDA source of a notebook's cell.

    %load_ext warplens

    %%warplens --gpu h200 --launch "grid = 32, block = 128, args = ['random f32[4096]', 'zeros f32[4096]', 4096]"
    __global__ void copy(const float* in, float* out, int n) { ... }

The options are those of `warplens explain`; the launch is in the cell's launch block, in --launch or in other options.
IPython itself is not imported: it passes its shell to register().  The rest is when a cell is run.
"""

from __future__ import annotations

import shlex
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NoReturn

import click

from warplens.cli.options import CODE, GPUS, HOST, LAUNCH, SAMPLE, options
from warplens.control_characters import visible
from warplens.errors import UsageError, WarplensError

if TYPE_CHECKING:
    from warplens.commands.target import Flags
    from warplens.core.run_options import RunOptions
    from warplens.report.terminal.gpu_table import GpuAnswer
    from warplens.run import Run

FILE = "cell.cu"  # what reports and messages call the cell
EXAMPLE = "\"grid = 32, block = 128, args = ['random f32[4096]', 4096]\""
LAUNCH_KEYS = ("grid", "block", "args", "shared", "cluster", "set")


class CellError(WarplensError):
    """What is wrong with a cell, which a notebook shows as one message."""

    def _render_traceback_(self) -> list[str]:
        return [f"error: {self}"]


@dataclass(frozen=True)
class CellRuns(Sequence["Run"]):
    """Cell runs: what a cell's kernels did, kernel after kernel, each on every GPU that is named.

    answers   the same by kernel, with GPUs that refuse the launch; () for one GPU
    """

    runs: tuple[Run, ...]
    answers: tuple[tuple[str, tuple[GpuAnswer, ...]], ...] = ()

    def __len__(self) -> int:
        return len(self.runs)

    def __getitem__(self, place: Any) -> Any:
        return self.runs[place]

    def __repr__(self) -> str:
        return "\n".join(map(repr, self.runs))

    def _repr_html_(self) -> str:
        """One page with all of them, as a notebook shows it."""
        from warplens.report.html import launch_page, notebook

        return notebook.frame(launch_page.page([run.page_subject for run in self.runs], self.answers))


def register(shell: Any) -> None:
    """Makes `%%warplens` known to IPython's shell."""
    shell.register_magic_function(explain_cell, "cell", "warplens")


def explain_cell(line: str, cell: str) -> Run | CellRuns | None:
    """The run of the cell's kernel, or the runs of its kernels, as explain makes them of a file with this text."""
    try:
        request: dict[str, Any] | int = _command.main(shlex.split(line), "%%warplens", standalone_mode=False)
        if not isinstance(request, dict):  # --help has been printed
            return None
        from warplens.api import unsaved_file

        with unsaved_file(FILE, cell):
            return _explained(**request)
    except WarplensError as error:
        _refuse(f"{getattr(error, 'printed', '')}{error}")
    except click.ClickException as error:
        _refuse(error.format_message())
    except ValueError as error:  # of shlex: a quotation mark is missing
        _refuse(f"%%warplens {line}: {error}")


def _refuse(message: str) -> NoReturn:
    raise CellError(visible(message)) from None


@click.command(add_help_option=True)
@options(LAUNCH, CODE, GPUS, HOST, SAMPLE)
@click.option("--launch", metavar="KEYS", help=f"As a launch block has it: {EXAMPLE}.")
@click.option("--check", multiple=True, metavar="CHECKS", help="races, init, barriers or all.")
@click.option("--what-if", multiple=True, metavar="CAUSES", help="Predict the time without them: ideal_access ...")
def _command(**given: Any) -> dict[str, Any]:
    """Execute the kernels of the cell and report what they do and how long they take."""
    return given


def _explained(
    flags: Flags, host: RunOptions, launch: str | None, check: Sequence[str], what_if: Sequence[str]
) -> Run | CellRuns:
    from warplens.commands.explain import ExplainRequest, causes, kernels, run
    from warplens.core.hazard import checks_of
    from warplens.report.terminal.gpu_table import GpuAnswer

    checks_of(check)  # before a long run
    wish = ExplainRequest(host, tuple(check), causes(what_if))
    found = kernels(FILE, with_launch(flags, launch) if launch else flags, wish.what_if)
    if len(found[0]) == 1:
        runs = tuple(run(target, wish) for (target,) in found)
        return runs[0] if len(runs) == 1 else CellRuns(runs)
    done: list[Run] = []
    answers = []
    for same in found:
        rows = []
        for target in same:
            try:
                done.append(run(target, wish))
                rows.append(GpuAnswer(target.machine, done[-1].subject))
            except UsageError as refusal:
                rows.append(GpuAnswer(target.machine, None, str(refusal)))
        answers.append((same[0].title, tuple(rows)))
    if not done:
        raise UsageError(answers[0][1][0].refused)
    return CellRuns(tuple(done), tuple(answers))


def with_launch(flags: Flags, text: str) -> Flags:
    """The flags with the keys of --launch, "grid = 32, block = 128".  UsageError for what is no such text."""
    from warplens.commands.kernel_case import launch_flags

    try:
        launch = tomllib.loads(f"launch = {{ {text} }}")["launch"]
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"--launch {text!r}: {error}; write it as {EXAMPLE}") from None
    if wrong := [key for key in launch if key not in LAUNCH_KEYS]:
        raise UsageError(f"--launch: no key {wrong[0]!r} is known; possible are {', '.join(LAUNCH_KEYS)}")
    found = launch_flags(launch)
    if twice := [key for key in found if getattr(flags, key)]:
        raise UsageError(f"--launch and another option both give {twice[0]}: use one of them")
    return replace(flags, **found)
