"""A real GPU: the same cubin, launched with the same arguments; counters by Nsight Compute.  F4."""

from warplens.hardware.device import Gpu, launch, open_gpu
from warplens.hardware.job import Job
from warplens.hardware.ncu import COUNTERS, measure
from warplens.hardware.timing import Timing, time

__all__ = ["COUNTERS", "Gpu", "Job", "Timing", "launch", "measure", "open_gpu", "time"]
