"""Example kernels: launches of the kernels that rules name as examples, each run once."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from warplens.commands.target import Flags, Target, targets
from warplens.labs import lab_catalog
from warplens.labs.kernel_rung import KernelRung
from warplens.report.launch_view import LaunchView

KERNELS = Path(__file__).parents[1] / "kernels"
open_lab = cache(lab_catalog.find)


def example(name: str) -> Target:
    """A lab's rung at its small size, "coalescing/1_ccopy", or a kernel of tests/kernels, "rules.cu/histogram"."""
    folder, _, title = name.partition("/")
    if folder.endswith(".cu"):
        (target,) = targets(str(KERNELS / folder), Flags(kernel=title, gpu="h200"))
        return target
    (rung,) = [rung for rung in open_lab(folder).rungs if rung.entry.title == title]
    assert isinstance(rung, KernelRung)
    return rung.target("h200", None)


@cache
def counted(name: str) -> LaunchView:
    """Such a launch, executed."""
    return example(name).run().subject
