"""Arrays of structures: some fields are read or changed."""

from __future__ import annotations

from collections.abc import Iterator

from warplens.calibration.trial import MIB, Buffer, Trial

BLOCK = 256
BYTES = {"four": 16, "small": 8, "byte": 1, "short": 2, "seven": 28, "twelve": 48}
KERNELS = (
    "four_load", "four_loads", "four_store", "four_stores", "four_all", "four_change", "four_changes", "small_store",
    "small_stores", "small_change", "small_changes", "small_float", "byte_store", "byte_change", "short_change",
    "seven_loads", "seven_three", "seven_all", "seven_some", "twelve_loads", "twelve_three", "twelve_all",
)  # fmt: skip


def trials(multiprocessors: int) -> Iterator[Trial]:
    for kernel in KERNELS:
        size = BYTES[kernel.partition("_")[0]]
        for count, warm in ((MIB, False), (MIB, True), (8 * MIB, False)):
            label = f"{count // MIB} Mi{', warm' if warm else ''}"
            args = (Buffer(size * count, "zeros"), count)
            yield Trial(f"fields {kernel}, {label}", kernel, count // BLOCK, BLOCK, args, warm=warm)
