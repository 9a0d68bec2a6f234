"""Launched: arrays that a kernel and its changed version leave, executed on the same arguments."""

from __future__ import annotations

from typing import Any

import numpy as np

import warplens as wl
from warplens.transform import Change, LaunchFacts
from warplens.transform._change import edited


def before_and_after(
    source: str, change: Change, launch: LaunchFacts, arguments: list[Any], name: str = "f"
) -> tuple[list[np.ndarray[Any, Any]], list[np.ndarray[Any, Any]]]:
    found = []
    grid, block = change.launch.grid_of(launch.grid), change.launch.block or launch.block
    for text, blocks, threads in ((source, launch.grid, launch.block), (edited(source, change.edits), grid, block)):
        given = [value.copy() if isinstance(value, np.ndarray) else value for value in arguments]
        wl.compile(source=text)[name].launch(blocks, threads, *given)
        found.append([value for value in given if isinstance(value, np.ndarray)])
    return found[0], found[1]
