"""The verb serve: a page on this machine in which kernels are edited."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import click

from warplens.cli.options import GPU, HOST, options
from warplens.errors import UsageError

if TYPE_CHECKING:
    from warplens.commands.target import Flags
    from warplens.core.run_options import RunOptions


@click.command(short_help="Edit kernels in a page, with counts and time beside.")
@click.argument("file", required=False, metavar="[FILE|LAB]")
@options(GPU, HOST)
@click.option("--port", type=click.IntRange(0, 65535), default=0, metavar="N", help="[default: one that is free]")
@click.option("--no-browser", "no_browser", is_flag=True, help="Print the address, and open no browser.")
@click.option("--timeout", type=click.FloatRange(0.1, 3600), default=10.0, show_default=True, metavar="SECONDS",
              help="For each step: to compile, to execute a kernel, to predict its time.")  # fmt: skip
@click.option("--memory", type=click.FloatRange(0.1), default=4.0, show_default=True, metavar="GIB",
              help="For the kernels of one request.")  # fmt: skip
def serve(
    file: str | None, flags: Flags, host: RunOptions, port: int, no_browser: bool, timeout: float, memory: float
) -> None:  # fmt: skip
    """Edit kernels in a page: counts, machine code and predicted time follow.  Ctrl-C ends it.

    Only this machine can reach the page, and only with its address.  FILE is not changed.

    \b
      warplens serve copy.cu
      warplens serve coalescing --gpu a100
    """
    if sys.platform != "linux":
        raise UsageError("serve needs Linux, whose limits and rules of files keep kernels in their place")
    from warplens.machine import choose
    from warplens.serve.http_server import PageServer
    from warplens.serve.serve_page import serve_page
    from warplens.serve.served_source import ServedSource
    from warplens.serve.worker_limits import WorkerLimits

    source = ServedSource.of(file)
    limits = WorkerLimits(source.folders, timeout, memory, host.budget, host.threads)
    gpu, by = choose(flags.gpu, os.environ)
    server = PageServer(source, limits, port, "none" if by == "none" else gpu.key)
    click.echo(f"{server.url}\nCtrl-C ends it.")
    serve_page(server, open_browser=not no_browser)
