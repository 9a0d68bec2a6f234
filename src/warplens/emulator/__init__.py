"""run(Program, launch) -> Trace: the machine code of a kernel, translated and executed on the CPU, counted."""

from warplens.emulator.execute.grid import available_threads, run
from warplens.emulator.execute.launch_counts import LaunchTrace
from warplens.emulator.execute.launch_request import DEFAULT_BUDGET, LaunchRequest
from warplens.emulator.execute.syscalls import provided
from warplens.emulator.memory.device_memory import DeviceMemory
from warplens.emulator.memory.kernel_arguments import pass_arguments
from warplens.emulator.state.check_set import LANES, RECORD, Checks
from warplens.emulator.trace.lane_trace import BlockEntry, LaneAccess, Step, read_steps
from warplens.emulator.trace.warp_trace import WarpTraces, record

__all__ = [
    "DEFAULT_BUDGET",
    "LANES",
    "RECORD",
    "BlockEntry",
    "Checks",
    "DeviceMemory",
    "LaneAccess",
    "LaunchRequest",
    "LaunchTrace",
    "Step",
    "WarpTraces",
    "available_threads",
    "pass_arguments",
    "provided",
    "read_steps",
    "record",
    "run",
]
