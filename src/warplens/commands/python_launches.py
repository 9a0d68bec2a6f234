"""Python launches: those that a Python file makes of kernels of Triton and cuda.tile, for explain."""

from __future__ import annotations

import os
import re
import runpy
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, redirect_stdout
from dataclasses import dataclass, replace
from pathlib import Path

from warplens.commands.saved_launches import means, vars_of
from warplens.commands.target import Flags
from warplens.core.run_options import USUAL, RunOptions
from warplens.errors import UsageError, WarplensError
from warplens.frontend.inductor_output import IMPORT, inductor_on_host
from warplens.frontend.launch_options import LaunchOptions
from warplens.frontend.tile_kernel import TileLauncher, active_tile, cuda_tile_installed
from warplens.frontend.triton_driver import TritonDriver, active, triton_installed
from warplens.kernel import LaunchableKernel, Progress
from warplens.machine import Machine, choose
from warplens.run import Run

NOTHING_LAUNCHED = (
    "{0} launches no kernel of Triton or cuda.tile; `warplens run -- python {0}` runs a program that uses CUDA"
)
OWN = ("kernel", "gpu")
"""Flags that make sense for launches that a file makes."""


@dataclass(frozen=True)
class PythonLaunch:
    """Python launch: one that was executed while the file ran."""

    done: Run
    kernel: LaunchableKernel

    @property
    def title(self) -> str:
        return self.done.title

    @property
    def machine(self) -> Machine:
        return self.done.machine

    @property
    def machine_from(self) -> str:
        return self.done.machine_from

    def run(self, host: RunOptions = USUAL, progress: Progress | None = None, check: Sequence[str] = ()) -> Run:
        return self.done


def python_launches(file: str, flags: Flags, host: RunOptions, check: Sequence[str]) -> list[list[PythonLaunch]]:
    """Runs the file; its launches by Triton and cuda.tile, of those of one kernel and shape the last.

    UsageError if it launches nothing, or raises something.
    """
    if wrong := [f"--{name}" for name, value in vars_of(flags).items() if name not in OWN and value]:
        raise UsageError(f"{' and '.join(wrong)}: {file} launches its kernels itself; --kernel and --gpu are possible")
    if flags.gpu and "," in flags.gpu:
        raise UsageError("a Python file is for one GPU: its kernels are compiled while it runs")
    if not Path(file).is_file():
        raise UsageError(f"no such file: {file}")
    machine, machine_from = choose(flags.gpu, os.environ)
    options = LaunchOptions(check, host.sample, host.budget, host.threads)
    with _launches(file, machine, options) as runs, _inductor(file), _as_script(file):
        runpy.run_path(file, run_name="__main__")
    words = (flags.kernel,) if isinstance(flags.kernel, str) else flags.kernel or ()
    distinct = {
        (run.title, run.launch, run.kernel.kernel.code): replace(run, machine_from=machine_from)
        for run in runs
        if not words or any(means(word, run.title) for word in words)
    }
    if not distinct:
        there = ", ".join(dict.fromkeys(run.title for run in runs))
        raise UsageError(
            f"{file} launches no kernel {' or '.join(words)}; there are: {there}" if there else
            NOTHING_LAUNCHED.format(file)
        )  # fmt: skip
    return [[PythonLaunch(run, _launchable(run))] for run in distinct.values()]


@contextmanager
def _launches(file: str, machine: Machine, options: LaunchOptions) -> Iterator[list[Run]]:
    """Each launch of Triton and cuda.tile is executed and appended, in order.  UsageError if neither is installed."""
    runs: list[Run] = []
    with ExitStack() as stack:
        if cuda_tile_installed():
            stack.enter_context(active_tile(TileLauncher(machine, options, runs)))
        if triton_installed():
            stack.enter_context(active(TritonDriver(machine, options, runs)))
        elif not cuda_tile_installed():
            if not re.search(r"triton|cuda[._]tile|torch", Path(file).read_text(encoding="utf-8", errors="replace")):
                raise UsageError(NOTHING_LAUNCHED.format(file))
            raise UsageError(
                'neither Triton nor cuda.tile is installed: pip install "warplens[triton]" or "warplens[cuda-tile]"'
            )
        yield runs


def _inductor(file: str) -> AbstractContextManager[None]:
    """What a file needs that PyTorch's inductor wrote."""
    return inductor_on_host() if IMPORT in Path(file).read_text(encoding="utf-8") else nullcontext()


def _launchable(run: Run) -> LaunchableKernel:
    assert isinstance(run.kernel, LaunchableKernel)
    return run.kernel


@contextmanager
def _as_script(file: str) -> Iterator[None]:
    """As `python FILE` has it; what it prints goes to stderr, since the report is on stdout."""
    before = sys.argv, sys.path[:]
    sys.argv, sys.path[:0] = [file], [str(Path(file).resolve().parent)]
    try:
        with redirect_stdout(sys.stderr):
            yield
    except SystemExit as stop:
        if stop.code:
            raise UsageError(f"{file} ended with {stop.code}") from None
    except WarplensError:
        raise
    except Exception as error:
        last = next((f for f in reversed(traceback.extract_tb(error.__traceback__)) if f.filename == file), None)
        where = f"{file}:{last.lineno}" if last else file
        raise UsageError(f"{where}: {type(error).__name__}: {error}") from error
    finally:
        sys.argv, sys.path[:] = before
