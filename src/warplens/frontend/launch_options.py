"""Launch options: what launch() takes and a frontend's own launch has no word for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class LaunchOptions:
    """Launch options: those of LaunchableKernel.launch() that Triton and cuda.tile have no word for."""

    check: Sequence[str] = ()
    sample: int | None = None
    budget: int | None = None
    threads: int | None = None

    @property
    def given(self) -> dict[str, Any]:
        return {"check": self.check, "sample": self.sample, "budget": self.budget, "threads": self.threads}


USUAL = LaunchOptions()
