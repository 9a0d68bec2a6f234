"""A real GPU: the same cubin, launched with the same arguments; counters by Nsight Compute.  F4."""

from warplens.hardware.device import Gpu, launch, open_gpu
from warplens.hardware.event_timing import Timing, time
from warplens.hardware.launch_job import Job
from warplens.hardware.ncu import COUNTERS, measure

__all__ = ["COUNTERS", "Gpu", "Job", "Timing", "launch", "measure", "open_gpu", "time"]
