"""Programs of other repositories: the list, and how one is built."""

from __future__ import annotations

import os
import subprocess
import tomllib
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
BUILD_SECONDS = 600


@dataclass(frozen=True)
class Program:
    """folder   in the repository;  build, command: shell commands in it
    expected   a part of a line of the output where the results are right, empty: exit code 0 is all there is"""

    name: str
    repository: str
    folder: str
    build: str
    command: str
    expected: str = ""

    def place(self, sources: Path) -> Path:
        return sources / self.repository.replace("/", "+") / self.folder

    def built(self, sources: Path) -> str:
        """Builds it; what the compiler says where that fails."""
        environment = os.environ | {"NVCC_APPEND_FLAGS": "-lineinfo"}
        done = subprocess.run(
            self.build, shell=True, cwd=self.place(sources), env=environment, capture_output=True, text=True,
            timeout=BUILD_SECONDS, check=False,
        )  # fmt: skip
        return "" if done.returncode == 0 else (done.stderr or done.stdout).strip()[-300:]


def programs(names: list[str]) -> list[Program]:
    """Those of the list with these names, or all."""
    listed = tomllib.loads((HERE / "programs.toml").read_text(encoding="utf-8"))["program"]
    return [Program(**entry) for entry in listed if not names or entry["name"] in names]
