"""The verbs that use this machine's GPU: `warplens validate`, `measure` and `calibrate`."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

import click

from warplens.cli.options import CODE, GPU, HOST, LAUNCH, SAMPLE, options
from warplens.core.run_options import RunOptions
from warplens.errors import UsageError
from warplens.system.atomic_write import check_place

if TYPE_CHECKING:
    from warplens.commands.target import Flags


@click.command(short_help="Compare counts and results with this machine's GPU.")
@click.argument("files", nargs=-1, required=True)
@options(LAUNCH, CODE, GPU, HOST)
@click.option("--against", metavar="CSV", help="Compare with counters kept by --save; no GPU is needed.")
@click.option("--save", metavar="CSV", help="Keep what the GPU counted.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document and nothing else.")
def validate(
    files: tuple[str, ...], flags: Flags, host: RunOptions, against: str | None, save: str | None, as_json: bool
) -> None:  # fmt: skip
    """Run the kernels of FILES here and on this machine's GPU, and tell where counts or results differ.

    Ends with 1 if something differs.  Counters need Nsight Compute's ncu on the PATH.

    \b
      warplens validate copy.cu
      warplens validate copy.cu --against h200.csv
    """
    from warplens.commands import validate
    from warplens.commands.target import targets
    from warplens.hardware import open_gpu
    from warplens.report.terminal import validation_report as report
    from warplens.report.terminal.console_layout import console
    from warplens.report.terminal.progress import bar

    if against and save:
        raise UsageError("--save keeps what a GPU counts, and --against uses none: choose one")
    if against:
        validate.read_record(against)  # before a long run
    if save:
        check_place(save)
    gpu = None if against else open_gpu()
    found = [target for file in files for target in targets(file, flags)]
    runs = [validate.Emulated(target, host, bar(target.title)) for target in found]
    if against:
        source, agreements = against, validate.with_record(runs, against)
    else:
        gpu, agreements = validate.on_gpu(runs)
        source = f"{gpu.name}, {date.today()}"
        if save:
            validate.write_record(save, agreements, source)
    if as_json:
        click.echo(report.document(agreements, source), nl=False)
    else:
        report.show(agreements, source, console())
    if not all(agreement.equal for agreement in agreements):
        raise click.exceptions.Exit(1)


@click.command(short_help="Time kernels on this machine's GPU.")
@click.argument("file")
@options(LAUNCH, CODE, HOST, SAMPLE)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document and nothing else.")
def measure(file: str, flags: Flags, host: RunOptions, as_json: bool) -> None:
    """Time the kernels of FILE on this machine's GPU, beside what is predicted for it.

    With Nsight Compute's ncu on the PATH its counters stand beside the modelled ones.

    \b
      warplens measure copy.cu
    """
    from warplens.commands.measure import measured
    from warplens.commands.target import targets
    from warplens.hardware import open_gpu
    from warplens.report.terminal import measurement_report as report
    from warplens.report.terminal.console_layout import console
    from warplens.report.terminal.progress import bar

    gpu, out = open_gpu(), console()
    done = (measured(target, gpu, host, bar(target.title)) for target in targets(file, flags))
    if as_json:
        click.echo(report.document(done), nl=False)
        return
    for found in done:
        report.show(found, out)


@click.command(short_help="Measure the speeds of this machine's GPU.")
@click.option("--out", "folder", metavar="DIR", default=".", help="Where calibration.csv is written (default: here).")
def calibrate(folder: str) -> None:
    """Measure how fast the parts of this machine's GPU are: the tables of its description.

    Writes every reading to DIR/calibration.csv and prints the tables (see docs/calibration.md).
    """
    from warplens.calibration.session import calibrated
    from warplens.hardware import open_gpu
    from warplens.report.terminal.progress import bar

    gpu = open_gpu()
    tables, said = calibrated(gpu, folder, bar(f"calibrating {gpu.name}"))
    click.echo(tables, nl=False)
    click.echo(said, err=True)
