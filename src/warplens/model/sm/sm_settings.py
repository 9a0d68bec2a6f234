"""SM settings: the speeds of each unit, and the SM's share of units common to all SMs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from warplens.machine import Machine
from warplens.machine.parameter import measured
from warplens.model.grid.atomic_packets import AtomicSettings
from warplens.model.grid.memory_supply import MemorySupply
from warplens.model.grid.request_coalescing import MergeSettings
from warplens.model.grid.simulated_blocks import SimulatedBlocks
from warplens.model.sm.block_barriers import BarrierSettings
from warplens.model.sm.block_dispatch import DispatchSettings
from warplens.model.sm.constant_cache import ConstantSettings
from warplens.model.sm.dram_share import DramSettings
from warplens.model.sm.instruction_cache import InstructionCacheSettings
from warplens.model.sm.l1_cache import LINE, L1Settings
from warplens.model.sm.l1_store_queue import StoreQueueSettings
from warplens.model.sm.l2_port import L2Settings
from warplens.model.sm.load_store_unit import LoadStoreSettings
from warplens.model.sm.pipes import PipeSettings
from warplens.model.sm.scheduler import SchedulerSettings
from warplens.model.sm.shared_memory import SharedSettings

SCATTER = ("least", "tenth", "quarter", "half", "three_quarters", "nine_tenths", "all_but_hundredth", "most")
# Bytes a cycle of each SM where all request the same lines.
SHARED_BYTES = measured(
    80.0, "bytes per cycle", "measurements/h200/calibration.csv, `L2 window, 4 MiB, blocks 0 apart`"
)


class Settings(NamedTuple):
    """In the order in which a request meets the units."""

    dispatch: DispatchSettings
    scheduler: SchedulerSettings
    pipes: PipeSettings
    barriers: BarrierSettings
    load_store: LoadStoreSettings
    shared: SharedSettings
    code: InstructionCacheSettings
    constants: ConstantSettings
    l1: L1Settings
    store_queue: StoreQueueSettings
    l2: L2Settings
    merging: MergeSettings
    atomics: AtomicSettings
    dram: DramSettings


def settings_of(machine: Machine, chosen: SimulatedBlocks, supply: MemorySupply, what_if: Sequence[str]) -> Settings:
    """Of one of the SMs that have blocks; `what_if`: causes to remove (WHAT_IF of prediction.py)."""
    speeds, units = machine.speeds, machine.microarchitecture
    more = 2.0 if "double_bandwidth" in what_if else 1.0
    spread = machine.multiprocessors / chosen.active
    return Settings(
        dispatch=DispatchSettings(
            first_block_cycles=speeds.first_block_cycles,
            first_resident_cycle=max(speeds.first_block_cycles - speeds.first_resident_cycles, 0.0),
            block_start_cycles=speeds.block_start_cycles,
            warp_start_cycles=speeds.warp_start_cycles,
            large_block_factor=units.large_block_factor,
            block_end_cycles=speeds.block_end_cycles,
            settle_cycles=units.settle_cycles,
            block_report_cycles=chosen.active / speeds.block_rate,
            ends_together=units.ends_together,
        ),
        scheduler=SchedulerSettings(
            branch_latency=speeds.latency_branch,
            full_warps=float("no_divergence" in what_if),
        ),
        pipes=PipeSettings(second_cycles=units.second_pipe_cycles, late_cycles=units.late_result_cycles),
        barriers=BarrierSettings(latency=speeds.latency_barrier, arrival_cycles=speeds.latency_barrier_arrival),
        load_store=LoadStoreSettings(
            queue=speeds.queue,
            requests_in_flight=speeds.requests_in_flight,
            issue_cycles=speeds.lsu_issue,
            wavefront_cycles=speeds.wavefront_cycles,
            global_request_cycles=speeds.global_request,
            miss_request_cycles=speeds.miss_request,
            register_read_latency=speeds.latency_store,
            tag_lag_cycles=units.tag_lag_cycles,
            ideal_access=float("ideal_access" in what_if),
        ),
        shared=SharedSettings(
            request_cycles=speeds.shared_request,
            latency=speeds.latency_shared,
            atomic_latency=speeds.latency_shared_atomic,
            ideal_banks=float("no_bank_conflicts" in what_if),
        ),
        code=InstructionCacheSettings(
            lines=units.code_lines,
            near_lines=units.code_near_lines,
            ahead_lines=units.code_ahead_lines,
            ready_lines=units.code_ready_lines,
            near_cycles=units.code_near_cycles,
            far_cycles=units.code_far_cycles,
            first_cycles=units.code_first_cycles,
        ),
        constants=ConstantSettings(
            word_cycles=speeds.table_word_cycles,
            replay_cycles=speeds.table_replay_cycles,
            line_cycles=max(speeds.table_line_cycles, chosen.active * speeds.table_line_cycles_of_all),
            line_cycles_alone=speeds.table_line_cycles,
            latency=speeds.latency_table,
            first_latency=speeds.latency_table_first,
            sets=int(units.constant_sets),
            ways=int(units.constant_ways),
            first_lines=int(units.constant_lines_of_first_read),
        ),
        l1=L1Settings(
            latency=speeds.latency_l1,
            bytes_per_cycle=float(machine.limits.l1_bytes_per_cycle),
            sectors_in_flight=speeds.sectors_in_flight,
            high_bits=int(units.tag_bank_high_bits),
            low_bits=int(units.tag_bank_low_bits),
        ),
        store_queue=StoreQueueSettings(
            lines=speeds.store_lines,
            draining_lines=units.draining_lines,
            hold_cycles=units.hold_cycles,
            slack_cycles=speeds.store_slack_cycles,
            late_near_cycles=speeds.late_near_cycles / spread,
            late_far_cycles=speeds.late_far_cycles / spread,
        ),
        l2=_l2(machine, spread, more),
        merging=MergeSettings(units.merge_together_cycles, units.merge_drift, units.merge_drift_cycles),
        atomics=AtomicSettings(
            word_cycles=speeds.atomic_word_cycles,
            sector_cycles=speeds.atomic_sector_cycles,
            sms_per_unit=supply.of_units,
            packet_cycles=speeds.l2_atomic_piece_cycles / spread,
            lone_cycles=speeds.l2_atomic_lone_cycles / spread,
            reply_cycles=speeds.l2_atomic_reply_cycles / spread,
            latency=speeds.latency_global_atomic,
            sectors_in_flight=speeds.atomics_in_flight,
        ),
        dram=_dram(machine, chosen.active, more, supply),
    )


def _l2(machine: Machine, spread: float, more: float) -> L2Settings:
    speeds, units = machine.speeds, machine.microarchitecture
    return L2Settings(
        port_bytes=speeds.l2_port * more,
        read_bytes=min(speeds.l2_read * spread, speeds.l2_port) * more,
        write_bytes=min(speeds.l2_write * spread, units.packet_bytes) * more,
        shared_bytes=SHARED_BYTES * more,
        line_read_cycles=speeds.l2_line_read_cycles / spread,
        line_write_cycles=speeds.l2_line_write_cycles / spread,
        request_bytes=units.request_bytes,
        latency=speeds.latency_l2,
        partitions=speeds.halves,
        both_halves=units.both_halves,
        partial_ways=int(units.partial_ways),
    )


def _dram(machine: Machine, active: int, more: float, supply: MemorySupply) -> DramSettings:
    speeds = machine.speeds
    bytes_per_cycle = machine.dram_gigabytes_per_second * 1000 / machine.boost_megahertz / active * more
    return DramSettings(
        read_bytes=bytes_per_cycle * speeds.read_share,
        write_bytes=bytes_per_cycle * speeds.write_share,
        latency=speeds.latency_dram,
        latency_spread=speeds.latency_dram_spread,
        scatter=np.array([getattr(speeds, f"scatter_{share}") for share in SCATTER], np.float64),
        page_shift=int(machine.microarchitecture.alike_bytes / LINE).bit_length() - 1,
        queue_cycles=speeds.latency_dram_queue,
        turn_cycles=speeds.latency_dram_turn * supply.writing,
        turn_growth=speeds.turn_growth,
        lone_half=speeds.lone_half,
        lone_sector=speeds.lone_sector,
    )
