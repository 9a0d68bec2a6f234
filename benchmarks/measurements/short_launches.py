"""Cycles, warps active and what a warp waits for, of cold launches whose threads load or store once."""

from __future__ import annotations

from gpu import Gpu

REASONS = (
    "drain", "long_scoreboard", "lg_throttle", "mio_throttle", "short_scoreboard", "dispatch_stall", "not_selected",
    "math_pipe_throttle", "wait", "imc_miss", "no_instruction",
)  # fmt: skip
COUNTERS = {
    "ns": "gpu__time_duration.sum", "cycles_elapsed": "sm__cycles_elapsed.max",
    "cycles_active": "sm__cycles_active.avg",
    "cycles_active_min": "sm__cycles_active.min", "cycles_active_max": "sm__cycles_active.max",
    "warps_active_percent": "sm__warps_active.avg.pct_of_peak_sustained_active",
    "warp_instructions": "smsp__inst_executed.sum", "warps": "smsp__warps_launched.sum",
    **{reason: f"smsp__average_warps_issue_stalled_{reason}_per_issue_active.ratio" for reason in REASONS},
}  # fmt: skip
SOURCE = "".join(f"""
extern "C" __global__ void in_{n}(const float* x, float* sink) {{
  int i = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
  float s = 0;
#pragma unroll
  for (int k = 0; k < {n}; ++k) s += x[i + k * all];
  if (s == 1e38f) *sink = s;
}}
extern "C" __global__ void out_{n}(float* y) {{
  int i = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
#pragma unroll
  for (int k = 0; k < {n}; ++k) y[i + k * all] = 0;
}}
extern "C" __global__ void wide_{n}(float4* y) {{
  int i = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
#pragma unroll
  for (int k = 0; k < {n}; ++k) y[i + k * all] = make_float4(0, 0, 0, 0);
}}
""" for n in (1, 2, 4, 8, 16)) + """
extern "C" __global__ void inw_1(const float4* x, float* sink) {
  float4 v = x[blockIdx.x * blockDim.x + threadIdx.x];
  if (v.x + v.y + v.z + v.w == 1e38f) *sink = v.x;
}
"""  # fmt: skip


def launch(gpu: Gpu, row: dict[str, str]) -> bool:
    kernel, blocks, threads = row["kernel"], int(row["blocks"]), int(row["threads"])
    x = gpu.zeros(16 * int(kernel.split("_")[1]) * blocks * threads)
    gpu.start(kernel, blocks, threads, x, *([gpu.sink] if kernel.startswith("in") else []))
    return True


def values(found: dict[str, float]) -> dict[str, float]:
    """Instructions and cycles of a warp."""
    each = found["warp_instructions"] / found["warps"]
    return found | {"warp_instructions": each} | {reason: found[reason] * each for reason in REASONS if reason in found}
