"""`warplens build`: compiles a program where there is no CUDA toolkit."""

from __future__ import annotations

import os

import click

from warplens.errors import UsageError

OWN = {"-o": "--output", "-h": "--help", **{name: name for name in ("--output", "--gpu", "--arch", "--help")}}


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


@click.command(cls=PassesOn)
@click.option("--output", "-o", metavar="F", default="a.out", show_default=True, help="The program to write.")
@click.option("--gpu", metavar="NAME", help="Compile for this GPU (default: as `warplens run` chooses it).")
@click.option("--arch", metavar="SM", help="Compile for this architecture, such as sm_90.")
@click.argument("words", nargs=-1, required=True, type=click.UNPROCESSED, metavar="FILES...")
def build(output: str, gpu: str | None, arch: str | None, words: tuple[str, ...]) -> None:
    """Compile a CUDA program with nvcc, for `warplens run`; no toolkit and no GPU are needed.

    nvcc is that of the machine, or of `pip install "warplens[build]"`; the host's code is compiled by g++ or clang++.
    FILES are .cu and .cpp files; other words (-I, -D, -O2, -std=c++17, -rdc=true, -lm ...) go to nvcc as they are.

    \b
      warplens build main.cu -o app
      warplens build main.cu kernels.cu util.cpp -rdc=true -Iinclude -DN=1024 -o app --gpu a100
    """
    from warplens.compiler.architecture import check_architecture
    from warplens.machine import choose
    from warplens.program.nvcc_build import CUDA_SOURCE, OBJECTS, SOURCES
    from warplens.program.nvcc_build import build as compile_program
    from warplens.system.atomic_write import check_place

    if gpu and arch:
        raise UsageError("--gpu and --arch both name an architecture: choose one")
    files = [word for word in words if word.endswith((*SOURCES, *OBJECTS)) and not word.startswith("-")]
    if not any(file.endswith(CUDA_SOURCE) for file in files):
        raise UsageError("build takes .cu files, and others with them")
    machine, _ = choose(gpu, os.environ)
    chosen = arch or machine.arch
    check_architecture(chosen)
    check_place(output)
    compile_program(files, output, chosen, [word for word in words if word not in files])
    place = output if os.sep in output else f"./{output}"
    click.echo(f"{output}: for {chosen}; run it with `warplens run -- {place}`", err=True)
