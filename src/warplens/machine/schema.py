"""What a description of a GPU must say, and within which bounds.  F2.

A field's metadata names the TOML table that its key stands in and the smallest and largest value that is not
absurd: this is the only place where a key is declared.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import Field, dataclass, field, fields
from typing import TYPE_CHECKING, Any, NoReturn

from warplens.errors import UsageError
from warplens.machine.unit_speeds import CALIBRATION, TABLES, Speeds, speed_sources, speeds_from

if TYPE_CHECKING:
    from warplens.machine.dram_channels import Channels
    from warplens.machine.host_link import HostLink

KIB = 1024
Tables = Mapping[str, Any]


def number(table: str, low: int, high: int) -> Any:
    return field(metadata={"table": table, "low": low, "high": high})


def _numbers(table: str, low: int, high: int, length: int | None = None) -> Any:
    return field(metadata={"table": table, "low": low, "high": high, "many": True, "length": length})


def _text(table: str) -> Any:
    return field(metadata={"table": table, "text": True})


def _texts(table: str) -> Any:
    return field(metadata={"table": table, "text": True, "many": True, "length": None, "may_be_empty": True})


def _flag(table: str) -> Any:
    return field(metadata={"table": table, "flag": True})


@dataclass(frozen=True, slots=True)
class Limits:
    """What belongs to the compute capability.  Registers are 32 bits wide; sizes of shared memory are bytes.

    The bounds leave room for the devices of textbooks, which are smaller than any GPU that is still sold.

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
    block_dimensions: tuple[int, ...] = _numbers("launch", 1, 1024, length=3)
    grid_dimensions: tuple[int, ...] = _numbers("launch", 1, 2**31 - 1, length=3)
    pitch_alignment_bytes: int = number("pitch", 1, 4096)
    registers_per_multiprocessor: int = number("registers", 2**14, 2**18)
    registers_per_block: int = number("registers", 2**14, 2**18)
    registers_per_thread: int = number("registers", 64, 1024)
    registers_per_thread_minimum: int = number("registers", 1, 32)
    register_allocation_unit: int = number("registers", 32, 1024)
    shared_bytes_per_multiprocessor: tuple[int, ...] = _numbers("shared", 0, 512 * KIB)
    shared_bytes_per_block_default: int = number("shared", 16 * KIB, 256 * KIB)
    shared_bytes_per_block_optin: int = number("shared", 16 * KIB, 512 * KIB)
    shared_bytes_reserved_per_block: int = number("shared", 0, 16 * KIB)
    shared_allocation_unit_bytes: int = number("shared", 1, 4 * KIB)
    unified_bytes_per_multiprocessor: int = number("shared", 16 * KIB, 1024 * KIB)
    barriers_per_multiprocessor: int = number("barriers", 8, 512)
    barriers_per_block: int = number("barriers", 1, 64)
    barriers_limit_occupancy: bool = _flag("barriers")
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
    speed_sources   "table.key" -> where that speed comes from
    channels        how its DRAM is divided, where that is told;  host_link: likewise
    speeds          what the model of time reads
    calibrated      GPU, date, driver and tools of the micro-benchmarks behind `speeds`; "" where they are published
                    numbers
    """

    key: str
    limits: Limits
    sources: Mapping[str, str]
    speeds: Speeds
    speed_sources: Mapping[str, str]
    calibrated: str
    title: str = _text("gpu")
    arch: str = _text("gpu")
    device_names: tuple[str, ...] = _texts("gpu")
    multiprocessors: int = number("gpu", 1, 1024)
    boost_megahertz: int = number("gpu", 100, 10_000)
    l2_bytes: int = number("memory", 2**18, 2**30)
    dram_gigabytes_per_second: int = number("memory", 10, 100_000)
    channels: Channels | None = None
    host_link: HostLink | None = None

    def __repr__(self) -> str:
        return f"<Machine {self.key}: {self.title}, {self.arch}, {self.multiprocessors} SMs>"


def limits_from(tables: Tables, file: str) -> Limits:
    """The limits in an architecture's file; UsageError names table and key of what is missing or absurd."""
    limits = Limits(**values(Limits, tables, file))
    sizes = limits.shared_bytes_per_multiprocessor
    if list(sizes) != sorted(set(sizes)):
        _refuse(file, "shared", "shared_bytes_per_multiprocessor", "must rise from the smallest carve-out")
    if limits.threads_per_multiprocessor != limits.warps_per_multiprocessor * limits.warp_threads:
        _refuse(file, "threads", "threads_per_multiprocessor", "must be all warps times warp_threads")
    if limits.shared_bytes_per_block_optin > sizes[-1]:
        _refuse(file, "shared", "shared_bytes_per_block_optin", "must not exceed the largest carve-out")
    return limits


