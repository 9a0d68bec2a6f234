"""`warplens run`: a whole program, with its kernels executed and timed here."""

from __future__ import annotations

from typing import Any

import click

from warplens.cli.options import GPU, HOST
from warplens.errors import UsageError
from warplens.system.atomic_write import check_place

REPORT = (
    click.option("--report", "--log-file", metavar="F", default="", help="Write the report to a file, not to stderr."),
    click.option(
        "--page", type=click.Choice(["summary", "details", "raw"]),
        help="summary: each kernel and shape; details: and what `explain` says of each; raw: all metrics.",
    ),
    click.option("--csv", "as_csv", is_flag=True, help="The report is CSV, as Nsight Compute's --csv --page raw."),
    click.option(
        "--metrics", "names", multiple=True, metavar="LIST",
        help="The report has these metrics: names, names without .sum and the like, or regex:EXPRESSION.",
    ),
    click.option("--json", "json_file", metavar="F", default="", help="Write the report as JSON, too."),
    click.option("--html", metavar="F", default="", help="Write the report as one self-contained page, too."),
    click.option("--trace", metavar="F", default="", help="Write the GPU's timeline for Perfetto (ui.perfetto.dev)."),
)  # fmt: skip
SELECTION = (
    click.option(
        "--kernel-name", "-k", default="", metavar="NAME|regex:EXPR",
        help="Count launches of these kernels.",
    ),
    click.option(
        "--launches", default="first", metavar="first|all|every:N", show_default=True,
        help="Count the first launch of each kernel and shape, all, or every N-th.  The others are executed without "
        "counters, which takes less time, and last as long as a counted one, in proportion to their instructions.",
    ),
    click.option("--launch-skip", "-s", type=click.IntRange(0), default=0, metavar="N", help="Skip the first N."),
    click.option("--launch-count", "-c", type=click.IntRange(1), metavar="N", help="Count N launches at most."),
)  # fmt: skip
MOST_GPUS = 16  # MOST_DEVICES in program/shim/device.h


@click.command(
    short_help="Count and time the kernels of a CUDA program.",
    context_settings={"ignore_unknown_options": False, "allow_interspersed_args": False},
)
@GPU[0]
@click.option(
    "--gpus", type=click.IntRange(1, MOST_GPUS), default=1, metavar="N", show_default=True, help="So many of this GPU."
)
@click.option("--real-time", is_flag=True, help="Leave the program's clocks alone; events still have predicted times.")
@HOST[1]
@click.option(
    "--timeout", type=click.FloatRange(0, min_open=True), metavar="SECONDS", help="End the program after that."
)
@click.option("--check", "check", multiple=True, metavar="LIST",
              help="Look for races, init (reads of what was never written), barriers, leaks, api (wrong or unasked "
              "errors, directions of copies), or all; memory accesses are then checked to the byte.")  # fmt: skip
@click.option("--save-launch", "saves", nargs=2, multiple=True, metavar="KERNEL:N F",
              help="Write the N-th launch of a kernel with its memory to a file, for `explain --from F`.")  # fmt: skip
@click.option("--nvcc", multiple=True, metavar="OPT", help="For nvcc, of .cu files: --nvcc=-O2, --nvcc=-Iinclude.")
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
def run(
    gpu: str | None, gpus: int, real_time: bool, budget: int | None, timeout: float | None, nvcc: tuple[str, ...],
    command: tuple[str, ...], saves: tuple[tuple[str, str], ...], check: tuple[str, ...], **asked: Any,
) -> None:  # fmt: skip
    """Run a CUDA program without a GPU: count and time each kernel that it launches.

    warplens analyses and predicts kernels for NVIDIA GPUs; it is no way to use CUDA programs without one.  Host code
    runs as always, kernels are executed here, and the times that the program measures are those predicted for --gpu.
    COMMAND is a program with its arguments, or .cu files, which nvcc compiles first.

    \b
      warplens run -- ./app --size 4096
      warplens run --gpu a100 --json run.json -- python app.py
      warplens run main.cu -- --size 4096
      warplens run --csv --page raw --log-file app.csv --launches all -- ./app
      warplens run --trace app.trace.json --page details -- ./app
      warplens run --check all -- ./app
      warplens run --save-launch scale:1 scale.npz -- ./app
    """
    from warplens.commands.run_program import run_program
    from warplens.program.program_check import program_checks_of
    from warplens.program.saved_launch import SaveRequest

    if not command[0]:
        raise UsageError("the command is empty")
    for _, file in saves:
        check_place(file)
    requests = tuple(SaveRequest.of(word, file) for word, file in saves)
    wishes: dict[str, Any] = {"saves": requests, "checks": program_checks_of(check), "timeout": timeout}
    wishes |= {"gpus": gpus, "real_time": real_time} | ({} if budget is None else {"budget": budget})
    code = run_program(command, gpu, output_of(asked), nvcc, selection=selection_of(asked), **wishes)
    if code:
        raise click.exceptions.Exit(code)


for option in reversed((*SELECTION, *REPORT)):
    option(run)


def output_of(asked: dict[str, Any]) -> Any:
    """A ProgramOutput from the options of REPORT; UsageError where a file cannot be written."""
    from warplens.commands.run_program import ProgramOutput
    from warplens.report.metric_selection import asked as metrics_asked

    for place in filter(None, (asked["report"], asked["json_file"], asked["trace"], asked["html"])):
        check_place(place)
    names = metrics_asked(asked["names"]) if asked["names"] else None
    return ProgramOutput(
        asked["report"], asked["json_file"], asked["trace"], asked["page"], asked["as_csv"], names, html=asked["html"]
    )  # fmt: skip


def selection_of(asked: dict[str, Any]) -> Any:
    """A LaunchSelection from the options of SELECTION."""
    from warplens.program.launch_selection import LaunchSelection

    return LaunchSelection.of(
        asked["launches"], asked["kernel_name"], asked["launch_skip"], asked["launch_count"]
    )  # fmt: skip
