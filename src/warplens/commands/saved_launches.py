"""Saved launches: those in files that `warplens run` has written, for explain and compare."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from warplens.commands.explain import foreign, gpus
from warplens.commands.target import Flags
from warplens.core.kernel_name import base_name, expression_of, found_in
from warplens.errors import UsageError
from warplens.machine import choose
from warplens.program.saved_launch import SavedLaunch, is_saved_launch, read

OWN = ("kernel", "gpu")
"""Flags that make sense for a launch that has been made already."""


def saved_launches(file: str, flags: Flags) -> list[list[SavedLaunch]]:
    """The launches in a file of --save-launch, or those that a document of `run --json` names; on each GPU named.

    UsageError.
    """
    if wrong := [f"--{name}" for name, value in vars_of(flags).items() if name not in OWN and value]:
        raise UsageError(
            f"{' and '.join(wrong)}: a saved launch is as the program made it; --kernel and --gpu are possible"
        )
    files = [file] if is_saved_launch(file) else _named_in(file, _words(flags))
    found = [[_on(read(one), gpu) for gpu in gpus(flags.gpu)] for one in files]
    for launch in (launch for same in found for launch in same):
        if foreign(launch) and launch.machine_from == "--gpu":
            raise UsageError(
                f"the machine code is for {launch.kernel.arch}, {launch.machine.title} is {launch.machine.arch}: "
                f"save the launch with `warplens run --gpu {launch.machine.key}`"
            )
    return found


def vars_of(flags: Flags) -> dict[str, Any]:
    return {name: getattr(flags, name) for name in Flags.__slots__}


def _words(flags: Flags) -> tuple[str, ...]:
    return (flags.kernel,) if isinstance(flags.kernel, str) else flags.kernel or ()


def _on(launch: SavedLaunch, gpu: str | None) -> SavedLaunch:
    """Without --gpu and WARPLENS_GPU on the GPU that it was saved for."""
    if gpu is None and not os.environ.get("WARPLENS_GPU"):
        return launch
    machine, machine_from = choose(gpu, os.environ)
    return replace(launch, machine=machine, machine_from=machine_from)


def _named_in(file: str, words: Sequence[str]) -> list[str]:
    """Files of saved launches that a document names, of the kernels that the words mean; beside it, if they moved."""
    try:
        document = json.loads(Path(file).read_text(encoding="utf-8"))
        saved = [(str(one["kernel"]), str(one["file"])) for one in document["saved"]]
        kernels = [str(one["kernel"]) for one in document["kernels"]]
    except OSError as error:
        raise UsageError(f"{file}: {error.strerror or error}") from None
    except (ValueError, KeyError, TypeError):
        raise UsageError(
            f"{file} is neither a launch of `warplens run --save-launch` nor a document of `run --json`"
        ) from None
    found = [place for kernel, place in saved if not words or any(means(word, kernel) for word in words)]
    if not found:
        which = words[0] if words else next(iter(kernels), "KERNEL")
        there = ", ".join(dict.fromkeys(kernel for kernel, _ in saved)) or "none"
        raise UsageError(
            f"{file} names no saved launch{f' of {which}' if words else ''} (saved: {there}): run the program with "
            f"--save-launch {which}:1 {base_name(which) or which}.npz --json {file}"
        )
    beside = Path(file).parent
    return [place if Path(place).is_file() else str(beside / Path(place).name) for place in found]


def means(word: str, kernel: str) -> bool:
    """Whether --kernel means this one."""
    expression = expression_of(word, "--kernel")
    return found_in(expression, kernel) if expression else word in (kernel, base_name(kernel))
