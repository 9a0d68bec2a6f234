"""Kernel tester: what the fixture `warplens` of tests gives: launches whose counts can be checked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from warplens.api import Module, compile
from warplens.commands.target import Flags, targets
from warplens.errors import UsageError
from warplens.kernel import LaunchableKernel, Size
from warplens.machine import fitting, machine
from warplens.machine.gpu_choice import DEFAULTS
from warplens.testing.checked_run import CheckedRun

FLAGS = ("arch", "options", "grid", "block", "shared")


class KernelTester:
    """Launches kernels for tests.

    Without `gpu` the limits are those of the architecture's default GPU, never those of the machine's own.
    """

    def compile(self, path: str | Path | None = None, *, arch: str = "sm_90", **options: Any) -> Module:
        """As warplens.compile()."""
        return compile(path, arch=arch, **options)

    def launch(
        self, kernel: str | Path | LaunchableKernel, name: str | Size = "", *args: Any, gpu: str | None = None,
        **options: Any,
    ) -> CheckedRun:  # fmt: skip
        """Executes a kernel: launch("copy.cu", "copy") as the file's launch block says, or
        launch(module["copy"], grid, block, x, y) as LaunchableKernel.launch()."""
        if isinstance(kernel, LaunchableKernel):
            chosen = gpu or fitting(kernel.arch, machine(DEFAULTS[0]), "default")[0].key
            if not args:
                raise UsageError("launch() of a kernel takes grid, block and the arguments")
            return CheckedRun(kernel.launch(name, *args, gpu=chosen, **options))  # type: ignore[arg-type]
        if args:
            raise UsageError("launch() of a file takes the kernel's name; its launch block has the rest")
        flags = Flags(kernel=str(name) or None, gpu=gpu or DEFAULTS[0], **_flags(options))
        found = targets(str(kernel), flags)
        if len(found) != 1:
            titles = ", ".join(target.title for target in found)
            raise UsageError(f"{kernel} has {len(found)} kernels; name one: {titles}")
        return CheckedRun(found[0].run())


def _flags(options: dict[str, Any]) -> dict[str, Any]:
    """n=1024 as --set n=1024; arch, options and the like as the flags of the command line."""
    own: dict[str, Any] = {key: options.pop(key) for key in FLAGS if key in options}
    return {**own, "settings": tuple(f"{key}={value}" for key, value in options.items())}
