"""run(Program, launch) -> Trace: the machine code of a kernel, translated and executed on the CPU, counted.  F4."""

from warplens.emulator.counted import Counted
from warplens.emulator.driver import provided
from warplens.emulator.grid import available_threads, run
from warplens.emulator.memory import DeviceMemory
from warplens.emulator.parameters import pass_arguments
from warplens.emulator.steps import Access, Entered, Step, read_steps
from warplens.emulator.streams import Streams, record
from warplens.emulator.watch import LANES, RECORD, Checks

__all__ = [
    "LANES",
    "RECORD",
    "Access",
    "Checks",
    "Counted",
    "DeviceMemory",
    "Entered",
    "Step",
    "Streams",
    "available_threads",
    "pass_arguments",
    "provided",
    "read_steps",
    "record",
    "run",
]
