"""Machine schema: the keys of a GPU's description, and their bounds.

A field's metadata names the TOML table of its key and the smallest and largest value that is not
absurd: this is the only place where a key is declared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from warplens.machine.dram_channels import Channels
from warplens.machine.fields import CALIBRATION, RECORDS, flag, number, numbers, refuse, sources_of, text, texts, values
from warplens.machine.host_link import HostLink
from warplens.machine.microarchitecture import Microarchitecture
from warplens.machine.parameter import Description, Parameter, Tables, parameters_of, refuse_unknown
from warplens.machine.unit_speeds import Speeds

KIB = 1024


@dataclass(frozen=True, slots=True)
class Limits:
    """What belongs to the compute capability.  Registers are 32 bits wide; sizes of shared memory are bytes.

    The bounds admit the devices of textbooks, which are smaller than any GPU that is still sold.

    pitch_alignment_bytes                   rows of an array that cudaMallocPitch allocates begin at multiples of this
    registers_per_thread_minimum            what the driver allocates to a kernel that asks for fewer
    register_allocation_unit                registers are handed to a warp in multiples of this
    shared_bytes_per_multiprocessor         the carve-outs of the L1 that can be shared memory, rising
    shared_bytes_per_block_default          without opting in
    shared_bytes_per_block_optin            with cudaFuncAttributeMaxDynamicSharedMemorySize
    shared_bytes_reserved_per_block         kept by the driver in each block, on top of what it asks for
    unified_bytes_per_multiprocessor        L1 and shared memory together
    barriers_limit_occupancy                whether the hardware runs out of named barriers (from 9.0)
    instructions_per_cycle                  that the scheduler of a sub-partition issues
    fp32_lanes, fp64_lanes, special_lanes   results a cycle of a multiprocessor: float and double add, multiply and
                                            fused, special functions
    shared_wavefronts_per_cycle, l1_bytes_per_cycle   of a multiprocessor, at the most
    """

    warp_threads: int = number("threads", 32, 32)
    sub_partitions: int = number("threads", 1, 8)
    threads_per_multiprocessor: int = number("threads", 1024, 4096)
    warps_per_multiprocessor: int = number("threads", 32, 128)
    blocks_per_multiprocessor: int = number("threads", 8, 128)
    threads_per_block: int = number("launch", 512, 1024)
    block_dimensions: tuple[int, ...] = numbers("launch", 1, 1024, length=3)
    grid_dimensions: tuple[int, ...] = numbers("launch", 1, 2**31 - 1, length=3)
    pitch_alignment_bytes: int = number("pitch", 1, 4096)
    registers_per_multiprocessor: int = number("registers", 2**14, 2**18)
    registers_per_block: int = number("registers", 2**14, 2**18)
    registers_per_thread: int = number("registers", 64, 1024)
    registers_per_thread_minimum: int = number("registers", 1, 32)
    register_allocation_unit: int = number("registers", 32, 1024)
    shared_bytes_per_multiprocessor: tuple[int, ...] = numbers("shared", 0, 512 * KIB)
    shared_bytes_per_block_default: int = number("shared", 16 * KIB, 256 * KIB)
    shared_bytes_per_block_optin: int = number("shared", 16 * KIB, 512 * KIB)
    shared_bytes_reserved_per_block: int = number("shared", 0, 16 * KIB)
    shared_allocation_unit_bytes: int = number("shared", 1, 4 * KIB)
    unified_bytes_per_multiprocessor: int = number("shared", 16 * KIB, 1024 * KIB)
    barriers_per_multiprocessor: int = number("barriers", 8, 512)
    barriers_per_block: int = number("barriers", 1, 64)
    barriers_limit_occupancy: bool = flag("barriers")
    instructions_per_cycle: int = number("rates", 1, 4)
    fp32_lanes: int = number("rates", 1, 1024)
    fp64_lanes: int = number("rates", 1, 1024)
    special_lanes: int = number("rates", 1, 1024)
    shared_wavefronts_per_cycle: int = number("rates", 1, 16)
    l1_bytes_per_cycle: int = number("rates", 16, 4096)

    @property
    def largest_carveout_bytes(self) -> int:
        return self.shared_bytes_per_multiprocessor[-1]


@dataclass(frozen=True, slots=True)
class Machine:
    """One GPU.

    key             the name of its TOML file, and of the GPU on the command line ("h200")
    title           as its maker writes it;  device_names: as the driver reports it, none for a device that is not sold
    arch            what its code is compiled for
    dram_gigabytes_per_second   theoretical, 10^9 bytes
    sources         table -> where its numbers come from, "arch.<table>" for those of the architecture
    channels        how its DRAM is divided, where it is known;  host_link: likewise
    speeds, microarchitecture   what the model of time reads;  parameters: the same numbers, with unit and source
    calibrated      GPU, date, driver and tools of the micro-benchmarks that `speeds` come from; "" where they are
                    published numbers
    """

    key: str
    limits: Limits
    sources: Mapping[str, str]
    speeds: Speeds
    microarchitecture: Microarchitecture
    parameters: tuple[Parameter, ...]
    calibrated: str
    title: str = text("gpu")
    arch: str = text("gpu")
    device_names: tuple[str, ...] = texts("gpu")
    multiprocessors: int = number("gpu", 1, 1024)
    boost_megahertz: int = number("gpu", 100, 10_000)
    l2_bytes: int = number("memory", 2**18, 2**30)
    dram_gigabytes_per_second: int = number("memory", 10, 100_000)
    channels: Channels | None = None
    host_link: HostLink | None = None

    @property
    def inherited(self) -> tuple[Parameter, ...]:
        """Parameters that were read on another GPU, whose description has them (parameter.py)."""
        return tuple(p for p in self.parameters if p.declared not in (f"{self.key}.toml", f"{self.arch}.toml"))

    def __repr__(self) -> str:
        return f"<Machine {self.key}: {self.title}, {self.arch}, {self.multiprocessors} SMs>"


def limits_from(tables: Tables, file: str) -> Limits:
    """The limits in an architecture's file; UsageError names table and key of what is missing or absurd."""
    limits = Limits(**values(Limits, tables, file))
    sizes = limits.shared_bytes_per_multiprocessor
    if list(sizes) != sorted(set(sizes)):
        refuse(file, "shared", "shared_bytes_per_multiprocessor", "must rise from the smallest carve-out")
    if limits.threads_per_multiprocessor != limits.warps_per_multiprocessor * limits.warp_threads:
        refuse(file, "threads", "threads_per_multiprocessor", "must be all warps times warp_threads")
    if limits.shared_bytes_per_block_optin > sizes[-1]:
        refuse(file, "shared", "shared_bytes_per_block_optin", "must not exceed the largest carve-out")
    return limits


def machine_from(
    key: str, limits: Limits, descriptions: Sequence[Description], channels: Channels | None = None,
    host_link: HostLink | None = None,
) -> Machine:  # fmt: skip
    """The GPU `key`; UsageError names table and key of what is missing or absurd.

    descriptions   its own, that of its architecture, and the one from which it inherits parameters
    """
    own, arch = descriptions[:2]
    arch_sources = sources_of(arch.tables, arch.file)
    sources = sources_of(own.tables, own.file) | {f"arch.{table}": text for table, text in arch_sources.items()}
    refuse_unknown(RECORDS, (own, arch))
    speeds, units = parameters_of(Speeds, descriptions), parameters_of(Microarchitecture, descriptions)
    return Machine(
        key=key, limits=limits, sources=sources, channels=channels, host_link=host_link,
        calibrated=sources.get(CALIBRATION, ""),
        speeds=Speeds(**{name: p.value for name, p in speeds.items()}),
        microarchitecture=Microarchitecture(**{name: p.value for name, p in units.items()}),
        parameters=(*speeds.values(), *units.values()),
        **values(Machine, own.tables, own.file),
    )  # fmt: skip
