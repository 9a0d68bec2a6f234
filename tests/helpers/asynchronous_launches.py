"""Launches of tests/kernels/asynchronous_faults.cu, right or with one fault."""

from __future__ import annotations

from typing import Any

import numpy as np

import warplens as wl
from helpers.kernel_launches import kernel, source

FILE = "asynchronous_faults.cu"
FAULTS = (
    "right", "few arrivals", "few bytes", "many bytes", "other phase", "no init", "two inits", "unseen init",
    "stored over", "two lives", "no wait",
)  # fmt: skip
MODES = {128: 1, 64: 2, 32: 3, 0: 0}  # of a matrix descriptor, by swizzle


def line(text: str) -> str:
    """Of the first line with this text: "asynchronous_faults.cu:12,"."""
    lines = source(FILE).read_text("utf-8").splitlines()
    return f"{FILE}:{next(n for n, found in enumerate(lines, 1) if text in found)}"


def launched(name: str, block: int, *arguments: Any, shared: int = 0, **how: Any) -> wl.Run:
    return kernel(FILE, name, "sm_90a").launch(1, block, *arguments, shared=shared, **how)


def fields(swizzle: int, leading: int, stride: int) -> np.uint64:
    """Of a matrix descriptor, without its start."""
    return np.uint64(leading >> 4 << 16 | stride >> 4 << 32 | MODES[swizzle] << 62)


def stored(fences: int, **how: Any) -> wl.Run:
    return launched("stored", 128, np.zeros(512, np.float32), fields(0, 128, 256), fences, shared=2304, **how)


def ring(
    rounds: int = 2, early: int = 0, swizzle: int = 128, read: int = 128, shift: int = 0, **how: Any
) -> wl.Run:
    """swizzle: of the boxes;  read: the one that the products take;  shift: of the boxes, in units of 16 bytes."""
    given = wl.tensor_map(np.full((64, 64), 0x3F80, np.uint16), (64, 64), swizzle=swizzle, element_type="bf16")
    out = np.zeros(512, np.float32)
    numbers = rounds, early, shift
    return launched("ring", 256, given, out, fields(read, 16, 1024), *numbers, shared=8192 + 1024, **how)


def copied(fenced: bool = True, waits: bool = True, **how: Any) -> wl.Run:
    return launched("copied", 128, np.zeros((256, 4), np.int32), int(fenced), int(waits), shared=2048, **how)


def awaited(fault: str = "right", **how: Any) -> wl.Run:
    given = wl.tensor_map(np.arange(512, dtype=np.int32).reshape(16, 32), (16, 32))
    return launched("awaited", 64, given, np.zeros(256, np.int32), FAULTS.index(fault), shared=2048, **how)


def shifted(fault: int = 0, **how: Any) -> wl.Run:
    return launched("shifted", 384, np.zeros(384, np.int32), fault, **how)
