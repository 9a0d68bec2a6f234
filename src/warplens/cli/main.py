"""The command line: one short function a verb.

Only click is imported here; what a verb needs is imported when the verb runs, so that `warplens --help` is quick.

Exit codes: 0 done, 1 a budget or comparison failed or a check found something, 2 wrong usage, 3 the kernel itself
faulted, 4 the kernel cannot be executed here, 130 Ctrl-C.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from warplens.cli.build_verb import build
from warplens.cli.check_verb import check as check_verb
from warplens.cli.diff_verb import diff
from warplens.cli.explain_verb import Output, explain_program, explained, on_many, on_one, report_error
from warplens.cli.gpu_verbs import calibrate, measure, validate
from warplens.cli.lab_verbs import lab, new
from warplens.cli.options import CODE, GPU, GPUS, HOST, LAUNCH, SAMPLE, options
from warplens.cli.page_file import check_page, write_page
from warplens.cli.run_verb import run
from warplens.cli.serve_verb import serve
from warplens.cli.suggest_verb import suggest
from warplens.cli.terminal_encoding import spell_out
from warplens.cli.version_text import show_version
from warplens.core.run_options import RunOptions
from warplens.errors import UsageError, WarplensError

if TYPE_CHECKING:
    from warplens.commands.target import Flags

INTERRUPTED = 130


class VerbGroup(click.Group):
    """Verbs, with a hint where a file stands in the place of one."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:  # fmt: skip
        if args and args[0] not in self.commands and os.path.isfile(args[0]):
            raise UsageError(f"{args[0]} is a file, not a command: `warplens explain {args[0]}` executes its kernels")
        return super().resolve_command(ctx, args)


