"""Link time: microseconds of copies between a host and a GPU.  The rates are those of HostLink."""

from __future__ import annotations

from warplens.errors import Unpredictable
from warplens.machine.host_link import HostLink
from warplens.machine.schema import Machine


def link_of(machine: Machine) -> HostLink:
    """Unpredictable where it is not described."""
    if machine.host_link is None:
        raise Unpredictable(f"the link of the {machine.title} to its host is not described: {machine.key}.toml")
    return machine.host_link


def within(machine: Machine, size: int) -> float:
    """Microseconds in which the GPU reads and writes so many bytes at the rates of streams."""
    speeds = machine.speeds
    parts = 1 / speeds.read_share + 1 / speeds.write_share
    return size * parts / machine.dram_gigabytes_per_second / 1000
