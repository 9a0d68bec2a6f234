"""Host link: rates of copies between a host and its GPU."""

from __future__ import annotations

from dataclasses import dataclass

from warplens.machine.fields import number, numbers, values
from warplens.machine.parameter import Tables


@dataclass(frozen=True, slots=True)
class HostLink:
    """The rates belong to a GPU in its host: the bus, and for pageable memory the host's processor too.

    Megabytes are 10^6 bytes, so that bytes over a rate are microseconds.

    pageable           into the GPU, from ordinary memory, at 1 GiB; smaller copies are staged in the host's caches:
                       pageable_to_device and pageable_to_host of pageable_bytes
    to_device, to_host   with page-locked memory;  both_ways: of each direction while the other is busy, too
    copy_nanoseconds     that a copy of nothing takes, from the call until the host knows that it is done
    next_copy_nanoseconds   from one copy to the next, where many are asked for
    """

    pageable_megabytes_per_second: int = number("host_link", 100, 1_000_000)
    to_device_megabytes_per_second: int = number("host_link", 100, 1_000_000)
    to_host_megabytes_per_second: int = number("host_link", 100, 1_000_000)
    both_ways_megabytes_per_second: int = number("host_link", 100, 1_000_000)
    copy_nanoseconds: int = number("host_link", 100, 1_000_000)
    next_copy_nanoseconds: int = number("host_link", 100, 1_000_000)
    pageable_bytes: tuple[int, ...] = numbers("host_link", 1, 1 << 40, length=6)
    pageable_to_device_nanoseconds: tuple[int, ...] = numbers("host_link", 100, 10**12, length=6)
    pageable_to_host_nanoseconds: tuple[int, ...] = numbers("host_link", 100, 10**12, length=6)

    @property
    def copy_us(self) -> float:
        return self.copy_nanoseconds / 1000

    @property
    def next_copy_us(self) -> float:
        return self.next_copy_nanoseconds / 1000


def host_link_from(tables: Tables, file: str) -> HostLink:
    """The table [host_link] of a GPU's file; UsageError names the key that is missing or absurd."""
    return HostLink(**values(HostLink, tables, file))