@click.group(cls=VerbGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option("--version", is_flag=True, is_eager=True, expose_value=False, callback=show_version,
              help="Show the versions of warplens and of its tools, and exit.")  # fmt: skip
def cli() -> None:
    """What a CUDA kernel does, counted exactly as Nsight Compute would, and how long it takes on a GPU.
    No GPU is needed."""


@cli.command(short_help="Execute kernels; report what they do, and their time.")
@click.argument("file", required=False)
@click.argument("more", nargs=-1, metavar="")
@options(LAUNCH, CODE, GPUS, HOST, SAMPLE)
@click.option(
    "--from",
    "saved",
    metavar="F",
    help="Explain a launch of `warplens run --save-launch`, or those that its --json F names.",
)
@click.option("--run", "whole", is_flag=True, help="Run FILE, a program, and explain each kernel that it launches.")
@click.option("--what-if", "what_if", multiple=True, metavar="LIST",
              help="Predict also with ideal_access, no_bank_conflicts, no_divergence, full_occupancy or "
              "double_bandwidth.")  # fmt: skip
@click.option("--check", "check", multiple=True, metavar="LIST",
              help="Look for races (in shared and global memory, and cp.async copies that are not waited for), init "
              "(uninitialized reads of shared or local memory), barriers, or all; memory is always checked.  End with "
              "1 if an error or warning is found.")  # fmt: skip
@click.option("--metrics", "names", multiple=True, metavar="LIST",
              help="Print these metrics: names, names without .sum and the like, or regex:EXPRESSION, separated by "
              "commas; `warplens metrics` lists them.")  # fmt: skip
@click.option("--csv", "as_csv", is_flag=True, help="Print metrics as Nsight Compute's --csv --page raw does.")
@click.option("--page", type=click.Choice(["raw"]), help="Of --csv: raw, which is the only one.")
@click.option("--json", "as_json", is_flag=True,
              help="Print JSON and nothing else: one document, a list where FILE has several kernels.")  # fmt: skip
@click.option("--brief", is_flag=True, help="At most 15 sentences; with --json at most 2 KB a kernel.")
@click.option("--html", metavar="F", help="Write one self-contained page.")
@click.option("--trace", metavar="F", help="Write what the warps of one SM do when, for Perfetto (ui.perfetto.dev).")
@click.option("--lines", type=click.IntRange(1), default=10, metavar="N", show_default=True,
              help="Source lines and instructions to show.")  # fmt: skip
def explain(
    file: str | None, more: tuple[str, ...], saved: str | None, whole: bool, flags: Flags, host: RunOptions,
    what_if: tuple[str, ...], check: tuple[str, ...], names: tuple[str, ...], as_csv: bool, page: str | None,
    as_json: bool, html: str | None, trace: str | None, lines: int, brief: bool,
) -> None:  # fmt: skip
    """Execute the kernels of FILE (.cu, .ptx, .py, cubin or program) and report what they do and how long they take.

    The launch is in the .cu file (see docs/launch.md) or in the flags:

    \b
      warplens explain copy.cu
      warplens explain copy.cu --what-if ideal_access
      warplens explain copy.cu --gpu a100,h200,rtx4090
      warplens explain copy.cu --kernel copy --grid 'n / 128' --block 128 \\
               --set n=65536 --arg 'in=random:f32[n]' --arg 'zeros:f32[n]' --arg n
      warplens explain copy.cu --check races,init
      warplens explain copy.cu --csv --metrics regex:sectors
      warplens explain softmax.py
      warplens explain --run app.cu
      warplens explain --from scale.npz
    """
    from warplens.commands.explain import ExplainRequest, causes, timed
    from warplens.core.hazard import checks_of
    from warplens.report.metric_selection import asked

    if more:
        raise UsageError(f"explain takes one FILE, not {more[0]!r} as well: a kernel is chosen by --kernel")
    if bool(file) == bool(saved):
        raise UsageError("explain takes a FILE, or --from with one")
    if whole:
        others = {"--check": check, "--what-if": what_if, "--json": as_json, "--html": html, "--trace": trace,
                  "--brief": brief}  # fmt: skip
        if wrong := " and ".join(name for name, value in others.items() if value):
            raise UsageError(f"{wrong}: not with --run; `warplens run` has options of its own")
        explain_program(file or "", flags, names, as_csv)
        return
    checks_of(check)  # before a long run
    wish = ExplainRequest(host, check, causes(what_if))
    found = explained(file, saved, flags, wish)
    if page and not as_csv:
        raise UsageError("--page is of --csv: add --csv")
    metrics = asked(names, all(timed(t) for (t, *_) in found)) if names else None
    output = Output(as_json, as_csv, html, lines, metrics, trace, brief)
    if trace is not None and not (len(found) == len(found[0]) == 1 and timed(found[0][0])):
        raise UsageError("--trace is of one kernel on one GPU: choose them with --kernel and --gpu")
    if len(found) > 1 and (flags.grid or flags.block or flags.args):
        titles = ", ".join(same[0].title for same in found)
        raise UsageError(f"{file} has {len(found)} kernels; choose one with --kernel: {titles}")
    show = on_one if len(found[0]) == 1 else on_many
    if not show(found, wish, output):
        raise click.exceptions.Exit(1)


@cli.command(short_help="Show what limits the resident warps.")
@click.argument("file", required=False)
@options((LAUNCH[0], LAUNCH[2], LAUNCH[4], LAUNCH[5]), CODE, GPU)
@click.option("--registers", type=click.IntRange(0), metavar="N", help="Registers per thread, without a FILE.")
@click.option("--shared-static", type=click.IntRange(0), metavar="BYTES", help="Static shared memory per block.")
@click.option("--barriers", type=click.IntRange(0, 16), metavar="N", help="Barriers per block, without a FILE.")
def occupancy(
    file: str | None, flags: Flags, registers: int | None, shared_static: int | None, barriers: int | None
) -> None:
    """Theoretical occupancy: warps per SM and what limits them; nothing is run.

    \b
      warplens occupancy copy.cu --kernel copy --block 128
      warplens occupancy --registers 32 --block 256 --shared-static 2048
    """
    from warplens.commands.target import footprint, targets
    from warplens.machine import choose
    from warplens.report.terminal.console_layout import console
    from warplens.report.terminal.occupancy_report import show

    given = {"--registers": registers, "--shared-static": shared_static, "--barriers": barriers}
    extra = [name for name, value in given.items() if value is not None]
    if file and extra:
        raise UsageError(f"{' and '.join(extra)} cannot be combined with FILE: the kernel's own numbers are used")
    if not file and registers is None:
        raise UsageError("give a FILE, or --registers and --block")
    if file:
        for target in targets(file, flags):
            show(target.title, target.machine, target.footprint, console())
    else:
        machine, _ = choose(flags.gpu, os.environ)
        block = footprint(flags, machine, registers or 0, shared_static or 0, barriers or 0)
        show("the block", machine, block, console())


@cli.command(short_help="List machine code under its source lines, in words.")
@click.argument("file")
@options(LAUNCH, CODE, GPU, HOST, SAMPLE)
@click.option("--static", is_flag=True, help="Launch nothing: the listing without counts.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document and nothing else.")
def sass(file: str, flags: Flags, host: RunOptions, static: bool, as_json: bool) -> None:
    """List the machine code of FILE under its source lines, in words, with counts.

    \b
      warplens sass copy.cu --kernel nccopy
      warplens sass copy.cubin --static
    """
    from warplens.commands.target import targets
    from warplens.report.terminal import sass_listing as listing
    from warplens.report.terminal.console_layout import console
    from warplens.report.terminal.progress import bar

    found = targets(file, flags)
    if as_json and len(found) > 1:
        titles = ", ".join(target.title for target in found)
        raise UsageError(f"{file} has {len(found)} kernels; choose one with --kernel: {titles}")
    out = console()
    for place, target in enumerate(found):
        said = target.started or flags.grid or flags.block or flags.args
        run = target.run(host, bar(target.title, host.sample is None)) if said and not static else None
        kernel = target.kernel
        shown = listing.SassListing(
            target.title, kernel.kernel, kernel.program, kernel.cubin.sources,
            run.labels if run else (), run.trace if run else None,
        )  # fmt: skip
        if as_json:
            click.echo(listing.document(shown), nl=False)
            continue
        if place:
            out.rule(style="dim")
        listing.show(shown, out)


@cli.command(short_help="Show what makes the difference between two kernels.")
@click.argument("words", nargs=-1, required=True, metavar="A B")
@options(LAUNCH, CODE, GPU, HOST, SAMPLE)
@click.option("--all", "everything", is_flag=True, help="All metrics that differ.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document and nothing else.")
@click.option("--html", metavar="F", help="Write one self-contained page, with the reports of both.")
@click.option("--fail-on", "fail_on", multiple=True, metavar="BUDGET",
              help="End with 1 if the ratio B/A of a metric is so: 'gpu__time_duration.sum > 1.1'.")  # fmt: skip
def compare(
    words: tuple[str, ...], flags: Flags, host: RunOptions, everything: bool, as_json: bool, html: str | None,
    fail_on: tuple[str, ...],
) -> None:  # fmt: skip
    """Compare two kernels: what B does more or less than A, which instructions make the difference, and what makes
    the difference in time.

    \b
      warplens compare copy.cu ccopy nccopy
      warplens compare copy.cu:ccopy other.cu:nccopy
      warplens compare old.cu new.cu --fail-on 'smsp__inst_executed.sum > 1.05'
    """
    from warplens.commands.explain import ExplainRequest, run, timed
    from warplens.commands.pair import two_targets
    from warplens.counters.comparison import budget as read_budget
    from warplens.counters.comparison import compare as compared
    from warplens.report.metric_selection import asked
    from warplens.report.terminal import comparison_report as report
    from warplens.report.terminal import decomposition_report
    from warplens.report.terminal.console_layout import console

    check_page(html, as_json)
    budgets = [read_budget(text) for text in fail_on]
    pair = two_targets(words, flags)
    here = all(timed(target) for target in pair)
    budgets = [replace(found, metric=asked([found.metric], here, "--fail-on")[0]) for found in budgets]
    runs = [run(target, ExplainRequest(host)) for target in pair]
    first, second = (run.subject for run in runs)
    comparison = compared(report.side(first), report.side(second))
    broken = [found for found in budgets if found.broken_by(comparison)]
    if as_json:
        taken_apart = decomposition_report.of(first, second)
        click.echo(report.document(comparison, runs[0].json(), runs[1].json(), taken_apart), nl=False)
    elif html:
        from warplens.report.html import comparison_page

        write_page(html, comparison_page.page(comparison, *(run.page_subject for run in runs)))
    else:
        report.show(comparison, first, second, console(), everything)
    for found in broken:
        ratio = report.spoken(comparison.row(found.metric).ratio)
        click.echo(f"budget exceeded: {found.text} ({ratio})", err=True)
    if broken:
        raise click.exceptions.Exit(1)


@cli.command(short_help="List metrics with unit, provenance and meaning.")
@click.argument("pattern", required=False)
def metrics(pattern: str | None) -> None:
    """List the metrics that are known, or those that PATTERN means: unit, provenance and meaning.

    PATTERN is a part of the name, a pattern such as '*_op_ld*', or regex:EXPRESSION.

    \b
      warplens metrics dram
      warplens metrics '*_op_ld.sum'
    """
    from warplens.report.metric_selection import known
    from warplens.report.terminal.console_layout import console
    from warplens.report.terminal.metric_table import define

    define(known(pattern or ""), console())


@cli.command(short_help="List the GPUs that are described.")
@click.option("--numbers", "gpu", metavar="GPU", help="The numbers of this GPU that predictions of its time rest on.")
def gpus(gpu: str | None) -> None:
    """List the GPUs that are known, or the numbers of one: value, unit, file and source."""
    from warplens.machine import machine
    from warplens.report.terminal import gpu_list, parameter_table
    from warplens.report.terminal.console_layout import console

    if gpu is None:
        gpu_list.show(console())
        return
    parameter_table.show(machine(gpu), console())


for verb in (validate, measure, calibrate):
    cli.add_command(verb)
cli.add_command(run)
cli.add_command(build)
cli.add_command(suggest)
cli.add_command(check_verb)
cli.add_command(diff)
cli.add_command(lab)
cli.add_command(new)
cli.add_command(serve)


# Objects before a collection of garbage, and collections before one of the next generation: with Python's 700, 10, 10
# they take a seventh of the time of a lab whose kernels are compiled.
COLLECTION_THRESHOLDS = 50_000, 5, 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one verb; the exit code.  An error of the user's is one sentence on stderr, never a traceback."""
    if sys.stdout is None or sys.stderr is None:  # closed by the shell: >&-
        nowhere = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - until the process ends
        sys.stdout, sys.stderr = sys.stdout or nowhere, sys.stderr or nowhere
    spell_out(sys.stdout, sys.stderr)
    if arguments is None:  # the process does nothing else
        gc.set_threshold(*COLLECTION_THRESHOLDS)
    try:
        ended = cli.main(arguments, prog_name="warplens", standalone_mode=False)
    except WarplensError as error:
        if "--json" in (sys.argv[1:] if arguments is None else arguments):
            from warplens.report.json.document import error_document, text

            click.echo(text(error_document(error)), nl=False)
        return report_error(error)
    except click.ClickException as error:
        error.show()
        return 2
    except (KeyboardInterrupt, click.Abort):
        end_at_once(INTERRUPTED)
    except OSError as error:  # a full disk behind stdout, or the reader of a pipe has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            return 0
        click.echo(f"error: {error.filename or 'the output'}: {error.strerror or error}", err=True)
        return 2
    return ended if isinstance(ended, int) else 0  # what a verb ends with: click.exceptions.Exit(1)


def end_at_once(code: int) -> None:
    """Without waiting for threads that may still be executing a kernel."""
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(code)
