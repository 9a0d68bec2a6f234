"""A rung of labs/transfers as a program: its name, its bytes, and chunks where it has some."""

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import SimpleNamespace

from cuda.bindings import driver

import warplens.labs
from warplens.hardware.copy_timing import Copies
from warplens.hardware.device import check


def set_current() -> None:
    """As cuda.core's device does, which needs more than the driver's bindings."""
    check(driver.cuInit(0))
    check(driver.cuCtxSetCurrent(check(driver.cuDevicePrimaryCtxRetain(check(driver.cuDeviceGet(0))))))


Copies.times.__defaults__ = (0,)  # one run: all are alike
name, *sizes = sys.argv[1:]
spec = spec_from_file_location("rung", Path(warplens.labs.__path__[0]) / "transfers" / f"{name}.py")
rung = module_from_spec(spec)
spec.loader.exec_module(rung)
gpu = SimpleNamespace(device=SimpleNamespace(set_current=set_current))
print(len(rung.measured(gpu, **dict(zip(("size", "chunks"), map(int, sizes), strict=False)))), "runs")
