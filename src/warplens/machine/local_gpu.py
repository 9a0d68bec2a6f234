"""Local GPU: finds the GPU in this machine."""

from __future__ import annotations

import ctypes
from functools import cache

from warplens.machine.catalog import machine, machines


def detect() -> str | None:
    """The driver's device 0, or None where there is no driver, no GPU, or no description of it."""
    if not _driver_library():
        return None
    device = _first_device()
    return known(*device) if device else None


def known(device_name: str, multiprocessors: int) -> str | None:
    """The description of the device that the driver calls so.

    The count of multiprocessors must agree as well: names are shared (an RTX 3080 has 68 or 70 of them), and
    a part of a GPU (MIG) bears the name of the whole.
    """
    for key in machines():
        described = machine(key)
        if device_name in described.device_names and described.multiprocessors == multiprocessors:
            return key
    return None


@cache
def _driver_library() -> bool:
    """Asked first because importing cuda.bindings takes far longer than finding that there is no driver."""
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    return True


@cache
def _first_device() -> tuple[str, int] | None:
    """Name and multiprocessors of device 0, or None where the driver cannot be asked."""
    try:
        from cuda.bindings import driver
    except (ImportError, RuntimeError):
        return None
    try:
        ready = driver.cuInit(0)[0] == driver.CUresult.CUDA_SUCCESS
    except RuntimeError:  # a driver too old for these bindings lacks a function
        return None
    if not ready:
        return None
    found, device = driver.cuDeviceGet(0)
    if found != driver.CUresult.CUDA_SUCCESS:
        return None
    _, name = driver.cuDeviceGetName(128, device)
    attribute = driver.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT
    _, multiprocessors = driver.cuDeviceGetAttribute(attribute, device)
    return bytes(name).split(b"\0", 1)[0].decode(), int(multiprocessors)
