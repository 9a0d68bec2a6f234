"""The options that verbs of the command line have in common.

Only click is imported here, so that `warplens --help` is quick.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

import click

from warplens.core.run_options import RunOptions

Verb = Callable[..., Any]

LAUNCH = (
    click.option(
        "--kernel", "-k", multiple=True, metavar="NAME|regex:EXPR",
        help="The kernel; a template as in C++: 'copy<float>'.  May be repeated.",
    ),
    click.option("--grid", metavar="SIZE", help="Blocks: 8192, 64,64 or 'n / 128'."),
    click.option("--block", metavar="SIZE", help="Threads per block: 128 or 16,16."),
    click.option(
        "--arg", "args", multiple=True, metavar="ARG",
        help="An argument, in order: random:f32[n], zeros:i32[1000], 42, 2.5, null ... (see docs/launch.md).",
    ),
    click.option("--shared", metavar="BYTES", help="Dynamic shared memory per block."),
    click.option(
        "--set", "settings", multiple=True, metavar="NAME=N",
        help="Replace a name of the launch block, or set a variable of the module: --set 'table=random:f32[256]'.",
    ),
    click.option("--cluster", metavar="SIZE", help="Blocks of a cluster (sm_90 on): 2 or 2,2."),
    click.option("--cooperative", is_flag=True, help="All blocks resident at once, for grid.sync()."),
)  # fmt: skip
CODE = (
    click.option("--arch", metavar="SM", help="Compile for this architecture, such as sm_90 (default: the GPU's)."),
    click.option("--option", "options", multiple=True, metavar="OPT", help="For the compiler: --option=-O1."),
)
GPUS = (
    click.option(
        "--gpu", metavar="NAMES",
        help="Predict the time on this GPU, on several (a100,h200), or not at all (none); `warplens gpus` lists them.  "
        "[default: this machine's, else h200 or one of the code's architecture]",
    ),
)  # fmt: skip
GPU = (click.option("--gpu", metavar="NAME", help="The GPU to answer for; `warplens gpus` lists them."),)
HOST = (
    click.option("--threads", type=click.IntRange(1), metavar="N", help="Threads of this machine (default: all)."),
    click.option(
        "--budget", type=click.IntRange(1), metavar="N",
        help="Call it an endless loop when a warp has executed more than about N instructions.",
    ),
)  # fmt: skip
SAMPLE = (
    click.option(
        "--sample", type=click.IntRange(3), metavar="N",
        help="Run N blocks instead of all; counts are scaled and marked `sampled`.",
    ),
)  # fmt: skip
HOST_FLAGS = ("threads", "budget", "sample")
FLAGS = (
    "kernel", "grid", "block", "args", "shared", "settings", "cluster", "cooperative", "arch", "gpu", "options",
)  # fmt: skip


def options(*groups: Sequence[Callable[[Verb], Verb]]) -> Callable[[Verb], Verb]:
    """Options on a verb.  Those that say which kernel and how arrive as `flags`, a warplens.commands.target.Flags,
    those of
    this machine as `host`, a warplens.core.run_options.Host."""

    def on(verb: Verb) -> Verb:
        @wraps(verb)
        def packed(**given: Any) -> Any:
            from warplens.commands.target import Flags

            said = {name: given.pop(name) for name in FLAGS if name in given}
            own = {name: given.pop(name) for name in HOST_FLAGS if name in given}
            if own:
                given["host"] = RunOptions(**own)
            return verb(flags=Flags(**said), **given)

        command: Verb = packed
        for option in reversed([option for group in groups for option in group]):
            command = option(command)
        return command

    return on
