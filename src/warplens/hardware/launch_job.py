"""Launch job: one launch with all that it needs, so that another process can repeat it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warplens.core.launch import Dim3, Launch

Bytes = NDArray[np.uint8]


@dataclass(frozen=True)
class Job:
    """arguments: the number of a buffer, or the bytes of the parameter.  buffers: each array's bytes before the launch.
    variables: bytes of `__device__` and `__constant__` variables by symbol, where they are to be set.
    cluster: the blocks of one."""

    cubin: bytes
    kernel: str
    arch: str
    launch: Launch
    arguments: tuple[int | bytes, ...]
    buffers: tuple[Bytes, ...]
    variables: Mapping[str, bytes] = field(default_factory=dict)
    cluster: Dim3 = (1, 1, 1)

    def save(self, path: Path) -> None:
        """As one .npz file without pickles."""
        head = {
            "kernel": self.kernel,
            "arch": self.arch,
            "launch": asdict(self.launch),
            "cluster": list(self.cluster),
            "arguments": [a if isinstance(a, int) else a.hex() for a in self.arguments],
            "variables": {name: data.hex() for name, data in self.variables.items()},
        }
        arrays: dict[str, Any] = {f"buffer{n}": buffer for n, buffer in enumerate(self.buffers)}
        arrays["head"] = np.frombuffer(json.dumps(head).encode(), np.uint8)
        arrays["cubin"] = np.frombuffer(self.cubin, np.uint8)
        with path.open("wb") as file:
            np.savez(file, **arrays)

    @classmethod
    def load(cls, path: Path) -> Job:
        with np.load(path) as kept:
            head = json.loads(kept["head"].tobytes())
            launch = head["launch"]
            return cls(
                kept["cubin"].tobytes(), head["kernel"], head["arch"],
                Launch(tuple(launch["grid"]), tuple(launch["block"]), launch["shared"], launch["cooperative"]),
                tuple(a if isinstance(a, int) else bytes.fromhex(a) for a in head["arguments"]),
                tuple(kept[f"buffer{n}"] for n in range(len(kept.files) - 2)),
                {name: bytes.fromhex(data) for name, data in head["variables"].items()},
                tuple(head["cluster"]),
            )  # fmt: skip
