"""Triton kernels: compiled by Triton for a named GPU, and launched as in Triton, without a GPU."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from warplens.compiler import read_cubin
from warplens.errors import UsageError
from warplens.frontend.launch_options import LaunchOptions
from warplens.frontend.python_kernel import load_kernel
from warplens.frontend.triton_arguments import wrapped
from warplens.frontend.triton_driver import TritonDriver, active, current, source_file, triton_module
from warplens.kernel import LaunchableKernel
from warplens.machine import choose
from warplens.run import Run


def triton(
    kernel: Any, *, gpu: str | None = None, config: Any = None, check: Sequence[str] = (), sample: int | None = None
) -> TritonKernel:
    """A function of Triton (@triton.jit), to be launched on the CPU: `wl.triton(add)[grid](x, y, n, BLOCK=1024)`.

    Triton compiles it, for the architecture of the GPU; arrays of NumPy and tensors of torch on the CPU are device
    buffers, updated in place.

    gpu      whose machine code and limits (default: WARPLENS_GPU, the GPU in the machine, h200)
    config   of an autotuned kernel: the triton.Config to take; else the one that is predicted to be fastest
    check, sample   as of LaunchableKernel.launch()
    UsageError where Triton is not installed, or for something else than one of its functions.

    >>> from row_softmax import row_softmax  # doctest: +SKIP
    >>> run = wl.triton(row_softmax)[(256,)](x, y, 1000, 0.5, BLOCK=1024)  # doctest: +SKIP
    >>> run.predict("h200").time_us, run["smsp__inst_executed.sum"]  # doctest: +SKIP
    (4.6243..., 210944)
    """
    triton_module()
    outer = current()
    if outer and gpu is None:  # within triton_launches(), or a file that `explain` runs
        given = replace(outer.options, check=check or outer.options.check, sample=sample or outer.options.sample)
        driver = TritonDriver(outer.machine, given)
    else:
        driver = TritonDriver(choose(gpu, os.environ)[0], LaunchOptions(check, sample))
    return TritonKernel(_copied(kernel, config), driver)


@contextmanager
def triton_launches(
    *, gpu: str | None = None, check: Sequence[str] = (), sample: int | None = None
) -> Iterator[list[Run]]:
    """Within it each launch of Triton, by whatever code, is executed on the CPU and appended to the list.

    Parameters are those of triton().  Autotuned kernels take the configuration that is predicted to be fastest.

    >>> with wl.triton_launches(gpu="h200") as runs:  # doctest: +SKIP
    ...     layer_norm(torch.rand(64, 1000))
    >>> [run.title for run in runs]  # doctest: +SKIP
    ['layer_norm_forward']
    """
    machine, _ = choose(gpu, os.environ)
    with active(TritonDriver(machine, LaunchOptions(check, sample))) as driver:
        yield driver.runs


class TritonKernel:
    """A function of Triton that is launched on the CPU: `kernel[grid](...)` is a Run.

    function   Triton's;  runs: all launches, those of the autotuner too

    >>> kernel = wl.triton(row_softmax, gpu="h200")  # doctest: +SKIP
    >>> kernel  # doctest: +SKIP
    <TritonKernel row_softmax for sm_90>
    >>> kernel.compile("*fp32:16, *fp32:16, i32, fp32, 1024", num_warps=8).registers  # doctest: +SKIP
    20
    """

    def __init__(self, function: Any, driver: TritonDriver) -> None:
        self.function = function
        self._driver = driver

    def __repr__(self) -> str:
        return f"<TritonKernel {_innermost(self.function).__name__} for {self._driver.machine.arch}>"

    @property
    def runs(self) -> list[Run]:
        """Every launch so far, in order; an autotuner's too."""
        return self._driver.runs

    @property
    def timings(self) -> Mapping[str, float]:
        """Of an autotuned kernel: predicted microseconds of each configuration at its last choice."""
        found = getattr(self.function, "configs_timings", {})
        return {str(config): 1000 * times[0] for config, times in found.items()}

    def __getitem__(self, grid: Any) -> Callable[..., Run]:
        """The launch with this grid: up to three sizes, or a function of the arguments by name."""

        def launch(*args: Any, **kwargs: Any) -> Run:
            named = {name: wrapped(value) for name, value in kwargs.items()}
            whole = (grid,) if isinstance(grid, int) else grid
            with active(self._driver):
                self.function[whole](*map(wrapped, args), **named)
            return self.runs[-1]

        return launch

    def compile(self, signature: str, **options: Any) -> LaunchableKernel:
        """The kernel for arguments that are not there yet, in the words of `python -m triton.tools.compile`.

        signature   "*fp32:16, *fp32:16, i32, 1024": of each parameter its type, with :16 where it is divisible by
                    16, or the value of a constant
        options     num_warps, num_stages ...
        Launch it with its arguments but for constants, then None for each scratch pointer, in blocks of
        32 * num_warps threads.  UsageError for a signature that does not fit.
        """
        module = triton_module()
        function = _innermost(self.function)
        source = _source(module, function, signature)
        target = self._driver.get_current_target()
        with active(self._driver):
            made = module.compile(source, target=target, options=options)
        return load_kernel(
            read_cubin(made.asm["cubin"]), made.metadata.name, source_file(function), ("Triton", module.__version__)
        )


def _source(module: Any, function: Any, signature: str) -> Any:
    words = [word.strip() for word in signature.split(",")]
    names = function.arg_names
    if len(words) != len(names):
        raise UsageError(
            f"{function.__name__} takes {', '.join(names)}: {len(names)} in the signature, not {len(words)}"
        )
    types: dict[str, str] = {}
    constants: dict[str, Any] = {}
    attributes: dict[tuple[int, ...], list[list[Any]]] = {}
    for place, (name, word) in enumerate(zip(names, words, strict=True)):
        kind, _, hint = word.partition(":")
        value = _number(kind)
        if value is not None or hint == "1":
            types[name], constants[name] = "constexpr", 1 if value is None else value
            continue
        if hint not in ("", "16"):
            raise UsageError(f"{word}: possible hints are :16 and :1")
        types[name] = kind
        if hint:
            attributes[(place,)] = [["tt.divisibility", 16]]
    return module.compiler.ASTSource(function, types, constants, attributes)


def _number(word: str) -> int | float | None:
    for read in (int, float):
        try:
            return read(word)
        except ValueError:
            pass
    return None


def _innermost(function: Any) -> Any:
    """The @triton.jit function within its autotuner and heuristics."""
    while not hasattr(function, "cache_key"):
        function = function.fn
    return function


def _copied(function: Any, config: Any) -> Any:
    """The function, its autotuner with a choice of its own: times that a GPU had are not mixed with predicted ones."""
    if hasattr(function, "cache_key"):
        if config is not None:
            raise UsageError(f"{function.__name__} has no autotuner: pass the constants of the configuration")
        return function
    if not hasattr(function, "fn") or not hasattr(function, "run"):
        raise UsageError(f"{function!r} is no function of Triton: decorate it with @triton.jit, in a file")
    own = copy.copy(function)
    if hasattr(function, "configs"):
        own.cache, own._do_bench, own.cache_results = {}, None, False
        own.__dict__.pop("do_bench", None)
        own.configs, config = function.configs if config is None else [config], None
    own.fn = _copied(function.fn, config)
    return own
