"""Tracked counts: what a baseline keeps of every kernel, and the budgets that hold where no other ones are given."""

from __future__ import annotations

INSTRUCTION_SLACK = "1.02"  # another order of the same instructions may add a few: moves, NOPs of alignment

DEFAULT_BUDGETS = (
    f"smsp__inst_executed.sum <= {INSTRUCTION_SLACK} * baseline",
    "smsp__sass_inst_executed_op_global_ld.sum <= baseline",
    "smsp__sass_inst_executed_op_global_st.sum <= baseline",
    "smsp__sass_sectors_mem_global.sum <= baseline",
    "smsp__sass_sectors_mem_local.sum <= baseline",
    "smsp__sass_l1tex_pipe_lsu_wavefronts_mem_shared.sum <= baseline",
    "derived__memory_l1_wavefronts_shared_excessive <= baseline",
    "smsp__sass_branch_targets_threads_divergent.sum <= baseline",
    "smsp__sass_thread_inst_executed_op_dadd_pred_on.sum <= baseline",
    "smsp__sass_thread_inst_executed_op_dfma_pred_on.sum <= baseline",
    "smsp__sass_thread_inst_executed_op_dmul_pred_on.sum <= baseline",
    "sm__maximum_warps_per_active_cycle_pct >= baseline",
    'sass("BAR") <= baseline',
    'sass("LDG") - sass("LDG.CONSTANT") <= baseline',  # loads that are not known to be of read-only data
    "spills <= baseline",
)
STATIC = frozenset({"launch__registers_per_thread", "launch__shared_mem_per_block_static", "spills"})
"""With sass("..."): what the machine code alone has."""


def is_static(name: str) -> bool:
    return name in STATIC or name.startswith("sass(")
