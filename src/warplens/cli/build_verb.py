"""`warplens build`: compiles a program where there is no CUDA toolkit."""

from __future__ import annotations

import os
from itertools import pairwise
from pathlib import Path

import click

from warplens.errors import UsageError

OWN = {
    "-o": "--output", "--output-file": "--output", "-h": "--help",
    **{name: name for name in ("--output", "--gpu", "--arch", "--help")},
}  # fmt: skip


class PassesOn(click.Command):
    """Command that takes its own options, and passes all other words on in their order."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        own, others, words = [], [], iter(args)
        for word in words:
            name, equals, value = word.partition("=")
            if name in OWN:
                own.append(OWN[name])
                if OWN[name] != "--help":
                    own.append(value if equals else next(words, ""))
            else:
                others.append(word)
        return super().parse_args(ctx, [*own, "--", *others])


@click.command(short_help="Compile a CUDA program without a toolkit.", cls=PassesOn)
@click.option("--output", "-o", metavar="F", help="The program to write.  [default: a.out, as nvcc's]")
@click.option("--gpu", metavar="NAME", help="Compile for this GPU (default: as `warplens run` chooses it).")
@click.option("--arch", metavar="SM", help="Compile for this architecture, such as sm_90.")
@click.argument("words", nargs=-1, required=True, type=click.UNPROCESSED, metavar="FILES...")
def build(output: str | None, gpu: str | None, arch: str | None, words: tuple[str, ...]) -> None:
    """Compile a CUDA program with nvcc, for `warplens run`; no toolkit and no GPU are needed.

    nvcc is that of the machine, or of `pip install "warplens[build]"`; the host's code is compiled by g++ or clang++.
    FILES are .cu, .cpp and .o files; other words (-I, -D, -O2, -std=c++17, -rdc=true, -c, -lm ...) go to nvcc as they
    are, so it can stand in for nvcc in a makefile.  -lcuda, -lnvidia-ml and -lnvrtc are found without a driver and a
    toolkit.

    \b
      warplens build main.cu -o app
      make CC="warplens build"
      warplens build main.cu util.cpp -rdc=true -Iinclude -o app --gpu a100
    """
    from warplens.compiler.architecture import check_architecture
    from warplens.machine import choose
    from warplens.program.nvcc_build import OBJECTS, SOURCES, WITH_NAMES, made_suffix
    from warplens.program.nvcc_build import build as compile_program
    from warplens.program.nvcc_toolchain import architecture_options
    from warplens.system.atomic_write import check_place

    if gpu and arch:
        raise UsageError("--gpu and --arch both name an architecture: choose one")
    named = {word for option, word in pairwise(words) if option in WITH_NAMES}
    files = [
        word for word in words if word.endswith((*SOURCES, *OBJECTS)) and not word.startswith("-") and word not in named
    ]
    if not files:
        raise UsageError(f"build takes files to compile or to link: {', '.join((*SOURCES, *OBJECTS))}")
    options = [word for word in words if word not in files]
    machine, _ = choose(gpu, os.environ)
    chosen = arch or machine.arch
    check_architecture(chosen)
    suffix, told = made_suffix(options), architecture_options(options)
    other = f", as this nvcc cannot compile for {', '.join(told.unknown)}" if told.unknown and not told.names else ""
    if output or not suffix:
        made = {output or "a.out": files}
    else:
        made = {f"{Path(file).stem}{suffix}": [file] for file in files}
    for place, parts in made.items():
        check_place(place)
        compile_program(parts, place, chosen, options)
        command = place if os.sep in place else f"./{place}"
        use = "" if suffix else f"; run it with `warplens run -- {command}`"
        click.echo(f"{place}: for {', '.join(told.names) or chosen}{other}{use}", err=True)
