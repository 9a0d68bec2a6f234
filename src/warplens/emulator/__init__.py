"""run(Program, launch) -> Trace: the machine code of a kernel, translated and executed on the CPU, counted.  F4."""

from warplens.emulator.grid import run
from warplens.emulator.memory import DeviceMemory

__all__ = ["DeviceMemory", "run"]
