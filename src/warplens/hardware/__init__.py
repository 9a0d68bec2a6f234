"""Hardware: launches the same cubin with the same arguments on a real GPU; counters by Nsight Compute."""

from warplens.hardware.device import Gpu, launch, open_gpu
from warplens.hardware.event_timing import Timing, time
from warplens.hardware.launch_job import Job
from warplens.hardware.ncu import COUNTERS, measure

__all__ = ["COUNTERS", "Gpu", "Job", "Timing", "launch", "measure", "open_gpu", "time"]
