"""`warplens run`: a whole program, with its kernels executed and timed here."""

from __future__ import annotations

import click

from warplens.cli.options import GPU, HOST
from warplens.errors import UsageError
from warplens.system.atomic_write import check_place

MOST_GPUS = 16  # MOST_DEVICES in program/shim/device.h


@click.command(context_settings={"ignore_unknown_options": False, "allow_interspersed_args": False})
@GPU[0]
@click.option(
    "--gpus", type=click.IntRange(1, MOST_GPUS), default=1, metavar="N", show_default=True, help="So many of this GPU."
)
@click.option("--real-time", is_flag=True, help="Leave the program's clocks alone; events still have predicted times.")
@HOST[1]
@click.option("--report", metavar="F", default="", help="Write the report to a file (default: stderr).")
@click.option("--json", "json_file", metavar="F", default="", help="Write the report as JSON, too.")
@click.option("--nvcc", multiple=True, metavar="OPT", help="For nvcc, of .cu files: --nvcc=-O2, --nvcc=-Iinclude.")
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
def run(
    gpu: str | None, gpus: int, real_time: bool, budget: int | None, report: str, json_file: str, nvcc: tuple[str, ...],
    command: tuple[str, ...],
) -> None:  # fmt: skip
    """Run a CUDA program without a GPU: count and time each kernel that it launches.

    warplens analyses and predicts kernels for NVIDIA GPUs; it is no way to use CUDA programs without one.  Host code
    runs as always, kernels are executed here, and the times that the program measures are those predicted for --gpu.
    COMMAND is a program with its arguments, or .cu files, which nvcc compiles first.

    \b
      warplens run -- ./app --size 4096
      warplens run --gpu a100 --json run.json -- python app.py
      warplens run main.cu -- --size 4096
    """
    from warplens.commands.run_program import ProgramOutput, run_program

    for place in filter(None, (report, json_file)):
        check_place(place)
    if not command[0]:
        raise UsageError("the command is empty")
    wishes = {"gpus": gpus, "real_time": real_time} | ({} if budget is None else {"budget": budget})
    code = run_program(command, gpu, ProgramOutput(report, json_file), nvcc, **wishes)
    if code:
        raise click.exceptions.Exit(code)
