"""DRAM bytes, sectors and hit rate of L2 of the rungs of the lab sgemm."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

from gpu import Gpu

LAB = Path(__file__).parents[2] / "src" / "warplens" / "labs" / "sgemm"
SOURCE = ""
N = 4096


@cache
def lab() -> dict[str, Any]:
    return tomllib.loads((LAB / "lab.toml").read_text(encoding="utf-8"))


@cache
def module_of(rung: str) -> Gpu:
    return Gpu((LAB / f"{rung}.cu").read_text(encoding="utf-8"), profiled=True)


def launch(gpu: Gpu, row: dict[str, str]) -> bool:
    said = lab()["launch"] | lab()[row["rung"]]
    grid = tuple(N // int(size.split(" / ")[1]) for size in said["grid"])
    block = tuple(said["block"]) if isinstance(said["block"], list) else said["block"]
    a, b, c = (gpu.zeros(4 * N * N) for _ in range(3))
    module_of(row["rung"]).start("sgemm", grid, block, a, b, c, N, shared=said.get("shared", 0))
    return True