def machine_from(
    tables: Tables, key: str, limits: Limits, arch_tables: Tables, arch_file: str, channels: Channels | None = None,
    host_link: HostLink | None = None,
) -> Machine:  # fmt: skip
    """The GPU in file `key`.toml; UsageError names table and key of what is missing or absurd."""
    file = f"{key}.toml"
    arch_sources = sources_of(arch_tables, arch_file)
    sources = sources_of(tables, file) | {f"arch.{table}": text for table, text in arch_sources.items()}
    return Machine(
        key=key, limits=limits, sources=sources, channels=channels, host_link=host_link,
        calibrated=sources.get(CALIBRATION, ""),
        speeds=speeds_from(arch_tables, tables, arch_file, file), speed_sources=speed_sources(arch_tables, tables),
        **values(Machine, tables, file),
    )  # fmt: skip


def tables_of(noun: type) -> frozenset[str]:
    """The tables that the keys of a noun stand in."""
    return frozenset(f.metadata["table"] for f in fields(noun) if f.metadata)


def sources_of(tables: Tables, file: str) -> dict[str, str]:
    """Table -> its `source`; a table without one is refused."""
    for table, content in tables.items():
        if not isinstance(content, Mapping):
            _refuse(file, table, "", "must be a table")
        if not isinstance(content.get("source"), str) or not content["source"]:
            _refuse(file, table, "source", "is missing: every table says where its numbers come from")
    return {table: content["source"] for table, content in tables.items()}


def values(noun: type, tables: Tables, file: str) -> dict[str, Any]:
    """What a noun is made of; UsageError names table and key of what is missing, absurd or not known."""
    wanted = [f for f in fields(noun) if f.metadata]
    known = {(f.metadata["table"], f.name) for f in wanted}
    sources_of(tables, file)
    for table, content in tables.items():
        for key in content if table not in TABLES | {CALIBRATION} else ():
            if key != "source" and (table, key) not in known:
                _refuse(file, table, key, "is no key of a description")
    return {f.name: _checked(f, tables, file) for f in wanted}


def _checked(wanted: Field[Any], tables: Tables, file: str) -> Any:
    rule, key = wanted.metadata, wanted.name
    table = rule["table"]
    value = tables.get(table, {}).get(key)
    if value is None:
        _refuse(file, table, key, "is missing")
    if not rule.get("many"):
        return _one(value, rule, file, key)
    empty = not value and not rule.get("may_be_empty")
    if not isinstance(value, list) or empty or rule["length"] not in (None, len(value)):
        _refuse(file, table, key, f"must be a list of {rule['length'] or 'one or more'}, not {value!r}")
    return tuple(_one(item, rule, file, key) for item in value)


def _one(value: object, rule: Mapping[str, Any], file: str, key: str) -> object:
    if rule.get("flag"):
        fits, wish = isinstance(value, bool), "must be true or false"
    elif rule.get("text"):
        fits, wish = isinstance(value, str) and bool(value), "must be a text"
    else:
        fits = isinstance(value, int) and not isinstance(value, bool) and rule["low"] <= value <= rule["high"]
        wish = f"must be a whole number from {rule['low']} to {rule['high']}"
    if not fits:
        _refuse(file, rule["table"], key, f"{wish}, not {value!r}")
    return value


def _refuse(file: str, table: str, key: str, why: str) -> NoReturn:
    raise UsageError(f"{file}: [{table}] {key} {why}".replace("  ", " "))
