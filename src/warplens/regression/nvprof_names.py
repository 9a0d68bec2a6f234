"""nvprof's metric names: what each is in Nsight Compute's.

The pairs are those of NVIDIA's "Nsight Compute CLI", section "nvprof Transition Guide", as far as these metrics are
counted here; where that table names a counter that is not, the one beside it follows from the same instructions.
"""

from __future__ import annotations

_T = "l1tex__t_sectors_pipe_lsu_mem_global_op"
_R = "l1tex__t_requests_pipe_lsu_mem_global_op"
_W = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op"
_D = "smsp__sass_thread_inst_executed_op"

EXPRESSIONS = {
    "achieved_occupancy": "sm__warps_active.avg.pct_of_peak_sustained_active / 100 %",  # 0 to 1
    "branch_efficiency": "smsp__sass_average_branch_targets_threads_uniform.pct",
    "divergent_branch": "smsp__sass_branch_targets_threads_divergent.sum",
    "dram_read_bytes": "dram__bytes_read.sum",
    "dram_write_bytes": "dram__bytes_write.sum",
    "flop_count_dp": f"{_D}_dadd_pred_on.sum + {_D}_dmul_pred_on.sum + 2 * {_D}_dfma_pred_on.sum",
    "flop_count_sp": f"{_D}_fadd_pred_on.sum + {_D}_fmul_pred_on.sum + 2 * {_D}_ffma_pred_on.sum",
    "gld_efficiency": "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct",
    "gld_transactions": f"{_T}_ld.sum",
    "gld_transactions_per_request": "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio",
    "global_load_requests": f"{_R}_ld.sum",
    "global_store_requests": f"{_R}_st.sum",
    "gst_efficiency": "smsp__sass_average_data_bytes_per_sector_mem_global_op_st.pct",
    "gst_transactions": f"{_T}_st.sum",
    "gst_transactions_per_request": "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio",
    "inst_executed": "smsp__inst_executed.sum",
    "inst_executed_global_loads": "smsp__inst_executed_op_global_ld.sum",
    "inst_executed_global_stores": "smsp__inst_executed_op_global_st.sum",
    "inst_executed_local_loads": "smsp__inst_executed_op_local_ld.sum",
    "inst_executed_local_stores": "smsp__inst_executed_op_local_st.sum",
    "inst_per_warp": "smsp__average_inst_executed_per_warp.ratio",
    "ipc": "smsp__inst_executed.avg.per_cycle_active * 4",
    "local_load_requests": "l1tex__t_requests_pipe_lsu_mem_local_op_ld.sum",
    "local_store_requests": "l1tex__t_requests_pipe_lsu_mem_local_op_st.sum",
    "shared_efficiency": "smsp__sass_average_data_bytes_per_wavefront_mem_shared.pct",
    "shared_load_transactions": f"{_W}_ld.sum",
    "shared_store_transactions": f"{_W}_st.sum",
    "shared_ld_bank_conflict": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
    "shared_st_bank_conflict": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum",
    "thread_inst_executed": "smsp__thread_inst_executed.sum",
    "warp_execution_efficiency": "smsp__thread_inst_executed_per_inst_executed.pct",
    "warp_nonpred_execution_efficiency": "smsp__thread_inst_executed_pred_on_per_inst_executed.pct",
}
